// Layout::tiles against Layout::rows: the same bits, whether arrays are on the boundary of a register or not.
#include <gtest/gtest.h>

#include <cmath>

#include "articula/batch/batch.hpp"
#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/spatial/aligned.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

/// Numbers in tiles, `off` numbers behind a boundary of 64 bytes.
struct Tiled {
  AlignedArray<double> memory;
  std::size_t off, size;
  Tiled(std::size_t size, std::size_t off) : memory(size + off), off(off), size(size) {
    std::fill_n(memory.data(), size + off, NAN);
  }
  Tiled(const std::vector<double>& rows, std::size_t count, std::size_t lanes, std::size_t off)
      : Tiled(rows.size(), off) {
    const std::size_t n = rows.size() / count;
    for (std::size_t state = 0; state < count; ++state)
      for (std::size_t i = 0; i < n; ++i)
        memory[off + (state / lanes * n + i) * lanes + state % lanes] = rows[state * n + i];
  }
  operator std::span<double>() { return {memory.data() + off, size}; }
  operator std::span<const double>() const { return {memory.data() + off, size}; }
  std::vector<double> in_rows(std::size_t count, std::size_t lanes) const {
    const std::size_t n = size / count;
    std::vector<double> rows(size);
    for (std::size_t state = 0; state < count; ++state)
      for (std::size_t i = 0; i < n; ++i)
        rows[state * n + i] = memory[off + (state / lanes * n + i) * lanes + state % lanes];
    return rows;
  }
};

void expect_same(const Model& model, std::size_t tiles, std::uint64_t seed) {
  Threads threads(2);
  Batch<> rows(model), tiled(model, {.layout = Layout::tiles, .threads = &threads});
  const std::size_t lanes = tiled.lanes(), count = tiles * lanes, nv = model.nv();
  Rng rng(seed);
  const States s(rng, model, count);
  const int frame = static_cast<int>(model.frames().size()) - 1;
  for (const std::size_t off : {0, 1}) {
    SCOPED_TRACE(off ? "off the boundary" : "on the boundary");
    const Tiled q(s.q, count, lanes, off), v(s.v, count, lanes, off), tau(s.tau, count, lanes, off);
    const auto compare = [&](const char* what, std::initializer_list<std::size_t> sizes, const auto& call) {
      std::vector<std::vector<double>> expected;
      std::vector<Tiled> got;
      for (const std::size_t n : sizes)
        expected.emplace_back(count * n, NAN), got.emplace_back(count * n, off);
      call(rows, s.q, s.v, s.tau, expected);
      call(tiled, q, v, tau, got);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(expected[i], got[i].in_rows(count, lanes)) << what << ", result " << i;
    };
    compare("forward_dynamics", {nv}, [](Batch<>& b, In<double> q, In<double> v, In<double> t, auto& out) {
      b.forward_dynamics(q, v, t, out[0]);
    });
    compare("mass_matrix", {nv * nv},
            [](Batch<>& b, In<double> q, In<double>, In<double>, auto& out) { b.mass_matrix(q, out[0]); });
    compare("linearized_forward", {nv * nv, nv * nv, nv * nv},
            [](Batch<>& b, In<double> q, In<double> v, In<double> t, auto& out) {
              b.linearized_forward(q, v, t, out[0], out[1], out[2]);
            });
    compare("jacobian", {6 * nv}, [&](Batch<>& b, In<double> q, In<double>, In<double>, auto& out) {
      b.jacobian(frame, q, out[0]);
    });
    compare("rollout", {3 * std::size_t(model.nq()), 3 * nv},
            [](Batch<>& b, In<double> q, In<double> v, In<double> t, auto& out) {
              RolloutOptions options;
              options.steps = 3;
              b.rollout(q, v, t, options, out[0], out[1]);
            });
  }
}

TEST(Tiles, AreTheRowsBits) {
  for_each_case([](const Case& c) {
    if (c.model.nv() == 0) return;
    expect_same(c.model, 2, 5);
  });
}

/// Every number is written, straight into the tiles: limbs on carriers of all kinds and several trees, pairs
/// of rows that belong to two limbs or two trees. Against one state at a time.
TEST(Tiles, OfLimbsAndSeveralTrees) {
  Worst worst("linearized forward dynamics in tiles, large trees");
  int tried = 0;
  for (const Branching branching : {Branching::tree, Branching::bushy, Branching::several, Branching::deep}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Rng rng(seed);
      const bool turning = seed % 2;  // revolute joints alone have their own text
      const auto kinds =
          turning ? std::vector{JointKind::revolute, JointKind::continuous} : moving_joint_kinds();
      const ModelSpec spec =
          random_spec(rng, {.links = turning ? 30 : 15, .kinds = kinds, .branching = branching});
      const Model model(spec, {.base = seed % 3 ? Base::free : Base::fixed});
      const std::size_t nq = model.nq(), nv = model.nv();
      if (nv > 48) continue;  // made one state at a time
      ++tried;
      Batch<> batch(model, {.layout = Layout::tiles});
      const std::size_t lanes = batch.lanes(), count = 2 * lanes;
      const States s(rng, model, count);
      Tiled dq(count * nv * nv, 0), dv(count * nv * nv, 0), dtau(count * nv * nv, 0);
      batch.linearized_forward(Tiled(s.q, count, lanes, 0), Tiled(s.v, count, lanes, 0),
                               Tiled(s.tau, count, lanes, 0), dq, dv, dtau);
      const auto by_q = dq.in_rows(count, lanes), by_v = dv.in_rows(count, lanes),
                 by_tau = dtau.in_rows(count, lanes);
      LinearizedForward<> one(model);
      std::vector<double> X(nv * nv), Y(nv * nv), Z(nv * nv);
      for (std::size_t i = 0; i < count; ++i) {
        linearized_forward(one, row(s.q, i, nq), row(s.v, i, nv), row(s.tau, i, nv), X, Y, Z);
        const auto same = [&](const std::vector<double>& all, const std::vector<double>& expected) {
          EXPECT_LT(worst(relative_error(row(all, i, nv * nv), expected, 0.01)), 1e-9)
              << "seed " << seed << ", branching " << static_cast<int>(branching);
        };
        same(by_q, X), same(by_v, Y), same(by_tau, Z);
      }
    }
  }
  EXPECT_GT(tried, 30);
}

