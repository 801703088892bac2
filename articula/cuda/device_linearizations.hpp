// What a GPU's thread computes of one state, further algorithms of the library's list: linearizations, their products and
// adjoints.
#pragma once

#include "articula/cuda/device_algorithms.hpp"

namespace articula::device::algorithm {

struct linearized_inverse : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  static constexpr bool gives = !has_mimics;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    with_linearization<LinearizationNeeds{.columns = true}>(
        x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
          place_bodies<Number>(x.tree, x[q], m.x);
          if constexpr (gives) {
            Number left_out;  // takes what is not wanted
            const auto to = [&](int part) __attribute__((always_inline)) {
              return x.given[part] ? x.given[part] : Given{&left_out, 0};
            };
            inverse_matrices<Number>(x.tree, x[v], x[a], {}, lin, x.given[2], to(0), to(1), NoTouch{});
          } else {
            inverse_matrices<Number>(x.tree, x[v], x[a], {}, lin, x.out[2], x.out[0], x.out[1], NoTouch{});
          }
        });
    return one;
  }
};
struct linearized_forward : InOwnCoordinates {
  static constexpr MemoryNeeds needs = accelerating_and_factoring;
  static constexpr bool gives = column_by_column;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    if constexpr (has_mimics) {
      return tied_linearized_forward(x, m);
    } else {
      Number smallest;
      with_linearization<LinearizationNeeds{.direct = true}>(
          x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
            Number acceleration[nv];
            smallest = factored_forward<Number>(x.tree, x[q], x[v], x[tau], nullptr, lin, acceleration);
            if constexpr (gives)
              direct_rows_one_by_one(x, lin, acceleration, smallest);
            else
              direct_forward<Number>(x.tree, x[v], acceleration, {}, lin, x.out[0], x.out[1], x.out[2],
                                     NoTouch{});
          });
      return smallest;
    }
  }
};
/// by_q = -M^-1 dtau_dq and by_v = -M^-1 dtau_dv, in their places: the products that end the linearized forward dynamics
/// in steps. The inverse's triangle is in registers, and columns pass by.
struct solved_linearization : InOwnCoordinates {
  static constexpr MemoryNeeds needs = to_move;
  static constexpr bool takes = true, gives = true;
  ARTICULA_INLINE static Number run(const Context& x, const Memory&) {
    Number inverse[nv * (nv + 1) / 2];
#pragma unroll
    for (int i = 0; i < nv; ++i)
#pragma unroll
      for (int j = 0; j <= i; ++j)
        inverse[i * (i + 1) / 2 + j] = -x.given[2].at[(i * nv + j) * x.given[2].step];
#pragma unroll 1
    for (int c = 0; c < 2 * nv; ++c) {
      const Given& of = c < nv ? x.given[0] : x.given[1];
      Number* const to = of.at + (c < nv ? c : c - nv) * of.step;
      Number column[nv];
#pragma unroll
      for (int i = 0; i < nv; ++i) column[i] = to[i * nv * of.step];
#pragma unroll
      for (int i = 0; i < nv; ++i) {
        Number sum(0);
#pragma unroll
        for (int j = 0; j < nv; ++j)
          sum += inverse[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * column[j];
        to[i * nv * of.step] = sum;
      }
    }
    return one;
  }
};
struct perturbed_inverse : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    with_linearization<LinearizationNeeds{}>(
        x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
          device::perturbed_inverse<Number>(x.tree, x[q], x[v], x[a], x[dq], x[dv], x[da], {}, lin, x.out[0]);
        });
    return one;
  }
};
struct perturbed_forward : InOwnCoordinates {
  static constexpr MemoryNeeds needs = accelerating_and_factoring;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    if constexpr (has_mimics) {
      return tied_perturbed_forward(x, m);
    } else {
      Number smallest;
      with_linearization<LinearizationNeeds{}>(
          x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
            Number acceleration[nv], right[nv];
            smallest = factored_forward<Number>(x.tree, x[q], x[v], x[tau], nullptr, lin, acceleration);
            device::perturbed_forward<Number>(x.tree, x[v], acceleration, x[dq], x[dv], x[dtau], {}, lin,
                                              right, x.out[0]);
          });
      return smallest;
    }
  }
};
struct inverse_gradient : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    with_linearization<LinearizationNeeds{}>(
        x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
          inverse_adjoint<Number>(x.tree, x[q], x[v], x[a], x[weights], false, {}, lin, x.out[0], x.out[1],
                                  x.out[2]);
        });
    return one;
  }
};
/// w . da = (M^-1 w) . (dtau - what dq and dv need): a solve, then the adjoint of the inverse dynamics.
struct forward_gradient : InOwnCoordinates {
  static constexpr MemoryNeeds needs = accelerating_and_factoring;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    if constexpr (has_mimics) {
      return tied_forward_gradient(x, m);
    } else {
      Number smallest;
      with_linearization<LinearizationNeeds{}>(
          x, m, [&](const Linearization& lin) __attribute__((always_inline)) {
            Number acceleration[nv], scratch[nv];
            smallest = factored_forward<Number>(x.tree, x[q], x[v], x[tau], nullptr, lin, acceleration);
            solve_mass_matrix<Number>(x.tree, m, x[weights], x.out[2]);
            inverse_adjoint<Number>(x.tree, x[q], x[v], acceleration, x.out[2], true, {}, lin, x.out[0],
                                    x.out[1], scratch);
            for (int i = 0; i < nv; ++i) {
              x.out[0][i] = -x.out[0][i];
              x.out[1][i] = -x.out[1][i];
            }
          });
      return smallest;
    }
  }
};

}  // namespace articula::device::algorithm
