// The plain arrays that kernels work in. Each algorithm's workspace owns those that it needs, made once per
// model.
#pragma once

#include "articula/model/tree.hpp"

namespace articula {

/// Components of a slot of KernelMemory::x: the state of one body, world axes, at its joint origin O_k.
namespace body {
enum : int {
  R = 0,         // Mat3: body axes in the world (until move_body: in the inboard body's axes)
  l = 9,         // Vec3: from the inboard body's origin to this one's (until then: in its axes)
  w = 12,        // Vec3: angular velocity
  o = w,         // Vec3: in algorithms without velocities, O_k from the first origin of its tree
  alpha_w = 15,  // Vec3, Vec3: alpha = d/dt (w, v_O)
  alpha_v = 18,  //
  J = 21,        // Sym3: inertia about O_k
  mp = 27,       // Vec3: mass times mass centre
  f = 30,        // Spatial: M alpha + b less external force
  total_m = f,   // in the mass matrix: mass of everything outboard; mp and J are then of all that too
  count = 36,
};
}

template <class S>
struct KernelMemory {
  S* x = nullptr;     // body::count per slot, in blocks (slots.hpp)
  S* side = nullptr;  // side_count per slot: sums of P and p (or R, f) over all children but body k + 1
  S* K = nullptr;  // K(k+1,k), 6 per velocity; not written for bodies on the world, where nothing is inboard
  S* D = nullptr;  // D(k) row by row, 6 per velocity
  S* inv_D = nullptr;   // its factor L d L*, row i: L(i,0) .. L(i,i-1), 1/d(i); 6 per velocity
  S* nu = nullptr;      // 1 per velocity (for the inverse mass matrix: of Wide<S>)
  S* lambda = nullptr;  // 6 per slot (likewise)
  S* roots = nullptr;   // 13 per tree: composite inertia about its first origin, and that origin in the world
  S* Hs = nullptr;      // 6 rows of row_length(nv), and a lane before: the columns Hs* by component
  S* X = nullptr;       // likewise: R Hs*
  S* p = nullptr;       // 3 per slot: O_k in the world
  S* V = nullptr;       // 6 per slot: (w, v) of O_k
  S* alpha = nullptr;   // 6 per slot: d/dt V, gravity not included
};
inline constexpr int side_count = 27;
/// Rows by velocity end with a margin, so that a register can begin at any velocity. Most models have one and
/// the same length of row, for which the kernels' addresses are constants.
inline constexpr int short_row = 64;
constexpr long row_length(int nv) { return nv + block <= short_row ? short_row : nv + block; }

/// Sums over all bodies.
template <class S>
struct Totals {
  S kinetic, potential;  // potential: zero at the world's origin
  S mass;
  Vec3<S> center_of_mass;
  Spatial<S> momentum;  // (angular, linear) about the centre of mass, world axes
};

}  // namespace articula
