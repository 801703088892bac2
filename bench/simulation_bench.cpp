// Simulation: energy drift and wall time of every integrator, beside MuJoCo, Simbody and DART where CMake
// found them. Prints the tables of docs/simulation.md.   simulation_bench [MODELS_FOLDER]
#include "articula/simulation/simulator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/diagonalized_motion.hpp"
#include "bench/simulation_peers.hpp"

using namespace articula;

namespace articula::bench {

std::vector<PeerBody> peer_bodies(const Model& model) {
  std::vector<PeerBody> out;
  const auto placement_of = [&](const std::string& link) {
    const Frame& f = model.frames()[model.frame(link)];
    return f.placement;
  };
  for (const articula::Body& body : model.bodies()) {
    const articula::Joint& joint = model.joints()[body.joint];
    Pose at;
    for (const JointSpec& spec : model.spec().joints)
      if (spec.name == joint.name) at = placement_of(spec.parent) * spec.placement;
    out.push_back({body.name, body.inboard, joint.kind, at, joint.axis, body.mass, joint.armature,
                   joint.q_index, joint.v_index});
  }
  return out;
}

}  // namespace articula::bench

namespace {

using bench::Contender;

struct Robot {
  std::string name;
  Model model;
  std::vector<double> q, v;
};

/// Rotor inertia is left out: not every peer has it.
Robot robot(const std::string& folder, const std::string& name, Base base) {
  ModelSpec spec = read_urdf_spec(folder + "/" + name + ".urdf").spec;
  for (JointSpec& joint : spec.joints) joint.armature = 0;
  const Model model(spec, {.base = base});
  Robot r{name, model, neutral(model), std::vector<double>(model.nv())};
  std::vector<double> turn(model.nv());
  for (int i = base == Base::free ? 6 : 0; i < model.nv(); ++i) turn[i] = 0.4 * std::sin(2.1 * i + 1);
  integrate(model, r.q, turn, r.q);
  for (int i = 0; i < model.nv(); ++i) r.v[i] = 0.5 * std::sin(1.3 * i + 0.5);
  return r;
}

Contender ours(const Robot& r, Integrator integrator, double h, const Tolerances& tolerances = {}) {
  const auto sim = std::make_shared<Simulator>(r.model, integrator, tolerances);
  sim->q = r.q, sim->v = r.v;
  return {fmt::format("Articula, {}", name_of(integrator)),
          [sim, h](long steps) {
            for (long i = 0; i < steps; ++i) sim->step(h);
          },
          [sim] {
            const auto t = sim->totals();
            return t.kinetic + t.potential;
          }};
}

struct Measured {
  double ns, drift;  // a step, best chunk; largest change of energy
};
Measured measure(Contender&& c, long steps, long chunk) {
  using Clock = std::chrono::steady_clock;
  const double start = c.energy();
  Measured m{1e300, 0};
  for (long i = 0; i < steps; i += chunk) {
    const auto from = Clock::now();
    c.advance(chunk);
    m.ns = std::min(m.ns, std::chrono::duration<double>(Clock::now() - from).count() * 1e9 / double(chunk));
    m.drift = std::max(m.drift, std::abs(c.energy() - start));
  }
  return m;
}

void against_peers(const std::string& folder) {
  const double h = 1e-3;
  fmt::print("Free motion for 2 s at steps of 1 ms, no contacts, limits or damping.\n\n");
  fmt::print(
      "| robot | simulator, integrator | us a step | largest change of energy, J |\n|---|---|---|---|\n");
  for (const auto& [name, base] :
       {std::pair{"arm7", Base::fixed}, {"quadruped", Base::free}, {"humanoid", Base::free}}) {
    const Robot r = robot(folder, name, base);
    std::vector<Contender> all{ours(r, Integrator::symplectic_euler, h), ours(r, Integrator::rk4, h),
                               ours(r, Integrator::variational, h)};
    const auto append = [&](std::vector<Contender> more) {
      for (auto& c : more) all.push_back(std::move(c));
    };
#ifdef ARTICULA_BENCH_MUJOCO
    append(bench::mujoco_contenders(r.model, r.q, r.v, h));
#endif
#ifdef ARTICULA_BENCH_SIMBODY
    append(bench::simbody_contenders(r.model, r.q, r.v, h));
#endif
#ifdef ARTICULA_BENCH_DART
    append(bench::dart_contenders(r.model, r.q, r.v, h));
#endif
    (void)append;
    const double reference = all[0].energy();
    for (Contender& c : all) {
      // The same mechanism in the same state: energies agree but for the zero of height and fixed bodies.
      const double start = c.energy();
      const std::string who = c.name;
      const Measured m = measure(std::move(c), 2000, 50);
      fmt::print("| {} | {}{} | {:.2f} | {:.1e} |\n", name, who,
                 std::abs(start - reference) > 1e-6 * (1 + std::abs(reference))
                     ? fmt::format(" (its energy begins at {:.4f}, ours at {:.4f})", start, reference)
                     : "",
                 m.ns / 1e3, m.drift);
    }
  }
}

void curve(const std::string& folder) {
  const Robot r = robot(folder, "arm7", Base::fixed);
  fmt::print(
      "\nThe 7-joint arm falling freely for 2 s: microseconds for a simulated second / largest change of "
      "energy in J.\n\n");
  fmt::print(
      "| integrator | 8 ms | 4 ms | 2 ms | 1 ms | 0.5 ms | 0.25 ms |\n|---|---|---|---|---|---|---|\n");
  for (const Integrator i : {Integrator::euler, Integrator::symplectic_euler, Integrator::midpoint,
                             Integrator::variational, Integrator::rk4}) {
    fmt::print("| {} |", name_of(i));
    for (const double h : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}) {
      const long steps = std::lround(2 / h);
      try {
        const Measured m = measure(ours(r, i, h), steps, steps / 25);
        fmt::print(" {:.0f} / {:.1e} |", m.ns / 1e3 / h, m.drift);
      } catch (const Error&) {
        fmt::print(" fails |");
      }
    }
    fmt::print("\n");
  }
  fmt::print("\n| integrator | 1e-4 | 1e-6 | 1e-8 | 1e-10 | 1e-12 |\n|---|---|---|---|---|---|\n");
  for (const Integrator i : {Integrator::rk45, Integrator::cvode}) {
    fmt::print("| {}, tolerance |", name_of(i));
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      const Measured m = measure(ours(r, i, 0.5, {tolerance, tolerance}), 4, 1);
      fmt::print(" {:.0f} / {:.1e} |", m.ns / 1e3 / 0.5, m.drift);
    }
    fmt::print("\n");
  }
}

