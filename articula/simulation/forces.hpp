// Force elements: what acts on the joints and bodies of a simulated mechanism beside gravity.
#pragma once

#include <string_view>
#include <vector>

#include "articula/dynamics/kinematics.hpp"
#include "articula/simulation/table.hpp"

namespace articula {

/// Adds joint forces at a state. Nothing may be allocated in add_forces.
class ForceElement {
 public:
  virtual ~ForceElement() = default;
  virtual void add_forces(double t, In<double> q, In<double> v, Out<double> tau) = 0;
  /// Energy stored in it, if its forces have a potential.
  virtual double energy(In<double>) { return 0; }
};

/// Adds external forces on bodies; `at` is updated at the state, `wrenches` has one (moment, force) per body,
/// world axes, at the body's joint origin.
class WrenchElement {
 public:
  virtual ~WrenchElement() = default;
  virtual void add_wrenches(double t, const Kinematics<>& at, std::span<Spatial<double>> wrenches) = 0;
};

/// tau = -k (q - rest), one k for each velocity. For joints whose coordinates add, and spherical joints with
/// three equal k (the spring pulls along the shortest turn); ArgumentError for others.
class JointSprings : public ForceElement {
 public:
  JointSprings(const Model& model, std::vector<double> stiffness, std::vector<double> rest);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  double energy(In<double> q) override;

 private:
  Model model_;
  std::vector<double> stiffness_, rest_, turn_;
};

/// tau = -d v.
class JointDampers : public ForceElement {
 public:
  JointDampers(const Model& model, std::vector<double> damping);
  /// The damping that the model's joints state; a mimic joint's acts on its source.
  explicit JointDampers(const Model& model);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  bool any() const;

 private:
  std::vector<double> damping_;
};

/// Dry friction, regularised: tau = -f tanh(v / slip). Below `slip` (rad/s or m/s) a joint creeps rather than
/// sticks, as behind a damper of f / slip; an explicit integrator's step must resolve that.
class DryFriction : public ForceElement {
 public:
  DryFriction(const Model& model, std::vector<double> friction, double slip = 1e-2);
  /// The friction that the model's joints state; a mimic joint's acts on its source.
  explicit DryFriction(const Model& model, double slip = 1e-2);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  bool any() const { return !entries_.empty(); }

 private:
  struct Entry {
    int v;
    double multiplier, friction;
  };
  std::vector<Entry> entries_;
  double slip_;
};

/// Where a joint's range ends; only joints with one coordinate and a finite bound.
struct JointStop {
  int joint, q, v;
  double bound;
  int side;  // +1: q <= bound, -1: q >= bound
};
std::vector<JointStop> joint_stops(const Model& model);

/// Joint limits as stiff springs: beyond the bound by d, the stop pushes back with stiffness * d * (1 + loss
/// * rate of d), and never pulls. Continuous at the bound.
class StiffStops : public ForceElement {
 public:
  explicit StiffStops(const Model& model, double stiffness = 1e4, double loss = 1);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;
  double energy(In<double> q) override;

 private:
  std::vector<JointStop> stops_;
  double stiffness_, loss_;
};

/// Joint forces over time: a column for each velocity.
class TabulatedForces : public ForceElement {
 public:
  TabulatedForces(const Model& model, Table table);
  void add_forces(double t, In<double> q, In<double> v, Out<double> tau) override;

 private:
  Table table_;
  std::vector<double> now_;
};

/// A force on a frame over time: six columns (moment, force), world axes, at the frame's origin.
class TabulatedWrench : public WrenchElement {
 public:
  TabulatedWrench(const Model& model, std::string_view frame, Table table);
  void add_wrenches(double t, const Kinematics<>& at, std::span<Spatial<double>> wrenches) override;

 private:
  Table table_;
  int frame_, body_frame_, body_;
};

}  // namespace articula
