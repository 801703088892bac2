// x = M^-1 T for one T, without a factor that is kept: the forward dynamics of a mechanism at rest, without gravity:
// its inward and outward sweeps, with f = 0 (body_axes_forward_text.hpp (2) to (6), or in world axes).
#pragma once

#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/listed.hpp"
#include "articula/kernels/tied_text.hpp"

namespace articula::ARTICULA_ISA {

/// f = 0 of every body: component `f` of slots of so many numbers.
template <class S>
ARTICULA_INLINE void put_no_forces(const Tree<Real<S>>& tree, int f, int numbers, S* x) {
  const S O(0);
  for (int k = 1; k < tree.slots(); ++k)
    write(slot(x, k, numbers) + stride<S> * f, Spatial<S>{{O, O, O}, {O, O, O}});
}

/// Returns the smallest pivot of D: not positive where some joint has no inertia to move.
template <class S>
S solve_directly(const Tree<Real<S>>& tree, const S* q, const S* T, const KernelMemory<S>& m, S* x) {
  if (!tree.suits_body_axes) {
    move_bodies_and_inertias<Upto::positions, false>(tree, q, static_cast<const S*>(nullptr), m.x);
    put_no_forces(tree, int(body::f), int(body::count), m.x);
    return articulate_and_smooth_in_world_axes(tree, T, m, x);
  }
  place_own_joints(tree, q, m.x);
  put_no_forces(tree, int(own::f), int(own::count), m.x);
  return articulate_and_smooth(tree, T, m, x);
}

struct SolveMassMatrix : ListedText {
  static constexpr const char* name = "solve_mass_matrix";
  static constexpr const char* meaning = "x = M^-1 tau, in O(n), without M";
  static constexpr Argument uses[] = {Argument::q, Argument::tau};
  static constexpr Part parts[] = {{"x", Extent::nv}};
  static constexpr MemoryNeeds needs{.side = true, .factor = true, .solve = true};
  static constexpr Mimics mimics = Mimics::tied;

  template <class S>
  static S run(const Tree<Real<S>>& tree, const KernelCall<S>& c, const KernelMemory<S>& m) {
    return tree.source ? solve_tied<S>(tree, c[Argument::q], c[Argument::tau], m, c.out[0])
                       : solve_directly<S>(tree, c[Argument::q], c[Argument::tau], m, c.out[0]);
  }
};

}  // namespace articula::ARTICULA_ISA
