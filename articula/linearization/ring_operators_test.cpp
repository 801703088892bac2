// LIN's matrices as expressions of the operator algebra, and (4.13) as the algebra derives it from (3.2).
#include <gtest/gtest.h>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/operators/derive.hpp"
#include "articula/operators/identities.hpp"
#include "articula/operators/inverses.hpp"
#include "articula/operators/parse.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::OperatorState;
using operators::Program;

const char* const by_q = "H*phi*(H_f + 2*M_ring*star(phi)*star(H_dot) + M*star(phi)*star(H_ddot))";
const char* const by_v = "2*H*phi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))";

/// LIN's joints: one axis each.
template <class F>
void for_each_tree(F&& f) {
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 12);
    options.kinds = {JointKind::revolute, JointKind::prismatic};
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec);
    SCOPED_TRACE(describe(spec) + ", seed " + std::to_string(seed));
    f(model, random_state(rng, model));
  }
}
double difference(const operators::Dense& found, const dense::Matrix& expected) {
  const dense::Matrix d = dense::view(found.numbers, found.rows, found.columns) - expected;
  return dense::largest(d) / std::max(1.0, dense::largest(expected));
}

TEST(RingOperators, TorqueByVelocity) {  // A_D of Lemma 3.1
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv();
    dense::Matrix dq(n, n), dv(n, n), da(n, n);
    LinearizedInverse<double> work(model);
    linearized_inverse<double>(work, s.q, s.v, s.a, dq.numbers(), dv.numbers(), da.numbers());
    OperatorState state(model);
    state.update(s.q, s.v);
    EXPECT_LT(difference(Program(state, operators::parse(by_v).node).dense(), dv), 1e-11);
  });
}

dense::Matrix operator_matrix(OperatorState& state, const char* text) {
  const operators::Dense d = Program(state, operators::parse(text, true).node).dense();
  return dense::view(d.numbers, d.rows, d.columns);
}
Spatial<double> block_of(const dense::Matrix& x, int k, int column = 0) {
  const auto at = [&](int i) { return x(6 * k + i, column); };
  return {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}};
}
dense::Matrix vector_of(OperatorState& state, const char* text,
                        std::initializer_list<std::span<const double>> in) {
  Program program(state, operators::parse(text, true).node);
  std::vector<double> out(program.rows());
  program.evaluate(in, out);
  return dense::Matrix::column(out);
}
Spatial<double> cross_motions(const Spatial<double>& V, const Spatial<double>& h) {
  return {cross(V.w, h.w), cross(V.w, h.v) + cross(V.v, h.w)};
}

TEST(RingOperators,
     TorqueByConfiguration) {  // B_D of Lemmas 3.1 and 3.2, with H*'' and H f as in (2.13), (3.1)
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv(), bodies = static_cast<int>(model.bodies().size());
    if (n != bodies) return;  // a tree of one-freedom joints and no welded links
    dense::Matrix dq(n, n), dv(n, n), da(n, n);
    LinearizedInverse<double> work(model);
    linearized_inverse<double>(work, s.q, s.v, s.a, dq.numbers(), dv.numbers(), da.numbers());
    OperatorState state(model);
    state.update(s.q, s.v);
    const double scale = std::max(1.0, dense::largest(dq));
    const dense::Matrix V = vector_of(state, "star(phi)*star(H)*v", {s.v});
    const dense::Matrix alpha =
        vector_of(state, "star(phi)*(star(H)*a + star(H_dot)*v + star(E)*a_g)", {s.a, s.v});
    const dense::Matrix f = vector_of(
        state, "phi*(M*star(phi)*(star(H)*a + star(H_dot)*v + star(E)*a_g) + M_ring*star(phi)*star(H)*v)",
        {s.a, s.v});
    const dense::Matrix Hs = operator_matrix(state, "star(H)"), Hd = operator_matrix(state, "star(H_dot)");
    dense::Matrix Hdd(6 * bodies, n), Hf(6 * bodies, n);
    for (int c = 0; c < n; ++c) {
      int k = 0;
      while (dense::largest(Hs.block(6 * k, c, 6, 1)) == 0) ++k;
      const Spatial<double> h = block_of(Hs, k, c), g = block_of(f, k);
      const Spatial<double> second =
          cross_motions(block_of(alpha, k), h) + cross_motions(block_of(V, k), block_of(Hd, k, c));
      const Spatial<double> turned{cross(h.w, g.w) + cross(h.v, g.v), cross(h.w, g.v)};
      for (int i = 0; i < 6; ++i) {
        Hdd(6 * k + i, c) = numbers_of(second)[i];
        Hf(6 * k + i, c) = numbers_of(turned)[i];
      }
    }
    const dense::Matrix Hphi = operator_matrix(state, "H*phi"), phi_s = operator_matrix(state, "star(phi)");
    const dense::Matrix M = operator_matrix(state, "M"), Mr = operator_matrix(state, "M_ring");
    const dense::Matrix B = Hphi * (Hf + 2 * (Mr * (phi_s * Hd)) + M * (phi_s * Hdd));
    state.update(s.q, s.v, s.a);
    EXPECT_LT(dense::largest(operator_matrix(state, "star(H_ddot)") - Hdd) / scale, 1e-11);
    EXPECT_LT(dense::largest(operator_matrix(state, "H_f") - Hf) / scale, 1e-11);
    EXPECT_LT(difference(Program(state, operators::parse(by_q).node).dense(), dq), 1e-11);
    EXPECT_LT(dense::largest(B - dq) / scale, 1e-11);
    // (3.6)
    const dense::Matrix R = operator_matrix(state, "R"), Rr = operator_matrix(state, "R_ring"),
                        H = operator_matrix(state, "H");
    const dense::Matrix tilde = phi_s - dense::Matrix::identity(6 * bodies);
    const dense::Matrix split =
        Hphi * (Hf + 2 * (Rr * Hd) + R * Hdd) + H * (2 * (Rr * (tilde * Hd)) + R * (tilde * Hdd));
    EXPECT_LT(dense::largest(split - dq) / scale, 1e-11);
  });
}

