#include "cli/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/stop.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_size = 1 << 16;

/// Whether the file that is open is the one that the path names now.
bool is_at(int fd, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(fd, &open_one) == 0 && stat(path.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

/// Whether there is a whole line in it: without one a run was killed before it said anything.
bool has_line(int fd) {
  char chunk[4096];
  off_t at = 0;
  for (ssize_t n; (n = pread(fd, chunk, sizeof chunk, at)) > 0; at += n)
    if (std::memchr(chunk, '\n', std::size_t(n))) return true;
  return false;
}

bool lock_file(int fd, const std::string& path, const std::string& part) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return is_at(fd, part);
  const int why = errno;
  close(fd);
  if (why == EWOULDBLOCK)
    throw InputError(fmt::format("--out {}: another run is writing it ({})", path, part));
  throw InputError(
      fmt::format("--out {}: {} cannot be locked ({})", path, part, std::generic_category().message(why)));
}

}  // namespace

void Journal::refuse(const std::string& file) const {
  throw InputError(
      fmt::format("--out {}: cannot be written ({})", file, std::generic_category().message(errno)));
}

Journal::Journal(const std::string& path) : path_(path), flushed_(std::chrono::steady_clock::now()) {
  if (path == "-") return;
  if (path.empty()) throw InputError("--out: the file name is empty; expected a file, or - for stdout");
  struct stat existing {};
  const bool exists = stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) throw InputError(fmt::format("--out {}: is a directory", path));
  if (exists && !S_ISREG(existing.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse(path);
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) refuse(path);
  if (exists) mode_ = existing.st_mode & 07777;
  std::error_code ignored;
  if (fs::is_symlink(path_, ignored))
    if (const auto target = fs::canonical(path_, ignored); !ignored) path_ = target.string();
  part_ = path_ + ".part";
  // The run that had it may end, and rename or remove it, between open and lock: then the lock is on something else.
  for (bool mine = false; !mine;) {
    fd_ = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) refuse(part_);
    mine = lock_file(fd_, path_, part_);
    if (!mine) close(fd_);
  }
}

Journal::~Journal() {
  struct stat now {};
  // Taken, but nothing came of it: an error before the first row.
  if (is_file() && !begun_ && fstat(fd_, &now) == 0 && now.st_size == 0) unlink(part_.c_str());
  if (fd_ > 1) close(fd_);
  if (lock_ >= 0) close(lock_);
}

bool Journal::has_part() const { return is_file() && has_line(fd_); }

Recording Journal::earlier() const {
  const bool has_file = is_file() && access(path_.c_str(), F_OK) == 0;
  if (!has_part() && !has_file)
    throw InputError(fmt::format("--resume: there is no {} and no {}.part to go on from", path_, path_));
  Recording out;
  try {
    if (has_part()) out = read_recording(part_, FileFormat::csv);
    if (out.size() == 0 && has_file) out = read_recording(path_, format_of(path_));
  } catch (const ArgumentError& error) {
    throw InputError(fmt::format("--resume: {}", error.what()));
  }
  if (out.size() == 0) throw InputError(fmt::format("--resume: {} has no rows", has_file ? path_ : part_));
  return out;
}

void Journal::begin(const Recording& header, bool comments, const Recording* earlier) {
  header_.columns = header.columns, header_.about = header.about;
  begun_ = true;
  if (is_file()) {
    // What a killed run may have left; nobody else is at them while the part is ours.
    for (const char* ending : {".new", ".tmp"}) unlink((part_ + ending).c_str());
    comments = comments || format_of(path_) != FileFormat::csv;
    if (earlier) return replace_part(*earlier, comments);
    if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) refuse(part_);
    if (mode_) (void)!fchmod(fd_, mode_);
  }
  buffer_ = csv_header(header_, comments);
}

/// Earlier rows are written to a new file first: there is no moment at which they are nowhere. The old one stays
/// locked, for a run that has just opened it.
void Journal::replace_part(const Recording& earlier, bool comments) {
  const std::string fresh = part_ + ".new";
  lock_ = std::exchange(fd_, open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd_ < 0 || !lock_file(fd_, path_, fresh)) refuse(fresh);
  if (mode_) (void)!fchmod(fd_, mode_);
  buffer_ = csv_header(header_, comments);
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    append_csv_row(earlier.row(i), buffer_);
    if (buffer_.size() > buffer_size) flush();
  }
  flush();
  if (std::rename(fresh.c_str(), part_.c_str()) != 0) refuse(part_);
}

void Journal::flush() {
  std::string_view text = buffer_;
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR && (is_file() || !asked_to_stop())) continue;
    if (n < 0) {
      const int why = errno;
      const std::size_t written = buffer_.size() - text.size();
      const std::size_t line = written ? buffer_.rfind('\n', written - 1) : buffer_.npos;
      buffer_.clear();
      if (is_file()) {
        (void)!ftruncate(fd_, good_ + (line == buffer_.npos ? 0 : static_cast<long long>(line) + 1));
        throw ComputationError(
            fmt::format("{} cannot be written ({}); it holds every row before, and --resume goes on from it",
                        part_, std::generic_category().message(why)));
      }
      throw ComputationError(fmt::format("{} cannot be written ({})",
                                         fd_ == 1 ? "standard output" : "--out " + path_,
                                         std::generic_category().message(why)));
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  good_ += static_cast<long long>(buffer_.size());
  buffer_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void Journal::write(std::span<const double> row) {
  append_csv_row(row, buffer_);
  using namespace std::chrono_literals;
  if (buffer_.size() > buffer_size || std::chrono::steady_clock::now() - flushed_ > 200ms) flush();
}

Recording Journal::recording() {
  flush();
  Recording out = read_recording(part_, FileFormat::csv);
  out.columns = header_.columns;
  out.about = header_.about;
  return out;
}

void Journal::finish() {
  flush();
  if (!is_file()) return;
  if (!is_at(fd_, part_))
    throw ComputationError(
        fmt::format("--out {} cannot be written: another program has moved {}", path_, part_));
  const auto fail = [&](const std::string& why) {
    throw ComputationError(fmt::format("{}; the rows are in {}", why, part_));
  };
  const auto put = [&](const std::string& from) {
    if (std::rename(from.c_str(), path_.c_str()) != 0)
      fail(fmt::format("--out {} cannot be written ({})", path_, std::generic_category().message(errno)));
  };
  const FileFormat format = format_of(path_);
  if (format == FileFormat::csv) return put(part_);
  const std::string temporary = part_ + ".tmp";
  doom(temporary);
  try {
    write_recording(temporary, format, recording());
    if (mode_) (void)!chmod(temporary.c_str(), mode_);
    put(temporary);
  } catch (const Error& error) {
    unlink(temporary.c_str());
    fail(error.what());
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  doom("");
  unlink(part_.c_str());
}

}  // namespace articula::cli
