// dJ/dt of one frame along v: the rate of each joint's column.
//
//   (1) H*(k) is fixed in body k: its vectors turn with w(k)
//   (2) column = (h, u + h x r), r from O_k to the point; r' = v_point - v(k)
//   (3) in the frame's own axes R* x: d/dt (R* x) = R* (x' - w x x)
#pragma once

#include "articula/kernels/frame_motion.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/listed.hpp"

namespace articula::ARTICULA_ISA {

struct JacobianRate : ListedText {
  static constexpr const char* name = "jacobian_dot";
  static constexpr const char* meaning = "6 x nv: d/dt of jacobian along v";
  static constexpr Argument uses[] = {Argument::q, Argument::v};
  static constexpr Part parts[] = {{"J_dot", Extent::six, Extent::nv}};
  static constexpr FramesNeeded frames = FramesNeeded::one;
  static constexpr bool of_inertias = false;

  template <class S>
  static S run(const Tree<Real<S>>& tree, const KernelCall<S>& c, const KernelMemory<S>& m) {
    kinematics<S>(tree, c[Argument::q], c[Argument::v], nullptr, m);
    const PlacedFrame<S> f = place_frame<S>(m, c.frame);
    const Spatial<S> V = gather<1, Spatial<S>>(m.V + 6 * f.slot);
    const bool spatial_axes = c.axes == Axes::spatial;
    const S O(0);
    const Vec3<S> v_point = spatial_axes ? Vec3<S>{O, O, O} : (star(Phi<S>{f.r}) * V).v;
    S* const out = c.out[0];
    for (int i = 0; i < 6 * tree.nv; ++i) out[i] = O;
    Vec3<S> r = f.r;
    for (int k = f.slot; k > 0; k = tree.index[k].inboard) {
      if (spatial_axes) r = -origin_of_body(m, k);
      const auto Vk = gather<1, Spatial<S>>(m.V + 6 * k);
      const Vec3<S> r_dot = v_point - Vk.v;
      joint_columns(
          tree, k, axes_of_body(m, k), Vec3<S>{O, O, O}, static_cast<const Mat3<S>*>(nullptr),
          [&](int velocity, const Spatial<S>& h) __attribute__((always_inline)) {
            const Vec3<S> h_dot = cross(Vk.w, h.w), u_dot = cross(Vk.w, h.v);  // (1)
            Spatial<S> x{h_dot, u_dot + cross(h_dot, r) + cross(h.w, r_dot)};  // (2)
            if (c.axes == Axes::local) {
              const Spatial<S> J{h.w, h.v + cross(h.w, r)};
              x = in_axes_of(f.R, Spatial<S>{x.w - cross(V.w, J.w), x.v - cross(V.w, J.v)});  // (3)
            }
            each_number(
                x, [&](const S& number, int i)
                       __attribute__((always_inline)) { out[i * tree.nv + velocity] = number; });
          });
      r += gather<stride<S>, Vec3<S>>(slot(m.x, k, int(body::count)) + stride<S> * body::l);
    }
    return S(1);
  }
};

}  // namespace articula::ARTICULA_ISA
