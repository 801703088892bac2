#include "articula/kernels/integrator.hpp"

#include <fmt/format.h>

#include <vector>

#include "articula/error.hpp"

namespace articula {

namespace {

struct Listed {
  std::string_view name;
  Stepping stepping;
};
constexpr Listed list[] = {
#define ARTICULA_LISTED(name, stepping) {#name, Stepping::stepping},
    ARTICULA_INTEGRATORS(ARTICULA_LISTED)
#undef ARTICULA_LISTED
};

template <class Wanted>
std::string names_of(Wanted&& wanted) {
  std::vector<std::string_view> out;
  for (const Listed& x : list)
    if (wanted(x)) out.push_back(x.name);
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

std::string_view name_of(Integrator integrator) { return list[static_cast<int>(integrator)].name; }
Stepping stepping_of(Integrator integrator) { return list[static_cast<int>(integrator)].stepping; }

std::string integrator_names() {
  return names_of([](const Listed&) { return true; });
}
std::string integrator_names(Stepping stepping) {
  return names_of([&](const Listed& x) { return x.stepping == stepping; });
}

Integrator integrator_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(list)); ++i)
    if (list[i].name == name) return static_cast<Integrator>(i);
  throw ArgumentError(fmt::format("unknown integrator '{}'; known: {}", name, integrator_names()));
}

}  // namespace articula
