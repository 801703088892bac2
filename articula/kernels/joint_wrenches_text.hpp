// What each body gets through its joint: f(k) = M alpha + b less external force, and phi f of all that it carries (JPL88
// 3.5). H f is the joint's own force, tau less its rotor's; the rest is what bearings have to hold.
#pragma once

#include "articula/kernels/listed.hpp"
#include "articula/kernels/outward_text.hpp"

namespace articula::ARTICULA_ISA {

struct JointWrenches : ListedText {
  static constexpr const char* name = "joint_wrenches";
  static constexpr const char* meaning =
      "(moment, force) that every body gets through its joint, world axes at its joint origin";
  static constexpr Argument uses[] = {Argument::q, Argument::v, Argument::a};
  static constexpr Part parts[] = {{"f", Extent::bodies, Extent::six}};
  static constexpr MemoryNeeds needs{};
  static constexpr bool external_forces = true;

  template <class S>
  static S run(const Tree<Real<S>>& tree, const KernelCall<S>& c, const KernelMemory<S>& m) {
    constexpr int s = stride<S>;
    move_and_load_bodies<false, false>(tree, c[Argument::q], c[Argument::v], c[Argument::a], m.x);
    subtract_wrenches(tree, c.wrenches, m.x);
    S* const f = c.out[0] - 6;  // by slot
    for (int k = 1; k < tree.slots(); ++k)
      scatter<1>(read<Spatial>(slot(m.x, k, int(body::count)) + s * body::f), f + 6 * k);
    for (int k = tree.bodies; k >= 1; --k) {
      const int inboard = tree.index[k].inboard;
      if (inboard == 0) continue;
      const Phi<S> phi{read<Vec3>(slot(m.x, k, int(body::count)) + s * body::l)};
      scatter<1>(gather<1, Spatial<S>>(f + 6 * inboard) + phi * gather<1, Spatial<S>>(f + 6 * k),
                 f + 6 * inboard);
    }
    return S(1);
  }
};

}  // namespace articula::ARTICULA_ISA
