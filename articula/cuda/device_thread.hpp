// How a thread finds its state's numbers, its model and its memory.
#pragma once

#include "articula/cuda/arguments.hpp"
#include "articula/cuda/device_tied.hpp"

namespace articula::device {

using cuda::warp;
using Arguments = cuda::Arguments<Number>;

/// The numbers of one state in an argument of n numbers per state.
template <class T>
struct Numbers {
  T* at;
  long step;
  ARTICULA_INLINE Numbers(T* x, long n, long state, long count)
      : at(layout == Layout::rows      ? x + state * n
           : layout == Layout::columns ? x + state
                                       : x + state / warp * n * warp + state % warp),
        step(layout == Layout::rows      ? 1
             : layout == Layout::columns ? count
                                         : warp) {}
  ARTICULA_INLINE T& operator[](long i) const { return at[i * step]; }
};
template <int n>
ARTICULA_INLINE void load(const Number* from, long state, long count, Number* to) {
  const Numbers<const Number> x(from, n, state, count);
  ARTICULA_EACH_BODY
  for (int i = 0; i < n; ++i) to[i] = x[i];
}

/// The model as a thread sees it: its tables, or, where states have masses of their own, a copy with those.
template <class F>
ARTICULA_INLINE void with_tree(const Arguments& a, long state, F&& f) {
  Tree<Number> tree = model_tree();
  if constexpr (!varied) {
    f(tree, mass_of_model);
  } else {
    constexpr int blocks = (bodies + block) / block, each = constant::count - constant::mp;
    Number constants[blocks * block * constant::count], armature[nv], outboard[nv];
    for (int i = 0; i < blocks * block * constant::count; ++i) constants[i] = tree_constants[i];
    const long at = state + a.first;
    const Number* const own = a.inertias + at / warp * (bodies * each * warp) + at % warp;
    for (int k = 1; k <= bodies; ++k)
      for (int i = 0; i < each; ++i)
        constants[k / block * (block * constant::count) + k % block + block * (constant::mp + i)] =
            own[((k - 1) * each + i) * warp];
    const Number* const rotors = a.armature + at / warp * (nv * warp) + at % warp;
    for (int i = 0; i < nv; ++i) armature[i] = rotors[i * warp];
    // The mass outboard of each joint, for each of its velocities, tip to base.
    fill(outboard, nv, 0);
    for (int k = bodies; k >= 1; --k) {
      const BodyIndex& b = tree_index[k];
      outboard[b.v] += own[((k - 1) * each + constant::m - constant::mp) * warp];
      if (b.inboard != 0) outboard[tree_index[b.inboard].v] += outboard[b.v];
      const int end = k < bodies ? tree_index[k + 1].v : nv;
      for (int i = b.v + 1; i < end; ++i) outboard[i] = outboard[b.v];
    }
    tree.constants = constants, tree.armature = armature, tree.has_armature = true;
    f(tree, outboard);
  }
}
template <MemoryNeeds needs, class F>
ARTICULA_INLINE void with_kernel_memory(const Tree<Number>& tree, F&& f) {
  with_memory<sizes_of<Number, KernelMemory>(sizes_tree, needs), KernelMemory, Number>(tree, f, needs);
}

}  // namespace articula::device
