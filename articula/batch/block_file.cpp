#include "articula/batch/block_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "articula/simulation/recording_arrays.hpp"

namespace articula {

namespace {

using recording_files::crc32;

constexpr std::string_view mark = "# block ";
constexpr std::size_t longest_header = 128;

std::string why() { return std::generic_category().message(errno); }
[[noreturn]] void unwritable(const std::string& path) {
  throw Error(fmt::format("{} cannot be written ({})", path, why()));
}
std::string header_of(std::uint64_t number, std::uint64_t failed, std::uint64_t bytes) {
  return fmt::format("{}{} failed {} bytes {} crc32 ", mark, number, failed, bytes);
}
/// Some file systems have nothing to synchronise with.
bool synchronised(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS; }

/// As many bytes as there are, up to `count`.
std::string bytes_at(int fd, std::uint64_t at, std::size_t count) {
  std::string out(count, '\0');
  std::size_t had = 0;
  while (had < count) {
    const ssize_t n = pread(fd, out.data() + had, count - had, off_t(at + had));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    had += std::size_t(n);
  }
  out.resize(had);
  return out;
}
std::uint64_t size_of(int fd) {
  struct stat now {};
  return fstat(fd, &now) == 0 ? std::uint64_t(now.st_size) : 0;
}

}  // namespace

bool is_open_at(int fd, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(fd, &open_one) == 0 && stat(path.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

// --- reading --------------------------------------------------------------------------------------------------------
BlockReader::BlockReader(const std::string& path, std::uint64_t from)
    : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), end_(from) {
  if (fd_ < 0) throw Error(fmt::format("{} cannot be read ({})", path, why()));
}
BlockReader::~BlockReader() { close(fd_); }

bool BlockReader::header_at(std::uint64_t at, Block& block, std::uint64_t& next) const {
  const std::string line = bytes_at(fd_, at, longest_header);
  unsigned long long number = 0, failed = 0, bytes = 0;
  unsigned crc = 0;
  int length = 0;
  // Checked by the checksum: NOLINTNEXTLINE(cert-err34-c)
  if (std::sscanf(line.c_str(), "# block %llu failed %llu bytes %llu crc32 %8x%n", &number, &failed, &bytes,
                  &crc, &length) != 4 ||
      std::size_t(length) >= line.size() || line[std::size_t(length)] != '\n')
    return false;
  block = {number, failed, at + std::uint64_t(length) + 1, bytes, crc};
  next = block.at + bytes;
  return next >= block.at;
}

std::vector<Block> BlockReader::more() {
  std::vector<Block> out;
  const std::uint64_t size = size_of(fd_);
  std::string piece;  // of the file, from piece_at on; read once, however many damaged headers are in it
  std::uint64_t piece_at = 0;
  const auto next_mark = [&](std::uint64_t from) {
    while (from < size) {
      if (from < piece_at || from + mark.size() > piece_at + piece.size())
        piece = bytes_at(fd_, piece_at = from, std::min<std::uint64_t>(1 << 20, size - from));
      if (piece.size() < mark.size()) break;
      const std::size_t found = piece.find(mark, from - piece_at);
      if (found != piece.npos) return piece_at + found;
      from = piece_at + piece.size() - mark.size() + 1;
    }
    return size;
  };
  for (std::uint64_t at = end_; at < size;) {
    Block block;
    std::uint64_t next = 0;
    if (header_at(at, block, next) && next <= size) {  // else torn, or just being written
      out.push_back(block);
      at = end_ = next;
    } else {
      at = next_mark(at + 1);
    }
  }
  return out;
}

bool BlockReader::read(const Block& block, std::string& text) const {
  if (block.at + block.bytes > size_of(fd_)) return false;  // before memory is taken
  text = bytes_at(fd_, block.at, block.bytes);
  const std::string header = header_of(block.number, block.failed, block.bytes);
  return text.size() == block.bytes && crc32(text, crc32(header)) == block.crc;
}
bool BlockReader::is_sound(const Block& block) const {
  std::string text;
  return read(block, text);
}

// --- writing --------------------------------------------------------------------------------------------------------
BlockWriter::BlockWriter(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) unwritable(path);
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const bool taken = errno == EWOULDBLOCK;
    const std::string text = taken ? "another process is writing it: is this shard at work already?"
                                   : "cannot be locked: " + why();
    close(fd_);
    throw ArgumentError(fmt::format("{}: {}", path, text));
  }
  BlockReader reader(path);
  for (const Block& block : reader.more()) {
    if (!reader.is_sound(block)) continue;
    blocks_.push_back(block);
    end_ = block.at + block.bytes;
  }
  if (size_of(fd_) > end_ && ftruncate(fd_, off_t(end_)) != 0) {
    const std::string text = why();
    close(fd_);
    throw Error(fmt::format("{} cannot be written ({})", path, text));
  }
}
BlockWriter::~BlockWriter() { close(fd_); }

