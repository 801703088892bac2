// The Jacobian of the centre of mass: a joint moves what it carries, and so the centre by that part of all mass.
//
//   (1) m+(k), mp+(k): mass of all that joint k carries, and mass times centre from O_k, summed inward
//   (2) column = (h x mp+(k) + u m+(k)) / m
#pragma once

#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/listed.hpp"

namespace articula::ARTICULA_ISA {

struct CenterOfMassJacobian : ListedText {
  static constexpr const char* name = "center_of_mass_jacobian";
  static constexpr const char* meaning = "3 x nv: the velocity of center_of_mass = jacobian v";
  static constexpr Argument uses[] = {Argument::q};
  static constexpr Part parts[] = {{"J", Extent::three, Extent::nv}};

  template <class S>
  static S run(const Tree<Real<S>>& tree, const KernelCall<S>& c, const KernelMemory<S>& m) {
    constexpr int s = stride<S>;
    const S O(0), *const none = nullptr;
    velocities<S>(tree, c[Argument::q], none, m);
    turn_inertias(tree, m.x);
    const auto carried = [&](int k) __attribute__((always_inline)) { return m.V + 6 * k; };  // m+, mp+
    S all = O;
    for (int k = 0; k < tree.slots(); ++k) {
      const S mass(tree.constants_of(k)[block * constant::m]);
      carried(k)[0] = k ? mass : O;
      scatter<1>(k ? read<Vec3>(slot(m.x, k, int(body::count)) + s * body::mp) : Vec3<S>{O, O, O},
                 carried(k) + 1);
      if (k) all = all + mass;
    }
    for (int k = tree.bodies; k >= 1; --k) {  // (1)
      S* const in = carried(tree.index[k].inboard);
      const S mass = carried(k)[0];
      const Vec3<S> l = read<Vec3>(slot(m.x, k, int(body::count)) + s * body::l);
      in[0] = in[0] + mass;
      scatter<1>(gather<1, Vec3<S>>(in + 1) + gather<1, Vec3<S>>(carried(k) + 1) + l * mass, in + 1);
    }
    S* const J = c.out[0];
    const S one_over_all = reciprocal(all);
    for (int k = 1; k < tree.slots(); ++k) {  // (2)
      const S mass = carried(k)[0];
      const Vec3<S> mp = gather<1, Vec3<S>>(carried(k) + 1);
      joint_columns(
          tree, k, axes_of_body(m, k), Vec3<S>{O, O, O}, static_cast<const Mat3<S>*>(nullptr),
          [&](int velocity, const Spatial<S>& h) __attribute__((always_inline)) {
            const Vec3<S> x = (cross(h.w, mp) + h.v * mass) * one_over_all;
            J[velocity] = x.x, J[tree.nv + velocity] = x.y, J[2 * tree.nv + velocity] = x.z;
          });
    }
    return S(1);
  }
};

}  // namespace articula::ARTICULA_ISA
