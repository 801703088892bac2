// Masses and inertias of each state: arguments of vary(), in any layout, checked and turned into the kernels' constants.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "articula/batch/data.hpp"
#include "articula/model/inertial_parameters.hpp"

namespace articula {

template <class S>
class VariedInertias {
 public:
  /// Constants of a body, from constant::mp on.
  static constexpr int each = constant::count - constant::mp;
  static_assert(sizeof(InertialConstants) == each * sizeof(double));

  /// Checks sizes. lanes: of a tile of the layout. Empty inertias or armature: the model's. armature_of: the caller's, to
  /// keep from one call to the next; empty at first.
  VariedInertias(const Model& model, Layout layout, std::size_t lanes, std::span<const S> inertias,
                 std::span<const S> armature, std::vector<int>& armature_of)
      : model_(model),
        layout_(layout),
        lanes_(lanes),
        inertias_(inertias),
        armature_(armature),
        own_(armature_of) {
    const std::size_t bodies = model.body_count(), nv = model.nv(), n = inertial_parameter_count * bodies;
    if (nv == 0) throw ArgumentError(fmt::format("vary: model '{}' has no joint that moves", model.name()));
    if (inertias.empty() && armature.empty())
      throw ArgumentError("vary: no numbers; use_model_inertias() goes back to the model's own");
    if (inertias.size() % n)
      throw ArgumentError(fmt::format(
          "vary: inertias has {} numbers, no multiple of {} ({} for each of the {} bodies of model '{}')",
          inertias.size(), n, inertial_parameter_count, bodies, model.name()));
    if (armature.size() % nv)
      throw ArgumentError(fmt::format("vary: armature has {} numbers, no multiple of nv = {} of model '{}'",
                                      armature.size(), nv, model.name()));
    count = inertias.empty() ? armature.size() / nv : inertias.size() / n;
    if (!armature.empty() && armature.size() / nv != count)
      throw ArgumentError(
          fmt::format("vary: armature of {} states, inertias of {}", armature.size() / nv, count));
    if (layout == Layout::tiles && count % lanes)
      throw ArgumentError(
          fmt::format("vary: {} states, no multiple of the {} of a tile (Batch::lanes)", count, lanes));
    // Which of the model's own velocities a full one takes its armature from; -1: none, it keeps its own.
    if (!own_.empty()) return;
    own_.assign(numbers_of_armature(), -1);
    for (const Joint& joint : model.joints())
      for (int i = 0; joint.mimics < 0 && i < joint.nv; ++i)
        own_[model.full_velocity_of(joint) + i] = joint.v_index + i;
  }

  std::size_t count;  // of states
  /// Of one state, as the kernels take them.
  std::size_t numbers_of_inertias() const { return static_cast<std::size_t>(model_.body_count()) * each; }
  std::size_t numbers_of_armature() const { return static_cast<std::size_t>(model_.tree<S>().nv); }

  /// The first thing that is wrong with a state's numbers.
  std::optional<std::string> problem_in(std::size_t state) const {
    constexpr double rounding = std::numeric_limits<S>::epsilon();
    for (std::size_t body = 0; !inertias_.empty() && body < model_.bodies().size(); ++body)
      if (const auto problem = problem_with(of(state, body), rounding))
        return fmt::format("vary: state {}, body '{}': {}", state, model_.bodies()[body].name, *problem);
    const std::size_t nv = model_.nv();
    for (std::size_t i = 0; !armature_.empty() && i < nv; ++i) {
      const double x = number(armature_, nv, state, i);
      if (!(x >= 0 && x <= 1e30))
        return fmt::format("vary: state {}: armature {} is {}, expected zero or more", state, i, x);
    }
    return std::nullopt;
  }

  /// Constants and armatures of the states of a tile of `lanes`, number by number; beyond the last state, the last one.
  void put_tile(std::size_t tile, std::size_t lanes, S* to, S* rotors) const {
    const Tree<S>& tree = model_.tree<S>();
    const std::size_t bodies = tree.bodies;
    for (std::size_t s = 0; s < lanes; ++s) {
      const std::size_t state = std::min(tile * lanes + s, count - 1);
      for (std::size_t body = 0; body < bodies; ++body) {
        S* const at = to + body * each * lanes + s;
        if (inertias_.empty()) {
          const S* const c = tree.constants_of(static_cast<int>(body) + 1);
          for (int i = 0; i < each; ++i) at[i * lanes] = c[block * (constant::mp + i)];
          continue;
        }
        const InertialConstants c = inertial_constants(of(state, body), model_.bodies()[body].link_axes);
        const auto* const numbers = reinterpret_cast<const double*>(&c);
        for (int i = 0; i < each; ++i) at[i * lanes] = static_cast<S>(numbers[i]);
      }
      for (std::size_t i = 0; i < own_.size(); ++i)
        rotors[i * lanes + s] = armature_.empty() || own_[i] < 0
                                    ? tree.armature[i]
                                    : number(armature_, model_.nv(), state, own_[i]);
    }
  }

 private:
  S number(std::span<const S> x, std::size_t n, std::size_t state, std::size_t i) const {
    return x[batching::place(layout_, lanes_, count, n, state, i)];
  }
  InertialParameters of(std::size_t state, std::size_t body) const {
    InertialParameters p;
    for (std::size_t i = 0; i < p.size(); ++i)
      p[i] = number(inertias_, p.size() * model_.body_count(), state, body * p.size() + i);
    return p;
  }

  const Model& model_;
  Layout layout_;
  std::size_t lanes_;
  std::span<const S> inertias_, armature_;
  std::vector<int>& own_;
};

}  // namespace articula
