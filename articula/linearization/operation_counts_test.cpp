// Multiplications and additions of LIN Algorithms 1, 2, 4, 5 and 6 for a general revolute chain, at or below
// the counts that the paper prints (docs/math.md 11), by running the texts with a counting number. As in the
// paper, sines and cosines are not counted, and known zeros and ones (of the base) are free. Algorithms 4 to
// 6 start from the forward dynamics of the nominal motion.
#include <gtest/gtest.h>

#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/linearization/workspace.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/counted.hpp"

namespace articula::testing {
namespace {

using C = Counted;

/// Lends its index arrays.
struct Indexed : LinearizationWorkspace<double> {
  explicit Indexed(const Model& model) : LinearizationWorkspace<double>(model, {}, {}) {}
  const LinearizationMemory<double>& memory() const { return lin_; }
};

struct Counter {
  explicit Counter(int n) : model(make_chain(n)), indexed(model), tree(model.tree<double>()) {
    const std::size_t slots = tree.slots(), padded_nv = padded(n);
    const auto take = [&](std::size_t size) {
      arrays.emplace_back(size, C(0.0));
      return arrays.back().data();
    };
    arrays.reserve(32);
    m.k.x = take(slots * body::count), m.k.side = take(slots * side_count);
    m.k.K = take(6 * n), m.k.D = take(6 * n), m.k.inv_D = take(6 * n), m.k.nu = take(n),
    m.k.lambda = take(6 * slots);
    m.y = take(slots * motion::count), m.side = take(42 * slots), m.columns = take(column::count * padded_nv);
    m.own = take(6 * n), m.row = take(3 * padded_nv), m.direct = take(direct::count * padded_nv);
    m.t = take(12 * slots), m.result = take(3 * padded_nv);
    static_cast<LinearizationTables&>(m) = indexed.memory();
    m.Z = take(6 * m.carriers), m.mass = indexed.memory().mass;
    const auto at = random(model, 5);
    for (int i = 0; i < n; ++i) {
      q.push_back(C::variable(at[i]));
      v.push_back(C::variable(0.3 + 0.1 * i)), a.push_back(C::variable(0.2 * i)),
          d.push_back(C::variable(1 - 0.1 * i));
    }
    for (auto* x : {&A, &B, &D}) x->assign(static_cast<std::size_t>(n) * n + block, C(0.0));
    out.assign(n, C(0.0)), acceleration.assign(n, C(0.0));
  }
  /// What f does, against the paper's formulas.
  template <class F>
  void check(const char* name, double multiplications, double additions, F&& f) {
    Counted::tally() = {};
    f();
    const Tally t = Counted::tally();
    std::printf("  %-12s n = %2d: %6ld multiplications (LIN %6.0f), %6ld additions (LIN %6.0f)\n", name,
                tree.nv, t.multiplications + t.divisions, multiplications, t.additions, additions);
    EXPECT_LE(t.multiplications + t.divisions, multiplications) << name << " " << tree.nv;
    EXPECT_LE(t.additions, additions) << name << " " << tree.nv;
    EXPECT_GT(t.multiplications, multiplications / 2) << name;  // something was counted
  }
  Model model;
  Indexed indexed;
  const Tree<double>& tree;
  LinearizationMemory<C> m;
  std::vector<std::vector<C>> arrays;
  std::vector<C> q, v, a, d, out, acceleration, A, B, D;
};

TEST(OperationCounts, AtOrBelowThePaper) {
  Counted::folding() = true;
  for (const int n : {6, 7, 12, 30}) {
    Counter c(n);
    const double n1 = n, n2 = n1 * n, n3 = n2 * n;
    const ExternalForces<C> none;
    c.check("Algorithm 1", 320 * n1 - 159, 303 * n1 - 149, [&] {
      portable::perturbed_inverse<C>(c.tree, c.q.data(), c.v.data(), c.a.data(), c.d.data(), c.d.data(),
                                     c.d.data(), none, c.m, c.out.data());
    });
    c.check("Algorithm 2", 21 * n2 + 333 * n1 - 132, 23.5 * n2 + 302.5 * n1 - 145, [&] {
      portable::linearized_inverse<C>(c.tree, c.q.data(), c.v.data(), c.a.data(), none, c.m, c.A.data(),
                                      c.B.data(), c.D.data());
    });
    portable::factored_forward<C>(c.tree, c.q.data(), c.v.data(), c.d.data(), nullptr, c.m,
                                  c.acceleration.data());
    c.check("Algorithm 5", 259 * n1 - 129, 232 * n1 - 123, [&] {
      portable::perturbed_forward<C>(c.tree, c.v.data(), c.acceleration.data(), c.d.data(), c.d.data(),
                                     c.d.data(), none, c.m, c.out.data(), c.out.data());
    });
    c.check("Algorithm 6", 36 * n2 + 781 * n1 - 225, 33 * n2 + 773 * n1 - 255, [&] {
      portable::direct_forward<C>(c.tree, c.v.data(), c.acceleration.data(), none, c.m, c.A.data(),
                                  c.B.data(), c.D.data());
    });
    std::vector<C> by_q(c.A.size()), by_v(c.A.size());
    c.check("Algorithm 4", 17 * n3 / 6 + 43 * n2 / 2 + 998 * n1 / 3 - 132,
            17 * n3 / 6 + 20 * n2 + 1819 * n1 / 6 - 145, [&] {
              portable::conventional_forward<C>(c.tree, c.v.data(), c.acceleration.data(), none, c.m,
                                                by_q.data(), by_v.data(), c.A.data(), c.B.data(), c.D.data());
            });
  }
  Counted::folding() = false;
}

}  // namespace
}  // namespace articula::testing