// LIN (A.1)-(A.5) for any block-diagonal X. (A.3) in chains only.
TEST(RingOperators, DecompositionsOfLemmaA1) {
  Rng rng(3);
  for_each_tree([&](const Model& model, const State& s) {
    OperatorState state(model);
    state.update(s.q, s.v);
    const dense::Matrix phi = operator_matrix(state, "phi"), psi = operator_matrix(state, "psi");
    const dense::Matrix E_phi = operator_matrix(state, "E_phi"), E_psi = operator_matrix(state, "E_psi");
    const int n = state.bodies();
    const dense::Matrix one = dense::Matrix::identity(6 * n);
    dense::Matrix X(6 * n, 6 * n);
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < 36; ++i) X(6 * k + i / 6, 6 * k + i % 6) = rng.uniform(-1, 1);
    /// Blocks of A S B*, or of A* S B^-*, on the diagonal are put into S, body by body.
    const auto inward = [&](const dense::Matrix& A, const dense::Matrix& B) {
      dense::Matrix S = X;
      for (int k = n - 1; k >= 0; --k) {
        const int in = model.bodies()[k].inboard;
        if (in < 0) continue;
        S.block(6 * in, 6 * in, 6, 6) =
            S.block(6 * in, 6 * in, 6, 6) +
            A.block(6 * in, 6 * k, 6, 6) * S.block(6 * k, 6 * k, 6, 6) * star(B.block(6 * in, 6 * k, 6, 6));
      }
      return S;
    };
    const auto outward = [&](const dense::Matrix& A, bool inverse) {
      dense::Matrix S = X;
      for (int k = 0; k < n; ++k) {
        const int in = model.bodies()[k].inboard;
        if (in < 0) continue;
        const dense::Matrix left = star(A.block(6 * in, 6 * k, 6, 6));
        const dense::Matrix right = inverse ? dense::LU(star(E_phi.block(6 * in, 6 * k, 6, 6))).inverse()
                                            : dense::Matrix(A.block(6 * in, 6 * k, 6, 6));
        S.block(6 * k, 6 * k, 6, 6) =
            S.block(6 * k, 6 * k, 6, 6) + left * S.block(6 * in, 6 * in, 6, 6) * right;
      }
      return S;
    };
    const auto expect_equal = [](const char* name, const dense::Matrix& a, const dense::Matrix& b) {
      EXPECT_LT(dense::largest(a - b) / std::max(1.0, dense::largest(a)), 1e-11) << name;
    };
    const dense::Matrix S1 = inward(E_phi, E_phi), S2 = inward(E_psi, E_phi);
    expect_equal("(A.1)", phi * X * star(phi), phi * S1 + S1 * star(phi - one));
    expect_equal("(A.2)", psi * X * star(phi), psi * S2 + S2 * star(phi - one));
    const dense::Matrix S4 = outward(E_phi, true), S5 = outward(E_psi, true);
    expect_equal("(A.4)", star(phi) * X * star(phi - one), S4 * star(phi) - star(phi) * S4);
    expect_equal("(A.5)", star(psi) * X * star(phi - one), S5 * star(phi) - star(psi) * S5);
    if (!operators::is_chain(model)) return;
    const dense::Matrix S3 = outward(E_psi, false);
    expect_equal("(A.3)", star(psi) * X * psi, star(psi) * S3 + S3 * (psi - one));
  });
}

