// Many states of one model at once: the algorithms of one state on SIMD registers, one state per lane, and on
// several threads.
//
// Every argument has the numbers of all states, in one of three layouts. Results are those of the calls for
// one state to 1e-13, and the same bits whatever the number of threads. Calls allocate nothing, but the first
// of an algorithm that goes state by state, or of one with more results than any before. One or two states
// cost about one or two calls for one state (docs/batch.md).
#pragma once

#include <memory>

#include "articula/batch/threads.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/integrator.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"

namespace articula {

/// rows: state by state, x[state * n + i]. columns: number by number, x[i * states + state].
/// tiles: as the registers have it, and fastest. The number of states is a multiple of Batch::lanes(), and
/// x[((state / lanes) * n + i) * lanes + state % lanes]. Where an array begins on a boundary of 64 bytes
/// (AlignedArray, articula/spatial/aligned.hpp), nothing is copied; results must not overlap arguments.
enum class Layout { rows, columns, tiles };

/// Of many states, the first that failed has arguments that are not finite: its results are NaN, all others are done.
struct NotFiniteError : ArgumentError {
  NotFiniteError(const std::string& message, std::size_t number) : ArgumentError(message), state(number) {}
  std::size_t state;
};

struct BatchOptions {
  Layout layout = Layout::rows;
  Threads* threads = nullptr;  // the caller's; null: this thread alone
};

struct StepOptions {
  Integrator integrator = Integrator::rk4;  // an explicit one: euler, symplectic_euler, rk4
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
  Batch& operator=(Batch&&) noexcept;
  const Model& model() const;
  /// States in a register: 8, 4 or 2, by the instruction set in use.
  int lanes() const;

  /// wrenches: external forces, (moment, force) of each body as in the calls for one state: six numbers per
  /// body; empty: none.
  void inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches = {});
  /// A state in which some joint has nothing to move gets NaN; when all others are done, SingularError says
  /// which, or NotFiniteError where its arguments are to blame.
  void forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches = {});
  void bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches = {});
  void gravity_forces(In<S> q, Out<S> tau);
  void mass_matrix(In<S> q, Out<S> matrix);
  void inverse_mass_matrix(In<S> q, Out<S> matrix);
  /// C, nv x nv, with C v + g = bias_forces and dM/dt - 2 C skew; and dM/dt along v.
  void coriolis_matrix(In<S> q, In<S> v, Out<S> C);
  void mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt);

  /// One number of each kind per state.
  void energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential);
  void kinetic_energy(In<S> q, In<S> v, Out<S> energy);
  void potential_energy(In<S> q, Out<S> energy);
  void center_of_mass(In<S> q, Out<S> center);              // 3
  void momentum(In<S> q, In<S> v, Out<S> momentum_of_all);  // 6, about the centre of mass
  void centroidal_map(In<S> q, Out<S> map);                 // 6 x nv: momentum = map v
  /// Rotation row by row, then position: 12 numbers per state, or per state and frame. World axes.
  void pose(int frame, In<S> q, Out<S> pose_of_frame);
  void pose(std::span<const int> frames, In<S> q, Out<S> poses);
  void pose(int frame, In<S> q, Out<S> rotation, Out<S> position);
  /// (w, v) of the frame's origin, and its rate of change at given joint accelerations, or at none (J' v).
  void frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes = Axes::world);
  void frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes = Axes::world);
  void jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes = Axes::world);
  /// 6 x nv, rotation first.
  void jacobian(int frame, In<S> q, Out<S> matrix, Axes axes = Axes::world);

  void linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da);
  void linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau);
  void perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau);
  void perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da);
  void inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_a);
  void forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_tau);

  /// What OperationalSpaceBatch and DiagonalizedBatch have, in one call: every term, for frames stacked.
  void operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega, Out<S> lambda,
                         Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar, Out<S> rank);
  void diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu, Out<S> xi,
                    Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches = {});

  /// See OneState::listed.
  void listed(int number, std::span<const std::span<const S>> in, int frame, Axes axes,
              std::span<const std::span<S>> out);

  /// One step of h seconds; q_next and v_next may be q and v. tau: empty for none.
  void step(In<S> q, In<S> v, In<S> tau, double h, Out<S> q_next, Out<S> v_next,
            const StepOptions& options = {});
  /// As many trajectories as q and v have states, options.steps steps each. tau: empty for none, nv numbers
  /// per trajectory that stay, or steps * nv per trajectory. q_path and v_path get steps / every states per
  /// trajectory, the start not among them; either may be empty. A trajectory has all its numbers where a
  /// state has its own: rows: x[(trajectory * times + time) * n + i], columns: x[(time * n + i) *
  /// trajectories + trajectory]. fastest: the largest |velocity| at any step, one number per trajectory. A
  /// trajectory that becomes singular or not finite is NaN from there on, as in forward_dynamics.
  void rollout(In<S> q, In<S> v, In<S> tau, const RolloutOptions& options, Out<S> q_path, Out<S> v_path,
               Out<S> fastest = {});

  /// From now on each state has masses and inertias of its own: 10 numbers per body of the model, in the
  /// order of inertial_parameters(model) (articula/model/inertial_parameters.hpp), the same number of states
  /// in every call. armature: nv numbers per state (mimic joints keep theirs); empty: the model's. With it,
  /// inertias may be empty: the model's. Throws ArgumentError, naming state and body, where they belong to no
  /// body; nothing has changed then.
  void vary(In<S> inertias, In<S> armature = {});
  /// Goes back to the model's own inertias after vary().
  void use_model_inertias();

  /// Any other algorithm, one state at a time on all threads: f(worker, state). Which worker takes which
  /// states may change from call to call.
  void for_each_state(std::size_t count, const std::function<void(int worker, std::size_t state)>& f);

 private:
  template <class>
  friend class DiagonalizedBatch;
  template <class>
  friend class OperationalSpaceBatch;
  void coriolis(const char* function, bool rate, In<S> q, In<S> v, Out<S> matrix);

  struct Data;
  std::unique_ptr<Data> data_;
};

/// SingularError: what a batch says after the last state, where some have no result.
[[noreturn]] void throw_singular_state(const char* function, std::size_t state);

extern template class Batch<double>;
extern template class Batch<float>;

}  // namespace articula
