// Controllers, as force elements: they act all the time, or sampled (Simulator::add_sampled).
//
// None acts on a free joint: a floating base or a loose object has no motor. In closed chains they know the tree alone.
// Operational-space control is in task_control.hpp; anything else that is a ForceElement is added to a simulator in the
// same way.
#pragma once

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/simulation/forces.hpp"

namespace articula {

/// Where the joints should be: a configuration, or a table of them over time, between whose rows they move at
/// constant velocity.
class Reference {
 public:
  Reference(const Model& model, std::vector<double> q);
  Reference(const Model& model, Table configurations);
  /// Smooth: through configurations with these velocities and accelerations at the same times, by polynomials of the fifth
  /// degree. ArgumentError for joints whose velocities are no rates of coordinates.
  Reference(const Model& model, const Table& q, const Table& v, const Table& a);
  /// Where to be, how fast, and with which acceleration (zero, unless it is smooth). Nothing is allocated.
  void at(double t, Out<double> q, Out<double> v, Out<double> a) const;

 private:
  void smooth_at(double t, Out<double> q, Out<double> v, Out<double> a) const;
  Model model_;
  Table table_;  // q, or q, v and a
};

struct Gains {
  std::vector<double> kp, kd;  // one for each velocity
};

/// tau = kp (reference - q) + kd (its velocity - v), with the gravity forces if asked for.
class PdControl : public ForceElement {
 public:
  PdControl(const Model& model, Gains gains, Reference reference, bool compensate_gravity = false);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;

 private:
  InverseDynamics<> work_;
  Gains gains_;
  Reference reference_;
  bool gravity_;
  std::vector<double> q_, v_, a_, e_, g_;
  std::vector<bool> motor_;  // by velocity
};

/// Computed torque: tau = inverse dynamics of the reference's acceleration + kp (reference - q) + kd (its velocity - v).
class ComputedTorque : public ForceElement {
 public:
  ComputedTorque(const Model& model, Gains gains, Reference reference);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;

 private:
  InverseDynamics<> work_;
  Gains gains_;
  Reference reference_;
  std::vector<double> q_, v_, a_, e_, tau_;
  std::vector<bool> motor_;  // by velocity
};

/// tau = g(q).
class GravityCompensation : public ForceElement {
 public:
  explicit GravityCompensation(const Model& model);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;

 private:
  InverseDynamics<> work_;
  std::vector<double> g_;
  std::vector<bool> motor_;  // by velocity
};

}  // namespace articula
