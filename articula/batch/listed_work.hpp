// A listed kernel (articula/kernels/listed.hpp) at one state: its memory, and the step between a model's own numbers and
// full ones. Only for articula/batch/*.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "articula/batch/mimics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

/// What all listed kernels need of memory.
inline MemoryNeeds needs_of_listed(const Model& model) {
  MemoryNeeds needs;
  for (const ListedKernel& kernel : kernel_set().listed)
    needs = needs | (model.has_mimics() ? needs_with_mimics(kernel.needs, kernel.mimics) : kernel.needs);
  return needs;
}

/// Memory of the listed kernels.
template <class S>
class ListedWork : public Workspace<S> {
 public:
  explicit ListedWork(const Model& model) : Workspace<S>(model, needs_of_listed(model)) {}

  void run(int number, std::span<const std::span<const S>> in, std::span<const S> wrenches, int frame,
           Axes axes, std::span<const std::span<S>> out) {
    const ListedKernel& kernel = kernel_set().listed[number];
    KernelCall<S> c;
    c.axes = axes;
    if (kernel.frames != FramesNeeded::none) c.frame = frame_on_body<S>(this->model_, frame);
    for (const Argument argument : kernel.uses)
      c.in[static_cast<int>(argument)] = taken(kernel.name, argument, in[static_cast<int>(argument)]);
    if (kernel.external_forces && !wrenches.empty()) {
      this->check(kernel.name, "wrenches", wrenches.size(), 6 * this->model_.bodies().size());
      c.wrenches = wrenches.data();
    }
    for (std::size_t i = 0; i < kernel.parts.size(); ++i) {
      c.out[i] = out[i].data();
      if (!is_added(kernel, i)) continue;
      full_out_[i].resize(
          batching::full_size(this->model_, batching::numbers_of_part(kernel.parts[i]), out[i].size()));
      c.out[i] = full_out_[i].data();
    }
    if (!(kernel.template in<S>().one(this->tree(), c, this->m_) > 0))
      refuse(kernel.name, in[static_cast<int>(Argument::q)]);
    for (std::size_t i = 0; i < kernel.parts.size(); ++i)
      if (is_added(kernel, i))
        batching::reduce(this->model_, batching::numbers_of_part(kernel.parts[i]), out[i].size(), 1, c.out[i],
                         out[i].data());
  }

 private:
  /// Whether a result comes in full coordinates, mimic joints still to be added up.
  bool is_added(const ListedKernel& kernel, std::size_t part) const {
    return this->model_.has_mimics() && kernel.mimics == Mimics::added &&
           batching::numbers_of_part(kernel.parts[part]) != batching::Numbers::other;
  }
  const S* taken(const char* name, Argument argument, std::span<const S> x) {
    const bool q = argument == Argument::q;
    this->check(name, q ? "q" : "a vector", x.size(), q ? this->model_.nq() : this->model_.nv());
    if (!this->model_.has_mimics() || is_joint_force(argument)) return x.data();
    std::vector<S>& full = full_in_[static_cast<int>(argument)];
    full.resize(static_cast<std::size_t>(std::max(this->tree().nq, this->tree().nv)));
    batching::expand(this->model_, q ? batching::Numbers::coordinates : batching::Numbers::velocities, 1,
                     x.data(), full.data());
    return full.data();
  }
  [[noreturn]] void refuse(const char* function, std::span<const S> q) const {
    MassFactor<S>(this->model_).factor(q);  // names the joint
    throw ArgumentError(fmt::format("{}: the arguments are not finite numbers", function));
  }

  std::array<std::vector<S>, argument_count> full_in_;  // only with mimic joints
  std::array<std::vector<S>, 8> full_out_;
};

}  // namespace articula
