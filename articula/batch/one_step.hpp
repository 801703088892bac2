// A step is a rollout of one; the processor's batch and a GPU's say so alike. Internal.
#pragma once

#include <fmt/format.h>

#include "articula/batch/batch.hpp"
#include "articula/error.hpp"

namespace articula {

/// ArgumentError where the next states have another size.
template <class S>
RolloutOptions one_step(In<S> q, In<S> v, double h, Out<S> q_next, Out<S> v_next,
                        const StepOptions& options) {
  RolloutOptions one;
  static_cast<StepOptions&>(one) = options;
  one.step = h;
  if (q_next.size() != q.size() || v_next.size() != v.size())
    throw ArgumentError(fmt::format("step: q_next and v_next have {} and {} numbers, q and v have {} and {}",
                                    q_next.size(), v_next.size(), q.size(), v.size()));
  return one;
}

}  // namespace articula
