#include <fmt/format.h>

#include <optional>

#include "articula/algorithms/algorithms.hpp"
#include "articula/batch/failed_state.hpp"
#include "articula/spatial/finite.hpp"

namespace articula {

std::string_view name_of(Argument argument) {
  constexpr std::string_view names[argument_count] = {"q",  "v",  "a",    "tau",    "dq",
                                                      "dv", "da", "dtau", "weights"};
  return names[static_cast<int>(argument)];
}
std::size_t size_of(const Model& model, Argument argument) {
  return static_cast<std::size_t>(argument == Argument::q ? model.nq() : model.nv());
}
std::size_t length_of(const Model& model, Extent extent, std::size_t frames) {
  switch (extent) {
    case Extent::one:
      return 1;
    case Extent::three:
      return 3;
    case Extent::six:
      return 6;
    case Extent::nv:
      return static_cast<std::size_t>(model.nv());
    case Extent::task:
      return 6 * frames;
    case Extent::bodies:
      return static_cast<std::size_t>(model.body_count());
  }
  return 0;
}
std::size_t size_of(const Model& model, const Part& part, std::size_t frames) {
  return length_of(model, part.rows, frames) * length_of(model, part.columns, frames) *
         length_of(model, part.planes, frames);
}

namespace {

template <class S>
void check(const Model& model, const Algorithm& algorithm, std::size_t count, const Call<S>& call) {
  const auto require = [&](std::string_view name, std::size_t size, std::size_t expected) {
    if (size != expected)
      throw ArgumentError(fmt::format("{}: {} has {} numbers, {} of model '{}' need{} {}", algorithm.name,
                                      name, size, count == 1 ? "a state" : fmt::format("{} states", count),
                                      model.name(), count == 1 ? "s" : "", expected));
  };
  if (!algorithm.mimics && model.has_mimics())
    throw ArgumentError(fmt::format("{}: model '{}' has mimic joints, for which it is not defined",
                                    algorithm.name, model.name()));
  const std::size_t frames = call.frames.size();
  if (algorithm.frames == FramesNeeded::one ? frames != 1
                                            : algorithm.frames == FramesNeeded::several && frames == 0)
    throw ArgumentError(fmt::format("{}: {} frames given, expected {}", algorithm.name, frames,
                                    algorithm.frames == FramesNeeded::one ? "one" : "one or more"));
  for (const Argument argument : algorithm.uses)
    require(name_of(argument), call[argument].size(), count * size_of(model, argument));
  if (!call.wrenches.empty())
    require("wrenches", call.wrenches.size(), 6 * count * static_cast<std::size_t>(model.body_count()));
  if (call.out.size() != algorithm.parts.size())
    throw ArgumentError(fmt::format("{}: {} results asked for, there are {}", algorithm.name, call.out.size(),
                                    algorithm.parts.size()));
  for (std::size_t i = 0; i < algorithm.parts.size(); ++i)
    require(algorithm.parts[i].key, call.out[i].size(), count * size_of(model, algorithm.parts[i], frames));
}

template <class S>
Call<S> of_algorithm(const Algorithm& algorithm, const Call<S>& call) {
  Call<S> c = call;
  c.listed = algorithm.listed;
  if (!algorithm.has(c.method)) c.method = Method::automatic;
  return c;
}

}  // namespace

template <class S>
struct Evaluator<S>::Work {
  Work(const Model& m, const BatchOptions& o) : model(m), options(o), one(m) {}
  Model model;
  BatchOptions options;
  OneState<S> one;
  std::optional<Batch<S>> batch;
  std::vector<OneState<S>> workers;  // for what Batch does not have

  /// Where Batch has no such call, or not with these options.
  void one_by_one(const Algorithm& algorithm, std::size_t count, const Call<S>& call) {
    if (options.layout != Layout::rows)
      throw ArgumentError(fmt::format("{}: many states of it go in rows alone", algorithm.name));
    const std::size_t n = options.threads ? static_cast<std::size_t>(options.threads->count()) : 1;
    while (workers.size() < n) workers.emplace_back(model);
    std::vector<std::size_t> failed(n, count);
    batch->for_each_state(count, [&](int worker, std::size_t state) {
      Call<S> part = of_algorithm(algorithm, call);
      for (const Argument argument : algorithm.uses) {
        const std::size_t size = size_of(model, argument);
        part.in[static_cast<int>(argument)] = call[argument].subspan(state * size, size);
      }
      const std::size_t six = 6 * static_cast<std::size_t>(model.body_count());
      if (!call.wrenches.empty()) part.wrenches = call.wrenches.subspan(state * six, six);
      std::array<std::span<S>, 8> out;
      for (std::size_t i = 0; i < algorithm.parts.size(); ++i) {
        const std::size_t size = call.out[i].size() / count;
        out[i] = call.out[i].subspan(state * size, size);
      }
      part.out = std::span(out).first(algorithm.parts.size());
      try {
        algorithm.one<S>()(workers[worker], part);
      } catch (const Error&) {  // singular, or not finite: sizes are checked
        for (const std::span<S> x : part.out)
          std::fill(x.begin(), x.end(), std::numeric_limits<S>::quiet_NaN());
        failed[worker] = std::min(failed[worker], state);
      }
    });
    const std::size_t first = *std::min_element(failed.begin(), failed.end());
    if (first == count) return;
    const auto of_first = [&](std::span<const S> x) {
      return x.subspan(first * (x.size() / count), x.size() / count);
    };
    bool finite = are_finite(of_first(call.wrenches));
    for (const Argument argument : algorithm.uses) finite = finite && are_finite(of_first(call[argument]));
    throw_failed_state(algorithm.name, first, finite);
  }
};

template <class S>
Evaluator<S>::Evaluator(const Model& model, const BatchOptions& options)
    : work_(std::make_unique<Work>(model, options)) {}
template <class S>
Evaluator<S>::~Evaluator() = default;
template <class S>
Evaluator<S>::Evaluator(Evaluator&&) noexcept = default;
template <class S>
Evaluator<S>& Evaluator<S>::operator=(Evaluator&&) noexcept = default;
template <class S>
const Model& Evaluator<S>::model() const {
  return work_->model;
}
template <class S>
const std::string& Evaluator<S>::remark() const {
  return work_->one.remark();
}

template <class S>
void Evaluator<S>::one(const Algorithm& algorithm, const Call<S>& call) {
  check(work_->model, algorithm, 1, call);
  algorithm.one<S>()(work_->one, of_algorithm(algorithm, call));
}
template <class S>
void Evaluator<S>::many(const Algorithm& algorithm, std::size_t count, const Call<S>& call) {
  check(work_->model, algorithm, count, call);
  if (!call.levers.empty())
    throw ArgumentError(fmt::format("{}: levers are for one state at a time", algorithm.name));
  if (count == 0) return;
  Work& w = *work_;
  if (!w.batch) w.batch.emplace(w.model, w.options);
  const bool options = (algorithm.options_one_by_one && !call.wrenches.empty()) ||
                       (call.method != Method::automatic && algorithm.has(call.method));
  if (!algorithm.many<S>() || options || w.model.nq() == 0)
    w.one_by_one(algorithm, count, call);
  else
    algorithm.many<S>()(*w.batch, of_algorithm(algorithm, call));
}

template class Evaluator<double>;
template class Evaluator<float>;

}  // namespace articula
