#include "cli/textbook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/textbook.hpp"
#include "articula/spatial/numbers.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"
#include "cli/states.hpp"

namespace articula::cli {

ExitCode evaluate_textbook(const Model& model, const std::string& path, const std::string& tip,
                           const std::string& to) {
  BaseAndTip ends;
  if (!tip.empty()) ends.tip = model.frame(tip);
  Output out(to);
  Needs needs;
  for (const Input input : {Input::q, Input::v, Input::a}) needs[static_cast<int>(input)] = textbook_quantity;
  const auto states = read_states(path, model, needs, {.named = {"V_0", "V_0_dot", "F_tip"}});
  const auto result_of = [&](std::size_t i) {
    const State& state = states[i];
    const auto take = [&](const char* name, Spatial<double>& to_fill) {
      to_fill = {{0, 0, 0}, {0, 0, 0}};
      const auto given = state.named.find(name);
      if (given == state.named.end()) return false;
      if (given->second.size() != 6)
        throw InputError(
            fmt::format("state {}: {} has {} numbers, expected 6", i, name, given->second.size()));
      std::copy_n(given->second.begin(), 6, numbers_of(to_fill));
      return true;
    };
    take("V_0", ends.V_0), take("V_0_dot", ends.V_0_dot);
    if (take("F_tip", ends.F_tip) && tip.empty())
      throw InputError(fmt::format("state {}: F_tip acts at a frame: give --frame LINK", i));
    const std::vector<double> tau =
        inverse_dynamics_screws(model, state[Input::q], state[Input::v], state[Input::a], ends);
    if (!std::all_of(tau.begin(), tau.end(), [](double x) { return std::isfinite(x); }))
      throw ComputationError(fmt::format("state {}: {} is not finite; are the state's numbers too large?", i,
                                         textbook_quantity));
    return Json{{textbook_quantity, tau}};
  };
  std::string text = "{\n \"model\": ";
  append(describe_model(model), 1, text);
  text += ",\n";
  append_results(states.size(), result_of, text);
  out.write(text);
  out.finish();
  return done;
}

}  // namespace articula::cli
