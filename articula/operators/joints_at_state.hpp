// A joint's numbers at a state, for sources that compute with them body by body. Included after ARTICULA_ISA is defined.
#pragma once

#include "articula/kernels/sweeps_text.hpp"

namespace articula::operators {

namespace isa = articula::ARTICULA_ISA;

inline const double* slot_of(const KernelMemory<double>& m, int k) { return slot(m.x, k, int(body::count)); }
/// phi(k+1, k)
inline Phi<double> shift_to(const KernelMemory<double>& m, int k) {
  return {isa::read<Vec3>(slot_of(m, k) + stride<double> * body::l)};
}
/// f(the joint's hinge map, its kind as a type)
void with_hinge(const Tree<double>& tree, const KernelMemory<double>& m, int k, auto&& f) {
  visit(tree.index[k].kind, [&](auto j) {
    const Mat3<double> axes = isa::read<Mat3>(slot_of(m, k) + stride<double> * body::R);
    f(HingeMap<decltype(j), double>{axes, tree.pitch[k]}, j);
  });
}

}  // namespace articula::operators
