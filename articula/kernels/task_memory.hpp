// The plain arrays that the operational-space sweeps work in, beside those of the dynamics kernels.
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

/// A stretch of the way from frames to the world with nothing joining in between. The first segments start at
/// the task frames, the others at bodies where several ways meet; inboard ones come later.
struct TaskSegment {
  int start;         // slot of the body that it starts at; 0: the world
  int path, bodies;  // its bodies in TaskMemory::path, tip to base; none: the frame is on a meeting point
  int e;             // first row of its bodies' velocities in TaskMemory::e
  int inboard;       // segment that starts where this one ends; -1: the world
};

inline constexpr int task_lanes = 8;  // six columns per segment, in lanes
inline constexpr int task_block = 6 * task_lanes;

template <class S>
struct TaskMemory {
  KernelMemory<S> k;  // x, side, K, D, inv_D, nu
  int frames = 0, segments = 0;
  const TaskSegment* segment = nullptr;
  const int* path = nullptr;     // slots
  const int* meeting = nullptr;  // frames x frames: the segment of the closest common ancestor, or -1
  const S* offset = nullptr;     // 3 per frame: its origin in its body's axes, from O_k
  const S* zeros = nullptr;      // 1 per velocity
  // results
  S* r = nullptr;       // 3 per frame: the same in world axes
  S* P_root = nullptr;  // 15 per slot, up to the last body on the world: B and C of P(k)
  S* e = nullptr;       // lanes per row: H psi B, the rows of the segments' bodies
  S* n = nullptr;       // lanes per row: D^-1 H psi B
  S* T = nullptr;       // block per segment: psi B where it ends
  S* Omega = nullptr;   // block per segment: Omega at its start
  S* a = nullptr;       // lanes per segment: psi* H* nu at its start, nu of the velocity-dependent forces
  S* g = nullptr;       // lanes per segment: psi* W* a_g at its start
  S* to = nullptr;      // block per frame and segment: psi B of the frame where that segment starts
  S* blocks = nullptr;  // block for each pair of frames: J M^-1 J*; one frame: the same as Omega
  S* f = nullptr;       // 6 per segment: scratch
};

// --- what the sums along the ways give at frame i, world axes, at its origin

/// Omega g = a_g - psi* W* a_g.
template <class S>
ARTICULA_INLINE Spatial<S> frame_gravity(const TaskMemory<S>& m, int i, const Vec3<Real<S>>& up) {
  const auto fall = gather<1, Spatial<S>>(m.g + task_lanes * i);
  return {-fall.w, up - fall.v};
}
/// J' v.
template <class S>
ARTICULA_INLINE Spatial<S> frame_bias(const TaskMemory<S>& m, int i) {
  const S* const x = slot(m.k.x, m.segment[i].start, int(body::count));
  const auto w = gather<stride<S>, Vec3<S>>(x + stride<S> * body::w);
  const auto alpha_w = gather<stride<S>, Vec3<S>>(x + stride<S> * body::alpha_w);
  const auto alpha_v = gather<stride<S>, Vec3<S>>(x + stride<S> * body::alpha_v);
  const auto r = gather<1, Vec3<S>>(m.r + 3 * i);
  return {alpha_w, alpha_v + cross(alpha_w, r) + cross(w, cross(w, r))};
}

}  // namespace articula
