// What a GPU's thread computes of one state: a struct for each algorithm of the library's list, by the list's name, and
// those of articula/kernels/listed_texts.hpp by their number. The texts are the kernels' own; here is what Batch's calls
// (articula/batch) say around them.
#pragma once

#include "articula/cuda/device_loops.hpp"
#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/centroidal_map_text.hpp"
#include "articula/kernels/diagonal_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/listed_texts.hpp"
#include "articula/kernels/path_text.hpp"

namespace articula::device::algorithm {

inline constexpr MemoryNeeds to_move{},
    to_factor{.side = true, .factor = true, .keep_D = true, .solve = true}, to_know_motion{.motion = true},
    to_compose{.side = true, .composite = true};
constexpr Argument q = Argument::q, v = Argument::v, a = Argument::a, tau = Argument::tau, dq = Argument::dq,
                   dv = Argument::dv, da = Argument::da, dtau = Argument::dtau, weights = Argument::weights;
inline constexpr Number one = 1;

// --- dynamics
struct inverse_dynamics : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    device::inverse_dynamics<Number>(x.tree, x[q], x[v], x[a], x.wrenches, m, x.out[0]);
    return one;
  }
};
struct bias_forces : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    device::inverse_dynamics<Number>(x.tree, x[q], x[v], nullptr, x.wrenches, m, x.out[0]);
    return one;
  }
};
struct gravity_forces : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    Number rest[nv];
    fill(rest, nv, 0);
    device::inverse_dynamics<Number>(x.tree, x[q], rest, nullptr, nullptr, m, x.out[0]);
    return one;
  }
};
struct forward_dynamics : InOwnCoordinates {
  static constexpr MemoryNeeds needs = accelerating;
  static constexpr bool takes = limb_by_limb, gives = limb_by_limb;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    if constexpr (ARTICULA_LOOPS)
      return accelerate_by_loops(x, m);
    else if constexpr (limb_by_limb)
      return accelerate_limb_by_limb(x, m);
    else
      return accelerate(x.tree, x[q], x[v], x[tau], x.wrenches, m, x.out[0]);
  }
};
struct mass_matrix : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_compose;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    device::mass_matrix<Number>(x.tree, x[q], m, x.out[0]);
    return one;
  }
};
struct inverse_mass_matrix : InOwnCoordinates {
  static constexpr MemoryNeeds needs = has_mimics ? to_compose : to_factor;
  static constexpr bool gives = column_by_column;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    if constexpr (has_mimics) {
      TiedFactor factor;
      const Number smallest = factor.at(x.tree, x[q], m);
      factor.invert(x.out[0]);
      return smallest;
    } else {
      const Number smallest = factor_mass_matrix<Number>(x.tree, x[q], m);
      if constexpr (gives)
        inverse_columns(x, m, smallest);
      else
        invert_mass_matrix<Number>(x.tree, m, x.out[0]);
      return smallest;
    }
  }
};
struct coriolis_matrix : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    with_memory<sizes_of<Number, CoriolisMemory>(sizes_tree), CoriolisMemory, Number>(
        x.tree, [&](const CoriolisMemory<Number>& n) __attribute__((always_inline)) {
          device::coriolis_matrix<Number>(x.tree, x[q], x[v], m, n, x.out[0]);
        });
    return one;
  }
};
struct mass_matrix_rate : InFullCoordinates {
  static constexpr MemoryNeeds needs = coriolis_matrix::needs;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    coriolis_matrix::run(x, m);
    Number* const C = x.out[0];
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j <= i; ++j) C[i * nv + j] = C[j * nv + i] = C[i * nv + j] + C[j * nv + i];
    return one;
  }
};

