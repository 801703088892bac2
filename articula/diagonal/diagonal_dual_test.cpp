// The texts of the diagonalized dynamics with dual numbers: exact directional derivatives of what the kernels
// compute.
#include <gtest/gtest.h>

#include <vector>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/spatial/dual.hpp"
#include "tests/support/random_models.hpp"

#undef ARTICULA_ISA
#define ARTICULA_ISA dual_text
#include "articula/kernels/diagonal_text.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using S = Dual<double>;

/// D' of the recursion is the dual part of D when q moves with v.
TEST(DiagonalText, RunsWithDualNumbers) {
  Rng rng(11);
  RandomOptions options;
  options.links = 7;
  options.kinds = {JointKind::revolute, JointKind::prismatic, JointKind::helical, JointKind::cylindrical};
  const ModelSpec spec = random_spec(rng, options);
  SCOPED_TRACE(describe(spec));
  const Model model(spec);
  const State s = random_state(rng, model);
  const Tree<double>& tree = model.tree<double>();
  const std::size_t n = tree.nv, slots = tree.slots();

  std::vector<std::vector<S>> memory;
  const auto give = [&](std::size_t count) { return memory.emplace_back(count + 16).data(); };
  DiagonalMemory<S> m;
  m.k.x = give(slots * body::count);
  m.k.side = give(slots * side_count);
  m.k.K = give(6 * n), m.k.D = give(6 * n), m.k.inv_D = give(6 * n);
  m.P_plus = give(21 * slots), m.G = give(6 * n);
  S* const q = give(n);
  for (std::size_t i = 0; i < n; ++i) q[i] = S(s.q[i], s.v[i]);  // these joints' q' is v
  dual_text::diagonal_factor<S>(tree, q, m);

  DiagonalizedDynamics work(model);
  work.update(s.q);
  const auto terms = work.terms(s.v);
  for (int k = 1; k <= tree.bodies; ++k) {
    const int v = tree.index[k].v, end = k < tree.bodies ? tree.index[k + 1].v : tree.nv;
    for (int i = v; i < end; ++i)
      for (int c = v; c <= i; ++c) {
        EXPECT_NEAR(m.k.D[6 * i + c - v].x, terms.D[i * n + c], 1e-12 * (1 + terms.D[i * n + i]));
        EXPECT_NEAR(m.k.D[6 * i + c - v].d, terms.D_dot[i * n + c], 1e-11 * (1 + terms.D[i * n + i]));
      }
  }
}

}  // namespace
}  // namespace articula
