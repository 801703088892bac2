// The rows of a running simulation, so that whatever ends the program leaves them readable.
//
// They go to FILE.part as CSV, whatever the format of FILE: a kill leaves that, and --resume goes on from it.
// FILE itself appears, or is replaced, when the run ends. Standard output, devices and pipes get CSV
// directly.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "articula/simulation/recording.hpp"

namespace articula::cli {

class Journal {
 public:
  /// `units`: a comment line with them, in CSV. `earlier`: rows that are there already (resumed). Throws
  /// InputError if the file cannot be made, or another run is writing it.
  Journal(const std::string& path, const std::vector<Column>& columns, bool units, const Recording* earlier);
  ~Journal();
  Journal(const Journal&) = delete;

  /// Throws ComputationError if it cannot be written; FILE.part then ends with the last whole row.
  void write(std::span<const double> row);
  void flush();
  /// Makes FILE of it. `about` is kept where the format has room for it.
  void finish(const std::vector<std::pair<std::string, std::string>>& about);
  bool is_file() const { return !part_.empty(); }
  /// All rows so far, read back; only for files.
  Recording recording(const std::vector<std::pair<std::string, std::string>>& about);
  const std::string& part() const { return part_; }

 private:
  std::string path_, part_, buffer_;
  std::vector<Column> columns_;
  int fd_ = 1;
  long long good_ = 0;  // bytes of whole rows
  std::chrono::steady_clock::time_point flushed_;
};

/// What an earlier run left: FILE.part if it is there, else FILE. Throws InputError.
Recording read_earlier(const std::string& path, const std::vector<Column>& columns);

/// Ctrl-C, SIGTERM and SIGHUP ask a run to end; it finishes its file.
void watch_signals();
bool asked_to_stop();

}  // namespace articula::cli
