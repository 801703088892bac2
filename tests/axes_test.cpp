// Internal axes turned to follow the next joint: what they save, and that results do not depend on them.
#include <gtest/gtest.h>

#include "articula/diagonal/operation_counts.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/urdf.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

TEST(InternalAxes, ResultsDoNotDependOnThem) {
  Worst worst("with turned axes against without");
  for_each_case([&](const Case& c) {
    const Model plain(c.model.spec(),
                      {.base = c.model.base(), .gravity = c.model.gravity(), .turn_axes = false});
    const State& s = c.state;
    const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b) {
      EXPECT_LT(worst(relative_error(a, b)), 1e-12);
    };
    compare(inverse_dynamics(c.model, s.q, s.v, s.a), inverse_dynamics(plain, s.q, s.v, s.a));
    compare(mass_matrix(c.model, s.q), mass_matrix(plain, s.q));
    Kinematics<> turned(c.model), straight(plain);
    turned.update(s.q, s.v, s.a);
    straight.update(s.q, s.v, s.a);
    for (std::size_t f = 0; f < c.model.frames().size(); ++f) {
      const auto a = turned.pose(static_cast<int>(f)), b = straight.pose(static_cast<int>(f));
      compare({numbers_of(a.rotation), numbers_of(a.rotation) + 9},
              {numbers_of(b.rotation), numbers_of(b.rotation) + 9});
    }
  });
}

/// Joints at right angles or parallel, as most arms have, are recognised through rounded angles in the file.
TEST(InternalAxes, ArmsAreRecognised) {
  const auto alignments = [](const char* robot) {
    const Model model = read_urdf(std::string(ARTICULA_SOURCE_DIR "/models/") + robot);
    std::vector<Alignment> all;
    for (int k = 2; k < model.tree<double>().slots(); ++k)
      all.push_back(model.tree<double>().index[k].alignment);
    return all;
  };
  using enum Alignment;
  EXPECT_EQ(alignments("puma560.urdf"),
            (std::vector{perpendicular, parallel, perpendicular, perpendicular, perpendicular}));
  EXPECT_EQ(alignments("planar_2r.urdf"), (std::vector{parallel}));
}

TEST(InternalAxes, TheyCostLess) {
  const auto total = [](const Model& model) {
    const Tally t = count_operations(model, "inverse_dynamics");
    return static_cast<double>(t.multiplications + t.additions);
  };
  const ModelSpec puma = read_urdf(ARTICULA_SOURCE_DIR "/models/puma560.urdf").spec();
  EXPECT_LT(total(Model(puma)), 0.9 * total(Model(puma, {.turn_axes = false})));
}

}  // namespace
}  // namespace articula::testing
