#include "articula/kernels/instruction_set.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "articula/error.hpp"
#include "articula/kernels/processor.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

// ARTICULA_COMPILED_SETS, from CMake: X(v2) X(v3) .., worst first.
#define X(isa)                   \
  namespace isa {                \
  const KernelSet& kernel_set(); \
  }
ARTICULA_COMPILED_SETS
#undef X

namespace {

#define X(isa) #isa,
constexpr const char* compiled[] = {ARTICULA_COMPILED_SETS};
#undef X

/// What this build has and this machine can run, best last.
std::vector<const KernelSet*> usable() {
  std::vector<const KernelSet*> sets;
  const auto add = [&](const char* name, const KernelSet& (*set)()) {
    if (machine_runs(name)) sets.push_back(&set());
  };
#define X(isa) add(#isa, isa::kernel_set);
  ARTICULA_COMPILED_SETS
#undef X
  return sets;
}

const KernelSet* named(std::string_view name) {
  std::string known;
  for (const KernelSet* set : usable()) {
    if (name == set->name) return set;
    known += (known.empty() ? "" : ", ") + std::string(set->name);
  }
  throw ArgumentError(fmt::format("instruction set '{}' is not available here; there are: {}", name,
                                  known.empty() ? "none, this build is for newer machines" : known));
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const KernelSet* set : usable()) names.emplace_back(set->name);
  return names;
}
std::string instruction_set() { return kernel_set().name; }
void use_instruction_set(std::string_view name) { kernel_set_in_use = named(name); }

std::atomic<const KernelSet*> kernel_set_in_use = nullptr;
const KernelSet& choose_kernel_set() {
  const char* const asked = std::getenv("ARTICULA_ISA");
  const auto sets = usable();
  const KernelSet* const set = asked && *asked ? named(asked)
                               : sets.empty()  ? named(compiled[0])
                                               : sets.back();
  kernel_set_in_use = set;  // whoever else chooses now chooses the same
  return *set;
}

}  // namespace articula
