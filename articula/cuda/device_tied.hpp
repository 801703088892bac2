// What a thread has of a state, and the forward dynamics of mechanisms with mimic joints: in the model's own velocities
// the mass matrix is Gamma* M Gamma and bias forces are Gamma* (C v + g), as articula/batch/tied.hpp has it in lanes.
#pragma once

#include "articula/cuda/device_memory.hpp"
#include "articula/cuda/device_tables.hpp"
#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/cholesky_text.hpp"
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/kernels/listed.hpp"

namespace articula::device {

using Memory = KernelMemory<Number>;
using Linearization = LinearizationMemory<Number>;

/// Where a result goes that is given number by number, as soon as each is known.
struct Given {
  Number* at = nullptr;
  long step = 0;
  ARTICULA_INLINE void operator()(int i, Number x) const {
    if (at) at[i * step] = x;
  }
  // As the array that it is, of results that are all wanted.
  ARTICULA_INLINE Number& operator[](long i) const { return at[i * step]; }
  ARTICULA_INLINE explicit operator bool() const { return at != nullptr; }
};
/// Where an argument is read number by number, when each is needed.
struct Taken {
  const Number* at = nullptr;
  long step = 0;
  ARTICULA_INLINE Number operator[](int i) const { return at[i * step]; }
};
/// Vectors of a state by their names, and where results go: thread's own arrays.
struct Context {
  const Tree<Number>& tree;
  const Number* in[argument_count] = {};
  const Number* wrenches = nullptr;
  Number* out[most_parts] = {};
  const Number* outboard_mass = nullptr;  // by velocity; of states with masses of their own
  // Of algorithms that take their arguments and give their results themselves.
  Taken taken[argument_count];
  Given given[most_parts];
  ARTICULA_INLINE const Number* operator[](Argument argument) const { return in[static_cast<int>(argument)]; }
};
/// Whether an algorithm takes mimic joints as joints of their own, and its results are then to be added up, or the
/// model's own coordinates.
struct InFullCoordinates {
  static constexpr bool full = true, adds = true, takes = false, gives = false;
};
struct InOwnCoordinates {
  static constexpr bool full = false, adds = false, takes = false, gives = false;
};

ARTICULA_INLINE void fill(Number* x, int n, Number value) {
  for (int i = 0; i < n; ++i) x[i] = value;
}

/// f(LinearizationMemory) beside the arrays of m.
template <LinearizationNeeds needs, class F>
ARTICULA_INLINE void with_linearization(const Context& x, const Memory& m, F&& f) {
  constexpr ArraySizes sizes = [] {
    ArraySizes s;
    Linearization lin{};
    lin.carriers = carriers;
    lin.plan(WriteSizes<Number>{s}, sizes_tree, needs);
    return s;
  }();
  Number* pointers[sizes.count + 1];
  with_arrays<sizes>(
      pointers, [&]() __attribute__((always_inline)) {
        Linearization lin{};
        lin.carriers = carriers;
        lin.plan(HandOut<Number>{pointers}, x.tree, needs);
        lin.index = column_index;
        lin.carrier = carrier;
        lin.limbs = limbs, lin.limbs_end = limbs + limb_count;
        lin.limb_begin = limb_begin;
        lin.k = m;
        lin.mass = x.outboard_mass;
        f(lin);
      });
}

// --- between the model's own numbers and full ones
ARTICULA_INLINE void expand_coordinates(const Number* own, Number* full) {
  for (int i = 0; i < nq; ++i)
    full[i] = full_coordinates[i].multiplier * own[full_coordinates[i].source] + full_coordinates[i].offset;
}
ARTICULA_INLINE void expand(const Number* own, Number* full) {
  for (int i = 0; i < nv; ++i) full[i] = full_velocities[i].multiplier * own[full_velocities[i].source];
}
/// Rows of forces, or of columns.
ARTICULA_INLINE void reduce(int rows, const Number* full, Number* own) {
  fill(own, rows * own_nv, 0);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < nv; ++i)
      own[r * own_nv + full_velocities[i].source] += full_velocities[i].multiplier * full[r * nv + i];
}
/// One row for each velocity.
ARTICULA_INLINE void reduce_rows(int length, const Number* full, Number* own) {
  fill(own, length * own_nv, 0);
  for (int i = 0; i < nv; ++i)
    for (int c = 0; c < length; ++c)
      own[full_velocities[i].source * length + c] += full_velocities[i].multiplier * full[i * length + c];
}
ARTICULA_INLINE void reduce_matrix(const Number* full, Number* own) {
  fill(own, own_nv * own_nv, 0);
  for (int i = 0; i < nv; ++i)
    for (int j = 0; j < nv; ++j)
      own[full_velocities[i].source * own_nv + full_velocities[j].source] +=
          full_velocities[i].multiplier * full_velocities[j].multiplier * full[i * nv + j];
}

/// The Cholesky factor of Gamma* M Gamma.
struct TiedFactor {
  Number factor[own_nv * own_nv];
  Number full_q[nq];
  ARTICULA_INLINE Number at(const Tree<Number>& tree, const Number* q, const Memory& m) {
    Number matrix[nv * nv];
    expand_coordinates(q, full_q);
    mass_matrix<Number>(tree, full_q, m, matrix);
    reduce_matrix(matrix, factor);
    return cholesky_factor<Number>(own_nv, factor);
  }
  ARTICULA_INLINE void solve(int columns, Number* x) const {
    cholesky_solve<Number>(own_nv, factor, columns, x);
  }
  ARTICULA_INLINE void invert(Number* inverse) const {
    fill(inverse, own_nv * own_nv, 0);
    for (int i = 0; i < own_nv; ++i) inverse[i * own_nv + i] = 1;
    solve(own_nv, inverse);
  }
};

