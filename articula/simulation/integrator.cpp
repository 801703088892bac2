#include "articula/simulation/integrator.hpp"

#include <fmt/format.h>

#include <string>

#include "articula/error.hpp"

namespace articula {

namespace {

struct Named {
  Integrator integrator;
  std::string_view name;
};
constexpr Named names[] = {
    {Integrator::euler, "euler"},
    {Integrator::symplectic_euler, "symplectic_euler"},
    {Integrator::rk4, "rk4"},
    {Integrator::rk45, "rk45"},
    {Integrator::variational, "variational"},
    {Integrator::midpoint, "midpoint"},
    {Integrator::cvode, "cvode"},
};

}  // namespace

std::string_view name_of(Integrator integrator) {
  for (const Named& n : names)
    if (n.integrator == integrator) return n.name;
  return "?";
}
Integrator integrator_named(std::string_view name) {
  std::string known;
  for (const Named& n : names) {
    if (n.name == name) return n.integrator;
    known += (known.empty() ? "" : ", ") + std::string(n.name);
  }
  throw ArgumentError(fmt::format("unknown integrator '{}'; known: {}", name, known));
}
bool is_adaptive(Integrator integrator) {
  return integrator == Integrator::rk45 || integrator == Integrator::cvode;
}

}  // namespace articula
