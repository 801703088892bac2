// Results that wait, in a file without a name, until all of them are there; and files of arrays that are made of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/simulation/recording_arrays.hpp"
#include "cli/output.hpp"

namespace articula::cli {

/// Numbers, or text.
class Spool {
 public:
  explicit Spool(const std::string& folder);
  ~Spool();
  Spool(Spool&& other) noexcept;
  void add(std::span<const double> x);
  void add_text(std::string_view text);
  /// All, in pieces.
  void for_each_piece(const std::function<void(std::span<const double>)>& use);
  /// The lines of text, without their ends.
  void for_each_line(const recording_files::UseBytes& use);
  /// Beside the file for which they wait.
  static std::string folder_for(const std::string& out);

 private:
  void flush();
  void for_each_bytes(std::size_t at_once, const recording_files::UseBytes& use);
  int fd_;
  std::size_t bytes_ = 0;  // in the file
  std::string waiting_;
};

/// .npz or HDF5. ComputationError where it cannot be written.
void write_arrays(const std::string& path, FileFormat format, const recording_files::ForEachArray& for_each,
                  Output& out);

}  // namespace articula::cli
