#include "cli/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t stop_asked = 0;
extern "C" void ask_to_stop(int) { stop_asked = 1; }

constexpr std::size_t buffer_size = 1 << 16;

}  // namespace

void watch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, ask_to_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
}
bool asked_to_stop() { return stop_asked != 0; }

Journal::Journal(const std::string& path, const std::vector<Column>& columns, bool units,
                 const Recording* earlier)
    : path_(path), columns_(columns), flushed_(std::chrono::steady_clock::now()) {
  if (path.empty()) throw InputError("--out: the file name is empty; expected a file, or - for stdout");
  const auto refuse = [&](const std::string& file) {
    throw InputError(fmt::format("--out {}: cannot be written ({})", file, std::strerror(errno)));
  };
  struct stat existing {};
  const bool exists = path != "-" && stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) throw InputError(fmt::format("--out {}: is a directory", path));
  if (exists && !S_ISREG(existing.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse(path);
  } else if (path != "-") {
    if (exists && access(path.c_str(), W_OK) != 0) refuse(path);
    part_ = path + ".part";
    // Earlier rows are written to a new file first: there is no moment at which they are nowhere.
    const std::string first = earlier ? part_ + ".new" : part_;
    const int old = open(part_.c_str(), O_RDWR | O_CLOEXEC);
    if (old >= 0 && flock(old, LOCK_EX | LOCK_NB) != 0) {
      close(old);
      throw InputError(fmt::format("--out {}: another run is writing it ({})", path, part_));
    }
    fd_ = open(first.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ >= 0 && old >= 0 && !earlier) {
      close(fd_);
      fd_ = old;  // it holds the lock
    } else if (fd_ >= 0) {
      flock(fd_, LOCK_EX | LOCK_NB);
      if (old >= 0) close(old);
    }
    if (fd_ < 0) {
      if (old >= 0) close(old);
      refuse(first);
    }
    if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) refuse(first);
    if (exists) (void)!fchmod(fd_, existing.st_mode & 07777);
  }
  buffer_ = csv_header(columns_, units);
  if (earlier) {
    for (std::size_t i = 0; i < earlier->size(); ++i) {
      append_csv_row(earlier->row(i), buffer_);
      if (buffer_.size() > buffer_size) flush();
    }
    flush();
    if (is_file() && std::rename((part_ + ".new").c_str(), part_.c_str()) != 0) refuse(part_);
  }
}

Journal::~Journal() {
  if (fd_ > 1) close(fd_);
}

void Journal::flush() {
  std::string_view text = buffer_;
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int why = errno;
      const std::size_t written = buffer_.size() - text.size();
      const std::size_t line = written ? buffer_.rfind('\n', written - 1) : buffer_.npos;
      buffer_.clear();
      if (is_file()) {
        (void)!ftruncate(fd_, good_ + (line == buffer_.npos ? 0 : static_cast<long long>(line) + 1));
        throw ComputationError(
            fmt::format("{} cannot be written ({}); it holds every row before, and --resume goes on from it",
                        part_, std::strerror(why)));
      }
      throw ComputationError(fmt::format(
          "{} cannot be written ({})", fd_ == 1 ? "standard output" : "--out " + path_, std::strerror(why)));
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

Recording Journal::recording(const std::vector<std::pair<std::string, std::string>>& about) {
  flush();
  Recording out = read_recording(part_, FileFormat::csv);
  out.columns = columns_;
  out.about = about;
  return out;
}

void Journal::finish(const std::vector<std::pair<std::string, std::string>>& about) {
  flush();
  if (!is_file()) return;
  const auto refuse = [&] {
    throw ComputationError(fmt::format("--out {} cannot be written ({}); the rows are in {}", path_,
                                       std::strerror(errno), part_));
  };
  std::error_code ignored;
  if (const auto target = fs::canonical(path_, ignored); !ignored) path_ = target.string();  // behind a link
  const FileFormat format = format_of(path_);
  if (format == FileFormat::csv) {
    if (std::rename(part_.c_str(), path_.c_str()) != 0) refuse();
    return;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path_, getpid());
  try {
    write_recording(temporary, format, recording(about));
  } catch (const Error& error) {
    unlink(temporary.c_str());
    throw ComputationError(fmt::format("{}; the rows are in {}", error.what(), part_));
  }
  if (std::rename(temporary.c_str(), path_.c_str()) != 0) refuse();
  unlink(part_.c_str());
}

Recording read_earlier(const std::string& path, const std::vector<Column>& columns) {
  const std::string part = path + ".part";
  std::error_code ignored;
  const bool has_part = fs::exists(part, ignored), has_file = fs::is_regular_file(path, ignored);
  if (path == "-" || (!has_part && !has_file))
    throw InputError(fmt::format("--resume: there is no {} and no {} to go on from", path, part));
  Recording out;
  try {
    out = has_part ? read_recording(part, FileFormat::csv) : read_recording(path, format_of(path));
  } catch (const ArgumentError& error) {
    throw InputError(fmt::format("--resume: {}", error.what()));
  }
  const std::string& name = has_part ? part : path;
  for (std::size_t i = 0; i < std::max(columns.size(), out.columns.size()); ++i) {
    const std::string mine = i < columns.size() ? columns[i].name : "nothing",
                      theirs = i < out.columns.size() ? out.columns[i].name : "nothing";
    if (mine != theirs)
      throw InputError(
          fmt::format("--resume: column {} of {} is '{}', this run has '{}'; resume with the model and "
                      "options that it was made with",
                      i + 1, name, theirs, mine));
  }
  if (out.size() == 0) throw InputError(fmt::format("--resume: {} has no rows", name));
  return out;
}

}  // namespace articula::cli
