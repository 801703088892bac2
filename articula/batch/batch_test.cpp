#include "articula/batch/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/chain.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

TEST(Batch, AgreesWithOneStateAtATime) {
  Worst worst("batch against one state"), worst_linear("batch, linearized"),
      worst_inverse("batch, forward dynamics and inverse mass matrix");
  Rng rng(1);
  for_each_case([&](const Case& c) {
    const Model& model = c.model;
    const std::size_t nq = model.nq(), nv = model.nv();
    if (nq == 0) return;
    Batch<> batch(model);
    for (const std::size_t count : {1, 11}) {
      const States s(rng, model, count);
      const auto vector = [&] { return std::vector<double>(count * nv, NAN); };
      const auto square = [&] { return std::vector<double>(count * nv * nv, NAN); };
      auto tau = vector(), bias = vector(), gravity = vector(), a = vector(), dtau = vector(), da = vector(),
           by_q = vector(), by_v = vector(), by_a = vector();
      auto M = square(), inverse = square(), tq = square(), tv = square(), ta = square(), aq = square(),
           av = square(), at = square();
      std::vector<double> kinetic(count), potential(count), pose(12 * count), J(6 * nv * count);
      const int frame = static_cast<int>(model.frames().size()) - 1;
      batch.inverse_dynamics(s.q, s.v, s.a, tau);
      batch.bias_forces(s.q, s.v, bias);
      batch.gravity_forces(s.q, gravity);
      batch.forward_dynamics(s.q, s.v, s.tau, a);
      batch.mass_matrix(s.q, M);
      batch.inverse_mass_matrix(s.q, inverse);
      batch.energies(s.q, s.v, kinetic, potential);
      batch.pose(frame, s.q, pose);
      batch.jacobian(frame, s.q, J);
      batch.linearized_inverse(s.q, s.v, s.a, tq, tv, ta);
      batch.linearized_forward(s.q, s.v, s.tau, aq, av, at);
      batch.perturbed_inverse(s.q, s.v, s.a, s.tau, s.a, s.v, dtau);
      batch.perturbed_forward(s.q, s.v, s.tau, s.a, s.v, s.a, da);
      batch.inverse_gradient(s.q, s.v, s.a, s.tau, by_q, by_v, by_a);
      LinearizedInverse<> li(model);
      LinearizedForward<> lf(model);
      std::vector<double> x(nv), y(nv), z(nv), X(nv * nv), Y(nv * nv), Z(nv * nv);
      for (std::size_t i = 0; i < count; ++i) {
        const auto q = row(s.q, i, nq), v = row(s.v, i, nv), acc = row(s.a, i, nv), t = row(s.tau, i, nv);
        const auto same = [&](Worst& w, const std::vector<double>& all, const std::vector<double>& one,
                              double limit) {
          EXPECT_LT(w(relative_error(row(all, i, one.size()), one, 0.01)), limit);
        };
        same(worst, tau, inverse_dynamics(model, q, v, acc), 1e-13);
        same(worst, bias, bias_forces(model, q, v), 1e-13);
        same(worst, gravity, gravity_forces(model, q), 1e-13);
        same(worst, M, mass_matrix(model, q), 1e-13);
        same(worst_inverse, a, forward_dynamics(model, q, v, t), 1e-11);
        same(worst_inverse, inverse, inverse_mass_matrix(model, q), 1e-11);
        const Totals<double> sums = totals(model, q, v);
        same(worst, kinetic, {sums.kinetic}, 1e-13);
        same(worst, potential, {sums.potential}, 1e-12);
        same(worst, J, jacobian(model, q, model.frames()[frame].name), 1e-13);
        linearized_inverse(li, q, v, acc, X, Y, Z);
        same(worst_linear, tq, X, 1e-12);
        same(worst_linear, tv, Y, 1e-12);
        same(worst_linear, ta, Z, 1e-12);
        perturbed_inverse(li, q, v, acc, t, acc, v, x);
        same(worst_linear, dtau, x, 1e-12);
        inverse_gradient(li, q, v, acc, t, x, y, z);
        same(worst_linear, by_q, x, 1e-12);
        same(worst_linear, by_v, y, 1e-12);
        same(worst_linear, by_a, z, 1e-12);
        linearized_forward(lf, q, v, t, X, Y, Z);
        same(worst_inverse, aq, X, 1e-11);
        same(worst_inverse, av, Y, 1e-11);
        same(worst_inverse, at, Z, 1e-11);
        perturbed_forward(lf, q, v, t, acc, v, acc, x);
        same(worst_inverse, da, x, 1e-11);
      }
    }
  });
}

