// Inverse kinematics: joints such that a frame is where it is wanted, or as near to it as joint limits and closed loops
// let it come.
//
//   InverseKinematics ik(model);                                      once
//   ik.reach({.frame = model.frame("hand"), .position = p}, q);       from q, in place
//
// Levenberg and Marquardt's damped least squares, in which loops hold exactly. With A = (Jc; J), the rows of the
// constraints and of the frame, c and e how far these are off, a step is
//
//   s = A* (A A* + diag(0, mu))^+ (-c, e),   which has the least |s|^2 + |J s - e|^2 / mu of all with Jc s = -c,
//
// for O(n) and a solve with as many rows as A has. A joint that would pass a limit stops there, and the others are asked
// again. Every step comes nearer, and turns no joint far: small motions of the target make small motions of the joints,
// and where it cannot be reached the nearest place is kept. Masses play no part.
#pragma once

#include <optional>

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/constrained_dynamics.hpp"

namespace articula {

struct InverseKinematicsOptions {
  double tolerance = 1e-9;    // reached: metres, and radians
  int iterations = 200;       // steps at most
  double largest_turn = 0.2;  // radians that a joint turns in a step
};

/// Where a frame's origin is wanted, and if given how it is turned: world axes.
struct FrameTarget {
  int frame = -1;
  Vec3<double> position{0, 0, 0};
  std::optional<Mat3<double>> rotation{};
};

struct InverseKinematicsResult {
  double residual = 0;     // metres from the target (of set_joint: the largest difference of its velocities)
  double turn = 0;         // radians from it
  bool converged = false;  // the target is reached
  int iterations = 0;
};

/// Memory for one model; one per thread. Calls allocate.
class InverseKinematics {
 public:
  /// Throws ArgumentError for constraints as ConstrainedDynamics does.
  explicit InverseKinematics(const Model& model, std::vector<Constraint> constraints = {},
                             const InverseKinematicsOptions& options = {});

  /// Moves q, which must fit the constraints, so that the frame comes to its target. Joints that begin within their
  /// limits stay there; one that begins beyond does not go further. ArgumentError for numbers that are not finite, and
  /// for no such frame.
  InverseKinematicsResult reach(const FrameTarget& target, Out<double> q);
  /// The same for a joint, which comes to the coordinates that `wanted`, nq numbers, has for it.
  InverseKinematicsResult set_joint(int joint, In<double> wanted, Out<double> q);
  /// Moves q onto the constraints, by least steps. False: it cannot be done from here, and q is as it was.
  bool close(Out<double> q);

  /// The constraints; null if there are none.
  ConstrainedDynamics* loops() { return loops_.get(); }
  /// "loop 'pivot' is off by 0.12", of the worst one at q.
  std::string worst_loop(In<double> q);

 private:
  struct Goal;
  struct FrameGoal;
  struct JointGoal;
  InverseKinematicsResult solve(const Goal& goal, Out<double> q);
  double descend(const Goal& goal, Out<double> q, int& left);
  void linearize(const Goal* goal, In<double> q);
  void find_step(In<double> q, double mu);
  void move(In<double> q, Out<double> out) const;
  bool close_loops(Out<double> q);
  void widen_limits(In<double> q);
  void nudge(In<double> q, Out<double> out) const;

  Model model_;
  InverseKinematicsOptions options_;
  Kinematics<> kinematics_;
  std::unique_ptr<ConstrainedDynamics> loops_;
  struct Bound {
    int q, v;
    double lower, upper;
  };
  std::vector<Bound> stated_, bounds_;  // as the model has them; and as the call's first q lets them be
  std::vector<int> turning_;            // velocities that are angular
  int rows_ = 0, closing_ = 0;          // of A, and those of them that are constraints
  std::vector<double> A_, right_, step_;
};

}  // namespace articula
