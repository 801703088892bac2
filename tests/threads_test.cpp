// One Model, several threads, a workspace each: the same bits as alone.
#include <gtest/gtest.h>

#include <thread>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

std::vector<double> everything(const Model& model, const std::vector<State>& states) {
  const int nv = model.nv();
  InverseDynamics<> inverse(model);
  ForwardDynamics<> forward(model);
  MassMatrix<> mass(model);
  MassFactor<> factor(model);
  Kinematics<> motion(model);
  std::vector<double> out, x(nv), matrix(nv * nv), J(6 * nv);
  const auto keep = [&](const std::vector<double>& y) { out.insert(out.end(), y.begin(), y.end()); };
  for (const State& s : states) {
    inverse_dynamics(inverse, s.q, s.v, s.a, x, s.wrenches);
    keep(x);
    forward_dynamics(forward, s.q, s.v, s.tau, x, s.wrenches);
    keep(x);
    mass_matrix(mass, s.q, matrix);
    keep(matrix);
    centroidal_map(mass, s.q, J);
    keep(J);
    inverse_mass_matrix(factor, s.q, matrix);
    keep(matrix);
    motion.update(s.q, s.v, s.a);
    motion.jacobian(model.frame("tool"), J);
    keep(J);
    const auto t = motion.totals();
    keep({t.kinetic, t.potential, t.mass});
  }
  return out;
}

TEST(Threads, OneModelSharedByMany) {
  for (const double mimic : {0.0, 0.4}) {
    Rng rng(12);
    const Model model(random_spec(rng, {.links = 15, .mimic = mimic}), {.base = Base::free});
    std::vector<State> states;
    for (int i = 0; i < 50; ++i) states.push_back(random_state(rng, model));
    const auto alone = everything(model, states);
    std::vector<std::vector<double>> results(4);
    std::vector<std::thread> threads;
    for (auto& result : results)
      threads.emplace_back([&, copy = model] { result = everything(copy, states); });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_EQ(result, alone);
  }
}

}  // namespace
}  // namespace articula::testing
