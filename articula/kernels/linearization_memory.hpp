// The plain arrays that the linearization kernels work in, beside those of the dynamics kernels.
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

/// Components of a slot of LinearizationMemory::y: the motion of one body, world axes. The O(n) algorithms
/// refer it to the body's own O_k, those with one reference point per tree to the origin of the tree's first
/// body.
namespace motion {
enum : int {
  V = 0,      // Spatial: velocity
  alpha = 6,  // Spatial: its derivative in an inertial sense ("true" spatial acceleration)
  o = 12,     // Vec3: O_k from the reference point
  h = 15,     // Vec3, Sym3: inertia at the reference point
  J = 18,     //
  N = 24,     // Mat3, Vec3: Mr, see Ring
  F = 33,     //
  f = 36,     // Spatial: M alpha + Mr V less external force
  gam = 42,   // Vec3: twice the perturbation of w; Vec3: H* dq of a joint that only turns (adjoint: Spatial,
              // the weights' velocity)
  beta = 48,  // Spatial: perturbation of alpha (adjoint: M times the weights' velocity)
  eta = 54,   // Spatial: perturbation of f (adjoint: two Vec3)
  turn = 60,  // Vec3: rotation of the body by dq
  count = 64,
};
}

/// Components of a slot of LinearizationMemory::columns: one slot per velocity, in blocks, so that a row of a
/// result is made a register at a time.
namespace column {
enum : int {
  Hs = 0,    // Spatial each: the columns Hs*
  Sd = 6,    // Pd + Hs*'
  Pdd = 12,  // docs/math.md 7
  Pd = 18,   //
  V = 24,    // of the inboard body
  alpha = 30,
  X = 36,   // R Hs*, and the columns of LIN (3.8)
  XA = 42,  //
  XB = 48,  //
  Xr = 54,  // Vec3: 2 Rr* Hs*
  h = 57,   // composite inertia, ring and force of what the joint carries
  J = 60,   //
  N = 66,   //
  F = 75,   //
  f = 78,   //
  v = 84,   // joint velocities and accelerations
  a = 85,   //
  Xw = 86,  // Vec3: Xr of external forces held in world axes
  Wn = 89,  // their composite Ring
  Wf = 98,  //
  count = 101,
};
}

/// Components of a slot of LinearizationMemory::direct, one per velocity, in blocks: what the rows of
/// Algorithm 6 read.
namespace direct {
enum : int {
  H = 0,     // Spatial each
  Sd = 6,    //
  Pdd = 12,  //
  YA = 18,   // LIN (4.14)
  YB = 24,   //
  Pd = 30,   // Vec3: twice the angular part, which for joints with one freedom is that of Sd
  G = 33,    // Vec3: Gr, as a row
  Gw = 36,   // Vec3: half the same for external forces held in world axes
  P = 39,    // ArticulatedInertia; packs have it for a joint's first velocity alone
  count = 60,
};
}
/// Components of LinearizationMemory::base: what the rows of other joints need of a free base.
namespace free_base {
enum : int {
  minus_Lambda = 0,  // ArticulatedInertia: Z = -Lambda t
  by_turn = 21,      // three Spatial: Sd - Lambda YA, for Sd.t + YA.Z
  count = 39,
};
}
/// Components of a slot of LinearizationMemory::gathered, one per velocity, in blocks: what YA and YB are
/// made of, where they are made a register of velocities at a time.
namespace gathered {
enum : int {
  V = 0,      // Spatial each: of the inboard body, and its sum with the body's own
  V_sum = 6,  //
  alpha = 12,
  f = 18,
  Pr = 24,  // HalfMatrix
  Pw = 42,  // Pr of external forces held in world axes
  count = 60,
};
}

/// end: one past a joint's own velocities. outboard, inboard: where its rows are not zero, one byte per block
/// of columns with a bit per velocity; the first for velocities at or outboard of the joint, the second for
/// those inboard of it.
struct ColumnIndex {
  int end;
  const unsigned char *outboard, *inboard;
};

