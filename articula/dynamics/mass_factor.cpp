#include "articula/dynamics/mass_factor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/dynamics/kernels.hpp"

namespace articula {

template <class S>
MassFactor<S>::MassFactor(const Model& model)
    : Workspace<S>(model, {.side = true, .factor = true, .keep_D = true, .wide_solve = true}), mimics_(model) {
  const std::size_t nv = this->tree().nv;
  if (mimics_.count() > 0) {
    full_inverse_ = AlignedArray<S>(nv * nv);
    scratch_ = AlignedArray<S>(nv);
  }
}

template <class S>
void throw_singular(const Model& model, const char* function, const S* inv_D) {
  const Tree<S>& tree = model.tree<S>();
  for (int k = tree.bodies; k >= 1; --k) {
    int freedoms = 0;
    visit(tree.index[k].kind, [&](auto j) { freedoms = j.nv; });
    for (int i = 0; i < freedoms; ++i) {
      const S inv_d = inv_D[6 * (tree.index[k].v + i) + i];
      if (inv_d > 0 && std::isfinite(inv_d)) continue;
      throw SingularError(
          fmt::format("{}: D of joint '{}' is {} at freedom {}: nothing outboard of it (body '{}') has inertia about "
                      "its axis in this configuration, or q is not finite; give the body mass or the joint armature",
                      function, model.joints()[model.bodies()[k - 1].joint].name, S(1) / inv_d, i,
                      model.bodies()[k - 1].name));
    }
  }
  throw SingularError(fmt::format("{}: the arguments are not finite numbers", function));
}

template <class S>
void MassFactor<S>::factor(In<S> q) {
  this->check("factor", "q", q.size(), this->model_.nq());
  if (!(kernels<S>().factor(this->tree(), this->full_q(q), this->m_) > 0))
    throw_singular(this->model_, "mass factor", this->m_.inv_D);
  if (mimics_.count() > 0) factor_mimics();
}
template <class S>
void MassFactor<S>::factor_mimics() {
  for (int row = 0; row < mimics_.count(); ++row) {
    mimics_.unit_force(row, scratch_.data());
    kernels<S>().solve(this->tree(), this->m_, scratch_.data(), mimics_.response(row));
  }
  if (!mimics_.factor()) throw SingularError("mass factor: the mimic joints' own inertia is singular here");
}
template <class S>
void MassFactor<S>::solve(In<S> tau, Out<S> x) {
  this->check("solve", "tau", tau.size(), this->model_.nv());
  this->check("solve", "x", x.size(), this->model_.nv());
  S* const full = this->full_result(x);
  kernels<S>().solve(this->tree(), this->m_, this->full_tau(tau), full);
  if (mimics_.count() == 0) return;
  mimics_.apply(full);
  mimics_.take_own(full, x);
}
template <class S>
void MassFactor<S>::inverse(Out<S> matrix) {
  const int nv = this->model_.nv();
  this->check("inverse_mass_matrix", "matrix", matrix.size(), static_cast<std::size_t>(nv) * nv);
  if (mimics_.count() == 0) {
    kernels<S>().invert(this->tree(), this->m_, matrix.data());
    return;
  }
  // Column by column in full coordinates, corrected, then the model's own rows.
  const int full_nv = this->tree().nv;
  kernels<S>().invert(this->tree(), this->m_, full_inverse_.data());
  for (int c = 0; c < nv; ++c) {
    S* const column = full_inverse_.data() + static_cast<std::size_t>(mimics_.full_index_of(c)) * full_nv;
    mimics_.apply(column);  // a row of the symmetric inverse is a column
    mimics_.take_own(column, matrix.subspan(static_cast<std::size_t>(c) * nv, nv));
  }
}

std::vector<double> inverse_mass_matrix(const Model& model, In<double> q) {
  MassFactor<> work(model);
  std::vector<double> matrix(static_cast<std::size_t>(model.nv()) * model.nv());
  inverse_mass_matrix(work, q, matrix);
  return matrix;
}

template class MassFactor<double>;
template class MassFactor<float>;
template void throw_singular<double>(const Model&, const char*, const double*);
template void throw_singular<float>(const Model&, const char*, const float*);

}  // namespace articula
