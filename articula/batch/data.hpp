// What Batch's calls share: the memory of each thread, the two layouts, and the loops over tiles of states.
// Only for articula/batch/*.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/batch/kernels.hpp"
#include "articula/dynamics/mass_matrix.hpp"

namespace articula {

namespace batching {

/// What the numbers of an argument are: mimic joints have none of their own, and are filled in or added up.
enum class Numbers { coordinates, velocities, forces, matrix, other };

template <class S>
struct Input {
  const char* name;
  std::span<const S> x;
  Numbers kind;
  std::size_t n;  // of one state
};
template <class S>
struct Output {
  const char* name;
  std::span<S> x;
  Numbers kind;
  std::size_t n;
};

/// The linearizations' tables of columns, which do not depend on the scalar.
template <class S>
struct Columns : LinearizationWorkspace<S> {
  explicit Columns(const Model& model) : LinearizationWorkspace<S>(model, {}, {}) {}
  using LinearizationWorkspace<S>::lin_;
};

constexpr int most_inputs = 6, most_outputs = 3;
/// Matrices of larger models are made one state at a time: eight of them at once leave the first cache, and
/// one state's own algorithms then keep registers as full (docs/performance.md).
constexpr int most_velocities_in_lanes = 20;
constexpr std::size_t nothing_failed = std::numeric_limits<std::size_t>::max();

/// What one thread works in.
template <class S>
struct Worker {
  using Lanes = Pack<S, most_lanes>;
  AlignedArray<Lanes> memory, linearization;
  KernelMemory<S> m;
  LinearizationMemory<S> lin;
  AlignedArray<Lanes> in[most_inputs], full[most_inputs], out[most_outputs], full_out[most_outputs],
      scratch[2];
  S smallest[most_lanes];
  std::size_t failed = nothing_failed;  // the first state of its tiles that was singular
  // One state at a time, where mimic joints take more than filling in, or matrices are large.
  std::optional<ForwardDynamics<S>> forward;
  std::optional<MassMatrix<S>> mass;
  std::optional<MassFactor<S>> factor;
  std::optional<LinearizedInverse<S>> linearized_inverse;
  std::optional<LinearizedForward<S>> linearized;
  std::optional<Kinematics<S>> kinematics;
};

template <class S>
S* numbers(AlignedArray<Pack<S, most_lanes>>& lanes) {
  return reinterpret_cast<S*>(lanes.data());
}
/// The same arrays, as pointers to numbers.
template <class S>
KernelMemory<S> flat(const KernelMemory<Pack<S, most_lanes>>& m) {
  const auto f = [](auto* p) { return reinterpret_cast<S*>(p); };
  return {f(m.x),     f(m.side), f(m.K), f(m.D), f(m.inv_D), f(m.nu),   f(m.lambda),
          f(m.roots), f(m.Hs),   f(m.X), f(m.p), f(m.V),     f(m.alpha)};
}

}  // namespace batching

template <class S>
struct Batch<S>::Data {
  using Input = batching::Input<S>;
  using Output = batching::Output<S>;
  using Worker = batching::Worker<S>;
  using Numbers = batching::Numbers;

  Model model;
  BatchOptions options;
  const BatchTable<S>& table;
  const Tree<S>& tree;
  std::optional<batching::Columns<S>> columns;  // made by the first linearization, like what goes with it
  std::vector<Worker> workers;

  Data(const Model& m, const BatchOptions& o)
      : model(m),
        options(o),
        table((kernels<S>(), batch_kernels<S>())),
        tree(model.tree<S>()),
        workers(o.threads ? o.threads->count() : 1) {
    const std::size_t nv = tree.nv, vector = std::max<std::size_t>(tree.nq, nv);
    // Large matrices go straight into the caller's rows, or through room for one.
    const std::size_t square = !large()                            ? nv * nv
                               : options.layout == Layout::columns ? (nv * nv + most_lanes - 1) / most_lanes
                                                                   : 0;
    const std::size_t matrix = std::max<std::size_t>(square, 12 + 6 * nv);
    for (Worker& w : workers) {
      KernelMemory<Pack<S, most_lanes>> m;
      w.memory = kernel_arrays(
          tree,
          {.side = true, .factor = true, .keep_D = true, .solve = true, .composite = true, .motion = true},
          m);
      w.m = batching::flat<S>(m);
      for (auto& x : w.in) x = AlignedArray<Pack<S, most_lanes>>(vector);
      for (auto& x : w.out) x = AlignedArray<Pack<S, most_lanes>>(matrix);
      for (auto& x : w.scratch) x = AlignedArray<Pack<S, most_lanes>>(nv);
      if (model.has_mimics()) {
        for (auto& x : w.full) x = AlignedArray<Pack<S, most_lanes>>(vector);
        for (auto& x : w.full_out) x = AlignedArray<Pack<S, most_lanes>>(matrix);
        w.forward.emplace(model);
      }
      w.kinematics.emplace(model);
    }
  }

