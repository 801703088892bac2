// The derivative of one step of each integrator: against differences of the simulator's own steps, and
// against what the steps' structure says of it exactly.
#include "articula/simulation/linearized_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/regulator.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/simulation/simulator.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

constexpr Integrator all_methods[] = {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::midpoint, Integrator::variational};
constexpr Integrator symmetric_methods[] = {Integrator::midpoint, Integrator::variational};

struct Mechanism {
  Model model;
  State state;
  double condition;  // of the mass matrix
};

/// Each joint kind by itself and random trees over all of them, fixed and free bases, half of the trees with
/// mimic joints; armature, and damping at every joint.
void for_each_mechanism(const std::function<void(const Mechanism&)>& f,
                        const std::vector<JointKind>& kinds = all_joint_kinds(), int trees = 40) {
  const auto run = [&](ModelSpec spec, Base base, Rng& rng) {
    for (JointSpec& joint : spec.joints) joint.damping = rng.uniform(0, 0.3);
    SCOPED_TRACE((base == Base::free ? "free base, " : "fixed base, ") + describe(spec));
    const Vec3<double> gravity = rng.vector(10);
    const Model model(spec, {.base = base, .gravity = gravity});
    if (model.nv() == 0) return;
    const State state = random_state(rng, model);
    DenseDynamics dense(spec, base, gravity);
    dense.update(state.q, state.v, state.a);
    f({model, state, double(dense.condition_number())});
  };
  for (const JointKind kind : kinds)
    for (const Base base : {Base::fixed, Base::free}) {
      if (base == Base::free && kinds.size() < all_joint_kinds().size()) continue;
      Rng rng(static_cast<int>(kind) + 7);
      run(one_joint_spec(kind), base, rng);
    }
  Rng followers(11);
  run(massless_followers_spec(), Base::fixed, followers);
  if (kinds.size() == all_joint_kinds().size()) run(massless_followers_spec(), Base::free, followers);
  for (int seed = 1; seed <= trees; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 8);
    options.kinds = kinds;
    options.mimic = seed % 2 == 0 ? 0.5 : 0;
    if (seed % 4 == 0)  // more joints that can mimic
      options.kinds = {JointKind::revolute, JointKind::continuous, JointKind::prismatic, JointKind::helical};
    const bool free = seed % 3 == 0 && kinds.size() == all_joint_kinds().size();
    run(random_spec(rng, options), free ? Base::free : Base::fixed, rng);
  }
}

struct Result {
  Result(const Model& model, Integrator method, In<double> q0, In<double> v0, In<double> tau, double h,
         const LinearizationOptions<double>& options = {})
      : Result(model.nq(), model.nv()) {
    LinearizedStep(model, method).compute(q0, v0, tau, h, A, B, q, v, options);
  }
  Result(std::size_t nq, std::size_t n) : A(4 * n * n), B(2 * n * n), q(nq), v(n) {}
  Vector A, B, q, v;
};

/// What acts in `options`, as elements of a Simulator: forces that turn with their bodies from q0 on.
struct HeldElement : WrenchElement {
  HeldElement(const Model& m, In<double> q0, const LinearizationOptions<double>& o, const Points& p)
      : model(m), start(m), options(o), points(p) {
    start.update(q0);
  }
  void add_wrenches(double, const Kinematics<>& at, std::span<Spatial<double>> out) override {
    for (std::size_t f = 0; f < model.frames().size(); ++f) {
      const int body = model.frames()[f].body;
      if (body < 0) continue;
      const Mat3<double> R = at.pose(int(f)).rotation * star(start.pose(int(f)).rotation);
      const Spatial<double>& w = options.wrenches[body];
      if (options.held == HeldIn::body_axes)
        out[body] = {R * w.w, R * w.v};
      else
        out[body] = {w.w + cross(R * points.r[body] - points.r[body], w.v), w.v};
    }
  }
  const Model& model;
  Kinematics<> start;
  const LinearizationOptions<double>& options;
  const Points& points;
};

