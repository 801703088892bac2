#include "articula/simulation/linearized_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/simulation/fixed_step.hpp"
#include "articula/simulation/forces.hpp"
#include "articula/simulation/held_forces.hpp"
#include "articula/simulation/linearized_momenta.hpp"
#include "articula/simulation/midpoint.hpp"
#include "articula/spatial/pack.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula {

using namespace step_derivatives;

namespace {

using D = StepDual;
constexpr int lanes = step_directions;
using Changes = Several<double, lanes>;

/// By pairs, which every x86-64 machine has registers for.
Changes sum_of_products(const double* factors, const Changes* changes, std::size_t count) {
  using Pair = Pack<double, 2>;
  Pair sum[lanes / 2];
  for (Pair& x : sum) x = Pair(0.0);
  for (std::size_t k = 0; k < count; ++k)
    for (int l = 0; l < lanes / 2; ++l) sum[l] = sum[l] + factors[k] * Pair::load(changes[k].at + 2 * l);
  Changes out;
  for (int l = 0; l < lanes / 2; ++l) sum[l].store(out.at + 2 * l);
  return out;
}

/// A x = b for several b: [A | b] row by row, n rows of n + m; x takes the place of b. Elimination with
/// partial pivoting. False: singular.
bool solve_rows(double* rows, std::size_t n, std::size_t m) {
  const std::size_t width = n + m;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(rows[i * width + k]) > std::abs(rows[best * width + k])) best = i;
    double* const pivot = rows + k * width;
    if (best != k) std::swap_ranges(pivot, pivot + width, rows + best * width);
    if (!(std::abs(pivot[k]) > 0)) return false;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* const row = rows + i * width;
      const double factor = row[k] / pivot[k];
      for (std::size_t j = k; j < width; ++j) row[j] -= factor * pivot[j];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    double* const row = rows + k * width;
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = n; j < width; ++j) row[j] -= row[i] * rows[i * width + j];
    for (std::size_t j = n; j < width; ++j) row[j] /= row[k];
  }
  return true;
}

/// The implicit midpoint rule: its equations ask for accelerations.
struct Midpoint {
  Midpoint(const Model& model, const Manifold& manifold)
      : rule(manifold), equations(manifold), dynamics(model) {}
  ImplicitMidpoint rule;
  MidpointEquations<D> equations;
  ForwardDynamics<> dynamics;
};

}  // namespace

struct LinearizedStep::Work {
  Work(const Model& m, Integrator integrator)
      : model(m),
        manifold(m),
        n(m.nv()),
        held(m),
        dampers(m),
        q0(m.nq()),
        v0(n),
        tau0(n),
        q(m.nq()),
        v(n),
        end_q(m.nq()),
        end_v(n),
        at_q(m.nq()),
        rates(m.nq()),
        at_x(n),
        unit(n),
        forces(n),
        changes(2 * n),
        changing(2 * n),
        factors(2 * n) {
    std::size_t asked_in_a_step = 1;
    if (is_adaptive(integrator)) {
      throw ArgumentError(fmt::format(
          "LinearizedStep: {} chooses its steps by their error, so that no step of a given length can be "
          "differentiated; take {} or {}",
          name_of(integrator), integrator_names(Stepping::explicit_step),
          integrator_names(Stepping::implicit_step)));
    } else if (integrator == Integrator::midpoint) {
      method.emplace<Midpoint>(m, manifold);
    } else if (integrator == Integrator::variational) {
      method.emplace<InMomenta>(m, manifold);
      asked_in_a_step = 4;
    } else {
      asked_in_a_step = std::size_t(method.emplace<FixedStep<D>>(integrator, manifold).evaluations());
    }
    points.assign(asked_in_a_step, Point(n));
    if (integrator == Integrator::variational) {
      for (std::size_t i = 0; i < n; ++i) points[1].by_tau[i * (n + 1)] = 1;  // the force; others know no tau
    } else {
      forward.emplace(m);
    }
    if (integrator == Integrator::variational || integrator == Integrator::midpoint) rows.resize(n * 4 * n);
  }

