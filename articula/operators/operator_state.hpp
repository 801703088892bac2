// The operators' numbers at one state: world axes, each body's at its own joint origin O_k.
//
// Body space is stacked base to tip, six numbers per body, rotation first. Joint space is in velocity order.
// A universal joint is two bodies (the cross and the link), links welded together are one. With mimic joints,
// H is composed with the mimic ratios Gamma so that joint space is the model's own, H = star(Gamma) * H_full;
// D, G, K and psi belong to the tree with every hinge free, and act on one coordinate per hinge.
#pragma once

#include <string_view>

#include "articula/dynamics/workspace.hpp"
#include "articula/operators/node.hpp"

namespace articula::operators {

/// A dense matrix, row by row.
struct Dense {
  int rows = 0, columns = 0;
  std::vector<double> numbers{};
  double operator()(int i, int j) const { return numbers[static_cast<std::size_t>(i) * columns + j]; }
};

/// Memory is made once; update() and everything after it allocate nothing. What an expression does not need
/// is not computed.
class OperatorState : public Workspace<double> {
 public:
  explicit OperatorState(const Model& model);
  OperatorState(const OperatorState&) = delete;
  OperatorState& operator=(const OperatorState&) = delete;

  void update(In<double> q);
  /// Also the bias terms a and b.
  void update(In<double> q, In<double> v);

  /// Also the accelerations that H_ddot and H_f need.
  void update(In<double> q, In<double> v, In<double> a);
  /// Where a state of the same joints is.
  void update(const OperatorState& other);

  /// Whether the last update gave them: a_bias, b_bias, H_dot and the rings need them.
  bool has_velocities() const { return has_v_; }
  bool has_accelerations() const { return has_a_; }

  int bodies() const { return tree().bodies; }
  int size_of(Space space, int frames = 0) const;

  /// One block, in world axes at O_k: H(k), D(k) (freedoms x ...), M(k), P(k), G(k), tau(k), tau_bar(k),
  /// R(k), Omega(k), L(k), rotor(k) at body k; phi, psi, K, E_phi, E_psi: (inboard of k, k), where "inboard"
  /// of a body on the world is the world.
  Dense block(Symbol symbol, int body);

 private:
  friend class Program;
  friend class AccelerationCovariance;
  friend struct Compiler;
  template <class S>
  friend struct Machine;
  enum Need : unsigned {
    factor = 1,
    gains = 2,
    composites = 4,
    omegas = 8,
    bias = 16,
    mimic_factor = 32,
    inertias = 64,
    bare_factor = 128,
    rates = 256,         // H_dot, M_ring, R_ring
    rings = 512,         // P_ring, G_ring, J_ring
    second_rates = 1024  // H_ddot, H_f
  };
  void require(unsigned needs) {
    if (!placed_ || (needs & ~ready_) != 0) compute(needs);
  }
  void compute(unsigned needs);
  void compute_rates();
  void compute_rings();
  void compute_second_rates();
  void factor_mimics(const KernelMemory<double>& m, MimicCorrection<double>& mimics);
  /// M^-1 in the model's own coordinates; bare: without rotor inertias.
  void solve_mass(bool bare, const double* x, double* out);

  AlignedArray<double> extra_;
  double *P_, *G_, *R_, *Omega_, *a_, *b_, *full_q_, *full_v_, *full_a_, a_g_[6];
  // Rings: their first three columns, the others are zero.
  double *H_dot_, *M_ring_, *P_ring_, *G_ring_, *R_ring_, *J_ring_;
  double *V_, *alpha_, *H_ddot_, *H_f_;
  unsigned ready_ = 0;
  bool placed_ = false, has_v_ = false, has_a_ = false;
  MimicCorrection<double> mimics_, bare_mimics_;
  std::vector<double> scratch_;
  // With rotor inertias: a factor without them beside the one with them.
  Tree<double> bare_tree_;
  KernelMemory<double> bare_;
  AlignedArray<double> bare_memory_;
};

}  // namespace articula::operators
