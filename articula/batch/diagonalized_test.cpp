#include "articula/batch/diagonalized.hpp"

#include "articula/model/chain.hpp"
#include "tests/support/many_states.hpp"

namespace articula::testing {
namespace {

using D = DiagonalizedBatch<>;

std::vector<ManyCall> calls_of(const Model& model) {
  const auto work = std::make_shared<DiagonalizedDynamics>(model);
  const std::size_t nv = model.nv();
  std::vector<ManyCall> calls;
  const auto map = [&](const char* name, auto many, auto one) {
    calls.push_back({name, nv, [=](auto& b, auto& s, auto out) { (D(b).*many)(s.q, s.v, out); },
                     [=](const State& s, auto out) {
                       work->update(s.q);
                       (work.get()->*one)(s.v, out);
                     },
                     3e-12});  // half of them invert: rounding times the condition of M
  };
  map("rates_to_nu", &D::rates_to_nu, &DiagonalizedDynamics::rates_to_nu);
  map("nu_to_rates", &D::nu_to_rates, &DiagonalizedDynamics::nu_to_rates);
  map("rates_to_xi", &D::rates_to_xi, &DiagonalizedDynamics::rates_to_xi);
  map("xi_to_rates", &D::xi_to_rates, &DiagonalizedDynamics::xi_to_rates);
  map("forces_to_epsilon", &D::forces_to_epsilon, &DiagonalizedDynamics::forces_to_epsilon);
  map("epsilon_to_forces", &D::epsilon_to_forces, &DiagonalizedDynamics::epsilon_to_forces);
  map("forces_to_kappa", &D::forces_to_kappa, &DiagonalizedDynamics::forces_to_kappa);
  map("kappa_to_forces", &D::kappa_to_forces, &DiagonalizedDynamics::kappa_to_forces);
  const auto coriolis = [&](const char* name, auto many, auto one) {
    calls.push_back({name, nv, [=](auto& b, auto& s, auto out) { (D(b).*many)(s.q, s.v, out, s.wrenches); },
                     [=](const State& s, auto out) {
                       work->update(s.q);
                       (work.get()->*one)(s.v, out, s.wrenches);
                     },
                     1e-11});
  };
  coriolis("coriolis_nu", &D::coriolis_nu, &DiagonalizedDynamics::coriolis_nu);
  coriolis("coriolis_xi", &D::coriolis_xi, &DiagonalizedDynamics::coriolis_xi);
  const auto motion = [&](const char* name, auto many, auto one) {
    calls.push_back(
        {name, nv, [=](auto& b, auto& s, auto out) { (D(b).*many)(s.q, s.v, s.tau, out, s.wrenches); },
         [=](const State& s, auto out) { (work.get()->*one)(s.q, s.v, s.tau, out, s.wrenches); }, 1e-10});
  };
  motion("nu_dot", &D::nu_dot, &DiagonalizedDynamics::nu_dot);
  motion("xi_dot", &D::xi_dot, &DiagonalizedDynamics::xi_dot);
  calls.push_back({"D", nv * nv, [](auto& b, auto& s, auto out) { D(b).D(s.q, out); },
                   [=](const State& s, auto out) {
                     work->update(s.q);
                     work->D(out);
                   },
                   1e-12});
  using Terms = D::Terms;
  using One = DiagonalizedDynamics::Terms;
  const auto term = [&](const char* name, std::size_t n, auto many, auto one) {
    calls.push_back({name, n,
                     [=](auto& b, auto& s, auto out) {
                       Terms t;
                       t.*many = out;
                       D(b).terms(s.q, s.v, {}, t, s.wrenches);
                     },
                     [=](const State& s, auto out) {
                       work->update(s.q);
                       const One t = work->terms(s.v, s.wrenches);
                       std::copy((t.*one).begin(), (t.*one).end(), out.begin());
                     },
                     1e-11});
  };
  term("terms nu", nv, &Terms::nu, &One::nu);
  term("terms xi", nv, &Terms::xi, &One::xi);
  term("terms coriolis_nu", nv, &Terms::coriolis_nu, &One::coriolis_nu);
  term("terms coriolis_xi", nv, &Terms::coriolis_xi, &One::coriolis_xi);
  term("terms D", nv * nv, &Terms::D, &One::D);
  term("terms D_dot", nv * nv, &Terms::D_dot, &One::D_dot);
  for (const auto what : {RateCompensation::gravity, RateCompensation::all})
    calls.push_back(
        {"decoupled_rate_control", nv,
         [=](auto& b, auto& s, auto out) { D(b).decoupled_rate_control(s.q, s.v, s.a, s.tau, what, out); },
         [=](const State& s, auto out) {
           work->update(s.q);
           decoupled_rate_control(*work, s.v, s.a, s.tau, what, out);
         },
         1e-11});
  return calls;
}

TEST(BatchDiagonalized, AgreesWithOneStateAtATime) {
  Worst worst("batch diagonalized");
  Rng rng(1);
  for_each_case([&](const Case& c) {
    if (c.model.nq() == 0 || c.model.has_mimics()) return;
    expect_as_one_by_one(c.model, rng, calls_of(c.model), {9}, worst);
  });
  const Model model(random_spec(rng, {.links = 7}), {.base = Base::free});
  expect_as_one_by_one(model, rng, calls_of(model), {0, 1, 7, 8, 17}, worst);
}

TEST(BatchDiagonalized, AllTermsAtOnceAndInFloat) {
  Rng rng(2);
  const Model model(make_chain(7));
  const ManyStates s(rng, model, 19);
  std::vector<double> nu(s.v.size()), xi(nu), eps(nu), kappa(nu), x(nu), y(nu);
  Batch<> batch(model);
  D diagonal(batch);
  diagonal.terms(s.q, s.v, s.tau, {.nu = nu, .xi = xi, .epsilon = eps, .kappa = kappa, .coriolis_nu = x});
  diagonal.forces_to_epsilon(s.q, s.tau, y);
  EXPECT_EQ(eps, y);
  diagonal.forces_to_kappa(s.q, s.tau, y);
  EXPECT_EQ(kappa, y);
  diagonal.nu_dot(s.q, nu, s.tau, y);
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], eps[i] - x[i], 1e-10 * std::abs(eps[i]) + 1e-8);
  Batch<float> small(model);
  std::vector<float> rate(y.size());
  DiagonalizedBatch<float>(small).nu_dot(to_float(s.q), to_float(nu), to_float(s.tau), rate);
  EXPECT_LT(relative_error(to_double(rate), y), 1e-3);
}

