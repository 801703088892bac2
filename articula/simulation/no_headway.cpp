#include "articula/simulation/no_headway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace articula {

std::string joint_of_velocity(const Model& model, int i) {
  for (const Joint& joint : model.joints())
    if (joint.mimics < 0 && i >= joint.v_index && i < joint.v_index + joint.nv) return joint.name;
  return "?";
}

IntegrationError no_headway(const Model& model, Integrator integrator, double t, double more_evaluations,
                            In<double> forces, In<double> rates) {
  const auto largest = [](In<double> x) {
    const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
    return std::size_t(std::max_element(x.begin(), x.end(), smaller) - x.begin());
  };
  std::size_t i = largest(forces);
  if (forces[i] == 0) i = largest(rates);
  return IntegrationError(
      fmt::format("{} makes no headway at t = {} s: at this pace it needs {:.1e} more evaluations; the force "
                  "at joint '{}' is "
                  "{:.3g}, its velocity {:.3g} ({}gains, stiffness, damping or references may be too large)",
                  name_of(integrator), t, more_evaluations, joint_of_velocity(model, int(i)), forces[i],
                  rates[i], integrator == Integrator::cvode ? "" : "cvode is for stiff systems; "));
}

}  // namespace articula
