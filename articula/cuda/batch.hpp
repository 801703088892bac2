// Many states of one model on a GPU: the calls of articula::Batch, one thread per state, by the same texts.
//
// Arrays are in the GPU's memory (spans of device addresses, which the host never reads), or in the host's, from where
// they are copied piece by piece while others are computed. The first call of each kind compiles its program, seconds,
// unless the cache of the user has it (kernel_cache.hpp). After it, calls on the GPU's memory allocate nothing and wait
// for nothing: they are put on the stream, and can be captured in a CUDA graph.
#pragma once

#include <memory>
#include <optional>

#include "articula/algorithms/algorithms.hpp"
#include "articula/cuda/arguments.hpp"
#include "articula/cuda/array.hpp"
#include "articula/cuda/kernel_cache.hpp"

namespace articula::cuda {

enum class Where { device, host };

struct BatchOptions {
  Layout layout = Layout::rows;  // columns and tiles (of 32 states) are faster
  int device = 0;
  Where memory = Where::device;
  Handle stream =
      nullptr;  // a CUstream; null: the default one. Calls on the host's memory have streams of their own
  std::optional<Style> style{};    // unless it is left to the model's size
  std::optional<Tuning> tuning{};  // likewise
  Progress progress{};
};

/// What the compiler made of a program.
struct KernelUse {
  Style style;
  int registers, local_bytes, threads;
  int sides = 1;  // threads that share a state
};

/// One model on one GPU; one call at a time.
template <class S = double>
class Batch {
 public:
  explicit Batch(const Model& model, const BatchOptions& options = {});
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  const Model& model() const;
  const Device& device() const;
  /// States in a tile of Layout::tiles.
  static constexpr int lanes() { return warp; }

  /// Any algorithm of the library's list that articula::Batch has. Results that are left empty are left out.
  void compute(const Algorithm& algorithm, const Call<S>& call);
  void compute(std::string_view algorithm, const Call<S>& call);

  /// Calls from here on go to this stream.
  void use_stream(Handle stream);
  /// Waits for the calls so far. Throws SingularError that names the first state in which some joint has nothing to
  /// move, or whose numbers are not finite: its results are NaN, all others are done. Calls on the host's memory do that
  /// themselves, with NotFiniteError where arguments are to blame.
  void check();
  /// Compiles and loads now what a call would at its first time; what it takes on the GPU.
  KernelUse prepare(std::string_view algorithm, std::span<const int> frames = {}, bool wrenches = false);
  KernelUse prepare_rollout(Integrator integrator, bool fastest = false);

  // --- as articula::Batch has them
  void inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches = {});
  void forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches = {});
  void bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches = {});
  void gravity_forces(In<S> q, Out<S> tau);
  void mass_matrix(In<S> q, Out<S> matrix);
  void inverse_mass_matrix(In<S> q, Out<S> matrix);
  void coriolis_matrix(In<S> q, In<S> v, Out<S> C);
  void mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt);
  void energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential);
  void kinetic_energy(In<S> q, In<S> v, Out<S> energy);
  void potential_energy(In<S> q, Out<S> energy);
  void center_of_mass(In<S> q, Out<S> center);
  void momentum(In<S> q, In<S> v, Out<S> momentum_of_all);
  void centroidal_map(In<S> q, Out<S> map);
  void pose(int frame, In<S> q, Out<S> pose_of_frame);
  void pose(std::span<const int> frames, In<S> q, Out<S> poses);
  void pose(int frame, In<S> q, Out<S> rotation, Out<S> position);
  void frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes = Axes::world);
  void frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes = Axes::world);
  void jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes = Axes::world);
  void jacobian(int frame, In<S> q, Out<S> matrix, Axes axes = Axes::world);
  void linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da);
  void linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau);
  void perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau);
  void perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da);
  void inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_a);
  void forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_tau);
  void operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega, Out<S> lambda,
                         Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar, Out<S> rank);
  void diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu, Out<S> xi,
                    Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches = {});
  void step(In<S> q, In<S> v, In<S> tau, double h, Out<S> q_next, Out<S> v_next,
            const StepOptions& options = {});
  void rollout(In<S> q, In<S> v, In<S> tau, const RolloutOptions& options, Out<S> q_path, Out<S> v_path,
               Out<S> fastest = {});

  /// Arrays are the host's, whatever the batch's memory; the layout is the batch's. Waits for calls under way.
  void vary(In<S> inertias, In<S> armature = {});
  void use_model_inertias();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

extern template class Batch<double>;
extern template class Batch<float>;

}  // namespace articula::cuda
