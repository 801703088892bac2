// Simulation: energy drift and wall time of every integrator, beside MuJoCo, Simbody and DART where CMake
// found them. Prints the tables of docs/simulation.md.   simulation_bench [MODELS_FOLDER [CURVE.svg]]
#include "articula/simulation/simulator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>

#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/diagonalized_motion.hpp"
#include "bench/log_plot.hpp"
#include "bench/simulation_peers.hpp"

using namespace articula;

namespace {

using bench::Contender;

struct Robot {
  std::string name;
  Model model;
  std::vector<double> q, v;
};

bench::PeerModel peer_model(const Robot& r) {
  const Vec3<double> g = r.model.gravity();
  bench::PeerModel out{{}, {g.x, g.y, g.z}, r.q, r.v};
  for (const Body& body : r.model.bodies()) {
    const Joint& joint = r.model.joints()[body.joint];
    Pose at;
    for (const JointSpec& spec : r.model.spec().joints)
      if (spec.name == joint.name)
        at = r.model.frames()[r.model.frame(spec.parent)].placement * spec.placement;
    using Kind = bench::PeerBody::Kind;
    const auto& R = at.R;
    const auto& c = body.mass.center_of_mass;
    const auto& I = body.mass.inertia;
    out.bodies.push_back({joint.kind == JointKind::free        ? Kind::free
                          : joint.kind == JointKind::prismatic ? Kind::prismatic
                                                               : Kind::revolute,
                          body.name,
                          body.inboard,
                          {R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz},
                          {at.p.x, at.p.y, at.p.z},
                          {joint.axis.x, joint.axis.y, joint.axis.z},
                          body.mass.mass,
                          {c.x, c.y, c.z},
                          {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz},
                          joint.q_index,
                          joint.v_index});
  }
  return out;
}

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
    append(bench::mujoco_contenders(peer_model(r), h));
#endif
#ifdef ARTICULA_BENCH_SIMBODY
    append(bench::simbody_contenders(peer_model(r), h));
#endif
#ifdef ARTICULA_BENCH_DART
    append(bench::dart_contenders(peer_model(r), h));
#endif
    (void)append, (void)peer_model;
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

std::vector<bench::Curve> curve(const std::string& folder) {
  std::vector<bench::Curve> curves;
  const Robot r = robot(folder, "arm7", Base::fixed);
  fmt::print(
      "\nThe 7-joint arm falling freely for 2 s: microseconds for a simulated second / largest change of "
      "energy in J.\n\n");
  fmt::print(
      "| integrator | 8 ms | 4 ms | 2 ms | 1 ms | 0.5 ms | 0.25 ms |\n|---|---|---|---|---|---|---|\n");
  for (const Integrator i : {Integrator::euler, Integrator::symplectic_euler, Integrator::midpoint,
                             Integrator::variational, Integrator::rk4}) {
    fmt::print("| {} |", name_of(i));
    curves.push_back({std::string(name_of(i)), {}});
    for (const double h : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}) {
      const long steps = std::lround(2 / h);
      try {
        const Measured m = measure(ours(r, i, h), steps, steps / 25);
        fmt::print(" {:.0f} / {:.1e} |", m.ns / 1e3 / h, m.drift);
        curves.back().points.emplace_back(m.ns / 1e3 / h, std::max(m.drift, 1e-11));
      } catch (const Error&) {
        fmt::print(" fails |");
      }
    }
    fmt::print("\n");
  }
  fmt::print("\n| integrator | 1e-4 | 1e-6 | 1e-8 | 1e-10 | 1e-12 |\n|---|---|---|---|---|---|\n");
  for (const Integrator i : {Integrator::rk45, Integrator::cvode}) {
    fmt::print("| {}, tolerance |", name_of(i));
    curves.push_back({std::string(name_of(i)), {}});
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      // The whole second each time; the shortest of several, for the steps are not alike.
      Measured m{1e300, 0};
      for (int run = 0; run < 5; ++run) {
        const Measured one = measure(ours(r, i, 2, {tolerance, tolerance}), 1, 1);
        m = {std::min(m.ns, one.ns), one.drift};
      }
      fmt::print(" {:.0f} / {:.1e} |", m.ns / 1e3 / 2, m.drift);
      curves.back().points.emplace_back(m.ns / 1e3 / 2, std::max(m.drift, 1e-11));
    }
    fmt::print("\n");
  }
  return curves;
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
      try {
        const Measured m = measure(std::move(c), steps, steps / 25);
        fmt::print(" {:.2f} / {:.1e} |", m.ns / 1e3, m.drift);
      } catch (const Error&) {
        fmt::print(" fails |");
      }
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ARTICULA_MODELS_DIR;
  against_peers(folder);
  const auto curves = curve(folder);
  if (argc > 2)
    std::ofstream(argv[2]) << bench::log_plot("microseconds for a simulated second",
                                              "largest change of energy, J", curves);
  forms(folder);
}
