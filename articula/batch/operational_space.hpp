// Operational space of frames at many states: articula/task_space in lanes.
#pragma once

#include "articula/batch/batch.hpp"
#include "articula/task_space/task_space.hpp"

namespace articula {

/// Lambda y'' + c + g = F, y' = (w, v) of one or more frames stacked, world axes at their origins: what
/// TaskSpace has for pose tasks at one state, for the states of a batch. Layout, threads and errors are the
/// batch's, which must stay. Directions that frames have lost are treated as SingularityOptions say, exactly
/// as for one state: they are no error. In float, eigenvalues up to 1e-6 of the largest count as zero. Memory
/// is made here; the first call of each kind makes room for its results. Models with mimic joints go state by
/// state. Other tasks (rows of frames, other axes), null spaces and priorities: Batch::for_each_state with a
/// TaskSpace or TaskController for each worker. Not while inertias vary (Batch::vary).
template <class S = double>
class OperationalSpaceBatch {
 public:
  /// Frames by index (Model::frame(name)); ArgumentError if there is none, or no such frame.
  OperationalSpaceBatch(Batch<S>& batch, std::span<const int> frames, const SingularityOptions& options = {});
  ~OperationalSpaceBatch();
  OperationalSpaceBatch(OperationalSpaceBatch&&) noexcept;

  int rows() const { return rows_; }  // six per frame
  const SingularityOptions& options() const { return options_; }

  /// What is left empty is left out.
  struct Terms {
    Out<S> omega{};                          // rows x rows: J M^-1 J*
    Out<S> lambda{};                         // its inverse
    Out<S> coriolis{}, gravity{};            // c, g
    Out<S> velocity{}, bias_acceleration{};  // J v, J' v
    Out<S> free_acceleration{};              // y'' with no joint forces: -Omega (c + g)
    Out<S> jacobian_bar{};                   // nv x rows: M^-1 J* Lambda
    Out<S> rank{};                           // one number: how many directions are not lost
  };
  /// v empty: at rest.
  void terms(In<S> q, In<S> v, const Terms& out);
  /// F = Lambda u + c + g, the force for which y'' = u, and tau = J* F; either may be left empty.
  void motion_force(In<S> q, In<S> v, In<S> u, Out<S> F, Out<S> tau);

 private:
  struct Work;
  void update(Work& work, S* smallest, const S* q, const S* v);
  void invert(Work& work, S* rank);
  void one_by_one(In<S> q, In<S> v, const Terms& out);

  friend class Batch<S>;
  Batch<S>* batch_;
  int rows_;
  SingularityOptions options_;
  std::vector<FrameOnBody<double>> frames_;
  std::vector<Task> tasks_;
  std::unique_ptr<TaskLayout> layout_;
  std::vector<Work> work_;  // one per thread
};

extern template class OperationalSpaceBatch<double>;
extern template class OperationalSpaceBatch<float>;

}  // namespace articula
