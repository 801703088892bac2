#include "articula/dynamics/workspace.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

template <class S>
Workspace<S>::Workspace(const Model& model, const MemoryNeeds& needs) : model_(model) {
  kernels<S>();  // chooses the instruction set now, once, so that no later call has to
  const Tree<S>& tree = model_.tree<S>();
  memory_ = make_arrays(m_, tree, needs);
  if (!model_.has_mimics()) return;
  const std::size_t nv = tree.nv;
  mimic_memory_ = AlignedArray<S>(tree.nq + 4 * nv);
  q_ = mimic_memory_.data();
  v_ = q_ + tree.nq;
  a_ = v_ + nv;
  tau_ = a_ + nv;
  result_ = tau_ + nv;
}

namespace {
template <class S>
const S* expand(std::span<const Model::FullVelocity> map, std::span<const S> from, bool with_offset, S* to) {
  if (!to) return from.data();
  for (std::size_t i = 0; i < map.size(); ++i)
    to[i] = static_cast<S>(map[i].multiplier) * from[map[i].source] +
            (with_offset ? static_cast<S>(map[i].offset) : 0);
  return to;
}
}  // namespace

template <class S>
const S* Workspace<S>::full_q(std::span<const S> q) {
  return expand(model_.full_coordinates(), q, true, q_);
}
template <class S>
const S* Workspace<S>::full_v(std::span<const S> v) {
  return expand(model_.full_velocities(), v, false, v_);
}
template <class S>
const S* Workspace<S>::full_a(std::span<const S> a) {
  return expand(model_.full_velocities(), a, false, a_);
}
template <class S>
const S* Workspace<S>::full_tau(std::span<const S> tau) {
  if (!tau_) return tau.data();
  const auto map = model_.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i) tau_[i] = 0;
  for (const Joint& joint : model_.joints()) {
    if (joint.mimics >= 0) continue;
    const int full = model_.full_velocity_of(joint);
    for (int i = 0; i < joint.nv; ++i) tau_[full + i] = tau[joint.v_index + i];
  }
  return tau_;
}
template <class S>
S* Workspace<S>::full_result(std::span<S> out) {
  return result_ ? result_ : out.data();
}
template <class S>
void Workspace<S>::reduce_forces(std::span<S> out) const {
  if (!result_) return;
  for (S& x : out) x = 0;
  const auto map = model_.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i)
    out[map[i].source] += static_cast<S>(map[i].multiplier) * result_[i];
}
template <class S>
void Workspace<S>::check(const char* function, const char* argument, std::size_t size,
                         std::size_t expected) const {
  if (size == expected) return;
  throw ArgumentError(fmt::format("{}: {} has {} numbers, model '{}' needs {}", function, argument, size,
                                  model_.name(), expected));
}
template <class S>
const S* Workspace<S>::check_wrenches(const char* function, std::span<const Spatial<S>> wrenches) const {
  if (wrenches.empty()) return nullptr;
  check(function, "wrenches (one per body)", wrenches.size(), model_.body_count());
  return numbers_of(wrenches[0]);
}

template <class S>
MimicCorrection<S>::MimicCorrection(const Model& model) : full_nv_(model.tree<S>().nv) {
  if (!model.has_mimics()) return;
  own_.resize(model.nv());
  for (const Joint& joint : model.joints()) {
    const int full = model.full_velocity_of(joint);
    if (joint.mimics < 0) {
      for (int i = 0; i < joint.nv; ++i) own_[joint.v_index + i] = full + i;
    } else {
      pairs_.push_back(
          {full, model.full_velocity_of(model.joints()[joint.mimics]), static_cast<S>(joint.multiplier)});
    }
  }
  const std::size_t k = pairs_.size();
  X_ = AlignedArray<S>(k * full_nv_);
  L_ = AlignedArray<S>(k * k);
  y_ = AlignedArray<S>(k);
}
template <class S>
void MimicCorrection<S>::unit_force(int row, S* full) const {
  for (int i = 0; i < full_nv_; ++i) full[i] = 0;
  full[pairs_[row].mimic] = 1;
  full[pairs_[row].source] -= pairs_[row].multiplier;
}
template <class S>
void MimicCorrection<S>::factor(const char* function) {
  const int k = count();
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j <= i; ++j) {
      const S* X = response(j);
      S sum = X[pairs_[i].mimic] - pairs_[i].multiplier * X[pairs_[i].source];
      for (int c = 0; c < j; ++c) sum -= L_[i * k + c] * L_[j * k + c];
      if (std::isnan(sum))
        throw ArgumentError(fmt::format("{}: q has numbers that are not finite", function));
      if (i == j && !(sum > 0))
        throw SingularError(fmt::format("{}: the mimic joints' own inertia is singular here", function));
      L_[i * k + j] = i == j ? std::sqrt(sum) : sum / L_[j * k + j];
    }
  }
}
template <class S>
void MimicCorrection<S>::apply(S* a) {
  const int k = count();
  for (int i = 0; i < k; ++i) {
    S sum = a[pairs_[i].mimic] - pairs_[i].multiplier * a[pairs_[i].source];
    for (int c = 0; c < i; ++c) sum -= L_[i * k + c] * y_[c];
    y_[i] = sum / L_[i * k + i];
  }
  for (int i = k - 1; i >= 0; --i) {
    for (int c = i + 1; c < k; ++c) y_[i] -= L_[c * k + i] * y_[c];
    y_[i] /= L_[i * k + i];
  }
  for (int i = 0; i < k; ++i) {
    const S* X = response(i);
    for (int r = 0; r < full_nv_; ++r) a[r] -= X[r] * y_[i];
  }
}
template <class S>
S MimicCorrection<S>::log_determinant() const {
  S sum = 0;
  for (int i = 0; i < count(); ++i) sum += 2 * std::log(L_[i * count() + i]);
  return sum;
}
template <class S>
void MimicCorrection<S>::take_own(const S* full, std::span<S> own) const {
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = full[own_[i]];
}

template class Workspace<double>;
template class Workspace<float>;
template class MimicCorrection<double>;
template class MimicCorrection<float>;

}  // namespace articula
