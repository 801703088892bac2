// The equations of motion with a diagonal mass matrix (DIAG; docs/math.md 8; docs/diagonalized.md).
//
//   nu = m* v, eps = m^-1 tau, M = m m*, m = [Id + H phi K] D^1/2:      nu' + C(q, nu) = eps
//   xi = D^-1/2* nu, kappa = D^1/2 eps:                               D xi' + C(q, xi) = kappa
//
// nu are velocities along directions that the mass matrix makes orthonormal: the kinetic energy is |nu|^2 / 2
// and, gravity and external forces apart, nu . C(q, nu) = 0. Every map and term costs O(n), for all joint
// kinds and trees. D^1/2 is the lower Cholesky factor of D(k) for joints with several freedoms. Rotor inertia
// (armature) is included.
#pragma once

#include <vector>

#include "articula/dynamics/workspace.hpp"
#include "articula/kernels/diagonal_memory.hpp"

namespace articula {

/// See decoupled_rate_control.
enum class RateCompensation { gravity, all };

/// Memory for one model; one per thread. Not for models with mimic joints (ArgumentError): their hinges share
/// coordinates, and the factor m acts on one coordinate per hinge.
class DiagonalizedDynamics : public Workspace<double> {
 public:
  explicit DiagonalizedDynamics(const Model& model);

  /// Sets the configuration. SingularError names a joint that nothing resists.
  void update(In<double> q);

  // --- maps at the last configuration. Arguments may be the same array. ------------------------------
  void rates_to_nu(In<double> v, Out<double> nu);
  void nu_to_rates(In<double> nu, Out<double> v);
  void rates_to_xi(In<double> v, Out<double> xi);
  void xi_to_rates(In<double> xi, Out<double> v);
  void forces_to_epsilon(In<double> tau, Out<double> epsilon);
  void epsilon_to_forces(In<double> epsilon, Out<double> tau);
  void forces_to_kappa(In<double> tau, Out<double> kappa);
  void kappa_to_forces(In<double> kappa, Out<double> tau);

  // --- terms at the last configuration ---------------------------------------------------------------
  /// C(q, nu) and C(q, xi), with gravity and less external forces.
  void coriolis_nu(In<double> nu, Out<double> C, Wrenches<double> wrenches = {});
  void coriolis_xi(In<double> xi, Out<double> C, Wrenches<double> wrenches = {});
  /// The same C(q, nu) by the paper's own recursion for (42), which costs more. Joints with one freedom: ArgumentError.
  void coriolis_nu_printed(In<double> nu, Out<double> C, Wrenches<double> wrenches = {});
  /// All of it at once, from joint rates. D and its rate of change: nv x nv, block diagonal, row by row.
  /// Allocates.
  struct Terms {
    std::vector<double> nu, xi, coriolis_nu, coriolis_xi, D, D_dot;
  };
  Terms terms(In<double> v, Wrenches<double> wrenches = {});
  /// D, nv x nv, block diagonal, row by row.
  void D(Out<double> matrix) const;

  // --- forward dynamics; the acceleration v' is never formed -----------------------------------------
  /// nu' = eps - C(q, nu) and xi' = D^-1 (kappa - C(q, xi)). The result must be an array of its own. nu_dot
  /// also does what update(q) does.
  void nu_dot(In<double> q, In<double> nu, In<double> tau, Out<double> nu_dot,
              Wrenches<double> wrenches = {});
  void xi_dot(In<double> q, In<double> xi, In<double> tau, Out<double> xi_dot,
              Wrenches<double> wrenches = {});

 private:
  void require_update(const char* function) const;
  void check_pair(const char* function, std::size_t from, const char* name, std::size_t to) const;
  void coriolis(const char* function, bool normalized, In<double> x, Out<double> C,
                Wrenches<double> wrenches);
  void motion(const char* function, bool normalized, In<double> q, In<double> x, In<double> tau,
              Out<double> rate, Wrenches<double> wrenches);
  void block_diagonal(const double* rows, Out<double> matrix) const;

  friend void decoupled_rate_control(DiagonalizedDynamics&, In<double>, In<double>, In<double>,
                                     RateCompensation, Out<double>);
  AlignedArray<double> extra_, control_;
  DiagonalMemory<double> d_;
  bool updated_ = false;
};

/// Joint forces that make each nu_i a first-order loop of its own, nu_i' = gain_i (desired_i - nu_i), at the
/// configuration of the last update. `gravity`: compensates gravity only; the Coriolis term does no work, so
/// that the loop is still passive, |nu|^2/2 falling at the rate sum gain_i nu_i^2 (desired = 0). `all`:
/// compensates the whole of C(q, nu). `tau` must be an array of its own.
void decoupled_rate_control(DiagonalizedDynamics& work, In<double> v, In<double> desired_nu, In<double> gains,
                            RateCompensation compensation, Out<double> tau);

}  // namespace articula
