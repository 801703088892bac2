#include "cli/eval_arrays.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "articula/simulation/recording_arrays.hpp"

namespace articula::cli {

namespace {

constexpr std::size_t piece = 1 << 13;  // numbers

[[noreturn]] void no_room() {
  throw ComputationError(
      fmt::format("results cannot be kept in a temporary file ({})", std::generic_category().message(errno)));
}

std::string folder_of(const std::string& out) {
  const std::string folder = out == "-" ? "" : std::filesystem::path(out).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Spool::Spool(const std::string& folder) : fd_(recording_files::open_unnamed(folder)) {
  if (fd_ < 0) no_room();
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
  const std::size_t bytes = waiting_.size() * sizeof(double);
  if (!recording_files::write_all(fd_, {reinterpret_cast<const char*>(waiting_.data()), bytes})) no_room();
  bytes_ += bytes;
  waiting_.clear();
}
void Spool::for_each_piece(const std::function<void(std::span<const double>)>& use) {
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
void ArrayResults::finish() {
  const auto for_each = [&](const recording_files::UseArray& use) {
    for (Column& column : columns_) {
      recording_files::Array array{.name = column.name, .shape = {states_}};
      array.shape.insert(array.shape.end(), column.shape.begin(), column.shape.end());
      array.pieces = [&](const auto& use_numbers) { column.spool.for_each_piece(use_numbers); };
      use(array);
    }
  };
  const auto write = [&](std::string_view bytes) { out_.write(bytes); };
  try {
    form_ == Form::npz ? recording_files::write_npz_arrays("--out " + path_, for_each, write)
                       : recording_files::write_hdf5_arrays("--out " + path_, for_each, write);
  } catch (const Error& error) {
    throw ComputationError(error.what());
  }
  out_.finish();
}

}  // namespace articula::cli
