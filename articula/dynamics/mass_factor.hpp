// The mass matrix in factored form, M = [Id + H phi K] D [Id + H phi K]*: factor in O(n), then solve,
// multiply, take determinants and reach frames (J M^-1 J*) in O(n).
#pragma once

#include <optional>
#include <vector>

#include "articula/dynamics/mass_matrix.hpp"

namespace articula {

/// The factor at one configuration. Full coordinates inside; a model's own outside (mimic joints follow their
/// source).
template <class S = double>
class MassFactor : public Workspace<S> {
 public:
  explicit MassFactor(const Model& model);
  /// Whether some joint would have nothing to move, were no joint tied to another: the tree by itself has no
  /// factor then, only the model has.
  bool needs_ties() const { return dense_.has_value(); }

  /// Throws SingularError, naming the joint, where some D(k) is not positive.
  void factor(In<S> q);
  /// x = M^-1 tau at the last configuration.
  void solve(In<S> tau, Out<S> x);
  /// M^-1, nv x nv, row by row: O(n^2).
  void inverse(Out<S> matrix);

  // --- products, at the last configuration; x and y must not overlap (mass_factor_products.cpp) ------
  /// y = M x, without forming M.
  void multiply(In<S> x, Out<S> y);
  /// X = M^-1 T for several right-hand sides: nv x columns, row by row.
  void solve_columns(In<S> T, Out<S> X, int columns);
  /// The factor itself and its inverse, [Id + H phi K] and [Id - H psi K], and their adjoints. Not for models
  /// with mimic joints, where the factor acts on one coordinate per hinge.
  void times_factor(In<S> x, Out<S> y);
  void times_factor_star(In<S> x, Out<S> y);
  void solve_factor(In<S> x, Out<S> y);
  void solve_factor_star(In<S> x, Out<S> y);
  /// The square root m = [Id + H phi K] D^1/2, M = m m* (D^1/2 the Cholesky factor of D), and its inverse l.
  void times_root(In<S> x, Out<S> y);
  void times_root_star(In<S> x, Out<S> y);
  void solve_root(In<S> x, Out<S> y);
  void solve_root_star(In<S> x, Out<S> y);
  /// log det M.
  S log_determinant() const;
  /// D of a joint (the last hinge of a universal one), freedoms x freedoms, row by row in `numbers`.
  struct JointD {
    int freedoms;
    S numbers[36];
  };
  JointD D(int joint) const;
  /// The joint with the least pivot of D: the one nearest to having nothing to move.
  struct WeakestJoint {
    int joint, freedom;
    S pivot, largest_pivot;
  };
  WeakestJoint weakest_joint() const;
  /// J M^-1 J* of a set of frames (by index; world axes, each at its frame's origin), 6m x 6m, row by row: by
  /// the recursion for Omega and the closest common ancestors (OSC 60; docs/math.md 6), O(n + m d) and a
  /// block for each pair. The first call makes room.
  void frame_inertia_inverse(std::span<const int> frames, Out<S> matrix);

 private:
  void refuse_mimics(const char* function) const;
  void check_pair(const char* function, std::size_t x, std::size_t y) const;
  void times_D_root(S* y) const;
  void times_D_root_star(S* y) const;
  void solve_D_root(S* y) const;
  void solve_D_root_star(S* y) const;
  void frame_columns_with_mimics(std::span<const int> frames, Out<S> matrix);
  void factor_mimics();
  void factor_dense(std::span<const S> q);
  void solve_dense(S* x) const;
  MimicCorrection<S> mimics_;
  // Only where a mimic joint has nothing of its own to move, so that the tree by itself has no factor: the
  // model's own mass matrix, factored as it is.
  std::optional<MassMatrix<S>> dense_;
  AlignedArray<S> dense_L_;
  AlignedArray<S> full_inverse_, scratch_, Omega_, V_;
  std::vector<S> columns_;
  std::vector<int> at_, from_;  // of frames: the body reached, and the one before
};

/// M^-1(q), directly: a factor and a solve with unit columns. No allocation.
template <class S>
void inverse_mass_matrix(MassFactor<S>& work, In<S> q, Out<S> matrix) {
  work.factor(q);
  work.inverse(matrix);
}
std::vector<double> inverse_mass_matrix(const Model& model, In<double> q);

/// Throws SingularError with the name of the first joint, from the tip, whose pivot is not positive.
template <class S>
[[noreturn]] void throw_singular(const Model& model, const char* function, const S* inv_D);

extern template class MassFactor<double>;
extern template class MassFactor<float>;

}  // namespace articula
