#include "cli/states.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "articula/model/configuration.hpp"
#include "cli/messages.hpp"
#include "cli/state_reader.hpp"

namespace articula::cli {

using nlohmann::json;

namespace {
std::string kind_of(const json& value) { return fmt::format("a JSON {}", value.type_name()); }
const char* count_of(Input input) { return input == Input::q ? "nq" : "nv"; }
}  // namespace

StateReader::StateReader(std::string file, const Model& model, const Needs& needs,
                         const StateReading& reading, std::size_t at_once, const UseStates& use)
    : file_(std::move(file)), model_(model), needs_(needs), reading_(reading), use_(use), stretch_(at_once) {}

void StateReader::fail_with(const std::string& text) const {
  throw InputError(fmt::format("{}: state {}: {}", file_, index_, text));
}
std::string StateReader::expected_size(Input input) const {
  return fmt::format("model '{}' needs {} = {}", model_.name(), count_of(input), size_of(input));
}
void StateReader::missing(Input input) const {
  fail("{} is missing; {} uses it: {} = {} numbers", name_of(input), needs_[static_cast<int>(input)],
       count_of(input), size_of(input));
}

void StateReader::note_unread(const std::string& key, const std::string& place) {
  constexpr std::size_t most = 10;
  if (noted_.size() >= most || !noted_.insert(key).second) return;
  say("warning: {}: \"{}\" {} is not read; known: q, v, a, tau, dq, dv, da, dtau, weights, wrenches", file_,
      key, place);
  if (noted_.size() == most) say("warning: {}: what else is not read is not listed", file_);
}

State& StateReader::next() {
  State& state = stretch_[count_];
  for (auto& vector : state.vectors) vector.clear();
  state.wrenches.clear();
  state.named.clear();
  return state;
}
void StateReader::take() {
  auto& q = stretch_[count_].vectors[static_cast<int>(Input::q)];
  try {
    if (!q.empty()) normalise(model_, q, 1e-6);
  } catch (const ArgumentError& error) {
    fail("{}", error.what());
  }
  ++index_;
  if (++count_ < stretch_.size()) return;
  settle();
  stretch_.swap(given_);
  stretch_.resize(given_.size());
  count_ = 0;
  try {
    busy_ = std::async(std::launch::async, [this] { use_(given_); });
  } catch (const std::system_error&) {  // no room for another thread
    use_(given_);
  }
}
void StateReader::settle() {
  if (busy_.valid()) busy_.get();
}
void StateReader::finish() {
  settle();
  if (count_) use_(std::span(stretch_).first(count_));
  count_ = 0;
}

std::vector<double> StateReader::numbers(const json& value, const std::string& name, std::size_t size,
                                         const std::string& needs) const {
  if (!value.is_array()) fail("{} is {}, expected a list of {} numbers", name, kind_of(value), size);
  if (value.size() != size) fail("{} has {} numbers, {}", name, value.size(), needs);
  std::vector<double> out;
  out.reserve(value.size());
  for (const auto& x : value) {
    if (!x.is_number() || !std::isfinite(x.get<double>()))
      fail("{}[{}] is {}, expected a finite number", name, out.size(), x.is_number() ? x.dump() : kind_of(x));
    out.push_back(x.get<double>());
  }
  return out;
}

void StateReader::read(const json& entry) {
  if (!entry.is_object()) fail("is {}, expected an object with q, v, ..", kind_of(entry));
  State& state = next();
  for (const auto& [key, value] : entry.items()) {
    int known = 0;
    while (known < input_count && key != name_of(static_cast<Input>(known))) ++known;
    if (known < input_count) {
      const auto input = static_cast<Input>(known);
      state.vectors[known] = numbers(value, key, size_of(input), expected_size(input));
    } else if (std::find(reading_.named.begin(), reading_.named.end(), key) != reading_.named.end()) {
      state.named[key] = numbers(value, key, value.is_array() ? value.size() : 0, "");
    } else if (key == "wrenches") {
      read_wrenches(value, state);
    } else {
      note_unread(key, "of a state");
    }
  }
  for (int i = 0; i < input_count; ++i)
    if (const auto input = static_cast<Input>(i); needed(i) && !entry.contains(name_of(input)))
      missing(input);
  take();
}

void StateReader::read_wrenches(const json& value, State& state) const {
  if (!value.is_object())
    fail("wrenches is {}, expected {{\"LINK\": [moment(3), force(3)], ..}}", kind_of(value));
  for (const auto& [link, numbers_of_link] : value.items()) {
    const std::string name = fmt::format("the wrench on '{}'", link);
    int frame = -1;
    try {
      frame = model_.frame(link);
    } catch (const ArgumentError& error) {
      fail("wrenches: {}", error.what());
    }
    const auto w = numbers(numbers_of_link, name, 6, "expected 6: moment and force, world axes");
    state.wrenches.push_back({frame, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}}});
  }
}

