// Every call of cuda::Batch against the same of Batch: what the tests with the stand-in driver and the program for
// machines with a GPU share.
#pragma once

#include <cmath>
#include <functional>

#include "articula/cuda/batch.hpp"
#include "articula/model/configuration.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

/// Vectors of random states, in rows; every number moved by a few units in the last place where `moved` asks for it.
template <class S>
struct DeviceStates {
  DeviceStates(const Model& model, std::size_t states, std::uint64_t seed, bool moved = false)
      : count(states) {
    Rng rng(seed), other(seed + 99);
    for (std::size_t s = 0; s < count; ++s)
      for (const double x : random_configuration(rng, model)) in[0].push_back(static_cast<S>(x));
    for (int k = 1; k < argument_count; ++k)
      for (std::size_t i = 0; i < count * static_cast<std::size_t>(model.nv()); ++i)
        in[k].push_back(static_cast<S>(rng.uniform() * (k == 3 ? 10 : 1)));
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(model.body_count()) * 6; ++i)
      wrenches.push_back(static_cast<S>(rng.uniform()));
    if (moved)
      for (auto& x : in)
        for (S& y : x) y *= 1 + static_cast<S>(other.uniform()) * 2 * std::numeric_limits<S>::epsilon();
  }
  std::size_t count;
  std::array<std::vector<S>, argument_count> in;
  std::vector<S> wrenches;
};

/// From rows to another layout, and back.
template <class S>
std::vector<S> arranged(const std::vector<S>& x, std::size_t count, Layout layout, bool back = false) {
  if (layout == Layout::rows || x.empty()) return x;
  const std::size_t n = x.size() / count, lanes = layout == Layout::tiles ? cuda::warp : count;
  std::vector<S> out(x.size());
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = s * n + i, other = (s / lanes * n + i) * lanes + s % lanes;
      back ? out[row] = x[other] : out[other] = x[row];
    }
  return out;
}

template <class S>
double largest_of(const std::vector<S>& x) {
  double largest = 0;
  for (const S y : x) largest = std::max(largest, std::abs(static_cast<double>(y)));
  return largest;
}
/// The largest difference, relative to each state's largest number (at least a thousandth of the largest of all, and
/// `least`).
template <class S>
double worst_difference(const std::vector<S>& a, const std::vector<S>& b, std::size_t count, double least) {
  const double all = largest_of(b);
  double worst = 0;
  const std::size_t n = count ? b.size() / count : 0;
  for (std::size_t s = 0; s < count; ++s) {
    double scale = std::max({1e-3 * all, least, 1e-30}), most = 0;
    for (std::size_t i = s * n; i < (s + 1) * n; ++i) {
      scale = std::max(scale, std::abs(static_cast<double>(b[i])));
      const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      if (!(d <= most)) most = std::isnan(d) ? INFINITY : d;
    }
    worst = std::max(worst, most / scale);
  }
  return worst;
}

/// Told of every comparison: what, how far from the CPU's batch, and how far the CPU's batch moves when its arguments do by
/// rounding.
using OnDifference = std::function<void(const std::string& what, double difference, double rounding)>;

template <class S>
class DeviceComparison {
 public:
  DeviceComparison(const Model& model, const cuda::BatchOptions& options, std::size_t count,
                   OnDifference on_difference)
      : model_(model),
        options_(options),
        states_(model, count, 7),
        moved_(model, count, 7, true),
        on_difference_(std::move(on_difference)),
        device_(model, options),
        host_(model) {}

