#include "cli/eval_arrays.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "articula/simulation/recording_arrays.hpp"

namespace articula::cli {

namespace {

constexpr std::size_t piece = 1 << 13;  // numbers

[[noreturn]] void no_room() {
  throw ComputationError(
      fmt::format("results cannot be kept in a temporary file ({})", std::strerror(errno)));
}

std::string folder_of(const std::string& out) {
  const std::string folder = out == "-" ? "" : std::filesystem::path(out).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Spool::Spool(const std::string& folder) : fd_(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (fd_ < 0) {  // not every file system has files without names
    std::string name = (std::filesystem::temp_directory_path() / "articulaXXXXXX").string();
    fd_ = mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) no_room();
    unlink(name.c_str());
  }
  waiting_.reserve(piece);
}
Spool::Spool(Spool&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_), waiting_(std::move(other.waiting_)) {}
Spool::~Spool() {
  if (fd_ >= 0) close(fd_);
}
void Spool::add(std::span<const double> x) {
  waiting_.insert(waiting_.end(), x.begin(), x.end());
  if (waiting_.size() >= piece) flush();
}
void Spool::flush() {
  const char* at = reinterpret_cast<const char*>(waiting_.data());
  for (std::size_t left = waiting_.size() * sizeof(double); left > 0;) {
    const ssize_t n = pwrite(fd_, at, left, static_cast<off_t>(bytes_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) no_room();
    at += n, left -= static_cast<std::size_t>(n), bytes_ += static_cast<std::size_t>(n);
  }
  waiting_.clear();
}
template <class F>
void Spool::for_each_piece(F&& use) {
  flush();
  std::vector<double> numbers(piece);
  for (std::size_t at = 0; at < bytes_;) {
    const std::size_t want = std::min(piece * sizeof(double), bytes_ - at);
    std::size_t got = 0;
    while (got < want) {
      const ssize_t n =
          pread(fd_, reinterpret_cast<char*>(numbers.data()) + got, want - got, static_cast<off_t>(at + got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) no_room();
      got += static_cast<std::size_t>(n);
    }
    at += want;
    use(std::span<const double>(numbers).first(want / sizeof(double)));
  }
}

ArrayResults::ArrayResults(const std::string& out, Form form, std::span<const Values> values)
    : path_(out), out_(out), form_(form) {
  for (const Values& v : values)
    for (std::size_t i = 0; i < v.shapes.size(); ++i) {
      const std::string name = v.algorithm.name;
      columns_.push_back({v.shapes.size() == 1 ? name : name + "." + v.algorithm.parts[i].key, v.shapes[i],
                          Spool(folder_of(out))});
    }
}
void ArrayResults::add(std::span<const Result> state) {
  std::size_t column = 0;
  for (const Result& result : state)
    for (std::size_t i = 0; i < result.values->shapes.size(); ++i)
      columns_[column++].spool.add(result.values->part(i, result.place));
  ++states_;
}
std::vector<std::size_t> ArrayResults::shape_of(const Column& column) const {
  std::vector<std::size_t> shape{states_};
  shape.insert(shape.end(), column.shape.begin(), column.shape.end());
  return shape;
}

void ArrayResults::write_npz() {
  const auto text = [](std::span<const double> x) {
    return std::string_view(reinterpret_cast<const char*>(x.data()), x.size_bytes());
  };
  recording_files::ZipArchive zip("--out " + path_);
  for (Column& column : columns_) {
    const std::string header = recording_files::npy_header(shape_of(column));
    std::uint32_t checksum = recording_files::crc32(header);
    std::size_t bytes = header.size();
    column.spool.for_each_piece([&](std::span<const double> x) {
      checksum = recording_files::crc32(text(x), checksum);
      bytes += x.size_bytes();
    });
    out_.write(zip.begin(column.name + ".npy", checksum, bytes));
    out_.write(header);
    column.spool.for_each_piece([&](std::span<const double> x) { out_.write(text(x)); });
  }
  out_.write(zip.end());
}
void ArrayResults::write_hdf5() {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  const auto each = [&](const auto& use) {
    for (Column& column : columns_) {
      recording_files::Array array{.name = column.name, .shape = shape_of(column)};
      column.spool.for_each_piece(
          [&](std::span<const double> x) { array.numbers.insert(array.numbers.end(), x.begin(), x.end()); });
      use(array);
    }
  };
  recording_files::with_hdf5_image("--out " + path_, names, each,
                                   [&](std::string_view bytes) { out_.write(bytes); });
}
void ArrayResults::finish() {
  try {
    form_ == Form::npz ? write_npz() : write_hdf5();
  } catch (const Error& error) {
    throw ComputationError(error.what());
  }
  out_.finish();
}

}  // namespace articula::cli
