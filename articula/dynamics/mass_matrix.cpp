#include "articula/dynamics/mass_matrix.hpp"

#include "articula/kernels/centroidal_map_text.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

template <class S>
MassMatrix<S>::MassMatrix(const Model& model) : Workspace<S>(model, {.side = true, .composite = true}) {
  const std::size_t nv = this->tree().nv;
  if (model.has_mimics()) full_ = AlignedArray<S>(nv * nv);
}

template <class S>
void MassMatrix<S>::compute(In<S> q, Out<S> matrix) {
  const int nv = this->model_.nv();
  this->check("mass_matrix", "q", q.size(), this->model_.nq());
  this->check("mass_matrix", "matrix", matrix.size(), static_cast<std::size_t>(nv) * nv);
  if (full_.size() == 0) {
    kernels<S>().mass_matrix(this->tree(), q.data(), this->m_, matrix.data());
    return;
  }
  kernels<S>().mass_matrix(this->tree(), this->full_q(q), this->m_, full_.data());
  const auto map = this->model_.full_velocities();
  for (S& x : matrix) x = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {  // both halves in the same order: symmetric to the last bit
      const S x = static_cast<S>(map[i].multiplier * map[j].multiplier) * full_[i * map.size() + j];
      matrix[static_cast<std::size_t>(map[i].source) * nv + map[j].source] += x;
      if (i != j) matrix[static_cast<std::size_t>(map[j].source) * nv + map[i].source] += x;
    }
  }
}

template <class S>
void MassMatrix<S>::compute_centroidal_map(In<S> q, Out<S> map) {
  const int nv = this->model_.nv();
  this->check("centroidal_map", "q", q.size(), this->model_.nq());
  this->check("centroidal_map", "map", map.size(), static_cast<std::size_t>(6) * nv);
  kernels<S>().composite_inertias(this->tree(), this->full_q(q), this->m_);
  for (S& x : map) x = 0;
  const auto full = this->model_.full_velocities();
  centroidal_columns(this->tree(), this->m_, [&](int i, const Spatial<S>& column) {
    const S* c = numbers_of(column);
    for (int r = 0; r < 6; ++r)
      map[static_cast<std::size_t>(r) * nv + full[i].source] += static_cast<S>(full[i].multiplier) * c[r];
  });
}

std::vector<double> mass_matrix(const Model& model, In<double> q) {
  MassMatrix<> work(model);
  std::vector<double> matrix(static_cast<std::size_t>(model.nv()) * model.nv());
  mass_matrix(work, q, matrix);
  return matrix;
}
std::vector<double> centroidal_map(const Model& model, In<double> q) {
  MassMatrix<> work(model);
  std::vector<double> map(static_cast<std::size_t>(6) * model.nv());
  centroidal_map(work, q, map);
  return map;
}

template class MassMatrix<double>;
template class MassMatrix<float>;

}  // namespace articula
