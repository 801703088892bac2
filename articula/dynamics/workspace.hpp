// What every algorithm's workspace shares: the model, the kernels' arrays, and the step between a model's
// coordinates and full ones where joints mimic others.
#pragma once

#include <span>
#include <type_traits>

#include "articula/kernels/memory.hpp"
#include "articula/model/model.hpp"
#include "articula/spatial/aligned.hpp"

namespace articula {

/// A read-only argument: any contiguous range of S.
template <class S>
using In = std::span<const std::type_identity_t<S>>;
template <class S>
using Out = std::span<std::type_identity_t<S>>;
/// External forces, one (moment, force) per body, world axes, at the body's joint origin; empty: none.
template <class S>
using Wrenches = std::span<const Spatial<std::type_identity_t<S>>>;

/// Workspaces move and do not copy: what the kernels read are pointers into a workspace's own memory. One per thread:
/// a std::vector that they are emplaced in.
template <class S>
class Workspace {
 public:
  const Model& model() const { return model_; }

 protected:
  Workspace(const Model& model, const MemoryNeeds& needs);
  ~Workspace() = default;
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = default;

  /// The argument in full coordinates: itself, or expanded into memory of this workspace (q, v and a have one
  /// each).
  const S* full_q(std::span<const S> q);
  const S* full_v(std::span<const S> v);
  const S* full_a(std::span<const S> a);
  /// Joint forces in full coordinates: those of a mimic joint are zero, its source carries them.
  const S* full_tau(std::span<const S> tau);
  /// Where a kernel may put a full joint vector, and how it reaches the caller: reduced by the mimic ratios.
  S* full_result(std::span<S> out);
  void reduce_forces(std::span<S> out) const;
  void check(const char* function, const char* argument, std::size_t size, std::size_t expected) const;
  const S* check_wrenches(const char* function, std::span<const Spatial<S>> wrenches) const;
  const Tree<S>& tree() const { return model_.tree<S>(); }

  Model model_;
  AlignedArray<S> memory_, mimic_memory_;
  KernelMemory<S> m_;
  S *q_ = nullptr, *v_ = nullptr, *a_ = nullptr, *tau_ = nullptr,
    *result_ = nullptr;  // only with mimic joints
};

/// The response of a mechanism with mimic joints, a = a_free - X (C X)^-1 C a_free: C v = 0 says that each
/// mimic joint follows its source, X = M^-1 C*.
template <class S>
class MimicCorrection {
 public:
  explicit MimicCorrection(const Model& model);
  int count() const { return static_cast<int>(pairs_.size()); }
  /// Row of C, as a full joint force: +1 on the mimic joint, -multiplier on its source.
  void unit_force(int row, S* full) const;
  S* response(int row) { return X_.data() + static_cast<std::size_t>(row) * full_nv_; }
  /// Factors C X once all responses are there. Throws SingularError, or ArgumentError where they are not finite.
  void factor(const char* function);
  void apply(S* full_a);
  /// log det (C X), after factor(). det(Gamma* M Gamma) = det(M) det(C X).
  S log_determinant() const;
  /// Takes the rows of the model's own velocities out of a full vector.
  void take_own(const S* full, std::span<S> own) const;
  int full_index_of(int v) const { return own_[v]; }

 private:
  struct Pair {
    int mimic, source;  // full velocities
    S multiplier;
  };
  std::vector<Pair> pairs_;
  std::vector<int> own_;
  int full_nv_;
  AlignedArray<S> X_, L_, y_;
};

}  // namespace articula
