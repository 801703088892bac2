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

/// The array of one vector.
struct Rows {
  Input input;
  std::size_t width, at;          // numbers per state; of the next row in the file
  std::vector<double> numbers{};  // of some states
};

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

std::vector<Rows> find_rows(const std::map<std::string, ArrayPlace>& arrays, const StateReader& reader,
                            std::size_t& states) {
  std::vector<Rows> out;
  for (int i = 0; i < input_count; ++i) {
    const auto input = static_cast<Input>(i);
    const auto found = arrays.find(std::string(name_of(input)));
    if (found == arrays.end()) {
      if (reader.needed(i)) reader.missing(input);
      continue;
    }
    const std::size_t count = states_in(found->second, input, reader);
    if (!out.empty() && count != states)
      throw InputError(fmt::format("{}: array {} has {} states, array {} has {}", reader.file(),
                                   name_of(input), count, name_of(out[0].input), states));
    states = count;
    out.push_back({input, reader.size_of(input), found->second.at});
  }
  std::vector<std::string> unread;  // a misspelt one must not pass in silence
  for (const auto& array : arrays)
    if (std::none_of(out.begin(), out.end(),
                     [&](const Rows& rows) { return array.first == name_of(rows.input); }))
      unread.push_back(array.first);
  if (!unread.empty())
    say("warning: {}: of its arrays {} not read: {}", reader.file(),
        unread.size() == 1 ? "one is" : "some are", fmt::join(unread, ", "));
  if (out.empty()) throw InputError(fmt::format("{}: has no array q, v, a or tau", reader.file()));
  return out;
}

void take_row(const std::vector<Rows>& all, std::size_t row, StateReader& reader) {
  State& state = reader.next();
  for (const Rows& rows : all) {
    const auto numbers = std::span(rows.numbers).subspan(row * rows.width, rows.width);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        reader.fail("{}[{}] is {}, expected a finite number", name_of(rows.input), i, numbers[i]);
    state.vectors[static_cast<int>(rows.input)].assign(numbers.begin(), numbers.end());
  }
  reader.take();
}

}  // namespace

bool holds_array_states(std::string_view begin) { return holds_arrays(begin); }

void read_array_states(const std::string& path, StateReader& reader) {
  std::array<std::string_view, input_count> names;
  for (int i = 0; i < input_count; ++i) names[i] = name_of(static_cast<Input>(i));
  const ArrayFile file(path, names);
  std::size_t states = 0;
  auto all = find_rows(file.arrays, reader, states);
  for (std::size_t first = 0; first < states; first += rows_at_once) {
    const std::size_t some = std::min(rows_at_once, states - first);
    for (Rows& rows : all) {
      rows.numbers.resize(some * rows.width);
      const std::size_t bytes = rows.numbers.size() * sizeof(double);
      file.bytes->read(rows.at, {reinterpret_cast<char*>(rows.numbers.data()), bytes});
      rows.at += bytes;
    }
    for (std::size_t i = 0; i < some; ++i) take_row(all, i, reader);
  }
}

}  // namespace articula::cli
