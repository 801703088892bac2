// One frame at q: only the bodies between the world and the frame are placed, whatever else the model has.
#pragma once

#include "articula/kernels/frame_motion.hpp"
#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

/// Slots of the path, outermost first, then the world's slot `block` times, so that the last register of
/// bodies has something to read in lanes beyond the path. The path of the last call is kept and not walked
/// again if the outermost body is the same: a walk is slow, since each step waits for the one before.
template <class R>
ARTICULA_INLINE int find_path(const Tree<R>& tree, int outermost, int* last, int* slots) {
  if (slots[0] == outermost) return *last;
  int count = 0;
  for (int k = outermost; k > 0; k = tree.index[k].inboard) slots[count++] = k;
  for (int i = 0; i < block; ++i) slots[count + i] = 0;
  return *last = count;
}

/// Sines and cosines of the path's angles, a register of bodies (or, for packs, of states) at a time.
template <class S>
ARTICULA_INLINE void turn_path(const Tree<Real<S>>& tree, const S* q, int count, const PathMemory<S> path) {
  constexpr int wide = wide_bodies<S>;
  const auto angle_of = [&](int i) __attribute__((always_inline)) {
    const int k = path.slots[i], angle = tree.angle[k];
    return (angle < 0 ? S(0) : q[angle]) + tree.offset[k];
  };
  if constexpr (wide == 1) {
    const auto turn_all = [&](auto&& sines) __attribute__((always_inline)) {
      for (int i = 0; i < count; ++i) {
        const SinCos<S> turn = sines(angle_of(i));
        path.sine[i] = turn.sin, path.cosine[i] = turn.cos;
      }
    };
    ManySines<S> sines;
    turn_all(sines);
    if (!sines.hold()) turn_all([](const S& angle) { return sincos(angle); });
  } else {
    for (int i = 0; i < count; i += wide) {
      const auto turn =
          sincos(lanes_from<S, wide>([&](int j) __attribute__((always_inline)) { return angle_of(i + j); }));
      turn.sin.store(path.sine + i);
      turn.cos.store(path.cosine + i);
    }
  }
}

/// A body's axes, and its origin in the world.
template <class S>
struct PlacedBody {
  OneVector<S> x, y, z;  // columns of R
  OneVector<S> origin;
};
/// R a, in world axes.
template <class S, class A>
ARTICULA_INLINE OneVector<S> operator*(const PlacedBody<S>& R, const Vec3<A>& a) {
  return R.x * a.x + R.y * a.y + R.z * a.z;
}
template <class S>
ARTICULA_INLINE Mat3<S> axes_of(const PlacedBody<S>& R) {
  return from_columns<S>(vec3(R.x), vec3(R.y), vec3(R.z));
}

/// The outermost body. Leaves R and l of the path's bodies as move_bodies has them; of a revolute joint's R
/// only z.
template <class S>
ARTICULA_INLINE PlacedBody<S> place_path(const Tree<Real<S>>& tree, const S* q, int outermost,
                                         const PathMemory<S> path) {
  const int count = find_path(tree, outermost, path.count, path.slots);
  turn_path(tree, q, count, path);
  const S O(0), I(1);
  using V = OneVector<S>;
  // Not a PlacedBody: g++ would keep it in memory.
  V x = one_vector(I, O, O), y = one_vector(O, I, O), z = one_vector(O, O, I), origin = one_vector(O, O, O);
  for (int i = count - 1; i >= 0; --i) {
    const int k = path.slots[i];
    const BodyIndex& b = tree.index[k];
    const auto* const c = tree.constants_of(k);
    const auto times = [&](const auto& a) __attribute__((always_inline)) {
      return x * a.x + y * a.y + z * a.z;
    };
    S* const to = path.placed + path_numbers * i;
    const SinCos<S> angle{path.sine[i], path.cosine[i]};
    const auto from_inboard = gather<block, Vec3<Real<S>>>(c + block * constant::l);
    if (b.kind != HingeKind::revolute) {
      Mat3<S> X = axes_of_joint(c, b.alignment != Alignment::any, angle);
      Vec3<S> slid{S(from_inboard.x), S(from_inboard.y), S(from_inboard.z)};
      place_special(tree, k, q, X, slid);
      const V l = times(slid), X_x = times(column_x(X)), X_y = times(column_y(X)), X_z = times(column_z(X));
      x = X_x, y = X_y, z = X_z, origin = origin + l;
      store(x, to), store(y, to + 4), store(z, to + 8), store(l, to + 12);
      continue;
    }
    const V l = times(from_inboard);
    origin = origin + l;
    turn_columns(c, b.alignment, angle, x, y, z);
    store(z, to + 8), store(l, to + 12);
  }
  return {x, y, z, origin};
}

/// Puts columns into a matrix of six rows.
template <class S>
struct SixRows {
  S* to;
  long nv;
  ARTICULA_INLINE void operator()(int i, const Spatial<S>& column) const {
    each_number(
        column, [&](const S& x, int r) __attribute__((always_inline)) { to[r * nv + i] = x; });
  }
};

/// Rotation row by row, then position: 12 numbers.
template <class S>
void pose_at(const Tree<Real<S>>& tree, const S* q, const FrameOnBody<Real<S>>& frame,
             const PathMemory<S>& path, S* pose) {
  const PlacedBody<S> at = place_path(tree, q, frame.slot, path);
  scatter<1>(axes_of(at) * frame.R, pose);
  scatter<1>(vec3(at.origin + at * frame.p), pose + 9);
}

/// 6 x nv, full coordinates.
template <class S>
void jacobian_at(const Tree<Real<S>>& tree, const S* q, const FrameOnBody<Real<S>>& frame, Axes axes,
                 const PathMemory<S>& memory, S* J) {
  const PathMemory<S> path = memory;  // so that g++ sees that what is written there does not change it
  const PlacedBody<S> at = place_path(tree, q, frame.slot, path);
  Mat3<S> local;
  if (axes == Axes::local) local = axes_of(at) * frame.R;
  const long nv = tree.nv;
  for (long i = 0; i < 6 * nv; ++i) J[i] = S(0);
  // From O_k to the point; summed up as in frame_jacobian.
  OneVector<S> to_point = axes == Axes::spatial ? -at.origin : at * frame.p;
  const int* slot = path.slots;
  for (const S* x = path.placed; *slot > 0; ++slot, x += path_numbers) {
    const int k = *slot;
    const BodyIndex& b = tree.index[k];
    const SixRows<S> put{J, nv};
    const OneVector<S> z = load_vector<S>(x + 8);
    if (b.kind == HingeKind::revolute && axes != Axes::local) {
      put(b.v, Spatial<S>{vec3(z), vec3(cross(z, to_point))});
    } else {
      joint_columns(tree, k, from_columns<S>(vec3(load_vector<S>(x)), vec3(load_vector<S>(x + 4)), vec3(z)),
                    vec3(to_point), axes == Axes::local ? &local : nullptr, put);
    }
    to_point = to_point + load_vector<S>(x + 12);
  }
}

}  // namespace articula::ARTICULA_ISA
