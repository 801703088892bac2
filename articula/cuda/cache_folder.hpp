// Where compiled programs are kept.
#pragma once

#include <string>

namespace articula::cuda {

/// $ARTICULA_CUDA_CACHE, else $XDG_CACHE_HOME/articula, else ~/.cache/articula; empty: none of these is set.
std::string cache_folder();

}  // namespace articula::cuda
