// The states of articula eval, computed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "articula/spatial/numbers.hpp"
#include "cli/closed_model.hpp"
#include "cli/device.hpp"
#include "cli/eval_results.hpp"
#include "cli/joint_losses.hpp"
#include "cli/messages.hpp"
#include "cli/states.hpp"

namespace articula::cli {

/// Remarks beside results, on stderr: of many states only the first ones.
class Notes {
 public:
  void add(std::size_t state, const std::string& text) {
    if (text.empty() || ++count_ > shown) return;
    say("note: state {}: {}", state, text);
  }
  void finish() const {
    if (count_ > shown) say("note: and {} more such notes", count_ - shown);
  }

 private:
  static constexpr std::size_t shown = 10;
  std::size_t count_ = 0;
};

/// Computes stretches of states: together where they are many, then alone those that have more to say.
class Evaluation {
 public:
  Evaluation(const Model& model, const std::vector<const Algorithm*>& wanted, std::vector<int> frames,
             Method method, std::optional<int> device, ClosedModel* closed, JointLosses* losses)
      : model_(model),
        closed_(closed),
        losses_(losses),
        frames_(std::move(frames)),
        method_(method),
        evaluator_(model),
        kinematics_(model) {
    for (auto* const all : {&values_, &singles_})
      for (const Algorithm* k : wanted) all->emplace_back(*k, model, frames_.size());
    const std::size_t numbers = static_cast<std::size_t>(model.nv()) * model.nv() + 1;
    at_once_ = std::clamp<std::size_t>(2'000'000 / numbers, 1, 512);
    if (!device) return;
    device_.emplace(device_batch(model, *device));
    at_once_ = std::clamp<std::size_t>(20'000'000 / numbers, 1, 16384);
  }

  std::size_t at_once() const { return at_once_; }
  std::vector<Quantity> quantities() const {
    std::vector<Quantity> out;
    for (const Values& values : values_) out.push_back(values.quantity);
    return out;
  }
  /// The number of the state that comes next.
  void begin_at(std::size_t state) { index_ = state; }
  std::size_t index() const { return index_; }

  /// The results of the next states.
  void add(std::span<const State> states, Results& results) {
    if (closed_) states = settled(states);
    const auto plain = [](const State& s) { return s.wrenches.empty(); };
    const bool together =
        states.size() >= few && std::all_of(states.begin(), states.end(), plain) && compute(states);
    for (std::size_t i = 0; i < states.size(); ++i, ++index_) {
      collect(states[i], together ? i : alone);
      results.add(found_);
    }
  }
  void finish() const { notes_.finish(); }

 private:
  bool is_closed(const Algorithm& algorithm) const { return closed_ && ClosedModel::changes(algorithm); }
  /// On the constraints.
  std::span<const State> settled(std::span<const State> states) {
    settled_.assign(states.begin(), states.end());
    for (std::size_t i = 0; i < settled_.size(); ++i)
      with_number(index_ + i, [&] { closed_->settle(settled_[i]); });
    return settled_;
  }
  /// What cannot be computed, or is given wrong, says of which state that is.
  template <class F>
  void with_number(std::size_t state, F&& f) {
    try {
      f();
    } catch (const SingularError& error) {
      throw ComputationError(fmt::format("state {}: {}", state, error.what()));
    } catch (const ModelError& error) {
      throw InputError(fmt::format("state {}: {}", state, error.what()));
    }
  }
  static constexpr std::size_t few = 8;  // states: Batch gains nothing on less
  static constexpr std::size_t alone = static_cast<std::size_t>(-1);

