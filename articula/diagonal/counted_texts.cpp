#include "articula/diagonal/counted_texts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "articula/model/configuration.hpp"

#undef ARTICULA_ISA
#define ARTICULA_ISA counted_text  // the texts are compiled here for Counted alone
#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/diagonal_text.hpp"
#include "articula/kernels/fd1_to_fd4_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/printed_coriolis_text.hpp"

namespace articula::counting {

Counted* Bench::give(std::size_t count) {
  memory_.emplace_back(count + 16, Counted::variable(0));
  return memory_.back().data();
}

Bench::Bench(const Model& model) : model(model), tree(model.tree<double>()) {
  tree.steps_inboard = 0;  // the mass matrix by one text whatever n: in body axes (short_walks)
  const std::size_t n = tree.nv;
  const auto each = [this](Counted*& array, std::size_t count, bool wanted = true) {
    if (wanted) array = give(count);
  };
  m.plan(each, tree,
         MemoryNeeds{
             .side = true, .factor = true, .keep_D = true, .solve = true, .composite = true, .motion = true});
  d.plan(each, tree);
  d.k = m;
  const std::vector<double> own = random(model, 1);
  q = give(tree.nq);
  const auto map = model.full_coordinates();
  for (int i = 0; i < tree.nq; ++i)
    q[i] = Counted::variable(model.has_mimics() ? map[i].multiplier * own[map[i].source] + map[i].offset
                                                : own[i]);
  const auto some = [&](double phase) {
    Counted* x = give(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = Counted::variable(std::sin(phase + 1.7 * double(i)));
    return x;
  };
  v = some(0.1), a = some(0.2), tau = some(0.3), dq = some(0.4), dv = some(0.5), da = some(0.6);
  out = give(n);
  for (Counted*& square : matrix) square = give(n * n);
}

namespace {

namespace text = counted_text;
using S = Counted;

NamedMemory<S> named(Bench& b) {
  // P, a and b have their own uses elsewhere, and sizes that fit.
  return {b.d.force, b.d.V, b.m.V, b.d.P_plus, b.give(6 * std::size_t(b.tree.slots()))};
}
void nothing(Bench&) {}

}  // namespace

namespace {
/// The steps of diagonal_motion() before its last one, up to a stage.
template <bool normalized>
void diagonal_before(Bench& b, int stage) {
  text::diagonal_factor(b.tree, static_cast<const S*>(b.q), b.d);
  if (stage < 1) return;
  if constexpr (normalized) {
    text::factor_roots(b.tree, b.d);
    for (int i = 0; i < b.nv(); ++i) b.d.xi[i] = b.v[i];
    text::solve_root_star(b.tree, b.d, b.d.xi);
  } else {
    for (int i = 0; i < b.nv(); ++i) b.d.xi[i] = b.v[i];
  }
  text::rates_and_xi<false>(b.tree, b.d, static_cast<const S*>(b.d.xi), b.d.theta_dot);
  if (stage < 2) return;
  text::coriolis_of_xi(b.tree, static_cast<const S*>(b.d.theta_dot), static_cast<const S*>(b.d.xi),
                       static_cast<const S*>(nullptr), b.d, b.out);
  if constexpr (normalized) text::coriolis_of_nu(b.tree, static_cast<const S*>(b.d.xi), b.d, b.out);
  if (stage < 3) return;
  text::forces_and_kappa<true>(b.tree, b.d, static_cast<const S*>(b.tau), b.d.force);
  if constexpr (normalized) text::solve_root(b.tree, b.d, b.d.force);
}
/// What the last of them takes: all of them, less those before.
template <bool normalized, int stage>
void diagonal_stage(Bench& b) {
  if constexpr (stage > 0) diagonal_before<normalized>(b, stage - 1);
  const Tally before = std::exchange(Counted::tally(), Tally{});
  diagonal_before<normalized>(b, stage);
  Tally& all = Counted::tally();
  all.multiplications -= before.multiplications, all.additions -= before.additions;
  all.divisions -= before.divisions, all.square_roots -= before.square_roots;
  all.sines_cosines -= before.sines_cosines, all.branches -= before.branches;
}
}  // namespace

std::vector<Entry> diagonal_stages() {
  return {
      {"table2_articulated", "P, G, psi", nothing, diagonal_stage<false, 0>},
      {"table2_rates_nu", "V+, V, th'", nothing, diagonal_stage<true, 1>},
      {"table2_coriolis_nu", "b, X, lambda, y, C(th, nu)", nothing, diagonal_stage<true, 2>},
      {"table2_forces_nu", "z, z+, eps", nothing, diagonal_stage<true, 3>},
      {"table2_rates_xi", "V+, V, th'", nothing, diagonal_stage<false, 1>},
      {"table2_coriolis_xi", "b, X, lambda, y, C(th, xi)", nothing, diagonal_stage<false, 2>},
      {"table2_forces_xi", "z, z+, kappa", nothing, diagonal_stage<false, 3>},
  };
}

std::vector<Entry> dynamics_entries() {
  return {
      {"inverse_dynamics", "tau = M a + C v + g", nothing,
       [](Bench& b) { text::inverse_dynamics<S>(b.tree, b.q, b.v, b.a, nullptr, b.m, b.out); }},
      {"forward_dynamics", "a from tau: FD3, tuned", nothing,
       [](Bench& b) { text::forward_dynamics<S>(b.tree, b.q, b.v, b.tau, nullptr, b.m, b.out); }},
      {"mass_matrix", "M by composite inertias", nothing,
       [](Bench& b) { text::mass_matrix<S>(b.tree, b.q, b.m, b.matrix[0]); }},
      {"mass_factor", "M = [Id + H phi K] D [Id + H phi K]*", nothing,
       [](Bench& b) { text::factor_mass_matrix<S>(b.tree, b.q, b.m); }},
      {"solve_mass_matrix", "M^-1 x, after mass_factor",
       [](Bench& b) { text::factor_mass_matrix<S>(b.tree, b.q, b.m); },
       [](Bench& b) { text::solve_mass_matrix<S>(b.tree, b.m, b.tau, b.out); }},
      {"inverse_mass_matrix", "M^-1, factor included", nothing,
       [](Bench& b) {
         text::factor_mass_matrix<S>(b.tree, b.q, b.m);
         text::invert_mass_matrix<S>(b.tree, b.m, b.matrix[0]);
       }},
      {"kinematics", "poses, velocities, accelerations", nothing,
       [](Bench& b) { text::kinematics<S>(b.tree, b.q, b.v, b.a, b.m); }},
      {"forward_dynamics_fd1", "JPL88, four sweeps", nothing,
       [](Bench& b) {
         text::forward_dynamics_fd1<S>(b.tree, b.q, b.v, b.tau, nullptr, b.m, named(b), b.out);
       }},
      {"forward_dynamics_fd2", "the same, with body accelerations", nothing,
       [](Bench& b) {
         text::forward_dynamics_fd2<S>(b.tree, b.q, b.v, b.tau, nullptr, b.m, named(b), b.out);
       }},
      {"forward_dynamics_fd3", "three sweeps", nothing,
       [](Bench& b) {
         text::forward_dynamics_fd3<S>(b.tree, b.q, b.v, b.tau, nullptr, b.m, named(b), b.out);
       }},
      {"forward_dynamics_fd4", "three sweeps, no phi* a", nothing,
       [](Bench& b) {
         text::forward_dynamics_fd4<S>(b.tree, b.q, b.v, b.tau, nullptr, b.m, named(b), b.out);
       }},
      {"normalized", "nu' from nu and tau (DIAG)", nothing,
       [](Bench& b) { text::diagonal_motion<true, S>(b.tree, b.q, b.v, b.tau, nullptr, b.d, b.out); }},
      {"normalized_printed", "the same with DIAG's own recursion of C(th, nu)", nothing,
       [](Bench& b) {
         diagonal_before<true>(b, 1);
         text::coriolis_of_nu_printed<S>(b.tree, b.d.theta_dot, nullptr, b.d, b.out);
         text::forces_and_kappa<true, S>(b.tree, b.d, b.tau, b.d.force);
         text::solve_root<S>(b.tree, b.d, b.d.force);
         for (int i = 0; i < b.nv(); ++i) b.out[i] = b.d.force[i] - b.out[i];
       }},
      {"unnormalized", "xi' from xi and tau (DIAG)", nothing,
       [](Bench& b) { text::diagonal_motion<false, S>(b.tree, b.q, b.v, b.tau, nullptr, b.d, b.out); }},
  };
}

}  // namespace articula::counting