// Along directions in (q, v, tau), against differences of Simulator::step on the manifold.
TEST(LinearizedStep, IsTheDerivativeOfTheSimulatorsStep) {
  Worst derivatives("A, B against differences"), results("q_next, v_next against the simulator");
  int failed = 0;
  for_each_mechanism([&](const Mechanism& c) {
    const Model& model = c.model;
    const State& s = c.state;
    const std::size_t n = model.nv();
    const double h = 4e-3;
    std::vector<Spatial<double>> wrenches = s.wrenches;
    keep_framed(model, wrenches);
    const Points points(model, wrenches);
    for (const Integrator method : all_methods) {
      // Nothing; damping and forces held in the world; forces held in their bodies; at points of them.
      for (int acting = 0; acting < 4; ++acting) {
        SCOPED_TRACE(std::string(name_of(method)) + ", forces " + std::to_string(acting));
        LinearizationOptions<double> options;
        if (acting > 0) options.wrenches = wrenches;
        options.damping = acting == 1;
        if (acting == 2) options.held = HeldIn::body_axes;
        options.levers = points.levers_if(acting == 3);
        Rng rng(3);
        const Vector dq = random_vector(rng, n), dv = random_vector(rng, n), du = random_vector(rng, n);
        JointDampers dampers(model);
        Simulator sim(model, method);
        if (acting == 1) sim.add(dampers), sim.wrenches = wrenches;
        std::optional<Result> found;
        const auto moved = [&](double e) {
          const Vector q = manifold_add(model, s.q, scaled(dq, e));
          sim.q = q, sim.v = sum(s.v, dv, e), sim.tau = sum(s.tau, du, e);
          sim.time = 0;
          sim.step(h);
          Vector out(n);
          if (found) difference(model, found->q, sim.q, out);
          out.insert(out.end(), sim.v.begin(), sim.v.end());
          return out;
        };
        // Forces are given at s.q; a perturbed step starts with them turned as far as its bodies are.
        HeldElement element(model, s.q, options, points);
        if (acting > 1) sim.add(element);
        try {
          const Vector v_next = moved(0);
          found.emplace(model, method, s.q, s.v, s.tau, h, options);
          Vector off(n);
          difference(model, found->q, sim.q, off);
          EXPECT_LT(results(std::max(largest(off), relative_error(found->v, sim.v, 1)) / c.condition), 1e-13);
        } catch (const IntegrationError&) {  // the simulator and the derivative say so alike
          ++failed;
          EXPECT_THROW(Result(model, method, s.q, s.v, s.tau, h, options), IntegrationError);
          continue;
        }
        const Vector expected = derivative(moved, 1e-3);
        Vector x(dq);
        x.insert(x.end(), dv.begin(), dv.end());
        Vector result = product(found->A, x);
        for (std::size_t i = 0; i < 2 * n; ++i)
          for (std::size_t j = 0; j < n; ++j) result[i] += found->B[i * n + j] * du[j];
        EXPECT_LT(derivatives(relative_error(result, expected, 1) / std::max(1.0, c.condition * 1e-3)), 1e-8);
      }
    }
  });
  std::printf("  steps that do not converge: %d\n", failed);
  EXPECT_LT(failed, 20);
}

