// Simulation: energy drift and wall time of every integrator, beside the peers'.
#include "articula/simulation/simulator.hpp"

#include <cmath>

#include "articula/model/configuration.hpp"
#include "articula/simulation/diagonalized_motion.hpp"
#include "bench/log_plot.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

/// A gentle start, in state 0.
Robot start(const std::string& argument) {
  Robot r = load(argument);
  auto& [q, v, a, tau] = r.states[0];
  q = neutral(r.model);
  std::vector<double> turn(r.model.nv());
  for (int i = r.model.base() == Base::free ? 6 : 0; i < r.model.nv(); ++i)
    turn[i] = 0.4 * std::sin(2.1 * i + 1);
  integrate(r.model, q, turn, q);
  for (int i = 0; i < r.model.nv(); ++i) v[i] = 0.5 * std::sin(1.3 * i + 0.5);
  return r;
}

Simulation ours(const Robot& r, Integrator integrator, double h, const Tolerances& tolerances = {}) {
  const auto sim = std::make_shared<Simulator>(r.model, integrator, tolerances);
  sim->q = r.states[0].q, sim->v = r.states[0].v;
  return {std::string(name_of(integrator)), integrator == Integrator::rk4 ? 4 : 1,
          [sim, h](long steps) {
            for (long i = 0; i < steps; ++i) sim->step(h);
          },
          [sim] {
            const auto t = sim->totals();
            return t.kinetic + t.potential;
          }};
}

struct Measured {
  double ns, drift;  // ns per step, of the best chunk; the largest change of energy
};
Measured measure(const Simulation& s, long steps, long chunk) {
  const double start = s.energy();
  Measured m{1e300, 0};
  for (long i = 0; i < steps; i += chunk) {
    const double before = processor_seconds();
    s.advance(chunk);
    m.ns = std::min(m.ns, (processor_seconds() - before) * 1e9 / static_cast<double>(chunk));
    m.drift = std::max(m.drift, std::abs(s.energy() - start));
  }
  return m;
}

void beside_peers(const Options& options, const Peers& peers, Page& page) {
  const double h = 1e-3;
  page.write(
      "Free motion for 2 s at steps of 1 ms; no contacts, limits, damping or rotor inertia. The same "
      "mechanism, start and "
      "step for each; in brackets, how many times faster Articula's integrator of the same order is.");
  Table table{{"robot", "simulator, integrator", "ns per step", "largest change of energy, J"}};
  for (const std::string& argument : options.robots) {
    const Robot r = start(argument);
    std::map<int, double> our_ns;
    double energy = 0;
    const auto put = [&](const std::string& who, const Simulation& s) {
      const double begins = s.energy();
      if (who == "Articula" && our_ns.empty()) energy = begins;
      // The same mechanism in the same state has the same energy.
      if (std::abs(begins - energy) > 1e-6 * (1 + std::abs(energy))) {
        page.differences.push_back(fmt::format("{}: the energy of {}, {} begins at {:.6f}, ours at {:.6f}",
                                               r.name, who, s.name, begins, energy));
        return;
      }
      const Measured m = options.quick ? measure(s, 100, 50) : measure(s, 2000, 50);
      if (who == "Articula") our_ns.emplace(s.order, m.ns);
      const double times = m.ns / our_ns[s.order];
      if (times < 1 && who != "Articula")
        page.behind.push_back(
            fmt::format("{}, step: {} {:.0f} ns, Articula {:.0f} ns", r.name, who, m.ns, our_ns[s.order]));
      table.rows.push_back({r.name, who + ", " + s.name,
                            who == "Articula" ? count(m.ns) : fmt::format("{:.0f} ({:.1f})", m.ns, times),
                            fmt::format("{:.1e}", m.drift)});
      page.numbers["simulation"].push_back(
          {{"model", r.name}, {"simulator", who}, {"integrator", s.name}, {"ns", m.ns}, {"drift", m.drift}});
    };
    for (const Integrator i : {Integrator::symplectic_euler, Integrator::rk4, Integrator::variational})
      put("Articula", ours(r, i, h));
    const auto model = peer_model(r);
    if (!model) continue;
    for (const auto& peer : peers) try {
        for (const Simulation& s : peer->simulations(*model, h)) put(peer->name(), s);
      } catch (const std::exception& error) {
        fmt::print(stderr, "articula_bench: {} without {}: {}\n", r.name, peer->name(), error.what());
      }
  }
  page.write(table);
}

