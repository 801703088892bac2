// JPL88 Part II as printed: arms that hold one object, and the three recursive closed-chain forward dynamics
// algorithms.
//
// Each arm is a model of its own, and its part of every operator a sweep over that arm; what joins the arms
// is the object alone. These are the paper's texts, for study and as a check; ConstrainedDynamics is the
// general and the fast way. Arms have no mimic joints here.
#pragma once

#include <memory>

#include "articula/dynamics/workspace.hpp"
#include "articula/loops/constraint.hpp"

namespace articula {

struct GraspingArm {
  std::string name;
  Model model;
  std::string tip;  // link or frame; its origin is the contact point
  Grasp grasp = Grasp::rigid;
  Vec3<double> axis{0, 0, 1};  // the hinge's axis or the soft finger's normal, tip axes
};

struct ArmState {
  std::span<const double> q, v, tau;
  std::span<const Spatial<double>> wrenches{};
};
/// Of the object's frame C: where it is, and (w, v) of its origin, world axes; and an external force on it,
/// at C.
struct ObjectState {
  Pose pose{};
  Spatial<double> velocity{{0, 0, 0}, {0, 0, 0}};
  Spatial<double> wrench{{0, 0, 0}, {0, 0, 0}};
};

class ClosedChain {
 public:
  /// `object`: in its own frame C. Throws ArgumentError for no arms, unknown tips, mimic joints, an object
  /// without mass.
  ClosedChain(std::vector<GraspingArm> arms, const MassProperties& object,
              const Vec3<double>& gravity = {0, 0, -9.81}, double rank_tolerance = 1e-11);
  ~ClosedChain();
  ClosedChain(ClosedChain&&) noexcept;

  /// coupled: (b.10)-(b.14), one system for the contacts' own rates W' and th''; O(n^3), and Omega must have full rank
  /// (SingularError).
  enum class Algorithm { rccfd1, rccfd2, rccfd3, coupled };
  void compute(Algorithm algorithm, std::span<const ArmState> arms, const ObjectState& object);

  // --- results of the last compute()
  std::span<const double> acceleration(int arm) const;
  /// On the object, (moment, force), world axes, at the contact point.
  Spatial<double> force(int arm) const;
  /// d/dt of the contact's own velocities W (none for a rigid grasp): of the object relative to the tip,
  /// about the axes of contact_axes().
  std::span<const double> contact_rates(int arm) const;
  std::span<const double> contact_velocities(int arm) const;
  /// d/dt (w, v) of C, world axes.
  Spatial<double> object_acceleration() const;
  /// The rank of Omega, which has 6 rows per arm.
  int rank() const;

  /// Pi of (b.7b), 6 rows per arm, row by row: contact forces from tip accelerations, f = Pi (J M^-1 T + G1). Where
  /// Omega is singular, that of least norm. Allocates.
  std::vector<double> Pi() const;

  int arms() const;
  const GraspingArm& arm(int i) const;

 private:
  struct Text;
  std::unique_ptr<Text> text_;
};

}  // namespace articula
