// The equations of motion with a diagonal mass matrix, at many states: articula/diagonal in lanes.
#pragma once

#include "articula/batch/batch.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"

namespace articula {

/// What DiagonalizedDynamics has for one state, for those of a batch: layout, threads and errors are the
/// batch's, which must stay. Every call takes its configurations. Memory is made here; calls allocate
/// nothing, but terms() the first time. Not for models with mimic joints (ArgumentError). Not while inertias
/// vary (Batch::vary).
template <class S = double>
class DiagonalizedBatch {
 public:
  explicit DiagonalizedBatch(Batch<S>& batch);
  ~DiagonalizedBatch();
  DiagonalizedBatch(DiagonalizedBatch&&) noexcept;

  // --- maps
  void rates_to_nu(In<S> q, In<S> v, Out<S> nu);
  void nu_to_rates(In<S> q, In<S> nu, Out<S> v);
  void rates_to_xi(In<S> q, In<S> v, Out<S> xi);
  void xi_to_rates(In<S> q, In<S> xi, Out<S> v);
  void forces_to_epsilon(In<S> q, In<S> tau, Out<S> epsilon);
  void epsilon_to_forces(In<S> q, In<S> epsilon, Out<S> tau);
  void forces_to_kappa(In<S> q, In<S> tau, Out<S> kappa);
  void kappa_to_forces(In<S> q, In<S> kappa, Out<S> tau);

  // --- terms; wrenches as in Batch::inverse_dynamics
  /// C(q, nu) and C(q, xi), with gravity and less external forces.
  void coriolis_nu(In<S> q, In<S> nu, Out<S> C, In<S> wrenches = {});
  void coriolis_xi(In<S> q, In<S> xi, Out<S> C, In<S> wrenches = {});
  /// nv x nv, block diagonal.
  void D(In<S> q, Out<S> matrix);
  /// All of it at once, from joint rates and forces; what is left empty is left out (and so may tau be).
  struct Terms {
    Out<S> nu{}, xi{}, epsilon{}, kappa{}, coriolis_nu{}, coriolis_xi{}, D{}, D_dot{};
  };
  void terms(In<S> q, In<S> v, In<S> tau, const Terms& out, In<S> wrenches = {});

  // --- forward dynamics: nu' = eps - C(q, nu), xi' = D^-1 (kappa - C(q, xi))
  void nu_dot(In<S> q, In<S> nu, In<S> tau, Out<S> rate, In<S> wrenches = {});
  void xi_dot(In<S> q, In<S> xi, In<S> tau, Out<S> rate, In<S> wrenches = {});

  /// See decoupled_rate_control of one state.
  void decoupled_rate_control(In<S> q, In<S> v, In<S> desired_nu, In<S> gains, RateCompensation compensation,
                              Out<S> tau);

 private:
  struct Work;
  template <class F>
  void map(const char* function, In<S> q, const char* name, In<S> x, Out<S> y, const F& f);
  void coriolis(const char* function, bool normalized, In<S> q, In<S> x, Out<S> C, In<S> wrenches);
  void motion(const char* function, bool normalized, In<S> q, In<S> x, In<S> tau, Out<S> rate,
              In<S> wrenches);

  friend class Batch<S>;
  Batch<S>* batch_;
  std::vector<Work> work_;  // one per thread
};

extern template class DiagonalizedBatch<double>;
extern template class DiagonalizedBatch<float>;

}  // namespace articula
