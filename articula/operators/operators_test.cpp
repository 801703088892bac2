#include <gtest/gtest.h>

#include <fmt/format.h>

#include <Eigen/Dense>

#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/chain.hpp"
#include "articula/operators/identities.hpp"
#include "articula/operators/parse.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;
using operators::Dense;
using operators::OperatorState;
using operators::Program;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix(const Dense& d) { return Eigen::Map<const Matrix>(d.numbers.data(), d.rows, d.columns); }
Matrix matrix(OperatorState& state, const char* text) {
  return matrix(Program(state, operators::parse(text, true).node).dense());
}
double difference(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  if (a.size() == 0) return 0;
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, a.cwiseAbs().maxCoeff());
}

struct Case {
  Model model;
  State state;
  std::string text;
};
std::vector<Case> cases(int count, int links, double mimic = 0) {
  std::vector<Case> all;
  for (int seed = 1; seed <= count; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(1, links);
    options.mimic = mimic;
    options.mass_ratio = 10;
    const ModelSpec spec = random_spec(rng, options);
    Model model(spec, {.base = seed % 2 ? Base::fixed : Base::free});
    if (model.body_count() == 0) continue;
    State state = random_state(rng, model);
    all.push_back({std::move(model), std::move(state), describe(spec) + ", seed " + std::to_string(seed)});
  }
  return all;
}

TEST(Operators, EveryIdentityHoldsBySweeps) {
  double worst = 0;
  for (const Case& c : cases(40, 20)) {
    SCOPED_TRACE(c.text);
    OperatorState state(c.model);
    state.update(c.state.q, c.state.v);
    for (const auto& r : operators::check_identities(state)) {
      EXPECT_LT(r.residual, 1e-11) << r.name << ", " << r.source;
      worst = std::max(worst, r.residual);
    }
  }
  RecordProperty("worst", fmt::format("{:.2g}", worst));
}

TEST(Operators, EveryIdentityHoldsAmongDenseMatrices) {
  for (const Case& c : cases(12, 8)) {
    SCOPED_TRACE(c.text);
    OperatorState state(c.model);
    state.update(c.state.q);
    for (const auto& i : operators::identities()) {
      const Matrix left = matrix(state, i.left);
      const Matrix right =
          std::string(i.right) == "I" ? Matrix::Identity(left.rows(), left.cols()) : matrix(state, i.right);
      EXPECT_LT(difference(left, right), 1e-11) << i.name;
    }
  }
}

/// The operators themselves, built from their blocks by the definitions of OSC 3.1, against the sweeps.
TEST(Operators, SweepsAreTheMatricesOfTheDefinitions) {
  using operators::Symbol;
  for (const Case& c : cases(12, 8)) {
    SCOPED_TRACE(c.text);
    OperatorState state(c.model);
    state.update(c.state.q);
    const int n = state.bodies(), nv = c.model.tree<double>().nv;
    Matrix H = Matrix::Zero(nv, 6 * n), M = Matrix::Zero(6 * n, 6 * n), E_phi = M,
           rotor = Matrix::Zero(nv, nv);
    int v = 0;
    for (int k = 0; k < n; ++k) {
      const Matrix h = matrix(state.block(Symbol::H, k));
      H.block(v, 6 * k, h.rows(), 6) = h;
      rotor.block(v, v, h.rows(), h.rows()) = matrix(state.block(Symbol::rotor, k));
      v += h.rows();
      M.block(6 * k, 6 * k, 6, 6) = matrix(state.block(Symbol::M, k));
      const int p = c.model.bodies()[k].inboard;
      if (p >= 0) E_phi.block(6 * p, 6 * k, 6, 6) = matrix(state.block(Symbol::phi, k));
    }
    const Matrix I = Matrix::Identity(6 * n, 6 * n);
    const Matrix phi = (I - E_phi).inverse();
    // The Riccati equation, tip to base, by dense blocks.
    Matrix P = M, D = Matrix::Zero(nv, nv), G = Matrix::Zero(6 * n, nv);
    v = nv;
    for (int k = n - 1; k >= 0; --k) {
      const int r = state.block(Symbol::H, k).rows;
      v -= r;
      const Matrix h = H.block(v, 6 * k, r, 6), Pk = P.block(6 * k, 6 * k, 6, 6);
      const Matrix Dk = h * Pk * h.transpose() + rotor.block(v, v, r, r);
      D.block(v, v, r, r) = Dk;
      const Matrix Gk = Pk * h.transpose() * Dk.inverse();
      G.block(6 * k, v, 6, r) = Gk;
      const int p = c.model.bodies()[k].inboard;
      if (p < 0) continue;
      const Matrix f = E_phi.block(6 * p, 6 * k, 6, 6);
      P.block(6 * p, 6 * p, 6, 6) += f * (Pk - Gk * Dk * Gk.transpose()) * f.transpose();
    }
    const Matrix E_psi = E_phi * (I - G * H), psi = (I - E_psi).inverse();
    const std::pair<const char*, Matrix> all[] = {
        {"H", H},     {"M", M},         {"E_phi", E_phi},       {"phi", phi},           {"P", P},
        {"D", D},     {"G", G},         {"K", E_phi * G},       {"tau_bar", I - G * H}, {"E_psi", E_psi},
        {"psi", psi}, {"rotor", rotor}, {"inv(D)", D.inverse()}};
    for (const auto& [name, expected] : all) {
      EXPECT_LT(difference(matrix(state, name), expected), 1e-11) << name;
      EXPECT_LT(difference(matrix(state, ("star(" + std::string(name) + ")").c_str()),
                           Matrix(expected.transpose())),
                1e-11)
          << name << '*';
    }
  }
}