  void prepare_linearization() {
    if (columns) return;
    columns.emplace(model);
    for (Worker& w : workers) {
      LinearizationMemory<Pack<S, most_lanes>> l;
      w.linearization = linearization_arrays(tree, {.columns = true, .direct = true}, l);
      const auto f = [](auto* p) { return reinterpret_cast<S*>(p); };
      w.lin = columns->lin_;
      w.lin.k = w.m;
      w.lin.y = f(l.y), w.lin.columns = f(l.columns), w.lin.side = f(l.side), w.lin.own = f(l.own);
      w.lin.row = f(l.row), w.lin.direct = f(l.direct), w.lin.t = f(l.t), w.lin.result = f(l.result);
    }
  }
  /// A workspace for one state, made when it is first asked for.
  template <class W>
  W& one(std::optional<W>& work) const {
    if (!work) work.emplace(model);
    return *work;
  }
  bool large() const { return model.nv() > batching::most_velocities_in_lanes; }

  std::size_t count_of(const char* function, std::span<const S> q) const {
    const std::size_t nq = model.nq();
    if (nq == 0)
      throw ArgumentError(fmt::format("{}: model '{}' has no joint that moves", function, model.name()));
    if (q.size() % nq)
      throw ArgumentError(fmt::format("{}: q has {} numbers, no multiple of nq = {} of model '{}'", function,
                                      q.size(), nq, model.name()));
    return q.size() / nq;
  }

  template <class F>
  void on_threads(std::size_t tiles, const F& f) {  // f(worker, tile)
    const std::size_t n = std::min(workers.size(), tiles);
    if (n <= 1) {
      for (std::size_t tile = 0; tile < tiles; ++tile) f(0, tile);
      return;
    }
    const auto share = [&](int worker) {
      const std::size_t w = worker;
      if (w >= n) return;
      for (std::size_t tile = tiles * w / n; tile < tiles * (w + 1) / n; ++tile) f(worker, tile);
    };
    options.threads->run([&share](int worker) { share(worker); });
  }

  void take(const Input& input, std::size_t count, std::size_t first, int used, S* lanes) const {
    if (options.layout == Layout::rows) {
      table.gather(input.x.data() + first * input.n, static_cast<long>(input.n), used, lanes);
      return;
    }
    table.gather_columns(input.x.data() + first, static_cast<long>(input.n), static_cast<long>(count), used,
                         lanes);
  }
  void give(const Output& output, std::size_t count, std::size_t first, int used, const S* lanes) const {
    if (options.layout == Layout::rows) {
      table.scatter(lanes, static_cast<long>(output.n), used, output.x.data() + first * output.n);
      return;
    }
    table.scatter_columns(lanes, static_cast<long>(output.n), static_cast<long>(count), used,
                          output.x.data() + first);
  }

  /// Mimic joints' own numbers, from those that they follow.
  void expand(Numbers kind, const S* own, S* full) const {
    const auto map = kind == Numbers::coordinates ? model.full_coordinates() : model.full_velocities();
    for (std::size_t i = 0; i < map.size(); ++i)
      for (int s = 0; s < table.lanes; ++s)
        full[i * table.lanes + s] = static_cast<S>(map[i].multiplier) * own[map[i].source * table.lanes + s] +
                                    (kind == Numbers::coordinates ? static_cast<S>(map[i].offset) : 0);
  }
  void reduce(Numbers kind, const S* full, S* own) const {
    const auto map = model.full_velocities();
    const std::size_t n = map.size(), nv = model.nv(), lanes = table.lanes;
    std::fill_n(own, (kind == Numbers::matrix ? nv * nv : nv) * lanes, S(0));
    for (std::size_t i = 0; i < n; ++i) {
      if (kind != Numbers::matrix) {
        for (std::size_t s = 0; s < lanes; ++s)
          own[map[i].source * lanes + s] += static_cast<S>(map[i].multiplier) * full[i * lanes + s];
        continue;
      }
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t s = 0; s < lanes; ++s)
          own[(map[i].source * nv + map[j].source) * lanes + s] +=
              static_cast<S>(map[i].multiplier * map[j].multiplier) * full[(i * n + j) * lanes + s];
    }
  }

