// The mass matrix in factored form, M = [Id + H phi K] D [Id + H phi K]*: factor in O(n), then solve in O(n).
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

/// The factor at one configuration. Full coordinates inside; a model's own outside (mimic joints follow their source).
template <class S = double>
class MassFactor : public Workspace<S> {
 public:
  explicit MassFactor(const Model& model);

  /// Throws SingularError, naming the joint, where some D(k) is not positive.
  void factor(In<S> q);
  /// x = M^-1 tau at the last configuration.
  void solve(In<S> tau, Out<S> x);
  /// M^-1, nv x nv, row by row: O(n^2).
  void inverse(Out<S> matrix);

 private:
  void factor_mimics();
  MimicCorrection<S> mimics_;
  AlignedArray<S> full_inverse_, scratch_;
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