// --- kinematics and sums; a model without mass has its centre, momentum and potential energy at zero
inline void energies_of(const Context& x, const Memory& m, Number* kinetic, Number* potential) {
  const Number* const rates = kinetic ? x[v] : nullptr;
  kinematics<Number>(x.tree, x[q], rates, nullptr, m);
  const Totals<Number> t = totals<Number>(x.tree, m, kinetic != nullptr);
  *potential = massless && !varied ? Number(0) : t.potential;
  if (!kinetic) return;
  *kinetic = t.kinetic;
  for (int i = 0; x.tree.has_armature && i < nv; ++i)
    *kinetic = *kinetic + x.tree.armature[i] * rates[i] * rates[i] / 2;
}
struct energies : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    energies_of(x, m, x.out[0], x.out[1]);
    return one;
  }
};
struct kinetic_energy : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    Number potential;
    energies_of(x, m, x.out[0], &potential);
    return one;
  }
};
struct potential_energy : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    energies_of(x, m, nullptr, x.out[0]);
    return one;
  }
};
struct center_of_mass : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], nullptr, nullptr, m);
    scatter<1>(totals<Number>(x.tree, m, false).center_of_mass, x.out[0]);
    if (massless && !varied) fill(x.out[0], 3, 0);
    return one;
  }
};
struct momentum : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], x[v], nullptr, m);
    scatter<1>(totals<Number>(x.tree, m, true).momentum, x.out[0]);
    if (massless && !varied) fill(x.out[0], 6, 0);
    return one;
  }
};
struct centroidal_map : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_compose;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    composite_inertias<Number>(x.tree, x[q], m);
    centroidal_columns<Number>(x.tree, m, SixRows<Number>{x.out[0], nv});
    return one;
  }
};
/// f(path) with room for the way of one frame.
template <class F>
ARTICULA_INLINE void with_path(F&& f) {
  constexpr int longest = bodies + block;
  int count = 0, path_slots[longest + 1];
  path_slots[0] = -1;
  Number sine[longest], cosine[longest], placed[path_numbers * longest];
  f(PathMemory<Number>{&count, path_slots, sine, cosine, placed});
}
struct pose : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_move;
  ARTICULA_INLINE static Number run(const Context& x, const Memory&) {
    Number both[12];
    with_path([&](const PathMemory<Number>& path)
                  __attribute__((always_inline)) { pose_at<Number>(x.tree, x[q], frames[0], path, both); });
    for (int i = 0; i < 9; ++i) x.out[0][i] = both[i];
    for (int i = 0; i < 3; ++i) x.out[1][i] = both[9 + i];
    return one;
  }
};
/// Of several frames, 12 numbers each.
struct poses : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], nullptr, nullptr, m);
    Number* to = x.out[0];
    for (int i = 0; i < frame_count; ++i, to += 12) {
      const auto f = place_frame<Number>(m, frames[i]);
      scatter<1>(f.R, to);
      scatter<1>(origin_of_body<Number>(m, f.slot) + f.r, to + 9);
    }
    return one;
  }
};
struct frame_velocity : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], x[v], nullptr, m);
    scatter<1>(articula::frame_velocity<Number>(m, place_frame<Number>(m, frames[0]), axes), x.out[0]);
    return one;
  }
};
struct frame_acceleration : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], x[v], x[a], m);
    scatter<1>(articula::frame_acceleration<Number>(m, place_frame<Number>(m, frames[0]), axes), x.out[0]);
    return one;
  }
};
struct jacobian_dot_v : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_know_motion;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    kinematics<Number>(x.tree, x[q], x[v], nullptr, m);
    scatter<1>(articula::frame_acceleration<Number>(m, place_frame<Number>(m, frames[0]), axes), x.out[0]);
    return one;
  }
};
struct jacobian : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_move;
  ARTICULA_INLINE static Number run(const Context& x, const Memory&) {
    with_path([&](const PathMemory<Number>& path) __attribute__((always_inline)) {
      jacobian_at<Number>(x.tree, x[q], frames[0], axes, path, x.out[0]);
    });
    return one;
  }
};
template <int number>
struct listed : InFullCoordinates {
  using Text = typename ListedAt<number>::type;
  static constexpr bool adds = Text::mimics == Mimics::added;
  static constexpr MemoryNeeds needs =
      has_mimics ? needs_with_mimics(Text::needs, Text::mimics) : Text::needs;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    KernelCall<Number> c;
    for_each_index<argument_count>([&](auto i)
                                       __attribute__((always_inline)) { c.in[i.value] = x.in[i.value]; });
    for_each_index<most_parts>([&](auto i)
                                   __attribute__((always_inline)) { c.out[i.value] = x.out[i.value]; });
    if (frame_count > 0) c.frame = frames[0];
    c.axes = axes;
    c.wrenches = x.wrenches;
    return Text::template run<Number>(x.tree, c, m);
  }
};

// --- diagonalized dynamics: see DiagonalizedBatch::terms
struct diagonalized : InFullCoordinates {
  static constexpr MemoryNeeds needs = to_factor;
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    Number smallest;
    with_memory<sizes_of<Number, DiagonalMemory>(sizes_tree), DiagonalMemory, Number>(
        x.tree, [&](DiagonalMemory<Number> d) __attribute__((always_inline)) {
          d.k = m;
          smallest = diagonal_factor<Number>(x.tree, x[q], d);
          factor_roots<Number>(x.tree, d);
          Number *const nu = x.out[0], *const epsilon = x.out[1], *const coriolis_nu = x.out[2],
                        *const xi = x.out[3], *const kappa = x.out[4], *const coriolis_xi = x.out[5];
          forces_and_kappa<true, Number>(x.tree, d, x[tau], kappa);
          rates_and_xi<true, Number>(x.tree, d, x[v], xi);
          for (int i = 0; i < nv; ++i) nu[i] = xi[i], epsilon[i] = kappa[i];
          times_root_star<Number>(x.tree, d, nu);
          solve_root<Number>(x.tree, d, epsilon);
          coriolis_of_xi<Number>(x.tree, x[v], xi, x.wrenches, d, coriolis_xi);
          for (int i = 0; i < nv; ++i) coriolis_nu[i] = coriolis_xi[i];
          coriolis_of_nu<Number>(x.tree, xi, d, coriolis_nu);
          Number* const D = x.out[6];
          fill(D, nv * nv, 0);
          for (int k = 1; k <= bodies; ++k) {
            const int first = x.tree.index[k].v, end = k < bodies ? x.tree.index[k + 1].v : nv;
            for (int i = first; i < end; ++i)
              for (int c = first; c <= i; ++c) D[i * nv + c] = D[c * nv + i] = d.k.D[6 * i + c - first];
          }
        });
    return smallest;
  }
};

}  // namespace articula::device::algorithm