TEST(Operators, TheMassOperatorIsTheMassMatrix) {
  using namespace articula::operators;
  for (const double mimic : {0.0, 0.4}) {
    for (const Case& c : cases(20, 12, mimic)) {
      SCOPED_TRACE(c.text);
      OperatorState state(c.model);
      state.update(c.state.q);
      // Rotors of mimic joints are reduced like everything else.
      const auto mass = H * phi * M * star(phi) * star(H) + star(Gamma) * rotor * Gamma;
      const Matrix expected =
          Eigen::Map<const Matrix>(mass_matrix(c.model, c.state.q).data(), c.model.nv(), c.model.nv());
      EXPECT_LT(difference(matrix(dense(state, mass)), expected), 1e-11);
    }
  }
}

/// inv(H phi M phi* H*) is the inverse, with and without rotor inertias in it, also where joints mimic
/// others.
TEST(Operators, InverseOfTheMassOperator) {
  using namespace articula::operators;
  for (const double mimic : {0.0, 0.4}) {
    for (int seed = 1; seed <= 15; ++seed) {
      Rng rng(seed);
      RandomOptions options;
      options.mimic = mimic;
      options.armature = seed % 2 ? 0.5 : 0;
      options.mass_ratio = 10;
      const ModelSpec spec = random_spec(rng, options);
      SCOPED_TRACE(describe(spec));
      const Model model(spec);
      if (model.nv() == 0) continue;
      OperatorState state(model);
      state.update(random_configuration(rng, model));
      const auto mass = H * phi * M * star(phi) * star(H);
      const Matrix product = matrix(dense(state, mass)) * matrix(dense(state, inv(mass)));
      EXPECT_LT((product - Matrix::Identity(model.nv(), model.nv())).cwiseAbs().maxCoeff(), 1e-8);
      const auto x = random_vector(rng, model.nv());
      EXPECT_LT(relative_error(apply(state, inv(mass) * mass, x), x), 1e-9);
      const auto with_rotors = mass + star(Gamma) * rotor * Gamma;
      EXPECT_LT(relative_error(apply(state, inv(with_rotors) * with_rotors, x), x), 1e-9);
      EXPECT_LT(relative_error(apply(state, star(inv(2.0 * mass)) * mass, x),
                               apply(state, 0.5 * star(inv(mass)) * mass, x)),
                1e-9);
    }
  }
}

