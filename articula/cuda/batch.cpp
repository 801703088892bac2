#include "articula/cuda/batch.hpp"

#include <fmt/format.h>

#include "articula/batch/one_step.hpp"
#include "articula/batch/varied_inertias.hpp"
#include "articula/cuda/batch_data.hpp"

namespace articula::cuda {

const Algorithm* algorithm_on_devices(std::string_view name);  // batch_data.cpp

namespace {

constexpr Argument at_q = Argument::q, at_v = Argument::v, at_a = Argument::a, at_tau = Argument::tau,
                   at_dq = Argument::dq, at_dv = Argument::dv, at_da = Argument::da, at_dtau = Argument::dtau,
                   at_weights = Argument::weights;

/// A call of the list, put together from a method's arguments.
template <class S, std::size_t outputs>
struct Made {
  Call<S> call;
  std::array<std::span<S>, outputs> out;
  Made(std::initializer_list<std::pair<Argument, std::span<const S>>> in,
       std::array<std::span<S>, outputs> results)
      : out(results) {
    for (const auto& [argument, x] : in) call.in[static_cast<int>(argument)] = x;
    call.out = out;
  }
  Made& wrenches(std::span<const S> x) {
    call.wrenches = x;
    return *this;
  }
  Made& frames(std::span<const int> x, Axes axes = Axes::world) {
    call.frames = x, call.axes = axes;
    return *this;
  }
};

}  // namespace

template <class S>
Batch<S>::Batch(const Model& model, const BatchOptions& options)
    : data_(std::make_unique<Data>(model, options)) {}
template <class S>
Batch<S>::~Batch() = default;
template <class S>
Batch<S>::Batch(Batch&&) noexcept = default;
template <class S>
Batch<S>& Batch<S>::operator=(Batch&&) noexcept = default;
template <class S>
const Model& Batch<S>::model() const {
  return data_->model;
}
template <class S>
const Device& Batch<S>::device() const {
  return data_->context->device();
}

template <class S>
void Batch<S>::compute(const Algorithm& algorithm, const Call<S>& call) {
  if (!algorithm.many<S>())
    throw ArgumentError(fmt::format("{}: goes one state after the other, which GPUs do not", algorithm.name));
  if ((algorithm.options_one_by_one && !call.wrenches.empty()) ||
      (call.method != Method::automatic && algorithm.has(call.method)))
    throw ArgumentError(
        fmt::format("{}: external forces and other methods go one state after the other, which GPUs do not",
                    algorithm.name));
  data_->compute(algorithm, call);
}
template <class S>
void Batch<S>::compute(std::string_view name, const Call<S>& call) {
  const Algorithm* const algorithm = algorithm_on_devices(name);
  if (!algorithm) throw ArgumentError(fmt::format("there is no algorithm '{}'", name));
  data_->compute(*algorithm, call);
}
template <class S>
void Batch<S>::use_stream(Handle stream) {
  data_->options.stream = stream;
}
template <class S>
void Batch<S>::check() {
  const Use use(*data_->context);
  data_->report();
}
template <class S>
KernelUse Batch<S>::prepare(std::string_view name, std::span<const int> frames, bool wrenches) {
  const Algorithm* const algorithm = algorithm_on_devices(name);
  if (!algorithm) throw ArgumentError(fmt::format("there is no algorithm '{}'", name));
  if (name == "linearized_forward" && !data_->options.style && data_->varied_count == 0 &&
      linearized_in_steps(data_->model))
    return data_->linearized_by_steps().use;
  return data_
      ->kernel({.name = name, .frames = frames, .wrenches = wrenches, .varied = data_->varied_count > 0},
               algorithm)
      .use;
}
template <class S>
KernelUse Batch<S>::prepare_rollout(Integrator integrator, bool fastest) {
  return data_
      ->kernel(
          {.name = "rollout", .varied = data_->varied_count > 0, .speeds = fastest, .integrator = integrator},
          nullptr)
      .use;
}

template <class S>
void Batch<S>::inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches) {
  compute("inverse_dynamics", Made<S, 1>({{at_q, q}, {at_v, v}, {at_a, a}}, {tau}).wrenches(wrenches).call);
}
template <class S>
void Batch<S>::forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches) {
  compute("forward_dynamics", Made<S, 1>({{at_q, q}, {at_v, v}, {at_tau, tau}}, {a}).wrenches(wrenches).call);
}
template <class S>
void Batch<S>::bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches) {
  compute("bias_forces", Made<S, 1>({{at_q, q}, {at_v, v}}, {tau}).wrenches(wrenches).call);
}
template <class S>
void Batch<S>::gravity_forces(In<S> q, Out<S> tau) {
  compute("gravity_forces", Made<S, 1>({{at_q, q}}, {tau}).call);
}
template <class S>
void Batch<S>::mass_matrix(In<S> q, Out<S> matrix) {
  compute("mass_matrix", Made<S, 1>({{at_q, q}}, {matrix}).call);
}
template <class S>
void Batch<S>::inverse_mass_matrix(In<S> q, Out<S> matrix) {
  compute("inverse_mass_matrix", Made<S, 1>({{at_q, q}}, {matrix}).call);
}
template <class S>
void Batch<S>::coriolis_matrix(In<S> q, In<S> v, Out<S> C) {
  compute("coriolis_matrix", Made<S, 1>({{at_q, q}, {at_v, v}}, {C}).call);
}
template <class S>
void Batch<S>::mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt) {
  compute("mass_matrix_rate", Made<S, 1>({{at_q, q}, {at_v, v}}, {dM_dt}).call);
}
template <class S>
void Batch<S>::energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential) {
  compute("energies", Made<S, 2>({{at_q, q}, {at_v, v}}, {kinetic, potential}).call);
}
template <class S>
void Batch<S>::kinetic_energy(In<S> q, In<S> v, Out<S> energy) {
  compute("kinetic_energy", Made<S, 1>({{at_q, q}, {at_v, v}}, {energy}).call);
}
template <class S>
void Batch<S>::potential_energy(In<S> q, Out<S> energy) {
  compute("potential_energy", Made<S, 1>({{at_q, q}}, {energy}).call);
}
template <class S>
void Batch<S>::center_of_mass(In<S> q, Out<S> center) {
  compute("center_of_mass", Made<S, 1>({{at_q, q}}, {center}).call);
}
template <class S>
void Batch<S>::momentum(In<S> q, In<S> v, Out<S> momentum_of_all) {
  compute("momentum", Made<S, 1>({{at_q, q}, {at_v, v}}, {momentum_of_all}).call);
}
template <class S>
void Batch<S>::centroidal_map(In<S> q, Out<S> map) {
  compute("centroidal_map", Made<S, 1>({{at_q, q}}, {map}).call);
}
template <class S>
void Batch<S>::pose(std::span<const int> frames, In<S> q, Out<S> poses) {
  compute("poses", Made<S, 1>({{at_q, q}}, {poses}).frames(frames).call);
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> pose_of_frame) {
  pose(std::span(&frame, 1), q, pose_of_frame);
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> rotation, Out<S> position) {
  compute("pose", Made<S, 2>({{at_q, q}}, {rotation, position}).frames({&frame, 1}).call);
}
template <class S>
void Batch<S>::frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes) {
  compute("frame_velocity", Made<S, 1>({{at_q, q}, {at_v, v}}, {velocity}).frames({&frame, 1}, axes).call);
}
template <class S>
void Batch<S>::frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes) {
  compute("frame_acceleration",
          Made<S, 1>({{at_q, q}, {at_v, v}, {at_a, a}}, {acceleration}).frames({&frame, 1}, axes).call);
}
template <class S>
void Batch<S>::jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes) {
  compute("jacobian_dot_v",
          Made<S, 1>({{at_q, q}, {at_v, v}}, {acceleration}).frames({&frame, 1}, axes).call);
}
template <class S>
void Batch<S>::jacobian(int frame, In<S> q, Out<S> matrix, Axes axes) {
  compute("jacobian", Made<S, 1>({{at_q, q}}, {matrix}).frames({&frame, 1}, axes).call);
}
template <class S>
void Batch<S>::linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da) {
  compute("linearized_inverse", Made<S, 3>({{at_q, q}, {at_v, v}, {at_a, a}}, {dq, dv, da}).call);
}
template <class S>
void Batch<S>::linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau) {
  compute("linearized_forward", Made<S, 3>({{at_q, q}, {at_v, v}, {at_tau, tau}}, {dq, dv, dtau}).call);
}
template <class S>
void Batch<S>::perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau) {
  compute("perturbed_inverse",
          Made<S, 1>({{at_q, q}, {at_v, v}, {at_a, a}, {at_dq, dq}, {at_dv, dv}, {at_da, da}}, {dtau}).call);
}
template <class S>
void Batch<S>::perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da) {
  compute("perturbed_forward",
          Made<S, 1>({{at_q, q}, {at_v, v}, {at_tau, tau}, {at_dq, dq}, {at_dv, dv}, {at_dtau, dtau}}, {da})
              .call);
}
template <class S>
void Batch<S>::inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v,
                                Out<S> by_a) {
  compute("inverse_gradient",
          Made<S, 3>({{at_q, q}, {at_v, v}, {at_a, a}, {at_weights, weights}}, {by_q, by_v, by_a}).call);
}
template <class S>
void Batch<S>::forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v,
                                Out<S> by_tau) {
  compute(
      "forward_gradient",
      Made<S, 3>({{at_q, q}, {at_v, v}, {at_tau, tau}, {at_weights, weights}}, {by_q, by_v, by_tau}).call);
}
template <class S>
void Batch<S>::operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega, Out<S> lambda,
                                 Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar, Out<S> rank) {
  compute("operational_space",
          Made<S, 6>({{at_q, q}, {at_v, v}}, {omega, lambda, coriolis, gravity, jacobian_bar, rank})
              .frames(frames)
              .call);
}
template <class S>
void Batch<S>::diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu,
                            Out<S> xi, Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches) {
  compute("diagonalized", Made<S, 7>({{at_q, q}, {at_v, v}, {at_tau, tau}},
                                     {nu, epsilon, coriolis_nu, xi, kappa, coriolis_xi, D})
                              .wrenches(wrenches)
                              .call);
}
template <class S>
void Batch<S>::step(In<S> q, In<S> v, In<S> tau, double h, Out<S> q_next, Out<S> v_next,
                    const StepOptions& options) {
  data_->rollout("step", q, v, tau, one_step<S>(q, v, h, q_next, v_next, options), q_next, v_next, {});
}
template <class S>
void Batch<S>::rollout(In<S> q, In<S> v, In<S> tau, const RolloutOptions& options, Out<S> q_path,
                       Out<S> v_path, Out<S> fastest) {
  data_->rollout("rollout", q, v, tau, options, q_path, v_path, fastest);
}