TEST(Tiles, OfLargeModels) { expect_same(Model(make_chain(60)), 1, 6); }  // matrices one at a time

TEST(Tiles, OfWhatIsBuiltOnBatches) {
  const Model model(make_chain(7), {.base = Base::free});
  Batch<> rows(model), tiled(model, {.layout = Layout::tiles});
  DiagonalizedBatch<> diagonal(rows), diagonal_tiled(tiled);
  const int frame = static_cast<int>(model.frames().size()) - 1;
  OperationalSpaceBatch<> space(rows, {&frame, 1}), space_tiled(tiled, {&frame, 1});
  const std::size_t lanes = tiled.lanes(), count = 2 * lanes, nv = model.nv();
  Rng rng(7);
  const States s(rng, model, count);
  const Tiled q(s.q, count, lanes, 0), v(s.v, count, lanes, 0), tau(s.tau, count, lanes, 0);
  std::vector<double> nu(count * nv), rate(count * nv), lambda(count * 36), free(count * 6);
  Tiled nu_tiled(nu.size(), 0), rate_tiled(rate.size(), 0), lambda_tiled(lambda.size(), 0),
      free_tiled(free.size(), 0);
  diagonal.rates_to_nu(s.q, s.v, nu);
  diagonal_tiled.rates_to_nu(q, v, nu_tiled);
  diagonal.nu_dot(s.q, nu, s.tau, rate);
  diagonal_tiled.nu_dot(q, nu_tiled, tau, rate_tiled);
  space.terms(s.q, s.v, {.lambda = lambda, .free_acceleration = free});
  space_tiled.terms(q, v, {.lambda = lambda_tiled, .free_acceleration = free_tiled});
  EXPECT_EQ(nu, nu_tiled.in_rows(count, lanes));
  EXPECT_EQ(rate, rate_tiled.in_rows(count, lanes));
  EXPECT_EQ(lambda, lambda_tiled.in_rows(count, lanes));
  EXPECT_EQ(free, free_tiled.in_rows(count, lanes));
  EXPECT_EQ(s.v, v.in_rows(count, lanes)) << "arguments stay";
}

TEST(Tiles, OfStatesWithTheirOwnMasses) {
  const Model model(make_chain(5));
  Batch<> rows(model), tiled(model, {.layout = Layout::tiles});
  const std::size_t lanes = tiled.lanes(), count = 2 * lanes, nv = model.nv();
  Rng rng(8);
  const States s(rng, model, count);
  std::vector<double> inertias;
  for (std::size_t i = 0; i < count; ++i)
    for (const double x : inertial_parameters(model)) inertias.push_back(x * (1 + 0.1 * double(i)));
  rows.vary(inertias);
  tiled.vary(Tiled(inertias, count, lanes, 0));
  std::vector<double> a(count * nv);
  Tiled b(count * nv, 0);
  rows.forward_dynamics(s.q, s.v, s.tau, a);
  tiled.forward_dynamics(Tiled(s.q, count, lanes, 0), Tiled(s.v, count, lanes, 0),
                         Tiled(s.tau, count, lanes, 0), b);
  EXPECT_EQ(a, b.in_rows(count, lanes));
}

TEST(Tiles, AreWhole) {
  const Model model(make_chain(5));
  Batch<> batch(model, {.layout = Layout::tiles});
  const std::size_t count = batch.lanes() + 1;
  std::vector<double> q(count * model.nq()), v(count * model.nv()), a(count * model.nv(), 7);
  const std::vector<double> before = a;
  EXPECT_THROW(batch.forward_dynamics(q, v, v, a), ArgumentError);
  EXPECT_EQ(a, before);
  EXPECT_THROW(batch.vary(std::vector<double>(count * inertial_parameters(model).size(), 1.0)),
               ArgumentError);
}

TEST(Tiles, OfAStateThatIsNotFiniteAreNaN) {
  const Model model(make_chain(5));
  Batch<> batch(model, {.layout = Layout::tiles});
  const std::size_t lanes = batch.lanes(), nv = model.nv();
  Rng rng(9);
  States s(rng, model, lanes);
  s.q[model.nq()] = NAN;  // of state 1
  for (const std::size_t off : {0, 1}) {
    Tiled a(lanes * nv, off);
    EXPECT_THROW(batch.forward_dynamics(Tiled(s.q, lanes, lanes, off), Tiled(s.v, lanes, lanes, off),
                                        Tiled(s.tau, lanes, lanes, off), a),
                 NotFiniteError);
    const std::vector<double> got = a.in_rows(lanes, lanes);
    for (std::size_t state = 0; state < lanes; ++state)
      for (std::size_t i = 0; i < nv; ++i) EXPECT_EQ(std::isnan(got[state * nv + i]), state == 1);
  }
}

}  // namespace
}  // namespace articula::testing
