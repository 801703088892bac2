// One frame at q: only the bodies between the world and the frame are placed, whatever else the model has.
#pragma once

#include "articula/dynamics/frame_motion.hpp"
#include "articula/dynamics/outward.hpp"

namespace articula::ARTICULA_ISA {

/// Slots of the path, outermost first, then the world's for a register more: lanes that nobody asks for.
template <class R>
ARTICULA_INLINE int find_path(const Tree<R>& tree, int outermost, int* slots) {
  int count = 0;
  for (int k = outermost; k > 0; k = tree.index[k].inboard) slots[count++] = k;
  for (int i = 0; i < block; ++i) slots[count + i] = 0;
  return count;
}

/// Sines and cosines of the path's angles, a register of bodies (or, for packs, of states) at a time.
template <class S>
ARTICULA_INLINE void turn_path(const Tree<Real<S>>& tree, const S* q, int count, const PathMemory<S>& path) {
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
      const auto turn = sincos(lanes_from<S, wide>([&](int j)
                                                       __attribute__((always_inline)) { return angle_of(i + j); }));
      turn.sin.store(path.sine + i);
      turn.cos.store(path.cosine + i);
    }
  }
}

/// The frame, and O_k of its body in the world.
template <class S>
struct FrameAtEnd {
  PlacedFrame<S> frame;
  Vec3<S> origin;
};

/// R and l of the path's bodies as move_bodies has them; of a revolute joint's R only z.
template <class S>
ARTICULA_INLINE FrameAtEnd<S> place_path(const Tree<Real<S>>& tree, const S* q,
                                         const FrameOnBody<Real<S>>& frame, const PathMemory<S>& path) {
  const int count = find_path(tree, frame.slot, path.slots);
  turn_path(tree, q, count, path);
  Moving<S> at = world_motion<S>(tree);
  Vec3<S> origin = at.w;
  for (int i = count - 1; i >= 0; --i) {
    const int k = path.slots[i];
    const BodyIndex& b = tree.index[k];
    const auto* const c = tree.constants_of(k);
    Mat3<S> X = axes_of_joint(c, b.alignment != Alignment::any, SinCos<S>{path.sine[i], path.cosine[i]});
    const auto from_inboard = gather<block, Vec3<Real<S>>>(c + block * constant::l);
    Vec3<S> l{S(from_inboard.x), S(from_inboard.y), S(from_inboard.z)};
    if (b.kind != HingeKind::revolute) place_special(tree, k, q, X, l);
    move_body<Upto::positions>(tree, k, static_cast<const S*>(nullptr), static_cast<const S*>(nullptr), X, l,
                               at);
    origin += l;
    S* const to = path.placed + path_numbers * i;
    scatter<1>(l, to + body::l);
    if (b.kind != HingeKind::revolute)
      scatter<1>(at.R, to + body::R);
    else
      to[body::R + 2] = at.R.xz, to[body::R + 5] = at.R.yz, to[body::R + 8] = at.R.zz;
  }
  return {{frame.slot, at.R * frame.R, at.R * frame.p}, origin};
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
  const auto at = place_path(tree, q, frame, path);
  scatter<1>(at.frame.R, pose);
  scatter<1>(at.origin + at.frame.r, pose + 9);
}

/// 6 x nv, full coordinates.
template <class S>
void jacobian_at(const Tree<Real<S>>& tree, const S* q, const FrameOnBody<Real<S>>& frame, Axes axes,
                 const PathMemory<S>& path, S* J) {
  const auto at = place_path(tree, q, frame, path);
  for (long i = 0; i < 6L * tree.nv; ++i) J[i] = S(0);
  int i = 0;
  frame_jacobian<S>(
      tree, at.frame, at.origin, axes,
      [&](int) __attribute__((always_inline)) {
        const S* const x = path.placed + path_numbers * i++;
        return PlacedBody<S>{gather<1, Mat3<S>>(x + body::R), gather<1, Vec3<S>>(x + body::l)};
      },
      SixRows<S>{J, tree.nv});
}

}  // namespace articula::ARTICULA_ISA