template <class S>
void Batch<S>::vary(In<S> inertias, In<S> armature) {
  Data& d = *data_;
  std::vector<int> armature_of;
  const VariedInertias<S> given(d.model, d.options.layout, warp, inertias, armature, armature_of);
  for (std::size_t state = 0; state < given.count; ++state)
    if (const auto problem = given.problem_in(state)) throw ArgumentError(*problem);
  const std::size_t tiles = (given.count + warp - 1) / warp;
  std::vector<S> constants(tiles * given.numbers_of_inertias() * warp),
      rotors(tiles * given.numbers_of_armature() * warp);
  for (std::size_t tile = 0; tile < tiles; ++tile)
    given.put_tile(tile, warp, constants.data() + tile * given.numbers_of_inertias() * warp,
                   rotors.data() + tile * given.numbers_of_armature() * warp);
  const Use use(*d.context);
  driver().check(driver().StreamSynchronize(d.options.stream), "wait for the GPU");
  Array<S> new_constants(d.context, constants.size()), new_rotors(d.context, rotors.size());
  new_constants.upload(constants, d.options.stream);
  new_rotors.upload(rotors, d.options.stream);
  d.inertias = std::move(new_constants), d.armature = std::move(new_rotors);
  d.varied_count = given.count;
}
template <class S>
void Batch<S>::use_model_inertias() {
  data_->varied_count = 0;
}

template class Batch<double>;
template class Batch<float>;

}  // namespace articula::cuda