TEST(BatchDiagonalized, Errors) {
  Rng rng(3);
  const Model model(make_chain(3));
  Batch<> batch(model);
  D diagonal(batch);
  ManyStates s(rng, model, 12);
  std::vector<double> x(36), few(35);
  EXPECT_THROW(diagonal.rates_to_nu(s.q, s.v, few), ArgumentError);
  EXPECT_THROW(diagonal.rates_to_nu(s.q, few, x), ArgumentError);
  EXPECT_THROW(diagonal.terms(s.q, s.v, {}, {.epsilon = x}), ArgumentError);
  s.q[3 * 10] = NAN;
  try {
    diagonal.nu_dot(s.q, s.v, s.tau, x);
    FAIL();
  } catch (const NotFiniteError& error) {
    EXPECT_NE(std::string(error.what()).find("state 10"), std::string::npos) << error.what();
  }
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(x[i]), i / 3 == 10);
  Rng other(4);
  for (int seed = 0; seed < 20; ++seed) {
    const Model mimic(random_spec(other, {.links = 6, .mimic = 0.8}));
    if (!mimic.has_mimics()) continue;
    Batch<> of_mimic(mimic);
    EXPECT_THROW(D{of_mimic}, ArgumentError);
    return;
  }
  FAIL() << "no model with mimic joints";
}

}  // namespace
}  // namespace articula::testing
