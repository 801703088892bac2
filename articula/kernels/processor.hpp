// Which of the compiled instruction sets this machine can run. Read by the build too
// (cmake/best_instruction_set.cpp).
#pragma once

#include <string_view>

namespace articula {

/// The instruction sets that not every machine of a build has, with their tests, worst first.
struct InstructionSetTest {
  const char* name;
  bool (*passes)();
};
#if defined(__x86_64__)
inline bool runs_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
inline bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
}
inline constexpr InstructionSetTest instruction_set_tests[] = {{"v3", runs_v3}, {"v4", runs_v4}};
#else
inline constexpr InstructionSetTest instruction_set_tests[] = {{"", nullptr}};
#endif

/// Of a set that this build could be compiled for (cmake/instruction_sets.cmake).
inline bool machine_runs(std::string_view set) {
  for (const InstructionSetTest& test : instruction_set_tests)
    if (set == test.name) return test.passes();
  return true;
}

}  // namespace articula
