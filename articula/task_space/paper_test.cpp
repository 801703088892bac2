// OSC section 4 as printed, in the operator algebra, against TaskSpace.
#include <gtest/gtest.h>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/edit.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/task_space.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using Vector = std::vector<double>;

TEST(TaskSpacePaper, Section4) {
  using namespace articula::operators;
  double shortcut = 0;
  int offsets = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    ModelSpec spec = random_spec(rng, {.links = 8, .armature = 0, .mass_ratio = 10});
    const BuildOptions build{.base = seed % 2 ? Base::fixed : Base::free};
    if (Model(spec, build).nv() == 0) continue;
    const std::string link = Model(spec, build).bodies().back().name;
    if (link.find(".cross") != std::string::npos) continue;
    // A link frame lies at its body's O_k: phi(1,0) = Id and a(0) = 0. The other has both.
    add_frame(spec, "tip", link, {rotation(rng.quaternion()), rng.vector(0.5)});
    const std::string frame = seed % 3 ? "tip" : link;
    const Model model(spec, build);
    const State s = testing::random_state(rng, model);
    SCOPED_TRACE(frame + " of " + link + ", seed " + std::to_string(seed));
    OperatorState state(model);
    state.update(s.q, s.v);
    TaskSpace space(model, pose_task(model, frame));
    space.update(s.q, s.v);
    Vector Omega(36), c(6), g(6), both(6), a_0(6);
    const Vec3<double> w = frame_velocity(model, s.q, s.v, frame).w,
                       l = pose(model, s.q, frame).position - pose(model, s.q, link).position,
                       centripetal = cross(w, cross(w, l));  // a(0), JPL88 (2.21)
    std::copy_n(numbers_of(centripetal), 3, a_0.begin() + 3);
    offsets += frame == "tip" && dot(centripetal, centripetal) > 1e-4;
    const auto less = [](Vector x, const Vector& y) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
      return x;
    };
    space.omega(Omega);
    space.free_acceleration(both);
    TaskSpace still(model, pose_task(model, frame));
    still.update(s.q);
    still.free_acceleration(g);
    for (int i = 0; i < 6; ++i) both[i] = -both[i], g[i] = -g[i], c[i] = both[i] - g[i];  // Omega (c + g), ..

    const auto B0 = B(std::vector<std::string>{frame});
    // (60), by (58)
    const auto printed_Omega = dense(state, star(B0) * star(psi) * star(H) * inv(D) * H * psi * B0);
    EXPECT_LT(relative_error(printed_Omega.numbers, Omega), 1e-11);
    // (65)
    const auto printed_c =
        evaluate(state, star(B0) * star(psi) * (star(H) * inv(D) * H * psi * (P * a_bias + b_bias) - a_bias));
    EXPECT_LT(relative_error(less(printed_c, a_0), c, 10), 1e-11);
    // (72), W = E taubar
    const auto printed_g =
        evaluate(state, star(B0) * (star(phi) * star(E) * a_g - star(psi) * star(tau_bar) * star(E) * a_g));
    EXPECT_LT(relative_error(printed_g, g, 10), 1e-11);
    // both at once: (65) with abar needs the tip's own share of a_g beside it (docs/math.md 6, 12)
    const auto a_both = a_bias + star(E) * a_g;
    const auto printed_both =
        evaluate(state, star(B0) * star(psi) * (star(H) * inv(D) * H * psi * (P * a_both + b_bias) - a_both) +
                            star(B0) * star(phi) * star(E) * a_g);
    EXPECT_LT(relative_error(less(printed_both, a_0), both, 10), 1e-11);
    const auto incomplete =
        evaluate(state, star(B0) * star(psi) * (star(H) * inv(D) * H * psi * (P * a_both + b_bias) - a_both));
    shortcut = std::max(shortcut, relative_error(less(incomplete, a_0), both, 10));
  }
  EXPECT_GT(offsets, 3);
  EXPECT_GT(shortcut, 0.5);  // the end of section 4.3 leaves that out
}

}  // namespace
}  // namespace articula