  /// Checks sizes, then f(worker, in, out) on tiles of states; arrays are in lanes and full coordinates.
  template <class F>
  void call(const char* function, std::initializer_list<Input> inputs, std::initializer_list<Output> outputs,
            const F& f) {
    const std::size_t count = check(function, inputs, outputs);
    const bool mimics = model.has_mimics();
    on_threads((count + table.lanes - 1) / table.lanes, [&](int index, std::size_t tile) {
      Worker& w = workers[index];
      const std::size_t first = tile * table.lanes;
      const int used = static_cast<int>(std::min<std::size_t>(table.lanes, count - first));
      const S* in[batching::most_inputs] = {};
      S* out[batching::most_outputs] = {};
      int i = 0;
      for (const Input& input : inputs) {
        take(input, count, first, used, batching::numbers(w.in[i]));
        in[i] = batching::numbers(w.in[i]);
        if (mimics && input.kind != Numbers::other) {
          expand(input.kind, in[i], batching::numbers(w.full[i]));
          in[i] = batching::numbers(w.full[i]);
        }
        ++i;
      }
      i = 0;
      for (const Output& output : outputs) {
        out[i] = mimics && output.kind != Numbers::other ? batching::numbers(w.full_out[i])
                                                         : batching::numbers(w.out[i]);
        ++i;
      }
      std::fill_n(w.smallest, table.lanes, S(1));
      f(w, in, out);
      for (int s = 0; s < used; ++s)
        if (!(w.smallest[s] > 0)) w.failed = std::min(w.failed, first + s);
      i = 0;
      for (const Output& output : outputs) {
        if (mimics && output.kind != Numbers::other) reduce(output.kind, out[i], batching::numbers(w.out[i]));
        S* const lanes = batching::numbers(w.out[i++]);
        for (int s = 0; s < used; ++s)
          if (!(w.smallest[s] > 0))
            for (std::size_t c = 0; c < output.n; ++c)
              lanes[c * table.lanes + s] = std::numeric_limits<S>::quiet_NaN();
        give(output, count, first, used, lanes);
      }
    });
    report(function);
  }

  /// The same one state at a time: f(worker, in, out), arrays of one state in the model's own coordinates.
  template <class F>
  void call_one_by_one(const char* function, std::initializer_list<Input> inputs,
                       std::initializer_list<Output> outputs, const F& f) {
    const std::size_t count = check(function, inputs, outputs);
    on_threads(count, [&](int index, std::size_t state) {
      Worker& w = workers[index];
      std::span<const S> in[batching::most_inputs];
      std::span<S> out[batching::most_outputs];
      const bool in_place = options.layout == Layout::rows;
      int i = 0;
      for (const Input& input : inputs) {
        S* const x = batching::numbers(w.in[i]);
        for (std::size_t c = 0; !in_place && c < input.n; ++c) x[c] = input.x[c * count + state];
        in[i++] = in_place ? input.x.subspan(state * input.n, input.n) : std::span<const S>(x, input.n);
      }
      i = 0;
      for (const Output& output : outputs) {
        out[i] = in_place ? output.x.subspan(state * output.n, output.n)
                          : std::span<S>(batching::numbers(w.out[i]), output.n);
        ++i;
      }
      bool singular = false;
      try {
        f(index, in, out);
      } catch (const SingularError&) {
        singular = true;
        w.failed = std::min(w.failed, state);
      }
      i = 0;
      for (const Output& output : outputs) {
        if (singular) std::fill(out[i].begin(), out[i].end(), std::numeric_limits<S>::quiet_NaN());
        for (std::size_t c = 0; !in_place && c < output.n; ++c) output.x[c * count + state] = out[i][c];
        ++i;
      }
    });
    report(function);
  }
  std::size_t check(const char* function, std::initializer_list<Input> inputs,
                    std::initializer_list<Output> outputs) const {
    const std::size_t count = count_of(function, inputs.begin()->x);
    const auto require = [&](const char* name, std::size_t size, std::size_t n) {
      if (size != count * n)
        throw ArgumentError(fmt::format("{}: {} has {} numbers, {} states of model '{}' need {}", function,
                                        name, size, count, model.name(), count * n));
    };
    for (const Input& i : inputs) require(i.name, i.x.size(), i.n);
    for (const Output& o : outputs) require(o.name, o.x.size(), o.n);
    return count;
  }
  /// After the last state: throws for the first that was singular.
  void report(const char* function) {
    std::size_t failed = batching::nothing_failed;
    for (Worker& w : workers) {
      failed = std::min(failed, w.failed);
      w.failed = batching::nothing_failed;
    }
    if (failed == batching::nothing_failed) return;
    throw SingularError(
        fmt::format("{}: in state {} some joint has nothing to move, or its numbers are not finite; its "
                    "results are NaN, all "
                    "other states are done",
                    function, failed));
  }

  Input q(In<S> x) const { return {"q", x, Numbers::coordinates, static_cast<std::size_t>(model.nq())}; }
  Input v(const char* name, In<S> x) const {
    return {name, x, Numbers::velocities, static_cast<std::size_t>(model.nv())};
  }
  Output forces(const char* name, Out<S> x) const {
    return {name, x, Numbers::forces, static_cast<std::size_t>(model.nv())};
  }
  Output matrix(const char* name, Out<S> x) const {
    return {name, x, Numbers::matrix, static_cast<std::size_t>(model.nv()) * model.nv()};
  }
  Output other(const char* name, Out<S> x, std::size_t n) const { return {name, x, Numbers::other, n}; }
};

}  // namespace articula