TEST(Operators, EveryInverseOfTheAlgebraIsOne) {
  const char* all[] = {"phi",
                       "psi",
                       "D",
                       "star(phi)",
                       "I + H*phi*K",
                       "I - H*psi*K",
                       "star(I + H*phi*K)",
                       "I + star(K)*star(phi)*star(H)",
                       "I - E_phi",
                       "I - star(E_psi)",
                       "I + phi*K*H",
                       "I - psi*K*H",
                       "I + K*H*phi",
                       "2*I - 2*K*H*psi",
                       "-3*phi*psi",
                       "(I + H*phi*K)*D*star(I + H*phi*K)",
                       "H*phi*M*star(phi)*star(H) + rotor",
                       "2*(rotor + H*phi*M*star(phi)*star(H))",
                       "inv(phi)"};
  for (const Case& c : cases(8, 8)) {
    SCOPED_TRACE(c.text);
    OperatorState state(c.model);
    state.update(c.state.q);
    for (const char* text : all) {
      const Matrix x = matrix(state, text), y = matrix(state, ("inv(" + std::string(text) + ")").c_str());
      EXPECT_LT((x * y - Matrix::Identity(x.rows(), x.rows())).cwiseAbs().maxCoeff(),
                1e-9 * std::max(1.0, x.cwiseAbs().maxCoeff()))
          << text;
    }
  }
}

/// Random expressions: the sweeps against products of dense matrices.
TEST(Operators, RandomExpressions) {
  struct Named {
    const char* text;
    Matrix m;
  };
  for (const Case& c : cases(10, 6)) {
    SCOPED_TRACE(c.text);
    Rng rng(7);
    OperatorState state(c.model);
    state.update(c.state.q);
    std::vector<Named> body, joint, to_joint, to_body;
    for (const char* t : {"phi", "psi", "M", "P", "R", "Omega", "tau_bar", "E_phi", "E_psi", "S"})
      body.push_back({t, matrix(state, t)});
    for (const char* t : {"D", "inv(D)", "rotor"}) joint.push_back({t, matrix(state, t)});
    to_joint.push_back({"H", matrix(state, "H")});
    for (const char* t : {"G", "K", "L"}) to_body.push_back({t, matrix(state, t)});
    for (int trial = 0; trial < 60; ++trial) {
      // a walk through the spaces, from the right; then a sum of two such walks with factors
      const auto walk = [&](bool start_body, bool end_body) {
        bool at_body = start_body;
        std::string text;
        Matrix m = Matrix::Identity(start_body ? 6 * state.bodies() : c.model.tree<double>().nv,
                                    start_body ? 6 * state.bodies() : c.model.tree<double>().nv);
        const auto step = [&](const Named& n, bool starred) {
          text = (starred ? "star(" + std::string(n.text) + ")" : std::string(n.text)) +
                 (text.empty() ? "" : "*" + text);
          m = starred ? Matrix(n.m.transpose() * m) : Matrix(n.m * m);
        };
        const auto pick = [&](const std::vector<Named>& from) {
          return from[rng.integer(0, from.size() - 1)];
        };
        for (int i = rng.integer(1, 4); i > 0; --i) {
          if (rng.chance(0.3)) {
            if (at_body)
              rng.chance(0.6) ? step(pick(to_joint), false) : step(pick(to_body), true);
            else
              rng.chance(0.4) ? step(pick(to_joint), true) : step(pick(to_body), false);
            at_body = !at_body;
          } else {
            step(pick(at_body ? body : joint), rng.chance(0.5));
          }
        }
        if (at_body != end_body) {
          at_body ? step(pick(to_joint), false) : step(pick(to_body), false);
        }
        return std::pair(text, m);
      };
      const bool from = rng.chance(0.5), to = rng.chance(0.5), middle = rng.chance(0.5);
      const auto [t1, m1] = walk(middle, to);
      const auto [t2, m2] = walk(from, middle);
      const auto [t3, m3] = walk(from, middle);
      const auto [t4, m4] = walk(from, to);
      const std::string text = t1 + "*(2*" + t2 + " - " + t3 + ") - 0.5*" + t4;
      const Matrix expected = m1 * (2 * m2 - m3) - 0.5 * m4;
      EXPECT_LT(difference(matrix(state, text.c_str()), expected), 1e-11) << text;
    }
  }
}