inline constexpr MemoryNeeds accelerating = has_mimics
                                                ? MemoryNeeds{.side = true, .composite = true}
                                                : MemoryNeeds{.side = true, .factor = true, .solve = true};
inline constexpr MemoryNeeds accelerating_and_factoring =
    has_mimics ? accelerating : MemoryNeeds{.side = true, .factor = true, .keep_D = true, .solve = true};

/// With mimic joints: a = M^-1 (tau - C v - g); leaves the factor and the full velocities.
ARTICULA_INLINE Number accelerate_tied(const Tree<Number>& tree, const Number* q, const Number* v,
                                       const Number* tau, const Number* wrenches, const Memory& m,
                                       TiedFactor& factor, Number* full_v, Number* a) {
  const Number smallest = factor.at(tree, q, m);
  Number bias[nv], own[own_nv];
  expand(v, full_v);
  inverse_dynamics<Number>(tree, factor.full_q, full_v, nullptr, wrenches, m, bias);
  reduce(1, bias, own);
  for (int i = 0; i < own_nv; ++i) a[i] = tau[i] - own[i];
  factor.solve(1, a);
  return smallest;
}
/// Forward dynamics in the model's own coordinates. Returns the smallest pivot.
ARTICULA_INLINE Number accelerate(const Tree<Number>& tree, const Number* q, const Number* v,
                                  const Number* tau, const Number* wrenches, const Memory& m, Number* a) {
  if constexpr (has_mimics) {
    TiedFactor factor;
    Number full_v[nv];
    return accelerate_tied(tree, q, v, tau, wrenches, m, factor, full_v, a);
  } else {
    return forward_dynamics<Number>(tree, q, v, tau, wrenches, m, a);
  }
}

/// da = M^-1 (dtau - dT), dT what dq and dv ask of the joint forces at the acceleration that tau gives.
inline Number tied_linearized_forward(const Context& x, const Memory& m) {
  TiedFactor factor;
  Number full_v[nv], a[own_nv], full_a[nv];
  const Number smallest = accelerate_tied(x.tree, x[Argument::q], x[Argument::v], x[Argument::tau], nullptr,
                                          m, factor, full_v, a);
  expand(a, full_a);
  Number full[2][nv * nv];
  with_linearization<LinearizationNeeds{.columns = true}>(
      x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
        place_bodies<Number>(x.tree, factor.full_q, m.x);
        inverse_matrices<Number>(x.tree, full_v, full_a, {}, lin, static_cast<Number*>(nullptr), full[0],
                                 full[1], NoTouch{});
      });
  for (int i = 0; i < 2; ++i) {
    reduce_matrix(full[i], x.out[i]);
    for (int c = 0; c < own_nv * own_nv; ++c) x.out[i][c] = -x.out[i][c];
    factor.solve(own_nv, x.out[i]);
  }
  factor.invert(x.out[2]);
  return smallest;
}
inline Number tied_perturbed_forward(const Context& x, const Memory& m) {
  TiedFactor factor;
  Number full_v[nv], a[own_nv], full_a[nv], dq[nv], dv[nv], dT[nv];
  const Number smallest = accelerate_tied(x.tree, x[Argument::q], x[Argument::v], x[Argument::tau], nullptr,
                                          m, factor, full_v, a);
  expand(a, full_a), expand(x[Argument::dq], dq), expand(x[Argument::dv], dv);
  with_linearization<LinearizationNeeds{}>(
      x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
        perturbed_inverse<Number>(x.tree, factor.full_q, full_v, full_a, dq, dv, nullptr, {}, lin, dT);
      });
  reduce(1, dT, x.out[0]);
  for (int i = 0; i < own_nv; ++i) x.out[0][i] = x[Argument::dtau][i] - x.out[0][i];
  factor.solve(1, x.out[0]);
  return smallest;
}
inline Number tied_forward_gradient(const Context& x, const Memory& m) {
  TiedFactor factor;
  Number full_v[nv], a[own_nv], full_a[nv], w[nv], by_q[nv], by_v[nv], by_a[nv];
  const Number smallest = accelerate_tied(x.tree, x[Argument::q], x[Argument::v], x[Argument::tau], nullptr,
                                          m, factor, full_v, a);
  expand(a, full_a);
  for (int i = 0; i < own_nv; ++i) x.out[2][i] = x[Argument::weights][i];
  factor.solve(1, x.out[2]);
  expand(x.out[2], w);
  with_linearization<LinearizationNeeds{}>(
      x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
        inverse_adjoint<Number>(x.tree, factor.full_q, full_v, full_a, w, false, {}, lin, by_q, by_v, by_a);
      });
  reduce(1, by_q, x.out[0]), reduce(1, by_v, x.out[1]);
  for (int i = 0; i < own_nv; ++i) x.out[0][i] = -x.out[0][i], x.out[1][i] = -x.out[1][i];
  return smallest;
}

}  // namespace articula::device
