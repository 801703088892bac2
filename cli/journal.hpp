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
  /// Takes the file for this run: FILE.part is locked, and nothing in it changes before begin(). Throws InputError
  /// if it cannot be made, or another run is writing it.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;

  bool is_file() const { return !part_.empty(); }
  /// Whether an earlier run left a FILE.part with rows.
  bool has_part() const;
  /// What an earlier run left: FILE.part if it has rows, else FILE. Throws InputError.
  Recording earlier() const;

  /// Columns, and what the recording is about; `earlier`: rows that are there already. `comments`: CSV begins with
  /// comment lines that say units and what made it. Those of FILE.part do wherever FILE is not CSV itself.
  void begin(const Recording& header, bool comments, const Recording* earlier);
  /// Throws ComputationError if it cannot be written; FILE.part then ends with the last whole row.
  void write(std::span<const double> row);
  void flush();
  /// All rows so far, read back; only for files.
  Recording recording();
  /// Makes FILE of it.
  void finish();
  const std::string& part() const { return part_; }

 private:
  void replace_part(const Recording& earlier, bool comments);
  [[noreturn]] void refuse(const std::string& file) const;

  std::string path_, part_, buffer_;
  Recording header_;
  int fd_ = 1, lock_ = -1;  // lock_: of the FILE.part that was found, where it has been replaced
  bool begun_ = false;
  unsigned mode_ = 0;   // of an older FILE; 0: there is none
  long long good_ = 0;  // bytes of whole rows
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace articula::cli
