// Frames on moving bodies: pose, velocity, acceleration and Jacobian, from what the kinematics kernel leaves.
// One text for one state (kinematics.cpp) and for lanes of states (articula/batch).
#pragma once

#include "articula/kernels/memory.hpp"

namespace articula {

/// Axes in which a frame's velocity, acceleration or Jacobian is given. The point is the frame's origin in
/// the first two, the world's origin in the third.
enum class Axes {
  world,    // world axes at the frame's origin ("mixed" elsewhere): the default
  local,    // the frame's own axes at its origin
  spatial,  // world axes at the world's origin
};

/// A frame as it sits on its body: the body's slot (0: the world), the frame's axes and its origin from O_k,
/// both in the body's internal axes.
template <class T>
struct FrameOnBody {
  int slot;
  Mat3<T> R;
  Vec3<T> p;
};
/// A frame at a state, world axes.
template <class S>
struct PlacedFrame {
  int slot;
  Mat3<S> R;
  Vec3<S> r;
};

/// Room for the bodies between the world and one frame, outermost first.
template <class S>
struct PathMemory {
  int *count, *slots;  // kept from call to call
  S *sine, *cosine;    // of their angles
  S* placed;           // path_numbers per body
};
inline constexpr int path_numbers = 16;  // columns x, y and z of R, and l; four numbers each

template <class S>
ARTICULA_INLINE Mat3<S> axes_of_body(const KernelMemory<S>& m, int k) {
  return gather<stride<S>, Mat3<S>>(slot(m.x, k, int(body::count)) + stride<S> * body::R);
}
template <class S>
ARTICULA_INLINE Vec3<S> origin_of_body(const KernelMemory<S>& m, int k) {
  return gather<1, Vec3<S>>(m.p + 3 * k);
}

template <class S>
ARTICULA_INLINE PlacedFrame<S> place_frame(const KernelMemory<S>& m, const FrameOnBody<Real<S>>& f) {
  if (f.slot == 0)
    return {
        0,
        {S(f.R.xx), S(f.R.xy), S(f.R.xz), S(f.R.yx), S(f.R.yy), S(f.R.yz), S(f.R.zx), S(f.R.zy), S(f.R.zz)},
        {S(f.p.x), S(f.p.y), S(f.p.z)}};
  const Mat3<S> body_axes = axes_of_body(m, f.slot);
  return {f.slot, body_axes * f.R, body_axes * f.p};
}

template <class S>
ARTICULA_INLINE Spatial<S> in_axes_of(const Mat3<S>& R, const Spatial<S>& x) {
  return {star_times(R, x.w), star_times(R, x.v)};
}

template <class S>
ARTICULA_INLINE Spatial<S> frame_velocity(const KernelMemory<S>& m, const PlacedFrame<S>& f, Axes axes) {
  const auto V = gather<1, Spatial<S>>(m.V + 6 * f.slot);
  if (axes == Axes::spatial) return star(Phi<S>{-origin_of_body(m, f.slot)}) * V;
  const Spatial<S> at_frame = star(Phi<S>{f.r}) * V;
  return axes == Axes::world ? at_frame : in_axes_of(f.R, at_frame);
}

/// d/dt of frame_velocity.
template <class S>
ARTICULA_INLINE Spatial<S> frame_acceleration(const KernelMemory<S>& m, const PlacedFrame<S>& f, Axes axes) {
  constexpr int s = stride<S>;
  const auto V = gather<1, Spatial<S>>(m.V + 6 * f.slot);
  const auto alpha = gather<s, Spatial<S>>(slot(m.x, f.slot, int(body::count)) + s * body::alpha_w);
  if (axes == Axes::spatial) {
    // V of the point of the body that is at the world's origin: d/dt (v - w x p) = v' - w' x p - w x v
    const Vec3<S> p = origin_of_body(m, f.slot);
    return {alpha.w, alpha.v - cross(alpha.w, p) - cross(V.w, V.v)};
  }
  const Spatial<S> world{alpha.w, alpha.v + cross(alpha.w, f.r) + cross(V.w, cross(V.w, f.r))};
  if (axes == Axes::world) return world;
  const Vec3<S> v = V.v + cross(V.w, f.r);  // d/dt (R* x) = R* (x' - w x x)
  return {star_times(f.R, world.w), star_times(f.R, world.v - cross(V.w, v))};
}

/// phi* h, for a row h of H: what it does to a point that is r from O_k.
template <class S>
ARTICULA_INLINE Spatial<S> motion_of_point(const Vec3<S>& r, const Turn<S>& row) {
  return {row.h, cross(row.h, r)};
}
template <class S>
ARTICULA_INLINE Spatial<S> motion_of_point(const Vec3<S>&, const Slide<S>& row) {
  return spatial(row);
}
template <class S>
ARTICULA_INLINE Spatial<S> motion_of_point(const Vec3<S>& r, const Screw<S>& row) {
  return {row.h, row.ph + cross(row.h, r)};
}

/// put(full velocity, column) for the columns of joint k: H* at a point that is to_point from O_k, in world
/// axes or in those of `local`.
template <class S, class Put>
ARTICULA_INLINE void joint_columns(const Tree<Real<S>>& tree, int k, const Mat3<S>& R,
                                   const Vec3<S>& to_point, const Mat3<S>* local, Put&& put) {
  const BodyIndex& b = tree.index[k];
  visit(
      b.kind, [&](auto j) __attribute__((always_inline)) {
        using Kind = decltype(j);
        const HingeMap<Kind, S> H{R, tree.pitch[k]};
        for_each_index<Kind::nv>([&](auto i) __attribute__((always_inline)) {
          const Spatial<S> c = motion_of_point(to_point, H.template row<i.value>());
          put(b.v + i.value, local ? in_axes_of(*local, c) : c);
        });
      });
}

/// joint_columns of every joint between the world and the frame: the columns of all others are zero.
template <class S, class Put>
ARTICULA_INLINE void frame_jacobian(const Tree<Real<S>>& tree, const KernelMemory<S>& m,
                                    const PlacedFrame<S>& f, Axes axes, Put&& put) {
  // From O_k: a sum of vectors between neighbours, so that nothing is lost far from the world's origin.
  Vec3<S> to_point = f.r;
  for (int k = f.slot; k > 0; k = tree.index[k].inboard) {
    if (axes == Axes::spatial) to_point = -origin_of_body(m, k);
    joint_columns(tree, k, axes_of_body(m, k), to_point, axes == Axes::local ? &f.R : nullptr, put);
    to_point += gather<stride<S>, Vec3<S>>(slot(m.x, k, int(body::count)) + stride<S> * body::l);
  }
}

}  // namespace articula
