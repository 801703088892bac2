#include "articula/dynamics/mass_matrix.hpp"

#include "articula/dynamics/kernels.hpp"

namespace articula {

template <class S>
MassMatrix<S>::MassMatrix(const Model& model) : Workspace<S>(model, {.composite = true}) {
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
  for (std::size_t i = 0; i < map.size(); ++i)
    for (std::size_t j = 0; j < map.size(); ++j)
      matrix[static_cast<std::size_t>(map[i].source) * nv + map[j].source] +=
          static_cast<S>(map[i].multiplier * map[j].multiplier) * full_[i * map.size() + j];
}

template <class S>
void MassMatrix<S>::compute_centroidal_map(In<S> q, Out<S> map) {
  const int nv = this->model_.nv();
  this->check("centroidal_map", "q", q.size(), this->model_.nq());
  this->check("centroidal_map", "map", map.size(), static_cast<std::size_t>(6) * nv);
  const Tree<S>& tree = this->tree();
  const KernelMemory<S>& m = this->m_;
  kernels<S>().composite_inertias(tree, this->full_q(q), m);
  // X(k) = R(k) Hs*(k) is the momentum that joint k gives, about the first origin of its tree. Each tree's centre of
  // mass is taken from that point, and its trees from the world.
  const auto first_l = [&](int k) { return slot(m.x, k, int(body::count)) + block * body::l; };
  Vec3<S> sum{0, 0, 0};
  S mass = 0;
  for (int k = 1; k < tree.slots(); ++k) {
    if (tree.index[k].inboard != 0) continue;
    const S* R = m.R + 10 * k;
    const S* l = first_l(k);
    mass += R[0];
    sum += Vec3<S>{R[1], R[2], R[3]} + Vec3<S>{l[0], l[block], l[2 * block]} * R[0];
  }
  const Vec3<S> center = sum * (1 / mass);
  for (S& x : map) x = 0;
  const auto full = this->model_.full_velocities();
  Vec3<S> origin{0, 0, 0};
  for (int k = 1; k < tree.slots(); ++k) {
    if (tree.index[k].inboard == 0) {
      const S* l = first_l(k);
      origin = {l[0], l[block], l[2 * block]};
    }
    const int end = k + 1 < tree.slots() ? tree.index[k + 1].v : tree.nv;
    for (int i = tree.index[k].v; i < end; ++i) {
      const S* X = m.X + 6 * i;
      const Spatial<S> about_center = Phi<S>{origin - center} * Spatial<S>{{X[0], X[1], X[2]}, {X[3], X[4], X[5]}};
      const S* c = &about_center.w.x;
      for (int r = 0; r < 6; ++r)
        map[static_cast<std::size_t>(r) * nv + full[i].source] += static_cast<S>(full[i].multiplier) * c[r];
    }
  }
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
