// Which instruction set the compiled kernels use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace articula {

/// Names of the instruction sets that this build has and this machine can run, best last ("v2", "v3", "v4").
std::vector<std::string> instruction_sets();
std::string instruction_set();
/// Switches all kernels of the process, for tests and measurements. Throws ArgumentError for a name not in
/// instruction_sets(). Not to be called while another thread computes.
void use_instruction_set(std::string_view name);

}  // namespace articula
