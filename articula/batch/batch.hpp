// Many states of one model at once: the algorithms of one state on SIMD registers, a state a lane, and on
// several threads.
//
// Every argument has the numbers of all states, in one of two layouts. Results are those of the calls for one
// state to 1e-13, and the same bits whatever the number of threads. Calls allocate nothing, but the first of
// an algorithm that goes state by state (docs/batch.md).
#pragma once

#include <memory>

#include "articula/batch/stepper.hpp"
#include "articula/batch/threads.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"

namespace articula {

/// rows: state by state, x[state * n + i]. columns: number by number, x[i * states + state], the faster one.
enum class Layout { rows, columns };

struct BatchOptions {
  Layout layout = Layout::rows;
  Threads* threads = nullptr;  // the caller's; null: this thread alone
};

struct StepOptions {
  Stepper stepper = Stepper::rk4;
  bool damping = false;  // the joints' own damping acts, as JointDampers (articula/simulation) has it
};
struct RolloutOptions : StepOptions {
  double step = 1e-3;  // seconds
  std::size_t steps = 1;
  std::size_t every = 1;  // states are given after every so many steps; `steps`: the last one alone
};

/// Memory for one model; one call at a time.
template <class S = double>
class Batch {
 public:
  explicit Batch(const Model& model, const BatchOptions& options = {});
  ~Batch();
  Batch(Batch&&) noexcept;
  const Model& model() const;

  void inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau);
  /// A state in which some joint has nothing to move gets NaN; when all others are done, SingularError says
  /// which.
  void forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a);
  void bias_forces(In<S> q, In<S> v, Out<S> tau);
  void gravity_forces(In<S> q, Out<S> tau);
  void mass_matrix(In<S> q, Out<S> matrix);
  void inverse_mass_matrix(In<S> q, Out<S> matrix);
  /// One number a state each.
  void energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential);
  /// Rotation row by row, then position: 12 numbers a state. World axes.
  void pose(int frame, In<S> q, Out<S> pose);
  /// 6 x nv, rotation first, world axes at the frame's origin.
  void jacobian(int frame, In<S> q, Out<S> jacobian);

  void linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da);
  void linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau);
  void perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau);
  void perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da);
  void inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_a);

  /// One step of h seconds; q_next and v_next may be q and v. tau: empty for none.
  void step(In<S> q, In<S> v, In<S> tau, double h, Out<S> q_next, Out<S> v_next,
            const StepOptions& options = {});
  /// As many trajectories as q and v have states, options.steps steps each. tau: empty for none, nv numbers a
  /// trajectory that stay, or steps * nv a trajectory. q_path and v_path get steps / every states a
  /// trajectory, the start not among them; either may be empty. A trajectory has all its numbers where a
  /// state has its own: rows: x[(trajectory * times + time) * n + i], columns: x[(time * n + i) *
  /// trajectories + trajectory]. A trajectory that becomes singular or not finite is NaN from there on, as in
  /// forward_dynamics.
  void rollout(In<S> q, In<S> v, In<S> tau, const RolloutOptions& options, Out<S> q_path, Out<S> v_path);

  /// From now on each state has masses and inertias of its own: 10 numbers a body of the model, in the order
  /// of inertial_parameters(model) (articula/model/inertial_parameters.hpp), the same number of states in
  /// every call. armature: nv numbers a state (mimic joints keep theirs); empty: the model's. With it,
  /// inertias may be empty: the model's. Throws ArgumentError, naming state and body, where they belong to no
  /// body; nothing has changed then.
  void vary(In<S> inertias, In<S> armature = {});
  /// Back to the model's own.
  void use_model_inertias();

  /// Any other algorithm, one state at a time on all threads: f(worker, state).
  void for_each_state(std::size_t count, const std::function<void(int worker, std::size_t state)>& f);

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

extern template class Batch<double>;
extern template class Batch<float>;

}  // namespace articula
