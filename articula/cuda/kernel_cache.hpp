// Compiled programs, kept in a folder of the user's from one process to the next.
#pragma once

#include <functional>
#include <string>

#include "articula/cuda/program.hpp"

namespace articula::cuda {

/// Told when a program has to be compiled, which takes seconds, and again when it is.
using Progress = std::function<void(const std::string& message)>;

/// Machine code for GPUs of compute capability `architecture` (90 for 9.0): from the folder
/// ($ARTICULA_CUDA_CACHE, else $XDG_CACHE_HOME/articula, else ~/.cache/articula), or compiled and kept there. Entries are
/// found by everything that they depend on; several processes may use the folder at once; a damaged entry is made again,
/// and a folder that cannot be written to is no error. Throws DeviceError with the compiler's first message.
std::string machine_code(const Program& program, int architecture, const Progress& progress = {});

/// Without the folder.
std::string compile(const Program& program, int architecture);

}  // namespace articula::cuda
