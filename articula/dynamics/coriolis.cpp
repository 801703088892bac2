#include "articula/dynamics/coriolis.hpp"

#include <algorithm>

#include "articula/kernels/tables.hpp"

namespace articula {

Coriolis::Coriolis(const Model& model) : Workspace<double>(model, {}) {
  const std::size_t nv = tree().nv;
  extra_ = make_arrays(n_, tree());
  unit_ = AlignedArray<double>(std::max<std::size_t>(nv, model.nv()));
  if (model.has_mimics()) full_ = AlignedArray<double>(nv * nv);
}

void Coriolis::run(const double* q, const double* v, double* C) {
  const std::size_t full_nv = tree().nv, nv = model_.nv();
  double* const full = full_.size() ? full_.data() : C;
  kernel_set().operators->coriolis_matrix(tree(), q, v, m_, n_, full);
  if (full == C) return;
  // Mimic ratios are constants: C = Gamma* C_full Gamma.
  const auto map = model_.full_velocities();
  std::fill_n(C, nv * nv, 0.0);
  for (std::size_t i = 0; i < full_nv; ++i)
    for (std::size_t j = 0; j < full_nv; ++j)
      C[map[i].source * nv + map[j].source] += map[i].multiplier * map[j].multiplier * full[i * full_nv + j];
}

void Coriolis::compute(In<double> q, In<double> v, Out<double> C) {
  check("coriolis_matrix", "q", q.size(), model_.nq());
  check("coriolis_matrix", "v", v.size(), model_.nv());
  check("coriolis_matrix", "C", C.size(), static_cast<std::size_t>(model_.nv()) * model_.nv());
  run(full_q(q), full_v(v), C.data());
}

void Coriolis::compute_mass_matrix_rate(In<double> q, In<double> v, Out<double> dM_dt) {
  check("mass_matrix_rate", "q", q.size(), model_.nq());
  check("mass_matrix_rate", "v", v.size(), model_.nv());
  const std::size_t nv = model_.nv();
  check("mass_matrix_rate", "dM_dt", dM_dt.size(), nv * nv);
  run(full_q(q), full_v(v), dM_dt.data());
  for (std::size_t i = 0; i < nv; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      dM_dt[i * nv + j] = dM_dt[j * nv + i] = dM_dt[i * nv + j] + dM_dt[j * nv + i];
}

void Coriolis::compute_christoffel(In<double> q, Out<double> gamma) {
  const std::size_t nv = model_.nv();
  check("christoffel_symbols", "q", q.size(), model_.nq());
  check("christoffel_symbols", "gamma", gamma.size(), nv * nv * nv);
  const double* const full = full_q(q);
  // C is linear in v: its factor of v(k) is C at the unit velocity k.
  for (std::size_t k = 0; k < nv; ++k) {
    std::fill_n(unit_.data(), unit_.size(), 0.0);
    unit_[k] = 1;
    run(full, full_v(std::span<const double>(unit_.data(), nv)), gamma.data() + k * nv * nv);
  }
}

std::vector<double> coriolis_matrix(const Model& model, In<double> q, In<double> v) {
  Coriolis work(model);
  std::vector<double> C(static_cast<std::size_t>(model.nv()) * model.nv());
  coriolis_matrix(work, q, v, C);
  return C;
}
std::vector<double> mass_matrix_rate(const Model& model, In<double> q, In<double> v) {
  Coriolis work(model);
  std::vector<double> dM(static_cast<std::size_t>(model.nv()) * model.nv());
  mass_matrix_rate(work, q, v, dM);
  return dM;
}
std::vector<double> christoffel_symbols(const Model& model, In<double> q) {
  Coriolis work(model);
  const std::size_t nv = model.nv();
  std::vector<double> gamma(nv * nv * nv);
  christoffel_symbols(work, q, gamma);
  return gamma;
}

}  // namespace articula