TEST(Operators, BodyVelocitiesAndJacobians) {
  using namespace articula::operators;
  for (const double mimic : {0.0, 0.4}) {
    for (const Case& c : cases(15, 12, mimic)) {
      SCOPED_TRACE(c.text);
      OperatorState state(c.model);
      state.update(c.state.q, c.state.v);
      Kinematics<> kinematics(c.model);
      kinematics.update(c.state.q, c.state.v);
      std::vector<std::string> names;
      for (const articula::Frame& f : c.model.frames()) names.push_back(f.name);
      const auto velocities = apply(state, star(B(names)) * star(phi) * star(H), c.state.v);
      const auto accelerations = evaluate(state, star(B(names)) * star(phi) * a_bias);
      const Matrix J = matrix(dense(state, star(B(names)) * star(phi) * star(H)));
      for (std::size_t f = 0; f < names.size(); ++f) {
        const Spatial<double> V = kinematics.velocity(f);
        EXPECT_LT(relative_error(std::span(velocities).subspan(6 * f, 6), std::span(numbers_of(V), 6), 1),
                  1e-11)
            << names[f];
        std::vector<double> expected(6 * c.model.nv());
        kinematics.jacobian(f, expected);
        EXPECT_LT(
            (J.middleRows(6 * f, 6) - Eigen::Map<const Matrix>(expected.data(), 6, c.model.nv())).norm(),
            1e-11);
        // d/dt(J v) at zero joint accelerations = B* phi* a + a(0)     JPL88 3, OSC (46)
        const articula::Frame& frame = c.model.frames()[f];
        const Spatial<double> at_O = frame.body < 0 ? Spatial<double>{} : kinematics.velocity(f);
        const Spatial<double> a = kinematics.acceleration(f);
        Vec3<double> l{0, 0, 0};
        if (frame.body >= 0) {
          // from O_k to the frame's origin: the link frame of the body is one of the frames
          const int link = c.model.frame(c.model.bodies()[frame.body].name.find(".cross") == std::string::npos
                                             ? c.model.bodies()[frame.body].name
                                             : frame.name);
          l = kinematics.pose(f).position - kinematics.pose(link).position;
        }
        const Vec3<double> centripetal = cross(at_O.w, cross(at_O.w, l));
        EXPECT_LT(relative_error(
                      Spatial<double>{
                          {accelerations[6 * f], accelerations[6 * f + 1], accelerations[6 * f + 2]},
                          {accelerations[6 * f + 3] + centripetal.x, accelerations[6 * f + 4] + centripetal.y,
                           accelerations[6 * f + 5] + centripetal.z}},
                      a, 1),
                  1e-11)
            << names[f];
      }
    }
  }
}

TEST(Operators, ForwardDynamicsAsExpressions) {
  using namespace articula::operators;
  const auto T = input<JointSpace>(0);
  const auto a = a_bias + star(E) * a_g;
  const auto b = b_bias;
  const auto whiten = Id - H * psi * K;
  const auto mass_inverse = star(whiten) * inv(D) * whiten;
  const auto fd1 = mass_inverse * (T - H * phi * (M * star(phi) * a + b));
  const auto fd3 = star(whiten) * inv(D) * (T - H * psi * (K * T + M * star(phi) * a + b));
  const auto fd4 = star(whiten) * inv(D) * (T - H * psi * (K * T + b) - H * (psi - Id) * P * a) -
                   star(K) * star(psi) * star(tau_bar) * a - star(G) * a;
  for (const Case& c : cases(30, 20)) {
    SCOPED_TRACE(c.text);
    OperatorState state(c.model);
    state.update(c.state.q, c.state.v);
    const auto expected = forward_dynamics(c.model, c.state.q, c.state.v, c.state.tau);
    EXPECT_LT(relative_error(evaluate(state, fd1, {c.state.tau}), expected), 1e-11);
    EXPECT_LT(relative_error(evaluate(state, fd3, {c.state.tau}), expected), 1e-11);
    EXPECT_LT(relative_error(evaluate(state, fd4, {c.state.tau}), expected), 1e-11);
    EXPECT_EQ(Program(state, fd1).sweeps(), 4);
    EXPECT_EQ(Program(state, fd3).sweeps(), 3);
    NamedForwardDynamics named(c.model);
    std::vector<double> out(c.model.nv());
    forward_dynamics_fd2(named, c.state.q, c.state.v, c.state.tau, out);
    // link accelerations: alpha = psi* H* D^-1 [I - H psi K] T' + phi* a, gravity taken off again
    const auto T1 = T - H * phi * (M * star(phi) * a + b);
    auto alpha = evaluate(
        state, star(psi) * star(H) * inv(D) * whiten * T1 + star(phi) * a - star(phi) * star(E) * a_g,
        {c.state.tau});
    EXPECT_LT(relative_error(alpha, std::span(numbers_of(named.link_accelerations()[0]), alpha.size()), 1),
              1e-11);
    const auto bias = H * phi * (M * star(phi) * a + b);
    EXPECT_LT(relative_error(evaluate(state, bias), bias_forces(c.model, c.state.q, c.state.v)), 1e-11);
  }
}

