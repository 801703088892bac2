// Simulator: a mechanism in motion. Time, state and forces are plain members, to be read and changed between
// steps; force elements stay with their owner.
//
//   Simulator sim(model, Integrator::rk4);
//   sim.q = ...; sim.v = ...;
//   PdControl hold(model, gains, Reference(model, sim.q));
//   sim.add_sampled(hold, 1e-3);
//   while (sim.time < 10) sim.step(1e-4);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/simulation/forces.hpp"
#include "articula/simulation/method.hpp"
#include "articula/simulation/velocity_form.hpp"
#include "articula/simulation/watch.hpp"

namespace articula {

class Simulator {
 public:
  /// At rest in the neutral configuration, t = 0. form: the velocities that are integrated; q and v are the state in any
  /// case. nu and xi do not go with the variational integrator, which moves momenta, nor with mimic joints (ArgumentError).
  explicit Simulator(const Model& model, Integrator integrator = Integrator::rk4,
                     const Tolerances& tolerances = {}, MotionForm form = MotionForm::rates);
  /// A mechanism with closed chains: every step ends on the constraints. The neutral configuration need not fit them
  /// (Scene has a state that does, ConstrainedDynamics::project finds one). `closed` is borrowed: grasps may be made and
  /// released between steps. variational is for constraints of position (ArgumentError).
  explicit Simulator(ConstrainedDynamics& closed, Integrator integrator = Integrator::rk4,
                     const Tolerances& tolerances = {});
  /// Either: closed may be null. nu and xi are for open chains (ArgumentError).
  Simulator(const Model& model, ConstrainedDynamics* closed, Integrator integrator,
            const Tolerances& tolerances = {}, MotionForm form = MotionForm::rates);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  ~Simulator();

  const Model& model() const { return model_; }
  Integrator integrator() const { return method_.integrator(); }
  /// Null: an open chain.
  ConstrainedDynamics* closed() { return closed_; }

  // --- the state and constant forces: yours to change between steps ----------------------------------
  double time = 0;
  std::vector<double> q, v;
  std::vector<double> tau;                // added to what the elements give
  std::vector<Spatial<double>> wrenches;  // one per body, world axes at its joint origin; empty: none

  // --- what acts; borrowed, to be kept alive by the caller -------------------------------------------
  void add(ForceElement& element) { elements_.push_back(&element); }
  void add(WrenchElement& element);
  /// Asked at t = 0, period, 2 period, ..; its forces are held in between. Steps end at these times.
  void add_sampled(ForceElement& element, double period);
  struct Sampled {
    ForceElement* element;
    double period;
    long index = -1;           // of the sample that is held; -1: none
    std::vector<double> held;  // joint forces
  };
  std::vector<Sampled>& sampled() { return sampled_; }

  /// Joint limits as events: a joint that reaches its bound bounces with this restitution, and below
  /// `slow` rests there until it is drawn back. Impacts of closed chains keep the loops closed. rk45 only (ArgumentError).
  void stop_at_limits(double restitution = 0, double slow = 1e-3);
  struct Impact {
    double time;
    int joint;
    double speed;  // before
  };
  /// Of the last step. Room is made for a few; more may allocate.
  const std::vector<Impact>& impacts() const { return impacts_; }

  /// Looks on at every evaluation: yours to set what it looks for.
  Watch watch;

  // --- motion ----------------------------------------------------------------------------------------
  /// To time + h. Fixed-step integrators make one step of it (more where a sample lies between). If something
  /// throws, time, q and v are as before: ArgumentError for wrong sizes or forces that are not finite (naming
  /// the joint), IntegrationError where no motion could be found, a constraint cannot be held (naming it), or rk45's and cvode's steps have shrunk so far
  /// that there is no headway (naming time, joint and force), SingularError, StoppedError.
  void step(double h) { advance(time + h); }
  void advance(double end);
  /// rk45: the step that its error control would take next; with the state (and held samples) all that it
  /// remembers. Others: 0.
  double next_step() const;
  void set_next_step(double h);

  // --- the state seen in other ways ------------------------------------------------------------------
  /// Joint forces of everything but gravity and wrenches, and the acceleration, at the state.
  void joint_forces(Out<double> forces);
  void acceleration(Out<double> a);
  /// Energies, mass centre, momentum.
  Totals<double> totals();
  /// The energy that springs and stops hold.
  double stored_energy();
  /// What joint forces (springs' and stops' too) and wrenches do, watts: the rate of kinetic + potential
  /// energy.
  double power();
  /// How far quaternions' lengths are off.
  double constraint_drift() const;
  /// The most that projection has moved a constraint's row (m, rad) since this was asked last; 0: an open chain.
  double drift_corrected() { return std::exchange(corrected_, 0.0); }

 private:
  struct Stops;
  void project(double t, Out<double> q, Out<double> v);
  void held_step(const System<double>& system, double end);
  void forces_at(double t, In<double> q, In<double> v, Out<double> out);
  Wrenches<double> wrenches_at(double t, In<double> q, In<double> v);
  void acceleration_at(double t, In<double> q, In<double> v, Out<double> a);
  void generalized_forces_at(double t, In<double> q, In<double> v, Out<double> out);
  void segment(double end);
  void segment_in_form(double end);
  void segment_with_stops(const System<double>& system, double end);
  void sample(double end, double& next);
  void check_sizes() const;
  void look(double t, In<double> rate);

  Model model_;
  Manifold manifold_;
  ForwardDynamics<> forward_;
  Kinematics<> kinematics_;
  std::optional<InverseDynamics<>> inverse_;  // where wrenches become joint forces
  IntegrationMethod method_;
  std::optional<VelocityForm> form_;  // unless it is rates
  std::vector<ForceElement*> elements_;
  std::vector<WrenchElement*> wrench_elements_;
  std::vector<Sampled> sampled_;
  std::vector<double> forces_, scratch_, q_before_, v_before_, x_, rate_;
  std::vector<Spatial<double>> wrenches_now_;
  std::vector<Impact> impacts_;
  std::unique_ptr<Stops> stops_;
  ConstrainedDynamics* closed_;
  double corrected_ = 0;
  std::vector<double> rows_, kick_, q_start_, v_start_;  // of variational steps of closed chains
};

}  // namespace articula
