#include "articula/diagonal/counted_texts.hpp"

#include <algorithm>
#include <cmath>

#include "articula/model/configuration.hpp"

#undef ARTICULA_ISA
#define ARTICULA_ISA counted_text  // the texts are compiled here for Counted alone
#include "articula/kernels/diagonal_text.hpp"
#include "articula/kernels/fd1_to_fd4_text.hpp"
#include "articula/kernels/inverse_dynamics_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/mass_factor_text.hpp"
#include "articula/kernels/mass_matrix_text.hpp"

namespace articula::counting {

Counted* Bench::give(std::size_t count) {
  memory_.emplace_back(count + 16, Counted::variable(0));
  return memory_.back().data();
}

Bench::Bench(const Model& model) : model(model), tree(model.tree<double>()) {
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
  // P, a, b and alpha have their own uses elsewhere, and sizes that fit.
  return {b.d.force, b.d.V, b.m.V, b.d.P_plus, b.m.alpha};
}
void nothing(Bench&) {}

}  // namespace

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
      {"unnormalized", "xi' from xi and tau (DIAG)", nothing,
       [](Bench& b) { text::diagonal_motion<false, S>(b.tree, b.q, b.v, b.tau, nullptr, b.d, b.out); }},
  };
}

}  // namespace articula::counting
