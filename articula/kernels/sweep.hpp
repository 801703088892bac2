// One sweep over the bodies, as the operator algebra and the mass factor run it: see sweeps_text.hpp.
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

/// Joint vectors have one number per velocity (full coordinates), body vectors six per body, first body
/// first. Null: that part is absent. Outputs may not share memory with inputs.
template <class S>
struct Sweep {
  bool outward = false;  // phi*, psi*; else phi, psi
  bool psi = false;      // else phi

  // the argument, a sum of
  const S* plain = nullptr;  // body vector
  S plain_factor = S(1);
  const S* more = nullptr;  // another
  S more_factor = S(1);
  const S* rigid_times = nullptr;  // body vector, multiplied by `rigid` (10 per slot) or, that null, by M
  const S* rigid = nullptr;
  S rigid_factor = S(1);
  const S* symmetric_times = nullptr;  // body vector, multiplied by `symmetric` (P or Omega, 21 per slot)
  const S* symmetric = nullptr;
  S symmetric_factor = S(1);
  const S* K_times = nullptr;  // joint vector T: K T, inward only
  S K_factor = S(1);
  const S* H_times = nullptr;  // joint vector T: H* T
  S H_factor = S(1);

  // the results
  S* z = nullptr;    // body vector
  S* tap = nullptr;  // joint vector: H z (inward), K* z (outward)
  S tap_factor = S(1);
  const S* tap_add = nullptr;  // joint vector added to it
  S tap_add_factor = S(1);
  bool tap_solve = false;  // then D^-1 of it
};

}  // namespace articula