void forms(const std::string& folder) {
  const Robot r = robot(folder, "arm7", Base::fixed);
  fmt::print(
      "\nThe same arm for 2 s in (q, v), (q, nu) and (q, xi), by the same integrators: us a step / largest "
      "change of energy in J.\n\n");
  fmt::print("| form | symplectic_euler, 1 ms | rk4, 1 ms | rk4, 5 ms |\n|---|---|---|---|\n");
  for (const MotionForm form : {MotionForm::rates, MotionForm::nu, MotionForm::xi}) {
    fmt::print("| {} |", form == MotionForm::rates ? "(q, v)"
                         : form == MotionForm::nu  ? "(q, nu)"
                                                   : "(q, xi)");
    for (const auto& [how, h] :
         {std::pair{MotionStep::symplectic_euler, 1e-3}, {MotionStep::rk4, 1e-3}, {MotionStep::rk4, 5e-3}}) {
      const auto motion = std::make_shared<DiagonalizedMotion>(r.model, form, r.q, r.v);
      const std::vector<double> tau(r.model.nv());
      Contender c{"",
                  [&, motion, how = how, h = h](long steps) {
                    for (long i = 0; i < steps; ++i) motion->step(h, how, tau);
                  },
                  [&, motion] {
                    const auto t = totals(r.model, motion->q(), motion->rates());
                    return t.kinetic + t.potential;
                  }};
      const long steps = std::lround(2 / h);
      const Measured m = measure(std::move(c), steps, steps / 25);
      fmt::print(" {:.2f} / {:.1e} |", m.ns / 1e3, m.drift);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ARTICULA_MODELS_DIR;
  against_peers(folder);
  curve(folder);
  forms(folder);
}