/// On both sides of the sizes from which matrices are made one state at a time.
TEST(Batch, MatricesOfLargeModels) {
  Rng rng(3);
  Worst worst("batch, matrices of large models");
  for (const int n : {24, 50}) {
    const Model model(make_chain(n));
    const std::size_t count = 9, nv = model.nv();
    const States s(rng, model, count);
    const auto square = [&] { return std::vector<double>(count * nv * nv, NAN); };
    auto M = square(), inverse = square(), dq = square(), dv = square(), dtau = square(), other = square(),
         other_dv = square(), other_dtau = square();
    Batch<> batch(model);
    batch.mass_matrix(s.q, M);
    batch.inverse_mass_matrix(s.q, inverse);
    batch.linearized_forward(s.q, s.v, s.tau, dq, dv, dtau);
    LinearizedForward<> lf(model);
    std::vector<double> X(nv * nv), Y(nv * nv), Z(nv * nv);
    for (std::size_t i = 0; i < count; ++i) {
      const auto same = [&](const std::vector<double>& all, const std::vector<double>& one) {
        EXPECT_LT(worst(relative_error(row(all, i, nv * nv), one, 0.01)), 1e-10);
      };
      const auto q = row(s.q, i, nv);
      linearized_forward(lf, q, row(s.v, i, nv), row(s.tau, i, nv), X, Y, Z);
      same(M, mass_matrix(model, q)), same(inverse, inverse_mass_matrix(model, q));
      same(dq, X), same(dv, Y), same(dtau, Z);
    }
    Batch<> columns(model, {.layout = Layout::columns});
    columns.linearized_forward(turned(s.q, count), turned(s.v, count), turned(s.tau, count), other, other_dv,
                               other_dtau);
    EXPECT_EQ(dq, turned(other, nv * nv));
    EXPECT_EQ(dv, turned(other_dv, nv * nv));
    EXPECT_EQ(dtau, turned(other_dtau, nv * nv));
    columns.inverse_mass_matrix(turned(s.q, count), other);
    EXPECT_EQ(inverse, turned(other, nv * nv));
  }
}

TEST(Batch, SameBitsWithThreadsAndInBothLayouts) {
  Rng rng(2);
  const Model model(random_spec(rng, {.links = 12}), {.base = Base::free});
  const std::size_t count = 61, nv = model.nv();
  const States s(rng, model, count);
  std::vector<double> a(count * nv), other(count * nv), M(count * nv * nv), other_M(count * nv * nv);
  Batch<> alone(model);
  alone.forward_dynamics(s.q, s.v, s.tau, a);
  alone.mass_matrix(s.q, M);
  for (const int n : {1, 2, 3, 7}) {
    Threads threads(n);
    EXPECT_EQ(threads.count(), n);
    Batch<> batch(model, {.threads = &threads});
    batch.forward_dynamics(s.q, s.v, s.tau, other);
    EXPECT_EQ(a, other) << n;
    batch.mass_matrix(s.q, other_M);
    EXPECT_EQ(M, other_M) << n;
  }
  Batch<> columns(model, {.layout = Layout::columns});
  columns.forward_dynamics(turned(s.q, count), turned(s.v, count), turned(s.tau, count), other);
  EXPECT_EQ(a, turned(other, nv));
  columns.mass_matrix(turned(s.q, count), other_M);
  EXPECT_EQ(M, turned(other_M, nv * nv));
}

