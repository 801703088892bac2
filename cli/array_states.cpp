// States as arrays, a row per state: .npz and .npy files, HDF5.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "articula/simulation/recording_arrays.hpp"
#include "cli/messages.hpp"
#include "cli/state_reader.hpp"

namespace articula::cli {

namespace {

using namespace recording_files;

constexpr std::size_t rows_at_once = 256;

/// How many states an array has.
std::size_t states_in(const ArrayPlace& array, Input input, const StateReader& reader) {
  const std::size_t width = reader.size_of(input);
  const auto& shape = array.shape;
  if (shape.size() == 2 && shape[1] == width) return shape[0];
  if (shape.size() == 1 && width == 1) return shape[0];
  if (shape.size() == 1 && width == shape[0]) return 1;
  if (shape.empty() && width && array.count % width == 0) return array.count / width;
  throw InputError(fmt::format("{}: array {} has {}, {}, expected an array of (states, {})", reader.file(),
                               name_of(input),
                               shape.empty() ? fmt::format("{} numbers", array.count)
                                             : fmt::format("the shape ({})", fmt::join(shape, ", ")),
                               reader.expected_size(input), width));
}

std::array<std::string_view, input_count> names() {
  std::array<std::string_view, input_count> out;
  for (int i = 0; i < input_count; ++i) out[i] = name_of(static_cast<Input>(i));
  return out;
}

}  // namespace

bool holds_array_states(std::string_view begin) { return holds_arrays(begin); }

ArrayStates::ArrayStates(const std::string& path, const StateReader& reader) : file_(path, names()) {
  find_rows(reader);
}

void ArrayStates::find_rows(const StateReader& reader) {
  for (int i = 0; i < input_count; ++i) {
    const auto input = static_cast<Input>(i);
    const auto found = file_.arrays.find(std::string(name_of(input)));
    if (found == file_.arrays.end()) {
      if (reader.needed(i)) reader.missing(input);
      continue;
    }
    const std::size_t count = states_in(found->second, input, reader);
    if (!all_.empty() && count != size_)
      throw InputError(fmt::format("{}: array {} has {} states, array {} has {}", reader.file(),
                                   name_of(input), count, name_of(all_[0].input), size_));
    size_ = count;
    all_.push_back({input, reader.size_of(input), found->second.at});
  }
  std::vector<std::string> unread;  // a misspelt one must not pass in silence
  for (const auto& array : file_.arrays)
    if (std::none_of(all_.begin(), all_.end(),
                     [&](const Rows& rows) { return array.first == name_of(rows.input); }))
      unread.push_back(array.first);
  if (!unread.empty())
    say("warning: {}: of its arrays {} not read: {}", reader.file(),
        unread.size() == 1 ? "one is" : "some are", fmt::join(unread, ", "));
  if (all_.empty()) throw InputError(fmt::format("{}: has no array q, v, a or tau", reader.file()));
}

void ArrayStates::take_row(std::size_t row, StateReader& reader) const {
  State& state = reader.next();
  for (const Rows& rows : all_) {
    const auto numbers = std::span(rows.numbers).subspan(row * rows.width, rows.width);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        reader.fail("{}[{}] is {}, expected a finite number", name_of(rows.input), i, numbers[i]);
    state.vectors[static_cast<int>(rows.input)].assign(numbers.begin(), numbers.end());
  }
  reader.take();
}

void ArrayStates::read(std::size_t first, std::size_t count, StateReader& reader) {
  for (std::size_t at = first; at < first + count; at += rows_at_once) {
    const std::size_t some = std::min(rows_at_once, first + count - at);
    for (Rows& rows : all_) {
      rows.numbers.resize(some * rows.width);
      const std::size_t bytes = rows.numbers.size() * sizeof(double);
      file_.bytes->read(rows.at + at * rows.width * sizeof(double),
                        {reinterpret_cast<char*>(rows.numbers.data()), bytes});
    }
    for (std::size_t i = 0; i < some; ++i) take_row(i, reader);
  }
}

}  // namespace articula::cli
