// Timings on a GPU: see device.cpp.
#pragma once

#include <string>
#include <vector>

namespace articula::bench {

/// articula_bench --device cuda; variants: other ways to make the calls too. Returns the exit code.
int device_bench(const std::vector<std::string>& robots, bool quick, bool variants);

}  // namespace articula::bench
