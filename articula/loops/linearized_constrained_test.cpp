#include "articula/loops/linearized_constrained.hpp"

#include <gtest/gtest.h>

#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"

namespace articula::testing {
namespace {

Pose random_pose(Rng& rng) { return {rotation(rng.quaternion()), rng.vector(0.5)}; }

TEST(LinearizedConstrained, AgainstDifferences) {
  Worst by_q("da/dq and df/dq"), by_v("da/dv and df/dv"), by_tau("da/dtau and df/dtau");
  Rng rng(91);
  int done = 0;
  for (int i = 0; i < 14; ++i) {
    const ModelSpec spec = random_spec(rng, {.links = 7, .mimic = i % 3 == 0 ? 0.25 : 0});
    const Model model(spec, {.base = i % 2 ? Base::free : Base::fixed});
    if (model.nv() < 9) continue;
    const State s = random_state(rng, model, 0.5);
    std::vector<int> frames;
    for (std::size_t f = 0; f < model.frames().size(); ++f)
      if (model.frames()[f].body >= 0) frames.push_back(static_cast<int>(f));
    const int x = frames.front(), y = frames[frames.size() / 2], z = frames.back();
    if (model.frames()[x].body == model.frames()[z].body || model.frames()[y].body == model.frames()[z].body)
      continue;
    std::vector<Constraint> constraints{rod("rod", {x, random_pose(rng)}, {z, random_pose(rng)}, 1)};
    Constraint some;
    some.name = "some";
    some.a = {y, random_pose(rng)};
    some.b = {z, random_pose(rng)};
    some.fixed = {true, false, false, false, true, false};
    constraints.push_back(some);
    if (i % 4 == 1)
      constraints.push_back(rolling_disc("disc", {-1, random_pose(rng)}, {y, random_pose(rng)}, 0.2));
    if (i % 4 == 2)
      constraints.push_back(rolling_ball("ball", {x, random_pose(rng)}, {z, random_pose(rng)}, 0.2));
    for (std::size_t j = 0; j < model.joints().size(); ++j)
      if (nv_of(model.joints()[j].kind) == 1) {
        constraints.push_back(coupler("coupler", {{static_cast<int>(j), 1.5, {0.4, -0.3, i % 2 ? 0.2 : 0}}}));
        break;
      }
    ConstrainedDynamics work(model, constraints);
    LinearizedConstrained linear(work);
    ConstrainedDerivatives d;
    linear.compute(s.q, s.v, s.tau, d, s.wrenches);
    if (work.redundant()) continue;
    ++done;
    const std::size_t nv = model.nv(), rows = work.rows();
    const auto value = [&](std::span<const double> q, std::span<const double> v,
                           std::span<const double> tau) {
      std::vector<double> out(nv);
      work.acceleration(q, v, tau, out, s.wrenches);
      out.insert(out.end(), work.multipliers().begin(), work.multipliers().end());
      return out;
    };
    const auto compare = [&](Worst& worst, const std::vector<double>& a, const std::vector<double>& f,
                             const auto& at) {
      for (int t = 0; t < 3; ++t) {
        const std::vector<double> direction = random_vector(rng, nv);
        const auto expected = derivative([&](double h) { return at(scaled(direction, h)); }, 2e-3);
        std::vector<double> got(nv + rows);
        for (std::size_t r = 0; r < nv + rows; ++r)
          for (std::size_t c = 0; c < nv; ++c)
            got[r] += (r < nv ? a[r * nv + c] : f[(r - nv) * nv + c]) * direction[c];
        EXPECT_LT(worst(relative_error(got, expected, 1)), 2e-6) << describe(spec);
      }
    };
    compare(by_q, d.da_dq, d.df_dq,
            [&](const std::vector<double>& e) { return value(manifold_add(model, s.q, e), s.v, s.tau); });
    compare(by_v, d.da_dv, d.df_dv,
            [&](const std::vector<double>& e) { return value(s.q, sum(s.v, e), s.tau); });
    compare(by_tau, d.da_dtau, d.df_dtau,
            [&](const std::vector<double>& e) { return value(s.q, s.v, sum(s.tau, e)); });
  }
  EXPECT_GT(done, 5);
}

}  // namespace
}  // namespace articula::testing
