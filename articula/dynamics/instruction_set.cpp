#include "articula/dynamics/instruction_set.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "articula/dynamics/kernels.hpp"
#include "articula/error.hpp"

namespace articula {

#define ARTICULA_DECLARE_TABLES(isa)         \
  namespace isa {                            \
  const KernelTable<double>& table_double(); \
  const KernelTable<float>& table_float();   \
  }
#ifdef ARTICULA_X86_64
ARTICULA_DECLARE_TABLES(v2)
ARTICULA_DECLARE_TABLES(v3)
ARTICULA_DECLARE_TABLES(v4)
#else
ARTICULA_DECLARE_TABLES(portable)
#endif

namespace {

struct Tables {
  const KernelTable<double>* in_double;
  const KernelTable<float>* in_float;
};

/// What this machine can run, best last.
std::vector<Tables> usable() {
#ifdef ARTICULA_X86_64
  std::vector<Tables> all{{&v2::table_double(), &v2::table_float()}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    all.push_back({&v3::table_double(), &v3::table_float()});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
      all.push_back({&v4::table_double(), &v4::table_float()});
  }
  return all;
#else
  return {{&portable::table_double(), &portable::table_float()}};
#endif
}

Tables named(std::string_view name) {
  std::string known;
  for (const Tables& t : usable()) {
    if (name == t.in_double->name) return t;
    known += (known.empty() ? "" : ", ") + std::string(t.in_double->name);
  }
  throw ArgumentError(fmt::format("instruction set '{}' is not available here; there are: {}", name, known));
}

Tables& current() {
  static Tables tables = [] {
    const char* asked = std::getenv("ARTICULA_ISA");
    return asked && *asked ? named(asked) : usable().back();
  }();
  return tables;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Tables& t : usable()) names.emplace_back(t.in_double->name);
  return names;
}
std::string instruction_set() { return current().in_double->name; }
void use_instruction_set(std::string_view name) { current() = named(name); }

template <>
const KernelTable<double>& kernels<double>() {
  return *current().in_double;
}
template <>
const KernelTable<float>& kernels<float>() {
  return *current().in_float;
}

}  // namespace articula
