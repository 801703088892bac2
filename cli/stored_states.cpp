#include "cli/stored_states.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "articula/model/fingerprint.hpp"
#include "articula/simulation/recording_arrays.hpp"
#include "cli/sharding.hpp"

namespace articula::cli {

namespace {
template <class T>
void put(std::string& bytes, const T& x) {
  bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
}
[[noreturn]] void cannot_be_kept() {
  throw ComputationError(
      fmt::format("states cannot be kept in a temporary file ({})", std::generic_category().message(errno)));
}
}  // namespace

/// States as this process has read them: of each vector its size and numbers, then the forces on links.
struct StoredStates::Copy {
  int fd;
  recording_files::FileBytes bytes;  // closes it
  std::vector<std::size_t> begins;   // of each stretch; and the end
  std::uint64_t size = 0;
  Fingerprint sum;

  explicit Copy(int fd) : fd(fd), bytes(fd, "the copy of the states"), begins{0} {}

  void add(std::span<const State> states) {
    std::string text;
    for (const State& state : states) {
      for (const auto& vector : state.vectors) {
        put(text, vector.size());
        text.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(double));
      }
      put(text, state.wrenches.size());
      for (const FrameWrench& w : state.wrenches) put(text, std::size_t(w.frame)), put(text, w.wrench);
    }
    if (!recording_files::write_all(fd, text)) cannot_be_kept();
    sum.add(text);
    begins.push_back(begins.back() + text.size());
    size += states.size();
  }

  std::vector<State> stretch(std::size_t number, std::size_t count) const {
    const std::string text = bytes_of(number);
    const char* at = text.data();
    const auto take = [&](void* to, std::size_t n) { std::memcpy(to, at, n), at += n; };
    std::vector<State> out(count);
    for (State& state : out) {
      std::size_t n = 0;
      for (auto& vector : state.vectors) {
        take(&n, sizeof n);
        vector.resize(n);
        if (n > 0) take(vector.data(), n * sizeof(double));
      }
      take(&n, sizeof n);
      state.wrenches.resize(n);
      for (FrameWrench& w : state.wrenches) {
        take(&n, sizeof n);
        w.frame = int(n);
        take(&w.wrench, sizeof w.wrench);
      }
    }
    return out;
  }

 private:
  std::string bytes_of(std::size_t number) const {
    std::string text(begins[number + 1] - begins[number], '\0');
    bytes.read(begins[number], std::span(text));
    return text;
  }
};

StoredStates::StoredStates(const std::string& path, const Model& model, const Needs& needs,
                           std::size_t at_once, const StateReading& reading)
    : path_(path), model_(model), needs_(needs), at_once_(at_once), reading_(reading) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    constexpr std::size_t magic = 16;
    const recording_files::FileBytes file(path);
    if (recording_files::holds_arrays(file.read(0, std::min(magic, file.size())))) {
      const UseStates none = [](std::span<const State>) {};
      StateReader reader(path, model, needs, reading_, at_once, none);
      arrays_ = std::make_unique<ArrayStates>(path, reader);
      return;
    }
  }
  const int fd = recording_files::open_unnamed(std::filesystem::temp_directory_path(ignored).string());
  if (fd < 0) cannot_be_kept();
  copy_ = std::make_unique<Copy>(fd);
  stream_states(
      path, model, needs, at_once, [&](std::span<const State> some) { copy_->add(some); }, reading);
}
StoredStates::~StoredStates() = default;

std::uint64_t StoredStates::size() const { return arrays_ ? arrays_->size() : copy_->size; }
std::string StoredStates::fingerprint() const {
  return arrays_ ? fingerprint_of_file(path_) : copy_->sum.text();
}

void StoredStates::stream(std::uint64_t first, std::uint64_t count, const UseStates& use) {
  if (arrays_) {
    StateReader reader(path_, model_, needs_, reading_, at_once_, use);
    reader.begin_at(first);
    try {
      arrays_->read(first, count, reader);
    } catch (...) {
      reader.settle();  // what is wrong with an earlier state comes first
      throw;
    }
    return reader.finish();
  }
  for (std::uint64_t at = first; at < first + count; at += at_once_)
    use(copy_->stretch(at / at_once_, std::min<std::uint64_t>(at_once_, copy_->size - at)));
}

}  // namespace articula::cli
