// Y with tau = Y pi + armature a: joint forces are linear in the ten inertial parameters of each body, which are
// pi = inertial_parameters(model): m, m p, J in the link's own axes at O_k (articula/model/inertial_parameters.hpp).
//
//   (1) body k:  moment = J w' + w x J w + m p x a,  force = m a + w' x m p + w x (w x m p),  a = v_O' - g
//   (2) what joint i feels of it: h . moment + u . force, (h, u) the column of joint i at O_k, inboard joints alone
//   (3) by m:    u . a
//       by m p:  u x w' + w (w . u) - u (w . w) + a x h
//       by J:    h . J w' + c . J w,  c = h x w
//
// (3) is (2) with (1), parameter by parameter; everything in link axes, in which J is constant.
#pragma once

#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/listed.hpp"

namespace articula::ARTICULA_ISA {

struct TorqueRegressor : ListedText {
  static constexpr const char* name = "torque_regressor";
  static constexpr const char* meaning =
      "Y, nv x 10 bodies: inverse_dynamics = Y pi + armature a, pi the masses, mass centres and inertias";
  static constexpr Argument uses[] = {Argument::q, Argument::v, Argument::a};
  static constexpr Part parts[] = {{"Y", Extent::nv, Extent::parameters}};
  static constexpr MemoryNeeds needs{};
  static constexpr bool of_inertias = false;

  template <class S>
  static S run(const Tree<Real<S>>& tree, const KernelCall<S>& call, const KernelMemory<S>& m) {
    constexpr int s = stride<S>;
    move_bodies<Upto::accelerations>(tree, call[Argument::q], call[Argument::v], call[Argument::a], m.x);
    S* const Y = call.out[0];
    const long row = 10L * tree.bodies;
    for (long i = 0; i < tree.nv * row; ++i) Y[i] = S(0);
    for (int k = 1; k < tree.slots(); ++k) {
      const S* const xk = slot(m.x, k, int(body::count));
      const Mat3<S> link = axes_of_body(m, k) * gather<1, Mat3<Real<S>>>(tree.link_axes + 9 * k);
      const Vec3<S> w = star_times(link, read<Vec3>(xk + s * body::w)),
                    dw = star_times(link, read<Vec3>(xk + s * body::alpha_w)),
                    a = star_times(link, read<Vec3>(xk + s * body::alpha_v));
      const S ww = dot(w, w), O(0);
      Vec3<S> r{O, O, O};  // from O_i to O_k
      for (int i = k; i > 0; i = tree.index[i].inboard) {
        joint_columns(
            tree, i, axes_of_body(m, i), r,
            &link, [&](int velocity, const Spatial<S>& column) __attribute__((always_inline)) {
              const Vec3<S>&h = column.w, &u = column.v;
              const Vec3<S> c = cross(h, w);
              const Vec3<S> mp = cross(u, dw) + w * dot(w, u) - u * ww + cross(a, h);
              S* const y = Y + velocity * row + 10 * (k - 1);
              y[0] = dot(u, a);  // (3)
              y[1] = mp.x, y[2] = mp.y, y[3] = mp.z;
              y[4] = h.x * dw.x + c.x * w.x;
              y[5] = h.x * dw.y + h.y * dw.x + c.x * w.y + c.y * w.x;
              y[6] = h.x * dw.z + h.z * dw.x + c.x * w.z + c.z * w.x;
              y[7] = h.y * dw.y + c.y * w.y;
              y[8] = h.y * dw.z + h.z * dw.y + c.y * w.z + c.z * w.y;
              y[9] = h.z * dw.z + c.z * w.z;
            });
        r += read<Vec3>(slot(m.x, i, int(body::count)) + s * body::l);
      }
    }
    return S(1);
  }
};

}  // namespace articula::ARTICULA_ISA
