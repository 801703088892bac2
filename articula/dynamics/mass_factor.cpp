#include "articula/dynamics/mass_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/singular_joint.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

namespace {
/// True if some joint would have nothing to move, were no joint tied to another.
bool singular_untied(const Model& model) {
  ModelSpec untied = model.spec();
  for (JointSpec& joint : untied.joints) joint.mimic.reset();
  return !Model(untied, {.base = model.base()}).massless_velocities().empty();
}
}  // namespace

template <class S>
MassFactor<S>::MassFactor(const Model& model)
    : Workspace<S>(model, {.side = true, .factor = true, .keep_D = true, .wide_solve = true}),
      mimics_(model) {
  const std::size_t nv = this->tree().nv;
  V_ = AlignedArray<S>(6 * static_cast<std::size_t>(this->tree().slots()));
  columns_.resize(2 * nv);
  if (mimics_.count() > 0) {
    full_inverse_ = AlignedArray<S>(nv * nv);
    scratch_ = AlignedArray<S>(nv);
    if (singular_untied(model)) {
      dense_.emplace(model);
      dense_L_ = AlignedArray<S>(static_cast<std::size_t>(model.nv()) * model.nv());
    }
  }
}

template <class S>
void MassFactor<S>::factor_dense(std::span<const S> q) {
  const int n = this->model_.nv();
  S* const L = dense_L_.data();
  mass_matrix(*dense_, q, std::span<S>(L, static_cast<std::size_t>(n) * n));
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      S sum = L[i * n + j];
      for (int c = 0; c < j; ++c) sum -= L[i * n + c] * L[j * n + c];
      if (std::isnan(sum)) throw ArgumentError("mass factor: q has numbers that are not finite");
      if (i == j && !(sum > 0))
        for (const Joint& joint : this->model_.joints())
          if (joint.mimics < 0 && joint.v_index <= j && j < joint.v_index + joint.nv)
            throw SingularJointError(
                fmt::format("mass factor: the mass matrix is singular at joint '{}'", joint.name),
                joint.name);
      L[i * n + j] = i == j ? std::sqrt(sum) : sum / L[j * n + j];
    }
  }
}
template <class S>
void MassFactor<S>::solve_dense(S* x) const {
  const int n = this->model_.nv();
  const S* const L = dense_L_.data();
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < i; ++c) x[i] -= L[i * n + c] * x[c];
    x[i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int c = i + 1; c < n; ++c) x[i] -= L[c * n + i] * x[c];
    x[i] /= L[i * n + i];
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
      if (std::isnan(inv_d) || inv_d == 0)
        throw ArgumentError(fmt::format("{}: q has numbers that are not finite", function));
      const std::string& joint = model.joints()[model.bodies()[k - 1].joint].name;
      throw SingularJointError(
          fmt::format(
              "{}: D of joint '{}' is {} at freedom {}: nothing outboard of it (body '{}') has inertia "
              "about its axis in this configuration; give the body mass or the joint armature",
              function, joint, S(1) / inv_d, i, model.bodies()[k - 1].name),
          joint);
    }
  }
  throw ArgumentError(fmt::format("{}: the arguments are not finite numbers", function));
}

template <class S>
void MassFactor<S>::factor(In<S> q) {
  this->check("factor", "q", q.size(), this->model_.nq());
  if (dense_) {
    // Products and frames need the bodies' poses and inertias; D, singular here, is not used.
    (void)kernels<S>().factor(this->tree(), this->full_q(q), this->m_);
    return factor_dense(q);
  }
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
  mimics_.factor("mass factor");
}
template <class S>
void MassFactor<S>::solve(In<S> tau, Out<S> x) {
  this->check("solve", "tau", tau.size(), this->model_.nv());
  this->check("solve", "x", x.size(), this->model_.nv());
  if (dense_) {
    std::copy(tau.begin(), tau.end(), x.begin());
    return solve_dense(x.data());
  }
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
  if (dense_) {
    for (int c = 0; c < nv; ++c) {
      S* const column = matrix.data() + static_cast<std::size_t>(c) * nv;  // a row of the symmetric inverse
      std::fill(column, column + nv, S(0));
      column[c] = 1;
      solve_dense(column);
    }
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
