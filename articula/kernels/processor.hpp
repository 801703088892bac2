// Which of the compiled instruction sets this machine can run. Read by the build too
// (cmake/best_instruction_set.cpp).
#pragma once

namespace articula {

/// The best x86-64 level of this machine: 2, 3 or 4; 0 elsewhere.
inline int x86_64_level() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return 2;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd");
  return v4 ? 4 : 3;
#else
  return 0;
#endif
}

}  // namespace articula