void work_and_precision(const Robot& r, bool quick, Page& page) {
  std::vector<Curve> curves;
  const std::vector<double> steps =
      quick ? std::vector{8e-3} : std::vector{8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4};
  const std::vector<double> tolerances =
      quick ? std::vector{1e-6} : std::vector{1e-4, 1e-6, 1e-8, 1e-10, 1e-12};
  page.write(fmt::format(
      "{} falling freely for 2 s: microseconds for a simulated second / largest change of energy in J.",
      r.name));
  Table fixed{{"integrator"}};
  for (const double h : steps) fixed.head.push_back(fmt::format("{:g} ms", 1e3 * h));
  for (const Integrator i : {Integrator::euler, Integrator::symplectic_euler, Integrator::midpoint,
                             Integrator::variational, Integrator::rk4}) {
    auto& row = fixed.rows.emplace_back();
    row.emplace_back(name_of(i));
    curves.push_back({row[0], {}});
    for (const double h : steps) try {
        const long count = std::lround(2 / h);
        const Measured m = measure(ours(r, i, h), count, count / 25);
        row.push_back(fmt::format("{:.0f} / {:.1e}", m.ns / 1e3 / h, m.drift));
        curves.back().points.emplace_back(m.ns / 1e3 / h, std::max(m.drift, 1e-11));
      } catch (const Error&) {
        row.emplace_back("fails");
      }
  }
  page.write(fixed);
  Table adaptive{{"integrator, tolerance"}};
  for (const double t : tolerances) adaptive.head.push_back(fmt::format("{:.0e}", t));
  for (const Integrator i : {Integrator::rk45, Integrator::cvode}) {
    auto& row = adaptive.rows.emplace_back();
    row.emplace_back(name_of(i));
    curves.push_back({row[0], {}});
    for (const double t : tolerances) {
      // The whole time each run; the shortest of several, for the steps are not alike.
      Measured m{1e300, 0};
      for (int run = 0; run < 5; ++run) {
        const Measured one = measure(ours(r, i, 2, {t, t}), 1, 1);
        m = {std::min(m.ns, one.ns), one.drift};
      }
      row.push_back(fmt::format("{:.0f} / {:.1e}", m.ns / 1e3 / 2, m.drift));
      curves.back().points.emplace_back(m.ns / 1e3 / 2, std::max(m.drift, 1e-11));
    }
  }
  page.write(adaptive);
  page.draw({"simulation_cost.svg",
             log_plot("microseconds for a simulated second", "largest change of energy, J", curves),
             "cost and drift of the integrators"});
}

void forms(const Robot& r, bool quick, Page& page) {
  page.write(
      "The same in (q, v), (q, nu) and (q, xi), by the same integrators: nanoseconds per step / largest "
      "change "
      "of "
      "energy in J.");
  Table table{{"form", "symplectic_euler, 1 ms", "rk4, 1 ms", "rk4, 5 ms"}};
  for (const MotionForm form : {MotionForm::rates, MotionForm::nu, MotionForm::xi}) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(form == MotionForm::rates ? "(q, v)" : form == MotionForm::nu ? "(q, nu)" : "(q, xi)");
    for (const auto& [how, h] :
         {std::pair{Integrator::symplectic_euler, 1e-3}, {Integrator::rk4, 1e-3}, {Integrator::rk4, 5e-3}}) {
      DiagonalizedMotion motion(r.model, form, r.states[0].q, r.states[0].v);
      const std::vector<double> tau(r.model.nv());
      const Simulation s{"", 0,
                         [&, how = how, h = h](long steps) {
                           for (long i = 0; i < steps; ++i) motion.step(h, how, tau);
                         },
                         [&] {
                           const auto t = totals(r.model, motion.q(), motion.rates());
                           return t.kinetic + t.potential;
                         }};
      try {
        const long steps = quick ? 50 : std::lround(2 / h);
        const Measured m = measure(s, steps, steps / 25);
        row.push_back(fmt::format("{:.0f} / {:.1e}", m.ns, m.drift));
      } catch (const Error&) {
        row.emplace_back("fails");
      }
    }
  }
  page.write(table);
}

}  // namespace

void simulation_section(const Options& options, const Peers& peers, Page& page) {
  page.write("## Simulation");
  beside_peers(options, peers, page);
  const Robot arm = start(shipped_robots()[0]);
  work_and_precision(arm, options.quick, page);
  forms(arm, options.quick, page);
}

}  // namespace articula::bench
