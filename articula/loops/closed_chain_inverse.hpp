// Inverse dynamics of closed chains: joint forces for a wanted motion of held objects (or of any frames), and
// how the constraint forces share the load. Operational-space control of a held object follows from it.
#pragma once

#include <memory>

#include "articula/loops/constrained_dynamics.hpp"

namespace articula {

/// True for every velocity of a joint that is not free: loose objects and floating bases have no motor.
std::vector<bool> motors(const Model& model);

struct InverseOptions {
  /// Which of the constraint forces that do the job are taken.
  enum class Share {
    least_forces,   // least sum of squares of the multipliers, plus the internal ones asked for
    least_torques,  // least sum of squares of the joint forces
  } share = Share::least_forces;
  /// Multipliers wanted; the part of them that moves nothing without a motor is added: squeeze forces.
  std::span<const double> internal{};
  std::span<const Spatial<double>> wrenches{};
};

/// Allocates in calls.
class ClosedChainInverse {
 public:
  /// frames: whose accelerations are wanted, in world axes at their origins. with_motor: by velocity.
  ClosedChainInverse(const Model& model, std::vector<Constraint> constraints, std::vector<int> frames,
                     std::vector<bool> with_motor);
  ClosedChainInverse(const Model& model, const std::vector<Constraint>& constraints,
                     const std::vector<int>& frames)
      : ClosedChainInverse(model, constraints, frames, motors(model)) {}
  ~ClosedChainInverse();

  /// tau that makes the frames accelerate as wanted, zero where there is no motor. Motion that the frames
  /// leave free is the least in the metric of the mass matrix. Throws SingularError where the motors cannot
  /// do it.
  void compute(In<double> q, In<double> v, std::span<const Spatial<double>> wanted, Out<double> tau,
               const InverseOptions& options = {});

  // --- results of the last compute()
  std::span<const double> acceleration() const;
  std::span<const double> multipliers() const;
  /// The multipliers' part that moves nothing without a motor: internal, or squeeze, forces. The rest carries
  /// the motion.
  std::vector<double> internal_part(In<double> multipliers) const;

  ConstrainedDynamics& chain();

 private:
  struct Memory;
  std::unique_ptr<Memory> m_;
};

/// Splits constraint forces at q into those that move the freedoms `body` (velocities v .. v + n - 1 of a
/// held object, say) and internal ones, by least norm: multipliers = motion + internal, and the internal ones
/// cancel on the object.
struct ForceSplit {
  std::vector<double> motion, internal;
};
ForceSplit split_forces(ConstrainedDynamics& work, In<double> q, In<double> multipliers, int first_velocity,
                        int velocities);

/// The acceleration that brings a frame to where it is wanted: wanted acceleration, and springs and dampers
/// of the error of pose and velocity (1/s^2, 1/s), for rotation and translation alike. World axes, at the
/// frame's origin.
struct PoseReference {
  Pose pose{};
  Spatial<double> velocity{{0, 0, 0}, {0, 0, 0}}, acceleration{{0, 0, 0}, {0, 0, 0}};
};
Spatial<double> pose_feedback(const PoseReference& wanted, const Pose& pose, const Spatial<double>& velocity,
                              double stiffness, double damping);

}  // namespace articula