void BlockWriter::undo() {
  const int error = errno;
  (void)!ftruncate(fd_, off_t(end_));
  errno = error;
  unwritable(path_);
}
void BlockWriter::write(std::uint64_t number, std::uint64_t failed, std::string_view text) {
  std::string header = header_of(number, failed, text.size());
  const std::uint32_t crc = crc32(text, crc32(header));
  header += fmt::format("{:08x}\n", crc);
  std::uint64_t at = end_;
  for (std::string_view rest : {std::string_view(header), text}) {
    while (!rest.empty()) {
      const ssize_t n = pwrite(fd_, rest.data(), rest.size(), off_t(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) undo();
      rest.remove_prefix(std::size_t(n)), at += std::uint64_t(n);
    }
  }
  written_ = {number, failed, end_ + header.size(), text.size(), crc};
}
void BlockWriter::synchronise() {
  if (!synchronised(fd_)) undo();
  if (!is_open_at(fd_, path_))
    throw Error(fmt::format("{} is gone: its folder was removed, or replaced by another", path_));
  end_ = written_.at + written_.bytes;
  blocks_.push_back(written_);
}

// --- small files ----------------------------------------------------------------------------------------------------
namespace {
/// Writes it beside `path`, under a name that no other process has.
std::string write_beside(const std::string& path, std::string_view text, bool lasting) {
  static std::atomic<unsigned> count{0};
  char host[64] = {};
  gethostname(host, sizeof host - 1);
  const std::string name = fmt::format("{}.{}.{}.{}.tmp", path, host, getpid(), count++);
  const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) unwritable(name);
  const bool written = recording_files::write_all(fd, text) && (!lasting || synchronised(fd));
  const int error = errno;
  if (close(fd) != 0 || !written) {
    if (!written) errno = error;
    const std::string said = why();
    unlink(name.c_str());
    throw Error(fmt::format("{} cannot be written ({})", path, said));
  }
  return name;
}
}  // namespace

void replace_file(const std::string& path, std::string_view text, bool lasting) {
  const std::string name = write_beside(path, text, lasting);
  if (std::rename(name.c_str(), path.c_str()) == 0) return;
  const std::string said = why();
  unlink(name.c_str());
  throw Error(fmt::format("{} cannot be written ({})", path, said));
}

bool create_file(const std::string& path, std::string_view text, bool lasting) {
  const std::string name = write_beside(path, text, lasting);
  // A link is made by one process only; where there are none (some network drives), a rename must do.
  bool made = link(name.c_str(), path.c_str()) == 0;
  if (!made && errno != EEXIST && (errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK))
    made = access(path.c_str(), F_OK) != 0 && std::rename(name.c_str(), path.c_str()) == 0;
  const int error = errno;
  unlink(name.c_str());
  if (!made && error != EEXIST && access(path.c_str(), F_OK) != 0) {
    errno = error;
    unwritable(path);
  }
  return made;
}

}  // namespace articula
