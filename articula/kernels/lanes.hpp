// Arrays of lanes as the kernels of one instruction set take them: packs of its width. Only for
// *_kernels.cpp.
#pragma once

#include "articula/kernels/isa.hpp"
#include "articula/kernels/memory.hpp"

namespace articula::ARTICULA_ISA {

/// States that are computed at once: as many as a register has numbers.
template <class T>
inline constexpr int lanes_of = native_bytes / int(sizeof(T));

template <class T>
using Lanes = Pack<T, lanes_of<T>>;

template <class T>
ARTICULA_INLINE const Lanes<T>* packs(const T* x) {
  return reinterpret_cast<const Lanes<T>*>(x);
}
template <class T>
ARTICULA_INLINE Lanes<T>* packs(T* x) {
  return reinterpret_cast<Lanes<T>*>(x);
}
/// A memory struct's arrays likewise.
template <template <class> class Memory, class T>
ARTICULA_INLINE Memory<Lanes<T>> packs(const Memory<T>& m) {
  return retyped<Lanes<T>>(m);
}

/// The model as packs P see it: as it is, or, where states have masses of their own, with lanes of constants.
template <class P, class T>
ARTICULA_INLINE decltype(auto) tree_of_packs(const Tree<T>& t) {
  if constexpr (std::is_same_v<Real<P>, T>) {
    return (t);
  } else {
    const auto lanes = [](const T* x) { return reinterpret_cast<const P*>(x); };
    Tree<P> w;
    w.bodies = t.bodies, w.nq = t.nq, w.nv = t.nv, w.index = t.index, w.has_armature = t.has_armature;
    w.suits_body_axes = t.suits_body_axes, w.steps_inboard = t.steps_inboard;
    w.v_end = t.v_end, w.angle = t.angle;
    w.first_column = t.first_column, w.alone = t.alone, w.alone_count = t.alone_count;
    w.constants = lanes(t.constants), w.pitch = lanes(t.pitch);
    w.armature = lanes(t.armature), w.offset = lanes(t.offset);
    w.link_axes = lanes(t.link_axes);
    w.own_nv = t.own_nv, w.source = t.source, w.multiplier = lanes(t.multiplier);
    w.gravity = {P(t.gravity.x), P(t.gravity.y), P(t.gravity.z)};
    return w;
  }
}

}  // namespace articula::ARTICULA_ISA
