// Rollouts of mechanisms with closed chains, which Batch::rollout, of trees, does not close.
#pragma once

#include <memory>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/loops/constraint.hpp"

namespace articula {

/// Memory for one mechanism; one call at a time. Every step ends on the constraints.
class ClosedRollout {
 public:
  /// threads: shared; null: the caller's alone.
  ClosedRollout(const Model& model, std::vector<Constraint> constraints, Threads* threads = nullptr);
  ~ClosedRollout();
  ClosedRollout(ClosedRollout&&) noexcept;
  ClosedRollout& operator=(ClosedRollout&&) noexcept;

  /// As Batch::rollout, states one after the other; any integrator. A trajectory that comes to an end (a constraint that
  /// cannot be held, say) gets NaN from there on. Throws ArgumentError for wrong sizes, and for starts that do not fit the
  /// constraints to 1e-6, with the trajectory, the constraint, and how far it is off.
  void rollout(In<double> q, In<double> v, In<double> tau, const RolloutOptions& options, Out<double> q_path,
               Out<double> v_path);

 private:
  struct Worker;
  Model model_;
  std::vector<Constraint> constraints_;
  Threads* threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace articula
