// The plain arrays that kernels work in. Each algorithm's workspace owns those that it needs, made once per
// model.
#pragma once

#include "articula/kernels/arrays.hpp"
#include "articula/model/tree.hpp"

namespace articula {

/// Components of a slot of KernelMemory::x: the state of one body, world axes, at its joint origin O_k.
namespace body {
enum : int {
  R = 0,         // Mat3: body axes in the world (until move_body: in the inboard body's axes)
  l = 9,         // Vec3: from the inboard body's origin to this one's (until then: in its axes)
  w = 12,        // Vec3: angular velocity
  o = w,         // Vec3: in algorithms without velocities, O_k from the first origin of its tree
  alpha_w = 15,  // Vec3, Vec3: alpha = d/dt (w, v_O); in kinematics without gravity
  alpha_v = 18,  //
  J = 21,        // Sym3: inertia about O_k
  mp = 27,       // Vec3: mass times mass centre
  f = 30,        // Spatial: M alpha + b less external force
  total_m = f,   // in the mass matrix: mass of everything outboard; mp and J are then of all that too
  count = 36,
};
}

inline constexpr int side_count = 27;
/// Rows by velocity end with a margin, so that a register can begin at any velocity. Most models have one and
/// the same length of row, for which the kernels' addresses are constants.
inline constexpr int short_row = 64;
constexpr long row_length(int nv) { return nv + block <= short_row ? short_row : nv + block; }
constexpr int padded(int n) { return (n + block - 1) / block * block; }
/// Widest Wide<S> of any instruction set, in scalars.
template <class S>
inline constexpr std::size_t widest = sizeof(S) == 8 ? 8 : block;

/// Which arrays a workspace needs.
struct MemoryNeeds {
  bool side = false, factor = false, keep_D = false, solve = false, wide_solve = false, composite = false,
       motion = false, matrices = false;

  friend constexpr MemoryNeeds operator|(const MemoryNeeds& a, const MemoryNeeds& b) {
    return {a.side || b.side,     a.factor || b.factor,         a.keep_D || b.keep_D,
            a.solve || b.solve,   a.wide_solve || b.wide_solve, a.composite || b.composite,
            a.motion || b.motion, a.matrices || b.matrices};
  }
};

template <class S>
struct KernelMemory {
  S* x = nullptr;     // body::count per slot, in blocks (slots.hpp)
  S* side = nullptr;  // per slot: P and p (or R, f) from children that do not follow their parent directly
  S* K = nullptr;     // per velocity: K(k+1,k); not written for bodies on the world, where nothing is inboard
  S* D = nullptr;     // per velocity: a row of D(k)
  S* inv_D = nullptr;   // per velocity: row i of its factor L d L*: L(i,0) .. L(i,i-1), 1/d(i)
  S* nu = nullptr;      // per velocity (for the inverse mass matrix: of Wide<S>)
  S* lambda = nullptr;  // per slot (likewise)
  S* roots = nullptr;   // per tree: composite inertia about its first origin, and that origin in the world
  S* Hs = nullptr;      // 6 rows of row_length(nv), and a lane before: the columns Hs* by component
  S* X = nullptr;       // likewise: R Hs*
  S* p = nullptr;       // per slot: O_k in the world
  S* V = nullptr;       // per slot: (w, v) of O_k
  S* M = nullptr;       // two matrices of nv x nv

  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree, const MemoryNeeds& needs) {
    const std::size_t slots = tree.slots(), nv = tree.nv, row = row_length(tree.nv);
    const bool solves = needs.solve || needs.wide_solve;
    const std::size_t width = needs.wide_solve ? widest<Real<S>> : 1;
    S* lane_before = nullptr;
    give(x, padded(tree.slots()) * std::size_t(body::count));
    give(side, side_count * slots, needs.side);
    give(K, 6 * nv, needs.factor);
    give(D, 6 * nv, needs.keep_D);
    give(inv_D, 6 * nv, needs.keep_D);
    give(nu, nv * width, solves);
    give(lambda, 6 * slots * width, solves);
    give(roots, 13 * slots, needs.composite);
    give(lane_before, 1, needs.composite);
    give(Hs, 6 * row, needs.composite);
    give(X, 6 * row, needs.composite);
    give(p, 3 * slots, needs.motion);
    give(V, 6 * slots, needs.motion);
    give(M, 2 * nv * nv, needs.matrices);
  }
};

/// Of coriolis_matrix, beside KernelMemory.
template <class S>
struct CoriolisMemory {
  S* o = nullptr;    // per slot: O_k from its tree's first origin
  S* V = nullptr;    // per slot: at that origin
  S* R = nullptr;    // per slot: composite inertia
  S* Rr = nullptr;   // per slot: composite CoriolisRing
  S* Hs = nullptr;   // per velocity
  S* dHs = nullptr;  // per velocity

  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree) {
    const std::size_t slots = tree.slots(), nv = tree.nv;
    give(o, 3 * slots);
    give(V, 6 * slots);
    give(R, 10 * slots);
    give(Rr, 12 * slots);
    give(Hs, 6 * nv);
    give(dHs, 6 * nv);
  }
};

/// Of FD1 to FD4, beside KernelMemory.
template <class S>
struct NamedMemory {
  S* T = nullptr;      // per velocity
  S* a = nullptr;      // 6 per body
  S* b = nullptr;      // 6 per body
  S* P = nullptr;      // 21 per slot
  S* alpha = nullptr;  // 6 per body; the caller's

  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree) {
    const std::size_t slots = tree.slots(), nv = tree.nv;
    give(T, nv);
    give(a, 6 * slots);
    give(b, 6 * slots);
    give(P, 21 * slots);
  }
};

/// Sums over all bodies.
template <class S>
struct Totals {
  S kinetic, potential;  // potential: zero at the world's origin
  S mass;
  Vec3<S> center_of_mass;
  Spatial<S> momentum;  // (angular, linear) about the centre of mass, world axes
};

}  // namespace articula