/// (dq, dv) -> (dq, -dv), on the rows or the columns of a matrix.
Vector reversed(Vector m, std::size_t n, bool rows) {
  const std::size_t width = m.size() / (2 * n);
  for (std::size_t i = 0; i < 2 * n; ++i)
    for (std::size_t j = 0; j < width; ++j)
      if ((rows ? i : j) >= n) m[i * width + j] = -m[i * width + j];
  return m;
}
Vector matrix_product(const Vector& a, const Vector& b, std::size_t inner) {
  const std::size_t rows = a.size() / inner, columns = b.size() / inner;
  Vector out(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return out;
}

// The midpoint rules undo themselves: from the end, with the velocity turned round, the same step leads back.
// So do its derivatives, exactly: A_back R A = R and A_back R B + B_back = 0 with R = diag(Id, -Id).
TEST(LinearizedStep, OfASymmetricRuleUndoesItself) {
  Worst worst("A and B of the way back against the way there");
  for_each_mechanism([&](const Mechanism& c) {
    const State& s = c.state;
    const std::size_t n = c.model.nv();
    for (const Integrator method : symmetric_methods)
      for (const double h : {1e-4, 4e-3}) {
        SCOPED_TRACE(std::string(name_of(method)) + ", h = " + std::to_string(h));
        const LinearizationOptions<double> options{.wrenches = s.wrenches};
        try {
          const Result there(c.model, method, s.q, s.v, s.tau, h, options);
          const Result back(c.model, method, there.q, scaled(there.v, -1), s.tau, h, options);
          Vector id(4 * n * n);
          for (std::size_t i = 0; i < 2 * n; ++i) id[i * (2 * n + 1)] = 1;
          const Vector round = matrix_product(back.A, reversed(there.A, n, true), 2 * n);
          const Vector forced = sum(matrix_product(back.A, reversed(there.B, n, true), 2 * n), back.B);
          const double size = largest(there.A) * largest(back.A) * std::max(1.0, c.condition * 1e-3);
          EXPECT_LT(worst(relative_error(round, reversed(id, n, true), 1) / size), 1e-12);
          EXPECT_LT(worst(largest(forced) / (size * largest(there.B))), 1e-12);
        } catch (const IntegrationError&) {
        }
      }
  });
}

/// The symplectic form of (q, p) in (dq, dv): P* J P with P = d(q, M v)/d(q, v).
Vector symplectic_form(const Model& model, In<double> q, In<double> v) {
  const std::size_t n = model.nv();
  LinearizedInverse<> work(model.with_gravity({0, 0, 0}));
  Vector zero(n), by_q(n * n), by_v(n * n), M(n * n), P(4 * n * n), JP(4 * n * n), out(4 * n * n);
  linearized_inverse(work, q, zero, v, by_q, by_v, M);
  for (std::size_t i = 0; i < n; ++i) {
    P[i * 2 * n + i] = 1;
    for (std::size_t j = 0; j < n; ++j) {
      P[(n + i) * 2 * n + j] = by_q[i * n + j], P[(n + i) * 2 * n + n + j] = M[i * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < 2 * n; ++j)
      JP[i * 2 * n + j] = P[(n + i) * 2 * n + j], JP[(n + i) * 2 * n + j] = -P[i * 2 * n + j];
  for (std::size_t i = 0; i < 2 * n; ++i)
    for (std::size_t k = 0; k < 2 * n; ++k)
      for (std::size_t j = 0; j < 2 * n; ++j) out[i * 2 * n + j] += P[k * 2 * n + i] * JP[k * 2 * n + j];
  return out;
}

// Where coordinates add, the variational step keeps the symplectic form of (q, p): A* W_next A = W. The
// midpoint rule in (q, v) does not.
TEST(LinearizedStep, OfTheVariationalRuleIsSymplectic) {
  Worst worst("A* W A - W");
  double midpoint = 0;
  for_each_mechanism(
      [&](const Mechanism& c) {
        const State& s = c.state;
        const std::size_t n = c.model.nv();
        for (const Integrator method : symmetric_methods) {
          try {
            const Result step(c.model, method, s.q, s.v, s.tau, 4e-3);
            const Vector W = symplectic_form(c.model, s.q, s.v),
                         next = symplectic_form(c.model, step.q, step.v);
            Vector star_A(4 * n * n);
            for (std::size_t i = 0; i < 2 * n; ++i)
              for (std::size_t j = 0; j < 2 * n; ++j) star_A[j * 2 * n + i] = step.A[i * 2 * n + j];
            const double e =
                relative_error(matrix_product(matrix_product(star_A, next, 2 * n), step.A, 2 * n), W);
            if (method == Integrator::variational)
              EXPECT_LT(worst(e / largest(step.A)), 1e-12);
            else
              midpoint = std::max(midpoint, e);
          } catch (const IntegrationError&) {
          }
        }
      },
      {JointKind::revolute, JointKind::continuous, JointKind::prismatic, JointKind::helical,
       JointKind::cylindrical, JointKind::universal});
  EXPECT_GT(midpoint, 1e-6);
}

// Over a short step every method is Id + h times the continuous state space.
TEST(LinearizedStep, TendsToTheContinuousStateSpace) {
  Worst worst("limit of A and B against the continuous ones");
  for_each_mechanism([&](const Mechanism& c) {
    const State& s = c.state;
    const std::size_t n = c.model.nv();
    const LinearizationOptions<double> options{.wrenches = s.wrenches, .damping = true};
    StateSpace space(c.model);
    Vector A(4 * n * n), B(2 * n * n);
    continuous_state_space(space, s.q, s.v, s.tau, A, B, options);
    for (const Integrator method : all_methods) {
      SCOPED_TRACE(name_of(method));
      const auto rates = [&](double h, bool of_A) {
        Result r(c.model, method, s.q, s.v, s.tau, h, options);
        for (std::size_t i = 0; i < 2 * n; ++i) r.A[i * (2 * n + 1)] -= 1;
        return scaled(of_A ? r.A : r.B, 1 / h);
      };
      const double size = std::max(1.0, c.condition * 1e-3);
      for (const bool of_A : {true, false}) {  // the error is linear in h: one extrapolation
        const Vector limit = sum(scaled(rates(0.5e-5, of_A), 2), rates(1e-5, of_A), -1);
        EXPECT_LT(worst(relative_error(limit, of_A ? A : B, 1) / size), 1e-7);
      }
    }
  });
}

// Explicit and symplectic Euler have a closed form (state_space.hpp).
TEST(LinearizedStep, OfEulerStepsIsTheClosedForm) {
  Worst worst("A, B against discrete_state_space");
  for_each_mechanism([&](const Mechanism& c) {
    const State& s = c.state;
    const std::size_t n = c.model.nv();
    StateSpace space(c.model);
    Vector A(4 * n * n), B(2 * n * n), q(c.model.nq()), v(n);
    for (const bool symplectic : {false, true}) {
      const LinearizationOptions<double> options{
          .wrenches = s.wrenches, .held = HeldIn::body_axes, .damping = true};
      const Result r(c.model, symplectic ? Integrator::symplectic_euler : Integrator::euler, s.q, s.v, s.tau,
                     0.01, options);
      discrete_state_space(space, s.q, s.v, s.tau, 0.01,
                           symplectic ? Integrator::symplectic_euler : Integrator::euler, A, B, q, v,
                           options);
      EXPECT_LT(worst(std::max(relative_error(r.A, A, 1), relative_error(r.B, B, 1e-3))), 1e-11);
      EXPECT_LT(worst(std::max(relative_error(r.q, q, 1), relative_error(r.v, v, 1))), 1e-14);
    }
  });
}

// The gain made from a step's derivative holds the double pendulum upright from sample to sample, one joint
// driven, at a period at which the gain of the continuous system does not.
TEST(LinearizedStep, GivesAGainForASampledController) {
  const Model model = double_pendulum().model;
  const Vector upright{M_PI, 0}, zero(2);
  const double h = 0.15;
  StateSpace space(model);
  Vector A(16), B(8), Q(16), R{1}, b(4);
  for (int i = 0; i < 4; ++i) Q[5 * i] = 1;
  const auto holds = [&](Integrator method, const Vector& K) {
    Simulator sim(model, method);
    sim.q = {M_PI + 0.02, -0.01};
    for (int i = 0; i < 300; ++i) {
      sim.tau[0] = -K[0] * (sim.q[0] - M_PI) - K[1] * sim.q[1] - K[2] * sim.v[0] - K[3] * sim.v[1];
      try {
        sim.step(h);
      } catch (const Error&) {
        return false;
      }
    }
    return std::abs(sim.q[0] - M_PI) + std::abs(sim.q[1]) + largest(sim.v) < 1e-6;
  };
  for (const Integrator method : all_methods) {
    const Result step(model, method, upright, zero, zero, h);
    for (int i = 0; i < 4; ++i) b[i] = step.B[2 * i];
    EXPECT_EQ(controllability_rank(step.A, b, 4, 1), 4);
    EXPECT_TRUE(holds(method, discrete_regulator(step.A, b, Q, R, 4, 1).K)) << name_of(method);
  }
  continuous_state_space(space, upright, zero, zero, A, B);
  for (int i = 0; i < 4; ++i) b[i] = B[2 * i];
  EXPECT_FALSE(holds(Integrator::rk4, regulator(A, b, Q, R, 4, 1).K));
}

// Where a mechanism is does not matter.
TEST(LinearizedStep, AKilometreAway) {
  Start s = quadruped_in_flight();
  const Vector tau(s.model.nv(), 0.1);
  for (const Integrator method : all_methods) {
    const Result here(s.model, method, s.q, s.v, tau, 1e-3);
    Vector q = s.q;
    q[4] += 1000, q[5] -= 700, q[6] += 300;
    const Result far(s.model, method, q, s.v, tau, 1e-3);
    EXPECT_LT(relative_error(far.A, here.A), 1e-12) << name_of(method);
    EXPECT_LT(relative_error(far.B, here.B), 1e-12) << name_of(method);
  }
}

TEST(LinearizedStep, RefusesWhatIsNoStep) {
  const Start s = double_pendulum();
  for (const Integrator method : {Integrator::rk45, Integrator::cvode}) {
    try {
      LinearizedStep step(s.model, method);
      FAIL();
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find(name_of(method)), std::string::npos) << e.what();
    }
  }
  const Vector tau{0.1, 0.2};
  for (const Integrator method : all_methods) {
    LinearizedStep step(s.model, method);
    Vector A(16, 7), B(8, 7), q(2, 7), v(2, 7), three(3);
    const Vector nan{0, NAN};
    const auto refused = [&](In<double> q0, In<double> v0, In<double> u, double h, Out<double> a,
                             Out<double> b, Out<double> q1, Out<double> v1,
                             const LinearizationOptions<double>& options = {}) {
      EXPECT_THROW(step.compute(q0, v0, u, h, a, b, q1, v1, options), ArgumentError);
    };
    refused(three, s.v, tau, 0.1, A, B, q, v), refused(s.q, three, tau, 0.1, A, B, q, v);
    refused(s.q, s.v, three, 0.1, A, B, q, v), refused(s.q, s.v, tau, 0.1, three, B, q, v);
    refused(s.q, s.v, tau, 0.1, A, three, q, v), refused(s.q, s.v, tau, 0.1, A, B, three, v);
    refused(s.q, s.v, tau, 0.1, A, B, q, three);
    for (const double h : {0.0, -0.1, double(NAN), double(INFINITY)}) refused(s.q, s.v, tau, h, A, B, q, v);
    refused(nan, s.v, tau, 0.1, A, B, q, v), refused(s.q, nan, tau, 0.1, A, B, q, v);
    refused(s.q, s.v, nan, 0.1, A, B, q, v);
    const std::vector<Spatial<double>> one(1);
    refused(s.q, s.v, tau, 0.1, A, B, q, v, {.wrenches = one});
    // No step of that length, as the simulator says too.
    const Vector fast{1e160, -1e160};
    Simulator sim(s.model, method);
    sim.q = s.q, sim.v = fast, sim.tau = tau;
    EXPECT_THROW(sim.step(1), Error) << name_of(method);
    EXPECT_THROW(step.compute(s.q, fast, tau, 1, A, B, q, v), Error) << name_of(method);
    EXPECT_EQ(A, Vector(16, 7));
    EXPECT_EQ(B, Vector(8, 7));
    EXPECT_EQ(q, Vector(2, 7));
    EXPECT_EQ(v, Vector(2, 7));
    // After all that it works, and in place too.
    step.compute(s.q, s.v, tau, 0.01, A, B, q, v);
    Vector q_same = s.q, v_same = s.v;
    step.compute(q_same, v_same, tau, 0.01, A, B, q_same, v_same);
    EXPECT_EQ(q_same, q);
    EXPECT_EQ(v_same, v);
  }
  for (const Integrator method : symmetric_methods) {
    Vector A(16), B(8), q(2), v(2);
    EXPECT_THROW(LinearizedStep(s.model, method).compute(s.q, Vector{50, -80}, tau, 1, A, B, q, v),
                 IntegrationError);
  }
  // Nothing that moves: nothing to differentiate.
  ModelSpec spec;
  spec.add_link({"rock"});
  const Model rock(spec);
  for (const Integrator method : all_methods)
    LinearizedStep(rock, method).compute({}, {}, {}, 0.1, {}, {}, {}, {});
}

}  // namespace
}  // namespace articula::testing
