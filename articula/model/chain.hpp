// A random serial chain of revolute joints, for trials of any length without a file.
#pragma once

#include <cstdint>

#include "articula/model/spec.hpp"

namespace articula {

/// `joints` revolute joints on a link named "base", which has mass too, so that the chain can float. Axes,
/// offsets (0.2 to 0.6 m) and inertias (solid boxes of 0.5 to 3 kg, turned anyhow) depend on the seed alone,
/// on every machine.
ModelSpec make_chain(int joints, std::uint64_t seed = 1);

}  // namespace articula
