#include "articula/simulation/check_state.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"

namespace articula {

void check_state(const char* function, const Manifold& manifold, std::size_t made_for, std::size_t nq,
                 std::size_t nv) {
  const std::size_t need_q = manifold.nq(), need_v = manifold.nv();
  if (made_for != need_v)
    throw ArgumentError(
        fmt::format("{}: made for {} velocities, the system has {}", function, made_for, need_v));
  if (nq != need_q)
    throw ArgumentError(fmt::format("{}: q has {} numbers, the system needs {}", function, nq, need_q));
  if (nv != need_v)
    throw ArgumentError(fmt::format("{}: v has {} numbers, the system needs {}", function, nv, need_v));
}

}  // namespace articula