bool Bytes::more() {
  constexpr std::size_t widest = 1 << 24;
  const std::size_t left = static_cast<std::size_t>(end - at);
  if (left) std::memmove(window_.data(), at, left);
  if (left == window_.size() && left < widest) window_.resize(2 * left);
  const std::size_t got =
      left < window_.size() ? pieces_.read(window_.data() + left, window_.size() - left) : 0;
  at = window_.data();
  end = at + left + got;
  return got > 0;
}

namespace {
/// One that the model's file names, of the model with a fixed base.
const NamedState* named_state(const std::string& path, const StateReading& reading) {
  std::error_code ignored;
  if (path == "-" || std::filesystem::exists(path, ignored)) return nullptr;
  const auto found = std::find_if(reading.known.begin(), reading.known.end(),
                                  [&](const NamedState& state) { return state.name == path; });
  return found == reading.known.end() ? nullptr : &*found;
}
}  // namespace

void stream_states(const std::string& path, const Model& model, const Needs& needs, std::size_t at_once,
                   const UseStates& use, const StateReading& reading) {
  const bool from_terminal = path == "-" && isatty(STDIN_FILENO);
  StateReader reader(path == "-" ? "<stdin>" : path, model, needs, reading, at_once, use);
  if (const NamedState* const known = named_state(path, reading)) {
    if (known->q.size() != std::size_t(model.nq()) || known->v.size() != std::size_t(model.nv()))
      throw InputError(fmt::format("{} {}: is a state of the model with a fixed base", reading.option, path));
    State& state = reader.next();
    for (int i = 0; i < input_count; ++i)
      if (reader.needed(i)) state.vectors[i].assign(reader.size_of(static_cast<Input>(i)), 0.0);
    state.vectors[static_cast<int>(Input::q)] = known->q;
    state.vectors[static_cast<int>(Input::v)] = known->v;
    reader.take();
    return reader.finish();
  }
  if (from_terminal && !reading.neutral_if_absent) say("reading states from the terminal, Ctrl-D ends them");
  Bytes bytes(path, path == "-" ? "<stdin>" : reading.option + " " + path);
  if (path == "-" && reading.neutral_if_absent) {
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (std::all_of(bytes.at, bytes.end, space))
      if (from_terminal || !bytes.more()) {
        State& state = reader.next();
        state.vectors[static_cast<int>(Input::q)] = neutral(model);
        state.vectors[static_cast<int>(Input::v)].resize(model.nv());
        state.given = false;
        reader.take();
        return reader.finish();
      }
  }
  if (bytes.at == bytes.end) bytes.more();
  try {
    if (!holds_array_states({bytes.at, static_cast<std::size_t>(bytes.end - bytes.at)}))
      read_json_states(bytes, reader);
    else if (path == "-")
      throw InputError(
          fmt::format("<stdin>: is a NumPy or HDF5 file; give its name: {} FILE", reading.option));
    else {
      ArrayStates arrays(path, reader);
      arrays.read(0, arrays.size(), reader);
    }
  } catch (...) {
    reader.settle();  // what is wrong with an earlier state comes first
    throw;
  }
  reader.finish();
}

std::vector<State> read_states(const std::string& path, const Model& model, const Needs& needs,
                               const StateReading& reading) {
  std::vector<State> all;
  stream_states(
      path, model, needs, 64,
      [&](std::span<const State> some) { all.insert(all.end(), some.begin(), some.end()); }, reading);
  return all;
}

namespace {
/// Calls f(body, from the joint origin to the frame's, wrench) for each force on a body that can move.
template <class F>
void for_each_wrench(const State& state, const Kinematics<>& kinematics, F&& f) {
  for (const auto& [index, wrench] : state.wrenches) {
    const Frame& frame = kinematics.model().frames()[index];
    if (frame.body < 0) continue;  // welded to the world, which carries it
    f(frame.body, kinematics.pose(index).rotation * star_times(frame.placement.R, frame.placement.p), wrench);
  }
}
}  // namespace

void body_wrenches(const State& state, const Kinematics<>& kinematics, std::vector<Spatial<double>>& out) {
  out.assign(kinematics.model().body_count(), Spatial<double>{{0, 0, 0}, {0, 0, 0}});
  for_each_wrench(state, kinematics, [&](int body, const Vec3<double>& r, const Spatial<double>& wrench) {
    out[body] += Phi<double>{r} * wrench;
  });
}
void body_levers(const State& state, const Kinematics<>& kinematics, std::vector<Mat3<double>>& out) {
  out.assign(kinematics.model().body_count(), Mat3<double>{0, 0, 0, 0, 0, 0, 0, 0, 0});
  for_each_wrench(state, kinematics, [&](int body, const Vec3<double>& r, const Spatial<double>& wrench) {
    out[body] += from_columns(r * wrench.v.x, r * wrench.v.y, r * wrench.v.z);
  });
}

}  // namespace articula::cli