TEST(Operators, RunsAsOftenAsTheStateChanges) {
  using namespace articula::operators;
  Rng rng(3);
  const Model model(random_spec(rng, {.links = 6, .armature = 0}));
  OperatorState state(model);
  Program program(state, inv(H * phi * M * star(phi) * star(H)));
  std::vector<double> x(model.nv());
  EXPECT_THROW(program.apply(std::vector<double>(1000), x), ArgumentError);
  for (int i = 0; i < 3; ++i) {
    const State s = random_state(rng, model);
    state.update(s.q);
    x = s.tau;
    program.apply(x, x);  // in place
    std::vector<double> expected(model.nv());
    MassFactor<> factor(model);
    factor.factor(s.q);
    factor.solve(s.tau, expected);
    EXPECT_LT(relative_error(x, expected), 1e-12);
  }
}

TEST(Operators, ExplainNamesDirectionsAndCounts) {
  using namespace articula::operators;
  const Model model(make_chain(7));
  OperatorState state(model);
  state.update(std::vector<double>(7, 0.3));
  const std::string text = explain(state, inv(H * phi * M * star(phi) * star(H)));
  EXPECT_NE(text.find("sweep, tip to base"), std::string::npos) << text;
  EXPECT_NE(text.find("sweep, base to tip"), std::string::npos) << text;
  EXPECT_NE(text.find("2 sweeps over 7 bodies"), std::string::npos) << text;
  Program mass(state, H * phi * M * star(phi) * star(H));
  EXPECT_EQ(mass.sweeps(), 2);
  EXPECT_GT(mass.count().multiplications, 7 * 30);
  EXPECT_LT(mass.count().multiplications, 7 * 120);
}

TEST(Operators, ErrorsAreOneClearLine) {
  struct Bad {
    const char *text, *message;
  };
  const Bad all[] = {
      {"phi * H", "'phi' takes body vectors, 'H' gives joint vectors"},
      {"H + phi", "does not fit"},
      {"H * (phi", "')' is missing"},
      {"H * ", "something is missing at the end"},
      {"H $ phi", "'$' is not expected"},
      {"inv(H)", "has no inverse"},
      {"star(x)", "is a vector"},
      {"2 + phi", "2*I"},
      {"x * phi", "only stand on the right"},
      {"foo(phi)", "no function 'foo'"},
      {"3", "this is a number"},
      {"B()*x", "B() needs the name of a frame"},
      {"I + x", "is a vector"},
      {"1e999*phi", "not a number"},
  };
  for (const Bad& bad : all) {
    try {
      operators::parse(bad.text);
      ADD_FAILURE() << bad.text << " was accepted";
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(bad.message), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
  const Model model(make_chain(3));
  OperatorState state(model);
  state.update(std::vector<double>(3));
  for (const Bad& bad :
       {Bad{"inv(P)", "no O(n) inverse"}, Bad{"inv(I + H*phi*M*star(phi)*star(H))", "no O(n) inverse"},
        Bad{"B(nowhere)", "no frame 'nowhere'"}, Bad{"I", "identity alone"}, Bad{"x", "which space"},
        Bad{"star(B(base))*star(H)*B(base)", "fit"}}) {
    try {
      Program(state, operators::parse(bad.text).node);
      ADD_FAILURE() << bad.text << " was accepted";
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(bad.message), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace articula