/// H* and M of LIN: at one inertial point, here the world's origin.
struct AtThePoint {
  AtThePoint(const Model& model, std::span<const double> q) {
    OperatorState state(model);
    state.update(q);
    H_star = operator_matrix(state, "star(H)"), M = operator_matrix(state, "M");
    const dense::Matrix to_point = operator_matrix(state, "E*phi");
    for (int k = 0; k < state.bodies(); ++k) {
      const dense::Matrix T = to_point.block(0, 6 * k, 6, 6);
      dense::Part rows = H_star.block(6 * k, 0, 6, H_star.columns());
      rows = dense::LU(star(T)).solve(dense::Matrix(rows));
      M.block(6 * k, 6 * k, 6, 6) = T * dense::Matrix(M.block(6 * k, 6 * k, 6, 6)) * star(T);
    }
  }
  dense::Matrix H_star, M;
};
dense::Matrix blocks(const dense::Matrix& x, dense::Matrix (*f)(const Spatial<double>&)) {
  dense::Matrix out(x.rows(), x.rows());
  for (int k = 0; 6 * k < x.rows(); ++k) out.block(6 * k, 6 * k, 6, 6) = f(block_of(x, k));
  return out;
}
dense::Matrix S_star(const Spatial<double>& x) {  // S*[x] y = -(x X y)
  dense::Matrix out(6, 6);
  out.block(0, 0, 3, 3) = dense::matrix(tilde(-x.w)), out.block(3, 0, 3, 3) = dense::matrix(tilde(-x.v));
  out.block(3, 3, 3, 3) = dense::matrix(tilde(-x.w));
  return out;
}
dense::Matrix Q_of(const Spatial<double>& f) {  // Q[f] X = -S[X] f
  dense::Matrix out(6, 6);
  out.block(0, 0, 3, 3) = dense::matrix(tilde(f.w)), out.block(0, 3, 3, 3) = dense::matrix(tilde(f.v));
  out.block(3, 0, 3, 3) = dense::matrix(tilde(f.v));
  return out;
}

// LIN (A.6)-(A.8), the sensitivities, by differences over every joint; (A.9) is (A.8) at X = V and V's own.
TEST(RingOperators, SensitivitiesOfLemmaA2) {
  Rng rng(11);
  for_each_tree([&](const Model& model, const State& s) {
    const int n = model.nv();
    if (n != static_cast<int>(model.bodies().size())) return;
    const AtThePoint at(model, s.q);
    OperatorState state(model);
    state.update(s.q);
    dense::Matrix Phi_star = operator_matrix(state, "star(phi)");
    for (int i = 0; i < 6 * n; ++i)
      for (int j = 0; j < 6 * n; ++j)  // phi = I wherever one carries the other
        Phi_star(i, j) = i % 6 == j % 6 && dense::largest(Phi_star.block(6 * (i / 6), 6 * (j / 6), 6, 6)) > 0;
    const dense::Matrix x = dense::Matrix::column(random_vector(rng, n)),
                        X = dense::Matrix::column(random_vector(rng, 6 * n));
    const dense::Matrix moved = Phi_star * at.H_star;
    const dense::Matrix a6 = blocks(at.H_star * x, S_star) * moved;
    const dense::Matrix a7 = star(at.H_star) * blocks(X, Q_of) * moved;
    const dense::Matrix a8 = -((blocks(at.M * X, Q_of) + at.M * blocks(X, S_star)) * moved);
    const dense::Matrix V = moved * dense::view(s.v);
    const dense::Matrix a9 = -((blocks(at.M * V, Q_of) + at.M * blocks(V, S_star)) * moved) +
                             at.M * (Phi_star * (blocks(at.H_star * dense::view(s.v), S_star) * moved));
    constexpr double h = 1e-5;
    for (int j = 0; j < n; ++j) {
      std::vector<double> step(n);
      step[j] = h;
      const AtThePoint next(model, manifold_add(model, s.q, step));
      step[j] = -h;
      const AtThePoint last(model, manifold_add(model, s.q, step));
      const auto check = [&](const char* name, const dense::Matrix& found, const dense::Matrix& there,
                             const dense::Matrix& before) {
        const dense::Matrix rate = (1 / (2 * h)) * (there - before);
        const dense::Matrix column = found.block(0, j, found.rows(), 1);
        EXPECT_LT(dense::largest(column - rate) / std::max(1.0, dense::largest(rate)), 1e-7)
            << name << " " << j;
      };
      check("(A.6)", a6, next.H_star * x, last.H_star * x);
      check("(A.7)", a7, star(next.H_star) * X, star(last.H_star) * X);
      check("(A.8)", a8, next.M * X, last.M * X);
      check("(A.9)", a9, next.M * (Phi_star * (next.H_star * dense::view(s.v))),
            last.M * (Phi_star * (last.H_star * dense::view(s.v))));
    }
  });
}