  /// One of so many parts of all there is.
  void everything(int part = 0, int parts = 1) {
    int next = 0;
    const auto mine = [&] { return next++ % parts == part; };
    for (const Algorithm& algorithm : algorithms()) {
      if (!algorithm.many<S>() || (!algorithm.mimics && model_.has_mimics())) continue;
      if (model_.has_mimics() && std::string_view(algorithm.name) == "operational_space") continue;
      if (mine()) compare(algorithm, false);
      if (algorithm.external_forces && !algorithm.options_one_by_one && mine()) compare(algorithm, true);
    }
    for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4})
      if (mine()) rollouts(integrator);
    vary();
    for (const char* const name :
         {"forward_dynamics", "inverse_dynamics", "mass_matrix", "inverse_mass_matrix", "kinetic_energy",
          "linearized_forward", "linearized_inverse", "perturbed_inverse"})
      if (mine()) compare(*find_algorithm(name), false);
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.listed >= 0 && mine()) compare(algorithm, false);
    if (mine()) rollouts(Integrator::rk4);
  }

  void compare(const Algorithm& algorithm, bool wrenches) {
    const int last = static_cast<int>(model_.frames().size()) - 1;
    std::vector<int> frames;
    if (algorithm.frames != FramesNeeded::none) frames.push_back(last);
    if (algorithm.frames == FramesNeeded::several) frames.push_back(last / 2);
    for (const Axes axes : {Axes::world, Axes::local, Axes::spatial}) {
      const std::string_view name = algorithm.name;
      const bool has_axes = algorithm.frames == FramesNeeded::one && name != "pose";
      if (axes != Axes::world && (!has_axes || name == "frame_velocity")) continue;
      std::vector<std::size_t> sizes;
      for (const Part& part : algorithm.parts) sizes.push_back(size_of(model_, part, frames.size()));
      const auto call = [&](const DeviceStates<S>& states, auto&& fill) {
        Call<S> c;
        for (const Argument argument : algorithm.uses)
          c.in[static_cast<int>(argument)] = states.in[static_cast<int>(argument)];
        if (wrenches) c.wrenches = states.wrenches;
        c.frames = frames;
        c.axes = axes;
        c.listed = algorithm.listed;
        fill(c);
      };
      const auto on_host = [&](const DeviceStates<S>& states) {
        Results r(sizes, states_.count);
        call(states, [&](Call<S>& c) {
          c.out = r.out;
          algorithm.many<S>()(host_, c);
        });
        return r;
      };
      Results mine(sizes, states_.count);
      call(states_,
           [&](Call<S>& c) { on_device(c, mine, [&](const Call<S>& d) { device_.compute(algorithm, d); }); });
      report(std::string(name) + (wrenches ? " with wrenches" : "") +
                 (has_axes ? " axes " + std::to_string(int(axes)) : ""),
             mine, on_host(states_), on_host(moved_));
    }
  }

  void rollouts(Integrator integrator) {
    for (const int forces : {0, 1, 2}) {  // none, constant, of each step
      RolloutOptions o;
      o.integrator = integrator, o.damping = forces == 1, o.steps = forces == 2 ? 3 : 6,
      o.every = forces == 2 ? 1 : 3;
      o.step = 1e-3;
      const bool speeds = forces == 1;
      const std::size_t times = o.steps / o.every, nv = model_.nv();
      const std::vector<std::size_t> sizes{times * model_.nq(), times * nv, speeds ? 1u : 0u};
      const auto tau_of = [&](const DeviceStates<S>& s) {
        std::vector<S> tau = s.in[3];
        if (forces == 0) return std::vector<S>{};
        if (forces == 1) return tau;
        std::vector<S> all;
        for (std::size_t state = 0; state < s.count; ++state)
          for (std::size_t k = 0; k < o.steps; ++k)
            for (std::size_t i = 0; i < nv; ++i) all.push_back(tau[state * nv + i] * S(k + 1));
        return all;
      };
      const auto on_host = [&](const DeviceStates<S>& states) {
        Results r(sizes, states.count);
        host_.rollout(states.in[0], states.in[1], tau_of(states), o, r.out[0], r.out[1],
                      speeds ? r.out[2] : std::span<S>());
        return r;
      };
      Results mine(sizes, states_.count);
      const std::vector<S> tau = tau_of(states_);
      Call<S> c;
      c.in[0] = states_.in[0], c.in[1] = states_.in[1], c.in[3] = tau;
      on_device(c, mine, [&](const Call<S>& d) {
        device_.rollout(d.in[0], d.in[1], d.in[3], o, d.out[0], d.out[1], speeds ? d.out[2] : std::span<S>());
      });
      report("rollout " + std::string(name_of(integrator)) + " forces " + std::to_string(forces), mine,
             on_host(states_), on_host(moved_));
    }
  }

  cuda::Batch<S>& device() { return device_; }
  const DeviceStates<S>& states() const { return states_; }

 private:
  /// Masses of their own for all states, from here on.
  void vary() {
    Rng rng(5);
    const std::vector<double> own = inertial_parameters(model_);
    std::vector<S> inertias, armature;
    for (std::size_t s = 0; s < states_.count; ++s) {
      const double factor = rng.uniform(0.5, 2);
      for (const double x : own) inertias.push_back(static_cast<S>(factor * x));
      for (int i = 0; i < model_.nv(); ++i) armature.push_back(static_cast<S>(rng.uniform(0, 0.1)));
    }
    host_.vary(inertias, armature);
    device_.vary(arranged(inertias, states_.count, options_.layout),
                 arranged(armature, states_.count, options_.layout));
  }
  struct Results {
    Results(const std::vector<std::size_t>& sizes, std::size_t count) {
      for (const std::size_t n : sizes) numbers.emplace_back(n * count, S(-7));
      for (auto& x : numbers) out.emplace_back(x);
    }
    std::vector<std::vector<S>> numbers;
    std::vector<std::span<S>> out;
  };
  /// Arguments to where the batch wants them, f, and results back.
  template <class F>
  void on_device(const Call<S>& call, Results& results, const F& f) {
    const std::size_t count = states_.count;
    Call<S> d = call;
    std::vector<std::vector<S>> arguments;
    const auto rearranged = [&](std::span<const S> x) {
      arguments.push_back(arranged(std::vector<S>(x.begin(), x.end()), count, options_.layout));
      return std::span<const S>(arguments.back());
    };
    arguments.reserve(32);
    for (auto& x : d.in) x = rearranged(x);
    d.wrenches = rearranged(d.wrenches);
    if (options_.memory == cuda::Where::host) {
      d.out = results.out;
      f(d);
    } else {
      std::vector<cuda::Array<S>> arrays;
      std::vector<std::span<S>> out;
      arrays.reserve(32);
      const auto there = [&](std::span<const S> x) {
        arrays.emplace_back(options_.device, x.size());
        arrays.back().upload(x);
        return std::span<S>(arrays.back());
      };
      for (auto& x : d.in)
        if (!x.empty()) x = there(x);
      if (!d.wrenches.empty()) d.wrenches = there(d.wrenches);
      const std::size_t first = arrays.size();
      for (const auto& x : results.out) out.push_back(there(x));
      d.out = out;
      f(d);
      device_.check();
      for (std::size_t i = 0; i < results.numbers.size(); ++i) arrays[first + i].download(results.numbers[i]);
    }
    for (auto& x : results.numbers) x = arranged(x, count, options_.layout, true);
  }
  void report(const std::string& what, const Results& mine, const Results& theirs, const Results& moved) {
    double difference = 0, rounding = 0, least = 0;
    // A result that is zero but for rounding is judged by those beside it.
    for (const auto& x : theirs.numbers) least = std::max(least, 1e-6 * largest_of(x));
    for (std::size_t i = 0; i < mine.numbers.size(); ++i) {
      difference =
          std::max(difference, worst_difference(mine.numbers[i], theirs.numbers[i], states_.count, least));
      rounding =
          std::max(rounding, worst_difference(moved.numbers[i], theirs.numbers[i], states_.count, least));
    }
    on_difference_(what, difference, rounding);
  }

  Model model_;
  cuda::BatchOptions options_;
  DeviceStates<S> states_, moved_;
  OnDifference on_difference_;
  cuda::Batch<S> device_;
  Batch<S> host_;
};

}  // namespace articula::testing
