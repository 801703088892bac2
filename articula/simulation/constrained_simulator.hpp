// ConstrainedSimulator: a mechanism with closed chains in motion. Every step is projected back onto the constraints.
//
//   Scene scene(read_scene("models/four_bar.json"));
//   ConstrainedSimulator sim(scene.dynamics(), Integrator::rk4);
//   sim.q = scene.q, sim.v = scene.v;
//   while (sim.time < 10) sim.step(1e-3);
#pragma once

#include <vector>

#include "articula/loops/constrained_dynamics.hpp"
#include "articula/simulation/forces.hpp"
#include "articula/simulation/method.hpp"
#include "articula/simulation/watch.hpp"

namespace articula {

class ConstrainedSimulator {
 public:
  /// In the neutral configuration at rest, t = 0; that need not fit the constraints (Scene has a state that does,
  /// ConstrainedDynamics::project finds one). `dynamics` is borrowed: grasps may be made and released between steps.
  /// ArgumentError for variational, midpoint and cvode.
  explicit ConstrainedSimulator(ConstrainedDynamics& dynamics, Integrator integrator = Integrator::rk4,
                                const Tolerances& tolerances = {});

  const Model& model() const { return dynamics_.model(); }
  ConstrainedDynamics& dynamics() { return dynamics_; }
  Integrator integrator() const { return method_.integrator(); }

  // --- yours to change between steps
  double time = 0;
  std::vector<double> q, v;
  std::vector<double> tau;  // added to what the elements give
  /// Joint forces; borrowed.
  void add(ForceElement& element) { elements_.push_back(&element); }
  /// Looks on at every evaluation.
  Watch watch;

  /// To time + h. If something throws, time, q and v are as before: IntegrationError where a constraint cannot be held
  /// (naming it), the motion is not finite or makes no headway; ArgumentError, SingularError, StoppedError.
  void step(double h) { advance(time + h); }
  void advance(double end);
  /// As Simulator's.
  double next_step() const;
  void set_next_step(double h);

  /// tau and the elements' forces at the state.
  void joint_forces(Out<double> forces);
  /// At the state; dynamics() then has the constraints' forces.
  void acceleration(Out<double> a);
  /// The most that projection has moved a constraint's row (m, rad) since this was asked last.
  double drift_corrected();

 private:
  void check_sizes() const;
  void forces_at(double t, In<double> at, In<double> rate);
  void look(double t, In<double> rate);
  void project(Out<double> at, Out<double> rate);

  ConstrainedDynamics& dynamics_;
  Manifold manifold_;
  IntegrationMethod method_;
  std::vector<ForceElement*> elements_;
  std::vector<double> forces_, q_before_, v_before_;
  double corrected_ = 0;
};

}  // namespace articula