TEST(RingOperators, Lemma49OnChains) {
  for (const int n : {1, 2, 7, 30}) {
    const Model model(make_chain(n));
    Rng rng(n);
    const State s = random_state(rng, model);
    OperatorState state(model);
    state.update(s.q, s.v, s.a);
    int found = 0;
    for (const auto& r : operators::check_identities(state)) {
      EXPECT_LT(r.residual, 1e-11) << r.name;
      found += r.source.find("Lemma 4.9") != std::string::npos;
    }
    EXPECT_EQ(found, 3);
  }
}

TEST(RingOperators, AccelerationByVelocityIsDerived) {  // A_C of Lemma 4.7, from Lemmas 3.1 and 4.1
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv();
    dense::Matrix dq(n, n), dv(n, n), dtau(n, n);
    LinearizedForward<double> work(model);
    linearized_forward<double>(work, s.q, s.v, s.tau, dq.numbers(), dv.numbers(), dtau.numbers());
    OperatorState state(model);
    state.update(s.q, s.v);
    const std::string text = std::string("-inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_v;
    const operators::Derivation d = operators::derive(state, operators::parse(text).node, true);
    EXPECT_LT(difference(Program(state, d.result).dense(), dv), 1e-9);
    for (const auto& step : d.steps) EXPECT_LT(step.residual, 1e-11) << step.text;
  });
}

/// B_C of Lemma 4.7, and (3.6), (4.13), (4.21) of it among the identities.
TEST(RingOperators, AccelerationByConfigurationIsDerived) {
  for_each_tree([](const Model& model, const State& s) {
    const int n = model.nv();
    dense::Matrix dq(n, n), dv(n, n), dtau(n, n);
    LinearizedForward<double> work(model);
    linearized_forward<double>(work, s.q, s.v, s.tau, dq.numbers(), dv.numbers(), dtau.numbers());
    OperatorState state(model);
    state.update(s.q, s.v, forward_dynamics(model, s.q, s.v, s.tau));
    const std::string text = std::string("-inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_q;
    const operators::Derivation d = operators::derive(state, operators::parse(text).node, true);
    EXPECT_LT(difference(Program(state, d.result).dense(), dq), 1e-9);
    for (const auto& step : d.steps) EXPECT_LT(step.residual, 1e-11) << step.text;
    for (const auto& r : operators::check_identities(state)) EXPECT_LT(r.residual, 1e-11) << r.name;
  });
}

TEST(RingOperators, TheFormIsThePapers) {  // (4.13)
  const Model model(make_chain(5));
  OperatorState state(model);
  state.update(neutral(model), std::vector<double>(model.nv(), 0.5));
  const std::string text = std::string("inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_v;
  const operators::Derivation d = operators::derive(state, operators::parse(text).node, true);
  EXPECT_EQ(d.steps.back().text,
            "2 K* psi* H_dot* + 2 [I - H psi K]* (D^-1 H psi (P H_dot* + P_ring H*) + K_ring* phi* H*)");
  state.update(neutral(model), std::vector<double>(model.nv(), 0.5), std::vector<double>(model.nv(), 0.3));
  const operators::Derivation b = operators::derive(
      state, operators::parse(std::string("inv(H*phi*M*star(phi)*star(H) + rotor)*") + by_q).node, true);
  EXPECT_EQ(b.steps.back().text,
            "K* psi* H_ddot* + [I - H psi K]* (D^-1 H psi (P H_ddot* + 2 P_ring H_dot* + H_f) + 2 K_ring* "
            "phi* H_dot*)");
}

TEST(RingOperators, NeedVelocities) {
  const Model model(make_chain(2));
  OperatorState state(model);
  state.update(neutral(model));
  Program program(state, operators::parse("M_ring*star(phi)*star(H)*v").node);
  std::vector<double> out(12);
  const double v[] = {1, 2};
  EXPECT_THROW(program.evaluate({v}, out), ArgumentError);
  state.update(neutral(model), v);
  EXPECT_NO_THROW(program.evaluate({v}, out));
  Program second(state, operators::parse("star(H_ddot)*v").node);
  EXPECT_THROW(second.evaluate({v}, out), ArgumentError);
}

}  // namespace
}  // namespace articula
