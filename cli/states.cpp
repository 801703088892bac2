#include "cli/states.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "articula/files/json_input.hpp"
#include "articula/model/configuration.hpp"
#include "cli/input.hpp"
#include "cli/messages.hpp"

namespace articula::cli {

namespace {

using nlohmann::json;

constexpr const char* shape =
    "expected {\"states\": [{\"q\": [..], \"v\": [..], ..}, ..]} or one such state; see articula eval --help";

std::string text_of(const std::string& path, const std::string& option) {
  if (path == "-" && isatty(STDIN_FILENO)) say("reading states from the terminal, Ctrl-D ends them");
  return read_all(path, path == "-" ? "<stdin>" : option + " " + path);
}

class Reader {
 public:
  Reader(std::string file, const Model& model, const Needs& needs, const StateReading& reading)
      : file_(std::move(file)), model_(model), needs_(needs), reading_(reading) {}

  std::vector<State> read(const json& document) {
    if (!document.is_object())
      throw InputError(fmt::format("{}: found {}, {}", file_, kind_of(document), shape));
    std::vector<State> states;
    if (!document.contains("states")) {
      states.push_back(read_state(document));
      return states;
    }
    for (const auto& [key, value] : document.items())
      if (key != "states") note_unread(key, "beside \"states\"");
    const json& list = document["states"];
    if (!list.is_array())
      throw InputError(fmt::format("{}: \"states\" is {}, expected a list of states", file_, kind_of(list)));
    for (const auto& entry : list) {
      states.push_back(read_state(entry));
      ++index_;
    }
    return states;
  }

 private:
  static std::string kind_of(const json& value) { return fmt::format("a JSON {}", value.type_name()); }

  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> text, A&&... a) const {
    throw InputError(
        fmt::format("{}: state {}: {}", file_, index_, fmt::format(text, std::forward<A>(a)...)));
  }

  /// Once for each key, up to ten: a misspelt one must not pass in silence.
  void note_unread(const std::string& key, const std::string& place) {
    constexpr std::size_t most = 10;
    if (noted_.size() >= most || !noted_.insert(key).second) return;
    say("warning: {}: \"{}\" {} is not read; known: q, v, a, tau, dq, dv, da, dtau, weights, wrenches", file_,
        key, place);
    if (noted_.size() == most) say("warning: {}: what else is not read is not listed", file_);
  }

  int size_of(Input input) const { return input == Input::q ? model_.nq() : model_.nv(); }
  static const char* count_of(Input input) { return input == Input::q ? "nq" : "nv"; }

  std::vector<double> numbers(const json& value, const std::string& name, int size,
                              const std::string& needs) const {
    if (!value.is_array()) fail("{} is {}, expected a list of {} numbers", name, kind_of(value), size);
    if (static_cast<int>(value.size()) != size) fail("{} has {} numbers, {}", name, value.size(), needs);
    std::vector<double> out;
    out.reserve(value.size());
    for (const auto& x : value) {
      if (!x.is_number() || !std::isfinite(x.get<double>()))
        fail("{}[{}] is {}, expected a finite number", name, out.size(),
             x.is_number() ? x.dump() : kind_of(x));
      out.push_back(x.get<double>());
    }
    return out;
  }

  State read_state(const json& entry) {
    if (!entry.is_object()) fail("is {}, expected an object with q, v, ..", kind_of(entry));
    State state;
    for (const auto& [key, value] : entry.items()) {
      int known = 0;
      while (known < input_count && key != name_of(static_cast<Input>(known))) ++known;
      if (known < input_count) {
        const auto input = static_cast<Input>(known);
        const int size = size_of(input);
        state.vectors[static_cast<int>(input)] = numbers(
            value, key, size, fmt::format("model '{}' needs {} = {}", model_.name(), count_of(input), size));
      } else if (std::find(reading_.named.begin(), reading_.named.end(), key) != reading_.named.end()) {
        state.named[key] = numbers(value, key, static_cast<int>(value.is_array() ? value.size() : 0), "");
      } else if (key == "wrenches") {
        read_wrenches(value, state);
      } else {
        note_unread(key, "of a state");
      }
    }
    for (int i = 0; i < input_count; ++i) {
      const auto input = static_cast<Input>(i);
      if (!needs_[i].empty() && !entry.contains(name_of(input)))
        fail("{} is missing; {} uses it: {} = {} numbers", name_of(input), needs_[i], count_of(input),
             size_of(input));
    }
    auto& q = state.vectors[static_cast<int>(Input::q)];
    try {
      if (!q.empty()) normalise(model_, q, 1e-6);
    } catch (const ArgumentError& error) {
      fail("{}", error.what());
    }
    return state;
  }

  void read_wrenches(const json& value, State& state) const {
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

  std::string file_;
  const Model& model_;
  const Needs& needs_;
  const StateReading& reading_;
  int index_ = 0;
  std::set<std::string> noted_;
};

}  // namespace

std::vector<State> read_states(const std::string& path, const Model& model, const Needs& needs,
                               const StateReading& reading) {
  const std::string file = path == "-" ? "<stdin>" : path;
  if (reading.neutral_if_absent && path == "-") {
    const std::string text = isatty(STDIN_FILENO) ? "" : text_of(path, reading.option);
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
      State state;
      state.vectors[static_cast<int>(Input::q)] = neutral(model);
      state.vectors[static_cast<int>(Input::v)].resize(model.nv());
      return {state};
    }
    return Reader(file, model, needs, reading).read(parse_json(text, file, shape));
  }
  return Reader(file, model, needs, reading).read(parse_json(text_of(path, reading.option), file, shape));
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