  // --- what a step's text asks for, with derivatives -------------------------------------------------
  /// y at (q, x), by the linearization at that point: made when it is asked for first and kept for the other
  /// directions, for which a step asks the same in the same order.
  template <class Linearize>
  void answer(In<D> at, In<D> x, Out<D> y, Linearize&& linearize) {
    Point& p = points[asked++];
    for (std::size_t i = 0; i < at.size(); ++i) at_q[i] = at[i].x;
    if (!linearized) {
      for (std::size_t i = 0; i < n; ++i) at_x[i] = x[i].x;
      linearize(p);
      for (std::size_t i = 0; i < n; ++i) y[i] = D(p.y[i]);
      return;
    }
    differentiate(p, at, x, y);
  }
  void differentiate(const Point& p, In<D> at, In<D> x, Out<D> y) {
    for (int l = 0; l < lanes; ++l) {
      for (std::size_t i = 0; i < at.size(); ++i) rates[i] = at[i].d.at[l];
      manifold.velocities_of(at_q.data(), rates.data(), unit.data());
      for (std::size_t i = 0; i < n; ++i) changes[i].at[l] = unit[i];
    }
    for (std::size_t i = 0; i < n; ++i) changes[n + i] = x[i].d;
    // Most do not change at a step's first points: only those that do, of (q, x), take part.
    std::size_t count = 0;
    for (std::size_t j = 0; j < 2 * n; ++j) {
      if (std::all_of(changes[j].at, changes[j].at + lanes, [](double d) { return d == 0; })) continue;
      changing[count] = j;
      changes[count++] = changes[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double *const by_q = p.by_q.data() + i * n, *const by_x = p.by_x.data() + i * n;
      for (std::size_t k = 0; k < count; ++k)
        factors[k] = changing[k] < n ? by_q[changing[k]] : by_x[changing[k] - n];
      y[i] = {p.y[i], sum_of_products(factors.data(), changes.data(), count)};
      for (int l = 0; l < lanes; ++l)
        if (tau_column[l] >= 0) y[i].d.at[l] += p.by_tau[i * n + std::size_t(tau_column[l])];
    }
  }
  void accelerations(In<D> at, In<D> x, Out<D> a) {
    answer(at, x, a, [&](Point& p) {
      linearized_forward(*forward, at_q, at_x, tau0, p.by_q, p.by_x, p.by_tau, held.at(at_q));
      forward->acceleration(p.y);
    });
  }

  // --- one pass of the text --------------------------------------------------------------------------
  /// The state with unit derivatives along columns first .. first + lanes - 1 of (q, v, tau, unknown) in each
  /// lane, up to `limit`.
  void start(std::size_t first, std::size_t limit) {
    const Changes none(0.0);
    asked = 0;
    for (std::size_t j = 0; j < q.size(); ++j) q[j] = {q0[j], none};
    for (std::size_t j = 0; j < n; ++j) v[j] = {v0[j], none};
    std::fill(unit.begin(), unit.end(), 0.0);
    for (int l = 0; l < lanes; ++l) {
      tau_column[l] = -1;
      const std::size_t column = first + std::size_t(l);
      if (column >= limit) continue;
      const std::size_t kind = column / n, i = column % n;
      if (kind == 0) {
        unit[i] = 1;
        manifold.coordinate_rates(q0.data(), unit.data(), rates.data());
        unit[i] = 0;
        for (std::size_t j = 0; j < q.size(); ++j) q[j].d.at[l] = rates[j];
      } else if (kind == 1) {
        v[i].d.at[l] = 1;
      } else if (kind == 2) {
        tau_column[l] = int(i);
      }
    }
  }

  void explicit_pass(FixedStep<D>& text, double h) {
    auto acceleration = [this](double, In<D> at, In<D> x, Out<D> a) { accelerations(at, x, a); };
    text.step(System<D>{manifold, acceleration}, 0, h, q, v);
  }
  /// f(equations, system in dual numbers)
  template <class F>
  void with_equations(Midpoint& m, F&& f) {
    auto acceleration = [this](double, In<D> at, In<D> x, Out<D> a) { accelerations(at, x, a); };
    f(m.equations, System<D>{manifold, acceleration});
  }
  template <class F>
  void with_equations(InMomenta& m, F&& f) {
    auto momentum = [&](In<D> at, In<D> x, Out<D> y) {
      answer(at, x, y, [&](Point& p) { m.momentum(at_q, at_x, p); });
    };
    auto velocity = [&](In<D> at, In<D> x, Out<D> y) {
      answer(at, x, y, [&](Point& p) { m.velocity(at_q, at_x, p); });
    };
    auto force = [&](double, In<D> at, In<D> x, Out<D> y) {
      answer(at, x, y, [&](Point& p) { m.force(at_q, at_x, tau0, held.at(at_q), p); });
    };
    f(m.equations, MomentumSystem<D>{manifold, momentum, velocity, force});
  }

  // --- the step itself, as the simulator makes it ----------------------------------------------------
  void joint_forces(In<double> at, In<double> rate, const LinearizationOptions<double>& options,
                    Out<double> out) {
    std::copy(tau0.begin(), tau0.end(), out.begin());
    if (options.damping) dampers.add_forces(0, at, rate, out);
  }
  void make_step(Midpoint& m, double h) {
    auto acceleration = [&](double, In<double> at, In<double> rate, Out<double> a) {
      const LinearizationOptions<double>& options = held.at(at);
      joint_forces(at, rate, options, forces);
      forward_dynamics(m.dynamics, at, rate, forces, a, options.wrenches);
    };
    m.rule.step({manifold, acceleration}, 0, h, end_q, end_v);
  }
  void make_step(InMomenta& m, double h) {
    auto acting = [&](double, In<double> at, In<double> rate, Out<double> out) {
      const LinearizationOptions<double>& options = held.at(at);
      joint_forces(at, rate, options, out);
      m.add_external(at, options.wrenches, out);
    };
    m.rule.step(acting, 0, h, end_q, end_v);
  }

  // --- the derivative --------------------------------------------------------------------------------
  void linearize(FixedStep<D>& text, double h, double* A, double* B) {
    linearized = false;
    start(0, 0);
    explicit_pass(text, h);
    for (std::size_t j = 0; j < q.size(); ++j) end_q[j] = q[j].x;
    for (std::size_t j = 0; j < n; ++j) end_v[j] = v[j].x;
    check_finite(h);
    linearized = true;
    for (std::size_t first = 0; first < 3 * n; first += lanes) {
      start(first, 3 * n);
      explicit_pass(text, h);
      put_columns(first, A, B);
    }
  }
  /// x = f(q, v, tau, x) gives dx = (Id - df/dx)^-1 df, and the derivative of f and of what follows is that
  /// of their text.
  template <class Implicit>
  void linearize_implicit(Implicit& implicit, double h, double* A, double* B) {
    std::copy(q0.begin(), q0.end(), end_q.begin());
    std::copy(v0.begin(), v0.end(), end_v.begin());
    make_step(implicit, h);
    check_finite(h);
    const In<double> solution = implicit.rule.mean_velocity();
    with_equations(implicit, [&](auto& equations, const auto& system) {
      const Out<D> x = equations.unknown();
      const auto evaluate = [&](auto&& derivative) {
        equations.begin(system, q, v);
        for (std::size_t i = 0; i < n; ++i) {
          x[i] = D(solution[i]);
          for (int l = 0; l < lanes; ++l) x[i].d.at[l] = derivative(i, std::size_t(l));
        }
        equations.evaluate(system, 0, h, q, v);
      };
      linearized = false;
      start(0, 0);
      evaluate([](std::size_t, std::size_t) { return 0.0; });
      equations.finish(system, 0, h, q, v);
      linearized = true;
      // [Id - df/dx | df/d(q, v, tau)]
      const std::size_t width = 4 * n;
      for (std::size_t first = 0; first < width; first += lanes) {
        start(first, width);
        evaluate([&](std::size_t i, std::size_t l) { return first + l == 3 * n + i ? 1.0 : 0.0; });
        for (std::size_t l = 0; l < std::min<std::size_t>(lanes, width - first); ++l) {
          const std::size_t column = first + l;
          for (std::size_t i = 0; i < n; ++i) {
            const double d = equations.next()[i].d.at[l];
            if (column < 3 * n)
              rows[i * width + n + column] = d;
            else
              rows[i * width + column - 3 * n] = (column - 3 * n == i ? 1 : 0) - d;
          }
        }
      }
      if (!solve_rows(rows.data(), n, 3 * n))
        throw SingularError("LinearizedStep::compute: the step's equations are singular at its solution");
      for (std::size_t first = 0; first < 3 * n; first += lanes) {
        start(first, 3 * n);
        evaluate([&](std::size_t i, std::size_t l) {
          return first + l < 3 * n ? rows[i * width + n + first + l] : 0.0;
        });
        equations.finish(system, 0, h, q, v);
        put_columns(first, A, B);
      }
    });
  }
  void linearize(Midpoint& m, double h, double* A, double* B) { linearize_implicit(m, h, A, B); }
  void linearize(InMomenta& m, double h, double* A, double* B) { linearize_implicit(m, h, A, B); }
  void linearize(std::monostate&, double, double*, double*) {}

  void put_columns(std::size_t first, double* A, double* B) {
    for (std::size_t j = 0; j < q.size(); ++j) at_q[j] = q[j].x;
    for (int l = 0; l < lanes; ++l) {
      const std::size_t column = first + std::size_t(l);
      if (column >= 3 * n) return;
      // The tangent vector of the new configuration's derivative.
      for (std::size_t j = 0; j < q.size(); ++j) rates[j] = q[j].d.at[l];
      manifold.velocities_of(at_q.data(), rates.data(), unit.data());
      const bool by_tau = column >= 2 * n;
      double* const out = by_tau ? B + (column - 2 * n) : A + column;
      const std::size_t width = by_tau ? n : 2 * n;
      for (std::size_t j = 0; j < n; ++j) {
        out[j * width] = unit[j];
        out[(n + j) * width] = v[j].d.at[l];
      }
    }
  }
  void check_finite(double h) const {
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!std::all_of(end_q.begin(), end_q.end(), finite) || !std::all_of(end_v.begin(), end_v.end(), finite))
      throw IntegrationError(fmt::format(
          "LinearizedStep::compute: the motion is no longer finite: take a shorter step than {} s", h));
  }