  Call<double> call() const {
    Call<double> c;
    c.frames = frames_;
    c.method = method_;
    return c;
  }
  /// False: one at a time after all.
  bool compute(std::span<const State> states) {
    if (model_.nq() == 0) return false;
    Call<double> c = call();
    for (int k = 0; k < argument_count; ++k) {
      auto& all = together_[k];
      all.clear();
      for (const State& state : states)
        all.insert(all.end(), state.vectors[k].begin(), state.vectors[k].end());
      c.in[k] = all;
    }
    for (Values& values : values_) {
      if (is_closed(values.algorithm) || has_losses(values.algorithm)) continue;
      c.frames = std::span(frames_).first(values.algorithm.frames == FramesNeeded::none ? 0 : frames_.size());
      c.out = values.room(states.size());
      try {
        if (device_ && on_devices(model_, values.algorithm))
          device_->compute(values.algorithm, c);
        else
          evaluator_.many(values.algorithm, states.size(), c);
      } catch (const SingularError&) {  // those states have NaN, and say more when they are done alone
      } catch (const NotFiniteError&) {
      }
    }
    return true;
  }
  void collect(const State& state, std::size_t place) {
    found_.clear();
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (place != alone && !is_closed(values_[k].algorithm) && !has_losses(values_[k].algorithm) &&
          values_[k].finite(place) && !values_[k].deficient(place)) {
        found_.push_back(values_[k].at(place));
        continue;
      }
      Values& single = singles_[k];
      compute_alone(single, state);
      notes_.add(index_, evaluator_.remark());
      if (!single.finite(0))
        throw ComputationError(fmt::format("state {}: {} is not finite; are the state's numbers too large?",
                                           index_, single.algorithm.name));
      found_.push_back(single.at(0));
    }
  }
  void compute_alone(Values& values, const State& state) {
    Call<double> c = call();
    for (int k = 0; k < argument_count; ++k) c.in[k] = state.vectors[k];
    if (!state.wrenches.empty() && values.algorithm.external_forces) {
      kinematics_.update(state[Argument::q]);
      body_wrenches(state, kinematics_, wrenches_);
      c.wrenches = {numbers_of(wrenches_[0]), 6 * wrenches_.size()};
      // External forces keep their world components, at their frame's origin, when the bodies move.
      if (values.algorithm.options_one_by_one) body_levers(state, kinematics_, levers_), c.levers = levers_;
    }
    c.out = values.room(1);
    with_number(index_, [&] {
      if (is_closed(values.algorithm))
        evaluate_closed(values.algorithm, state, c);
      else
        evaluate_one(values.algorithm, c);
    });
  }
  void evaluate_closed(const Algorithm& algorithm, const State& state, Call<double>& c) {
    const Wrenches<double> wrenches = state.wrenches.empty() ? Wrenches<double>{} : wrenches_;
    if (!has_losses(algorithm)) return closed_->compute(algorithm, state, wrenches, frames_, c.out);
    losses_->before(algorithm, c);
    State with_losses = state;
    for (const Argument x : {Argument::tau, Argument::dtau})
      with_losses.vectors[static_cast<int>(x)].assign(c[x].begin(), c[x].end());
    closed_->compute(algorithm, with_losses, wrenches, frames_, c.out);
    losses_->after(algorithm, c);
  }

  bool has_losses(const Algorithm& algorithm) const { return losses_ && losses_->act_on(algorithm); }
  void evaluate_one(const Algorithm& algorithm, Call<double>& c) {
    if (!has_losses(algorithm)) return evaluator_.one(algorithm, c);
    losses_->before(algorithm, c);
    evaluator_.one(algorithm, c);
    losses_->after(algorithm, c);
  }

  const Model& model_;
  ClosedModel* const closed_;  // null: the model is its tree, or states need not fit
  JointLosses* const losses_;  // null: none
  std::vector<State> settled_;
  std::vector<int> frames_;
  Method method_;
  Evaluator<> evaluator_;
  std::optional<cuda::Batch<double>> device_;  // where states go that are many
  Kinematics<> kinematics_;
  std::vector<Spatial<double>> wrenches_;
  std::vector<Mat3<double>> levers_;
  std::vector<Values> values_, singles_;  // of a stretch; of a state that is computed alone
  std::vector<Result> found_;
  Notes notes_;
  std::size_t index_ = 0;
  std::array<std::vector<double>, argument_count> together_;
  std::size_t at_once_;
};

}  // namespace articula::cli
