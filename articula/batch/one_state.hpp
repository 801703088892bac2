// Every algorithm at one state of a model, with the names, arguments and results that Batch has for many.
//
// For code that goes over the list of algorithms (articula/algorithms) or wants everything from one object. The
// workspaces behind it (ForwardDynamics, Kinematics, ..) are made when first needed; after that, calls allocate
// nothing.
#pragma once

#include <memory>
#include <string>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/linearization/workspace.hpp"

namespace articula {

/// Memory for one model; one per thread. wrenches: (moment, force) per body, six numbers each, world axes at its joint
/// origin; empty: none. In float, the Coriolis matrix and its kin, FD1 to FD4,
/// operational space and the diagonalized dynamics are computed in double.
template <class S = double>
class OneState {
 public:
  explicit OneState(const Model& model);
  ~OneState();
  OneState(OneState&&) noexcept;
  OneState& operator=(OneState&&) noexcept;
  const Model& model() const;
  /// Makes room for dynamics and kinematics now, so that their first call does not.
  void reserve();

  void inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches = {});
  void forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches = {});
  /// JPL88's four algorithms by number, 1 to 4.
  void forward_dynamics_fd(int number, In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches = {});
  /// JPL88's FD2: d/dt (w, v) of every body's joint origin, world axes; gravity is not in them.
  void body_accelerations(In<S> q, In<S> v, In<S> tau, Out<S> alpha, In<S> wrenches = {});
  /// The same of a frame's origin, FD2's alpha(0) (JPL88 5.7).
  void tip_acceleration(int frame, In<S> q, In<S> v, In<S> tau, Out<S> alpha, In<S> wrenches = {});
  void bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches = {});
  void gravity_forces(In<S> q, Out<S> tau);
  void mass_matrix(In<S> q, Out<S> matrix);
  void inverse_mass_matrix(In<S> q, Out<S> matrix);
  void coriolis_matrix(In<S> q, In<S> v, Out<S> C);
  void mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt);
  void christoffel_symbols(In<S> q, Out<S> gamma);

  void energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential);
  void kinetic_energy(In<S> q, In<S> v, Out<S> energy);
  void potential_energy(In<S> q, Out<S> energy);
  void center_of_mass(In<S> q, Out<S> center);
  void momentum(In<S> q, In<S> v, Out<S> momentum_of_all);
  void centroidal_map(In<S> q, Out<S> map);
  void pose(int frame, In<S> q, Out<S> rotation, Out<S> position);
  void frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes = Axes::world);
  void frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes = Axes::world);
  void jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes = Axes::world);
  void jacobian(int frame, In<S> q, Out<S> matrix, Axes axes = Axes::world);

  using Options = LinearizationOptions<S>;
  void linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da,
                          const Options& options = {});
  void linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau,
                          const Options& options = {});
  void perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau,
                         const Options& options = {});
  void perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da,
                         const Options& options = {});
  void inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_a,
                        const Options& options = {});
  void forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v, Out<S> by_tau,
                        const Options& options = {});

  /// See OperationalSpaceBatch and DiagonalizedBatch. `printed`: DiagonalizedDynamics::coriolis_nu_printed.
  void operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega, Out<S> lambda,
                         Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar, Out<S> rank);
  void diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu, Out<S> xi,
                    Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches = {}, bool printed = false);

  /// The listed algorithm of that number (articula/kernels/listed.hpp): vectors by Argument, results by part.
  void listed(int number, std::span<const std::span<const S>> in, In<S> wrenches, int frame, Axes axes,
              std::span<const std::span<S>> out);

  /// What the last call has to say beside its numbers: which directions are lost, say. Empty: nothing.
  const std::string& remark() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

extern template class OneState<double>;
extern template class OneState<float>;

}  // namespace articula