  const Model model;
  const Manifold manifold;
  const std::size_t n;
  HeldForces held;
  JointDampers dampers;
  std::variant<std::monostate, FixedStep<D>, Midpoint, InMomenta> method;
  std::optional<LinearizedForward<>> forward;
  std::vector<Point> points;
  std::size_t asked = 0;
  bool linearized = false;
  int tau_column[lanes] = {};
  std::vector<double> q0, v0, tau0;
  std::vector<D> q, v;
  std::vector<double> end_q, end_v, at_q, rates, at_x, unit, forces;
  // Of (q, x) at a point: derivatives, which of them are not zero, and a row's factors of those.
  AlignedArray<Changes> changes;
  std::vector<std::size_t> changing;
  std::vector<double> factors;
  std::vector<double> rows;  // of an implicit step's linear equations
};

LinearizedStep::LinearizedStep(const Model& model, Integrator integrator)
    : work_(std::make_unique<Work>(model, integrator)) {}
LinearizedStep::~LinearizedStep() = default;
LinearizedStep::LinearizedStep(LinearizedStep&&) noexcept = default;

void LinearizedStep::compute(In<double> q, In<double> v, In<double> tau, double h, Out<double> A,
                             Out<double> B, Out<double> q_next, Out<double> v_next,
                             const LinearizationOptions<double>& options) {
  constexpr const char* name = "LinearizedStep::compute";
  Work& w = *work_;
  const std::size_t nq = w.q.size(), nv = w.n;
  const auto check = [&](const char* argument, std::size_t size, std::size_t expected) {
    if (size != expected)
      throw ArgumentError(fmt::format("{}: {} has {} numbers, model '{}' needs {}", name, argument, size,
                                      w.model.name(), expected));
  };
  check("q", q.size(), nq), check("v", v.size(), nv), check("tau", tau.size(), nv);
  check("A", A.size(), 4 * nv * nv), check("B", B.size(), 2 * nv * nv);
  check("q_next", q_next.size(), nq), check("v_next", v_next.size(), nv);
  const auto check_finite = [&](const char* argument, In<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i])) throw ArgumentError(fmt::format("{}: {}[{}] is {}", name, argument, i, x[i]));
  };
  check_finite("q", q), check_finite("v", v), check_finite("tau", tau);
  if (!(h > 0) || !std::isfinite(h))
    throw ArgumentError(fmt::format("{}: h is {} s, expected a finite number above 0", name, h));
  w.held.start(name, q, options);
  std::copy(q.begin(), q.end(), w.q0.begin());
  std::copy(v.begin(), v.end(), w.v0.begin());
  std::copy(tau.begin(), tau.end(), w.tau0.begin());
  std::visit([&](auto& method) { w.linearize(method, h, A.data(), B.data()); }, w.method);
  std::copy(w.end_q.begin(), w.end_q.end(), q_next.begin());
  std::copy(w.end_v.begin(), w.end_v.end(), v_next.begin());
}

}  // namespace articula
