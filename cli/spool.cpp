#include "cli/spool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace articula::cli {

namespace {

constexpr std::size_t held_bytes = 1 << 16;  // bytes

[[noreturn]] void no_room() {
  throw ComputationError(
      fmt::format("results cannot be kept in a temporary file ({})", std::generic_category().message(errno)));
}

}  // namespace

Spool::Spool(const std::string& folder) : fd_(recording_files::open_unnamed(folder)) {
  if (fd_ < 0) no_room();
}
Spool::Spool(Spool&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_), waiting_(std::move(other.waiting_)) {}
Spool::~Spool() {
  if (fd_ >= 0) close(fd_);
}
std::string Spool::folder_for(const std::string& out) {
  const std::string folder = out == "-" ? "" : std::filesystem::path(out).parent_path().string();
  return folder.empty() ? "." : folder;
}

void Spool::add(std::span<const double> x) {
  add_text({reinterpret_cast<const char*>(x.data()), x.size_bytes()});
}
void Spool::add_text(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= held_bytes) flush();
}
void Spool::flush() {
  if (!recording_files::write_all(fd_, waiting_)) no_room();
  bytes_ += waiting_.size();
  waiting_.clear();
}

void Spool::for_each_bytes(std::size_t at_once, const recording_files::UseBytes& use) {
  flush();
  std::vector<double> room((at_once + sizeof(double) - 1) / sizeof(double));  // aligned for numbers
  char* const bytes = reinterpret_cast<char*>(room.data());
  for (std::size_t at = 0; at < bytes_;) {
    const std::size_t want = std::min(at_once, bytes_ - at);
    std::size_t got = 0;
    while (got < want) {
      const ssize_t n = pread(fd_, bytes + got, want - got, static_cast<off_t>(at + got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) no_room();
      got += static_cast<std::size_t>(n);
    }
    at += want;
    use({bytes, want});
  }
}
void Spool::for_each_piece(const std::function<void(std::span<const double>)>& use) {
  for_each_bytes(held_bytes, [&](std::string_view bytes) {
    use({reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)});
  });
}
void Spool::for_each_line(const recording_files::UseBytes& use) {
  std::string rest;
  for_each_bytes(held_bytes, [&](std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1), rest.clear())
      use(rest += bytes.substr(0, end));
    rest += bytes;
  });
}

void write_arrays(const std::string& path, FileFormat format, const recording_files::ForEachArray& for_each,
                  Output& out) {
  const auto write = [&](std::string_view bytes) { out.write(bytes); };
  try {
    format == FileFormat::npz ? recording_files::write_npz_arrays("--out " + path, for_each, write)
                              : recording_files::write_hdf5_arrays("--out " + path, for_each, write);
  } catch (const Error& error) {
    throw ComputationError(error.what());
  }
}

}  // namespace articula::cli