/// The last bodies of a limb, first .. end - 1, each on the one before, and their velocities.
struct Limb {
  int first, end, v, v_end;
};
/// For packs of states: as many registers of rows are taken through one limb before the columns of the next
/// limb are read, so that a limb's columns stay in the first cache while they are used.
inline constexpr int rows_in_turn = 20;

/// What the kernels know of a model's columns, whatever the scalar.
struct LinearizationTables {
  const ColumnIndex* index = nullptr;  // by slot
  const int* carrier = nullptr;        // by slot: a number for each body whose Z is kept; -1: not kept
  int carriers = 0;
  const Limb *limbs = nullptr, *limbs_end = nullptr;
  const int* limb_begin = nullptr;   // by velocity: the first of the limb that it belongs to; 0: none
  const int* block_rows = nullptr;   // block after block of columns: rows that are not zero in dT/dq, dT/dv
  const int* block_begin = nullptr;  // where the rows of each block begin in block_rows
};

struct LinearizationNeeds {
  bool columns = false;  // Algorithm 2
  bool direct = false;   // Algorithm 6
};

template <class S>
struct LinearizationMemory : LinearizationTables {
  KernelMemory<S> k;
  S* y = nullptr;                    // motion::count per slot, in blocks
  S* columns = nullptr;              // column::count per velocity, in blocks
  S* side = nullptr;                 // 42 per slot: sums over all children but body k + 1
  S* own = nullptr;                  // 6 per velocity: H(i) S[H*(c)] f over the joint's own velocities c
  S* row = nullptr;                  // 3 rows of padded(nv)
  S* direct = nullptr;               // direct::count per velocity, in blocks
  S* gathered = nullptr;             // gathered::count per velocity, in blocks; not for packs
  S* t = nullptr;                    // 12 per slot, of Solves<S>: LIN's psi(., k) K, and what goes with it
  S* result = nullptr;               // 3 per velocity, of Solves<S>
  S* Z = nullptr;                    // 6 per carrier, of Solves<S>; packs: rows_in_turn times
  S* limb_columns = nullptr;         // 18 per velocity of a limb; packs only
  S* base = nullptr;                 // free_base::count; packs only
  const Real<S>* mass = nullptr;     // by velocity, padded: mass outboard of its joint
  const Real<S>* damping = nullptr;  // by velocity; null: none

  /// All but k; `carriers` must be known.
  template <class Give>
  void plan(Give&& give, const Tree<Real<S>>& tree, const LinearizationNeeds& needs) {
    const std::size_t slots = tree.slots(), nv = tree.nv, padded_nv = padded(tree.nv);
    const std::size_t solves = block;  // widest Wide<S> of any instruction set
    constexpr bool pack = stride<S> == 1;
    give(y, padded(tree.slots()) * std::size_t(motion::count));
    give(side, 42 * slots);
    give(columns, column::count * padded_nv, needs.columns);
    give(own, 6 * nv, needs.columns || needs.direct);
    give(row, 3 * padded_nv, needs.columns);
    give(direct, articula::direct::count * padded_nv, needs.direct);
    give(gathered, articula::gathered::count * padded_nv, needs.direct && !pack);
    give(t, 12 * solves * slots, needs.direct);
    give(result, 3 * solves * padded_nv, needs.direct);
    give(Z, 6 * std::size_t(carriers) * (pack ? 2 * rows_in_turn : solves), needs.direct);
    give(limb_columns, 18 * nv, needs.direct && pack);
    give(base, free_base::count, needs.direct && pack);
  }
};

/// What does not change when a body moves: the components of its external force in world or in body axes.
enum class HeldIn { world_axes, body_axes };

/// External forces as the kernels take them: (moment, force) a body, world axes, at O_k; null: none. levers:
/// r F* of each body's force, row by row, for forces that act at r from O_k; null: they act at O_k. Only
/// world_axes needs them. carried: more of them, which turn with their bodies whatever `held` says.
template <class S>
struct ExternalForces {
  const S* wrenches = nullptr;
  HeldIn held = HeldIn::world_axes;
  const S* levers = nullptr;
  const S* carried = nullptr;
  bool any() const { return wrenches || carried; }
  bool turning() const { return wrenches && held == HeldIn::world_axes; }
};

}  // namespace articula
