// The mass matrix and the centroidal map, by composite inertias.
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

template <class S = double>
class MassMatrix : public Workspace<S> {
 public:
  explicit MassMatrix(const Model& model);
  void compute(In<S> q, Out<S> matrix);
  void compute_centroidal_map(In<S> q, Out<S> map);

 private:
  AlignedArray<S> full_;  // only with mimic joints
};

/// M(q), nv x nv, full symmetric, row by row. No allocation.
template <class S>
void mass_matrix(MassMatrix<S>& work, In<S> q, Out<S> matrix) {
  work.compute(q, matrix);
}
/// A(q), 6 x nv, row by row: momentum about the centre of mass = A v, (angular, linear), world axes.
template <class S>
void centroidal_map(MassMatrix<S>& work, In<S> q, Out<S> map) {
  work.compute_centroidal_map(q, map);
}
std::vector<double> mass_matrix(const Model& model, In<double> q);
std::vector<double> centroidal_map(const Model& model, In<double> q);

extern template class MassMatrix<double>;
extern template class MassMatrix<float>;

}  // namespace articula
