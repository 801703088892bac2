// Tables of runs, whose rows come as CSV, as the file that --out asks for: CSV, .npz or HDF5.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"

namespace articula::cli {

/// What is wrong with the name of a file that can hold no such thing: InputError, before anything is made.
void check_statistics_name(const std::string& out);

/// CSV is passed through. Arrays are those of a recording: columns that belong together are one, (rows, columns), and
/// "columns" has all names. Texts of the column "error" are few: "error" has those that there are, "error_run" of which
/// run each is. Numbers wait in files without names, so that memory does not grow with the rows.
class TableOutput {
 public:
  /// The header is the table's first line. Throws InputError as Output does.
  TableOutput(const std::string& path, std::string_view header);
  ~TableOutput();
  TableOutput(const TableOutput&) = delete;
  TableOutput& operator=(const TableOutput&) = delete;
  /// Whole lines. ComputationError where they are not of this table, which only a damaged file can be.
  void write(std::string_view rows);
  void finish();

 private:
  struct Arrays;
  std::string path_;
  Output out_;
  std::unique_ptr<Arrays> arrays_;  // none: CSV
};

}  // namespace articula::cli