TEST(Batch, InFloat) {
  Rng rng(3);
  const Model model(make_chain(7));
  const States s(rng, model, 19);
  std::vector<float> tau(s.v.size());
  std::vector<double> expected(s.v.size());
  Batch<float>(model).inverse_dynamics(to_float(s.q), to_float(s.v), to_float(s.a), tau);
  Batch<>(model).inverse_dynamics(s.q, s.v, s.a, expected);
  EXPECT_LT(relative_error(to_double(tau), expected), 1e-5);
}

/// A link on the axis of its joint has no inertia about it where the arm is straight; others do not notice.
TEST(Batch, SingularStatesAreToldFromOnesThatAreNotFinite) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "arm", .mass = {0, {0, 0, 0}, {}}});
  spec.add_link({.name = "bob", .mass = {1, {1, 0, 0}, {}}});
  spec.add_joint({.name = "shoulder", .parent = "base", .child = "arm", .axis = {1, 0, 0}});
  spec.add_joint({.name = "elbow", .parent = "arm", .child = "bob", .axis = {0, 0, 1}});
  const Model model(spec);
  for (const std::size_t count : {2, 20}) {
    const std::size_t which = count - 1;
    std::vector<double> q(2 * count, 1), v(2 * count), a(2 * count), q_next(q), v_next(v);
    Batch<> batch(model);
    q[2 * which] = q[2 * which + 1] = 0;
    EXPECT_THROW(batch.forward_dynamics(q, v, v, a), SingularError);
    EXPECT_THROW(batch.step(q, v, v, 1e-3, q_next, v_next), SingularError);
    auto own_q = q, own_v = v;  // in place: results are no arguments
    EXPECT_THROW(batch.step(own_q, own_v, v, 1e-3, own_q, own_v), SingularError);
    q[2 * which] = NAN;
    EXPECT_THROW(batch.forward_dynamics(q, v, v, a), NotFiniteError);
    EXPECT_THROW(batch.step(q, v, v, 1e-3, q_next, v_next), NotFiniteError);
    EXPECT_THROW(batch.step(q, v, {}, 1e-3, q, v), NotFiniteError);
  }
}

TEST(Batch, OneStateThatIsNotFiniteDoesNotStopTheOthers) {
  const Model model(make_chain(3));
  Rng rng(4);
  States s(rng, model, 20);
  s.q[3 * 13 + 1] = NAN;
  std::vector<double> a(60);
  Batch<> batch(model);
  try {
    batch.forward_dynamics(s.q, s.v, s.tau, a);
    FAIL();
  } catch (const NotFiniteError& error) {
    EXPECT_EQ(error.state, 13u);
    EXPECT_NE(std::string(error.what()).find("state 13"), std::string::npos) << error.what();
  }
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(std::isnan(a[3 * i + j]), i == 13) << i;
  EXPECT_EQ(std::vector<double>(a.begin(), a.begin() + 9), [&] {
    std::vector<double> first(9);
    batch.forward_dynamics(std::span(s.q).first(9), std::span(s.v).first(9), std::span(s.tau).first(9),
                           first);
    return first;
  }());
}

TEST(Batch, WrongSizesAreRefused) {
  const Model model(make_chain(3));
  Batch<> batch(model);
  std::vector<double> x(6), y(9);
  EXPECT_THROW(batch.forward_dynamics(std::span(x).first(5), x, x, x), ArgumentError);
  EXPECT_THROW(batch.forward_dynamics(x, y, x, x), ArgumentError);
  EXPECT_THROW(batch.forward_dynamics(x, x, x, y), ArgumentError);
  EXPECT_THROW(batch.mass_matrix(x, y), ArgumentError);
  EXPECT_NO_THROW(batch.forward_dynamics({}, {}, {}, {}));
}

TEST(Threads, FailuresReachTheCaller) {
  Threads threads(3);
  EXPECT_THROW(threads.run([](int worker) {
    if (worker == 2) throw std::runtime_error("two");
  }),
               std::runtime_error);
  std::vector<int> seen(3);
  threads.run([&](int worker) { seen[worker] = 1; });
  EXPECT_EQ(seen, (std::vector{1, 1, 1}));
}

}  // namespace
}  // namespace articula::testing
