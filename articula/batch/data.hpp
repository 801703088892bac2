// What Batch's calls share: the memory of each thread, the layouts, and the loops over tiles of states.
// Only for articula/batch/*.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/batch/callback.hpp"
#include "articula/batch/failed_state.hpp"
#include "articula/batch/mimics.hpp"
#include "articula/batch/one_state.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/model/manifold.hpp"

namespace articula {

namespace batching {

/// Arguments or results of a call.
template <class T>
struct ListOf {
  const T *first, *last;
  ListOf(std::initializer_list<T> list) : first(list.begin()), last(list.end()) {}
  ListOf(const std::vector<T>& list) : first(list.data()), last(list.data() + list.size()) {}
  const T* begin() const { return first; }
  const T* end() const { return last; }
};

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

constexpr int most_inputs = 6, most_outputs = 10;
constexpr int usual_outputs = 3;  // room for these is made with the batch
/// Matrices of larger models are made one state at a time: eight of them at once leave the second cache, and
/// one state's own algorithms then keep registers as full (docs/performance.md).
constexpr int most_velocities_in_lanes = 48;
/// Longer chains leave the last cache eight times as early in lanes as one state does.
constexpr int most_bodies_in_lanes = 2000;
constexpr std::size_t nothing_failed = std::numeric_limits<std::size_t>::max();

/// The tiles of states that a thread begins with.
struct alignas(64) Share {
  std::atomic<std::size_t> next{0};
  std::size_t end = 0;
};

/// What one thread works in.
template <class S>
struct Worker {
  using Lanes = Pack<S, most_lanes<S>>;
  AlignedArray<Lanes> memory, linearization;
  KernelMemory<S> m;
  PathRoom<Lanes> path_room;
  PathMemory<S> path;
  LinearizationMemory<S> lin;
  AlignedArray<Lanes> in[most_inputs], full[most_inputs], out[most_outputs], full_out[most_outputs],
      scratch[2], coriolis_memory;
  CoriolisMemory<S> coriolis;
  S smallest[most_lanes<S>];
  std::size_t first = 0;                // state of the tile at hand
  std::size_t failed = nothing_failed;  // the first state of its tiles that has no result
  bool finite = true;                   // whether the arguments of that one are
  // One state at a time: where mimic joints take more than filling in, or matrices are large, or states few.
  std::optional<OneState<S>> one;

  /// What the kernels read: the model's, or, where inertias vary, with constants of the tile's states in
  /// lanes.
  Tree<S> tree;
  AlignedArray<Lanes> constants, pitch, offset, outboard_mass;  // of the latter
  AlignedArray<Lanes> q, v, tau, step;                          // of rollouts
  std::size_t failed_step = 0;
};

/// Inertias of each state, in tiles of lanes (Batch::vary).
template <class S>
struct Varied {
  std::size_t count = 0;
  AlignedArray<S> inertias;  // constants from constant::mp on, of each body
  AlignedArray<S> armature;  // of each full velocity
  bool has_armature = false;
};

/// What does not change over a model's rollouts.
template <class S>
struct Rollouts {
  Manifold manifold;
  std::vector<S> damping;  // of the model's own velocities
};

template <class S>
S* numbers(AlignedArray<Pack<S, most_lanes<S>>>& lanes) {
  return reinterpret_cast<S*>(lanes.data());
}
}  // namespace batching

template <class S>
class DiagonalizedBatch;
template <class S>
class OperationalSpaceBatch;

template <class S>
struct Batch<S>::Data {
  using Input = batching::Input<S>;
  using Output = batching::Output<S>;
  using Worker = batching::Worker<S>;
  using Numbers = batching::Numbers;
  using OnTile = batching::Callback<void(Worker&, const S* const*, S* const*)>;
  using OnState = batching::Callback<void(int, const std::span<const S>*, const std::span<S>*)>;

  Model model;
  BatchOptions options;
  const KernelSet* set_of_kernels;
  const KernelsIn<S>* set;     // of the instruction set in use when the batch was made
  const BatchTable<S>* table;  // for the model's constants, or for those of each state
  std::optional<batching::Varied<S>> varied;
  std::vector<int> armature_of;                   // by full velocity: see Batch::vary
  std::optional<batching::Columns<S>> columns;    // made by the first linearization, like what goes with it
  std::optional<batching::Rollouts<S>> rollouts;  // made by the first
  std::unique_ptr<DiagonalizedBatch<S>> diagonalized;  // made by the first call, likewise
  std::unique_ptr<OperationalSpaceBatch<S>> space;
  std::vector<int> frames_of_space;
  std::vector<Worker> workers;
  std::vector<batching::Share> shares;  // one per worker

  Data(const Model& m, const BatchOptions& o)
      : model(m),
        options(o),
        set_of_kernels(&kernel_set()),
        set(&set_of_kernels->in<S>()),
        table(set->batch),
        workers(o.threads ? o.threads->count() : 1),
        shares(workers.size()) {
    const Tree<S>& tree = base();
    const std::size_t nv = tree.nv, vector = std::max<std::size_t>(tree.nq, nv);
    // Large matrices go straight into the caller's rows, or through room for one.
    constexpr std::size_t lanes = most_lanes<S>;
    const std::size_t square = !large()                         ? nv * nv
                               : options.layout != Layout::rows ? (nv * nv + lanes - 1) / lanes
                                                                : 0;
    const std::size_t matrix = std::max<std::size_t>(square, 12 + 6 * nv);
    const int longest = longest_path(tree);
    for (Worker& w : workers) {
      w.tree = tree;
      KernelMemory<Pack<S, most_lanes<S>>> m;
      w.memory = make_arrays(m, tree,
                             MemoryNeeds{.side = true,
                                         .factor = true,
                                         .keep_D = true,
                                         .wide_solve = true,
                                         .composite = true,
                                         .motion = true});
      w.m = retyped<S>(m);
      w.path_room = PathRoom<Pack<S, most_lanes<S>>>(longest);
      w.path = retyped<S>(w.path_room.memory());
      for (auto& x : w.in) x = AlignedArray<Pack<S, most_lanes<S>>>(vector);
      for (int i = 0; i < batching::usual_outputs; ++i)
        w.out[i] = AlignedArray<Pack<S, most_lanes<S>>>(matrix);
      for (auto& x : w.scratch) x = AlignedArray<Pack<S, most_lanes<S>>>(nv);
      if (model.has_mimics()) {
        for (auto& x : w.full) x = AlignedArray<Pack<S, most_lanes<S>>>(vector);
        for (int i = 0; i < batching::usual_outputs; ++i)
          w.full_out[i] = AlignedArray<Pack<S, most_lanes<S>>>(matrix);
      }
    }
    one(0).reserve();  // for few states
  }

  void prepare_linearization() {
    if (columns) return;
    columns.emplace(model);
    for (Worker& w : workers) {
      LinearizationMemory<Pack<S, most_lanes<S>>> l;
      static_cast<LinearizationTables&>(l) = columns->lin_;
      w.linearization = make_arrays(l, base(), LinearizationNeeds{.columns = true, .direct = true});
      w.lin = retyped<S>(l);
      w.lin.k = w.m;
      w.lin.mass = mass_outboard(w);
      w.lin.damping = columns->lin_.damping;
    }
  }
  const S* mass_outboard(Worker& w) const {
    return varied ? batching::numbers(w.outboard_mass) : columns->lin_.mass;
  }
  /// A worker's calls for one state, made when first asked for.
  OneState<S>& one(int worker) {
    auto& work = workers[worker].one;
    if (!work) work.emplace(model);
    return *work;
  }
  /// Energies of a tile; without v the potential one alone. A model without mass has it at zero, as one state has it.
  void energies_of(Worker& w, const S* q, const S* v, S* kinetic, S* potential) const {
    const Tree<S>& tree = w.tree;
    table->velocities(tree, q, v, w.m);
    table->energies(tree, w.m, kinetic, potential);
    if (!varied && !(model.mass() > 0)) std::fill_n(potential, table->lanes, S(0));
    for (int i = 0; kinetic && tree.has_armature && i < tree.nv; ++i)
      for (int s = 0; s < table->lanes; ++s) {
        const int at = i * table->lanes + s;
        kinetic[s] += tree.armature[varied ? at : i] * v[at] * v[at] / 2;
      }
  }
  bool large() const { return model.nv() > batching::most_velocities_in_lanes; }
  /// Registers that are nearly empty cost three to five times the call for one state.
  bool few(In<S> q) const { return q.size() <= 2 * static_cast<std::size_t>(model.nq()); }
  bool huge() const { return base().bodies > batching::most_bodies_in_lanes; }
  /// Algorithms for one state know the model's inertias alone: others stay in lanes, at whatever cost.
  bool one_by_one(In<S> q) const { return !varied && (few(q) || huge()); }
  bool matrices_one_by_one(In<S> q) const { return !varied && (few(q) || large()); }
  /// Of linearizations: one state's workspace has room for matrices.
  bool vectors_one_by_one(In<S> q) const { return !varied && few(q) && !huge(); }
  /// The model's own constants, also where inertias vary.
  const Tree<S>& base() const { return model.tree<S>(); }

  void require_whole_tiles(const char* function, std::size_t count) const {
    if (options.layout == Layout::tiles && count % static_cast<std::size_t>(table->lanes))
      throw ArgumentError(fmt::format("{}: {} states, no multiple of the {} of a tile (Batch::lanes)",
                                      function, count, table->lanes));
  }
  std::size_t count_of(const char* function, std::span<const S> q) const {
    const std::size_t nq = model.nq();
    if (nq == 0)
      throw ArgumentError(fmt::format("{}: model '{}' has no joint that moves", function, model.name()));
    if (q.size() % nq)
      throw ArgumentError(fmt::format("{}: q has {} numbers, no multiple of nq = {} of model '{}'", function,
                                      q.size(), nq, model.name()));
    const std::size_t count = q.size() / nq;
    require_whole_tiles(function, count);
    return count;
  }

  std::size_t place(std::size_t count, std::size_t n, std::size_t state, std::size_t i) const {
    return batching::place(options.layout, static_cast<std::size_t>(table->lanes), count, n, state, i);
  }

  /// f(worker, tile). Each thread has a share of the tiles, the same in every call, so that what it read
  /// before is in its cache; who has finished takes from the others' shares.
  void on_threads(std::size_t tiles, batching::Callback<void(int, std::size_t)> f) {
    const std::size_t n = std::min(workers.size(), tiles);
    if (n <= 1) {
      for (std::size_t tile = 0; tile < tiles; ++tile) f(0, tile);
      return;
    }
    for (std::size_t w = 0; w < n; ++w) {
      shares[w].next.store(tiles * w / n, std::memory_order_relaxed);
      shares[w].end = tiles * (w + 1) / n;
    }
    const std::size_t some = std::max<std::size_t>(1, tiles / (16 * n));
    const auto work = [&](int worker) {
      for (std::size_t turn = 0; turn < n; ++turn) {
        batching::Share& share = shares[(worker + turn) % n];
        for (;;) {
          const std::size_t first = share.next.fetch_add(some, std::memory_order_relaxed);
          if (first >= share.end) break;
          for (std::size_t tile = first; tile < std::min(share.end, first + some); ++tile) f(worker, tile);
        }
      }
    };
    options.threads->run([&work](int worker) { work(worker); });
  }

  /// Whether the kernels can work on a tile of an argument where it is.
  bool in_lanes(const S* x, std::size_t n) const {
    return options.layout == Layout::tiles && n > 0 &&
           reinterpret_cast<std::uintptr_t>(x) % (static_cast<std::size_t>(table->lanes) * sizeof(S)) == 0;
  }
  void take(const Input& input, std::size_t count, std::size_t first, int used, S* lanes) const {
    const long n = static_cast<long>(input.n);
    if (n == 0) return;  // left out
    if (options.layout == Layout::rows)
      table->gather(input.x.data() + first * input.n, n, n, used, lanes);
    else if (options.layout == Layout::columns)
      table->gather_columns(input.x.data() + first, n, static_cast<long>(count), used, lanes);
    else
      std::copy_n(input.x.data() + first * input.n, n * table->lanes, lanes);
  }
  void give(const Output& output, std::size_t count, std::size_t first, int used, const S* lanes) const {
    const long n = static_cast<long>(output.n);
    if (n == 0) return;
    if (options.layout == Layout::rows)
      table->scatter(lanes, n, n, used, output.x.data() + first * output.n);
    else if (options.layout == Layout::columns)
      table->scatter_columns(lanes, n, static_cast<long>(count), used, output.x.data() + first);
    else
      std::copy_n(lanes, n * table->lanes, output.x.data() + first * output.n);
  }

  void expand(Numbers kind, const S* own, S* full) const {
    batching::expand(model, kind, table->lanes, own, full);
  }
  void reduce(Numbers kind, const S* full, S* own) const {
    batching::reduce(model, kind, table->lanes, full, own);
  }

  /// A call with arguments larger than what the batch was made with makes room for them, once.
  void make_room(const batching::ListOf<Input>& inputs, const batching::ListOf<Output>& outputs) {
    const auto room = [](auto& array, std::size_t n) {
      if (array.size() < n) array = AlignedArray<Pack<S, most_lanes<S>>>(n);
    };
    const std::size_t full = base().nv;
    for (Worker& w : workers) {
      int i = 0;
      for (const Input& input : inputs) room(w.in[i++], input.n);
      i = 0;
      for (const Output& output : outputs) {
        room(w.out[i], output.n);
        if (model.has_mimics() && output.kind != Numbers::other)
          room(w.full_out[i], batching::full_size(output.kind, full));
        ++i;
      }
    }
  }
  void make_room(const batching::ListOf<Output>& outputs) {
    make_room(std::initializer_list<Input>{}, outputs);
  }

  void make_room_for_one(const batching::ListOf<Input>& inputs, const batching::ListOf<Output>& outputs) {
    const auto room = [](auto& array, std::size_t n) {
      if (array.size() * most_lanes<S> < n)
        array = AlignedArray<Pack<S, most_lanes<S>>>(n / most_lanes<S> + 1);
    };
    for (Worker& w : workers) {
      int i = 0;
      for (const Input& input : inputs) room(w.in[i++], input.n);
      i = 0;
      for (const Output& output : outputs) room(w.out[i++], output.n);
    }
  }

  /// Checks sizes, then f(worker, in, out) on tiles of states; arrays are in lanes and full coordinates.
  void call(const char* function, const batching::ListOf<Input>& inputs,
            const batching::ListOf<Output>& outputs, OnTile f) {
    const std::size_t count = check(function, inputs, outputs);
    make_room(inputs, outputs);
    const bool mimics = model.has_mimics();
    on_threads((count + table->lanes - 1) / table->lanes, [&](int index, std::size_t tile) {
      Worker& w = workers[index];
      const std::size_t first = tile * table->lanes;
      const int used = static_cast<int>(std::min<std::size_t>(table->lanes, count - first));
      load_inertias(w, tile);
      const S* in[batching::most_inputs] = {};
      S* out[batching::most_outputs] = {};
      S* own[batching::most_outputs] = {};  // of the model's own coordinates
      int i = 0;
      for (const Input& input : inputs) {
        in[i] = input.x.data() + (input.n ? first * input.n : 0);
        if (!in_lanes(in[i], input.n)) {
          take(input, count, first, used, batching::numbers(w.in[i]));
          in[i] = batching::numbers(w.in[i]);
        }
        if (mimics && input.kind != Numbers::other) {
          expand(input.kind, in[i], batching::numbers(w.full[i]));
          in[i] = batching::numbers(w.full[i]);
        }
        ++i;
      }
      i = 0;
      for (const Output& output : outputs) {
        S* const place = output.x.data() + (output.n ? first * output.n : 0);
        own[i] = in_lanes(place, output.n) ? place : batching::numbers(w.out[i]);
        out[i] = mimics && output.kind != Numbers::other ? batching::numbers(w.full_out[i]) : own[i];
        ++i;
      }
      std::fill_n(w.smallest, table->lanes, S(1));
      w.first = first;
      f(w, in, out);
      bool all_hold = true;
      for (int s = 0; s < used; ++s) {
        if (w.smallest[s] > 0) continue;
        all_hold = false;
        note_failed(w, inputs, count, first + s);
      }
      i = 0;
      for (const Output& output : outputs) {
        S* const lanes = own[i];
        if (mimics && output.kind != Numbers::other) reduce(output.kind, out[i], lanes);
        for (int s = 0; !all_hold && s < used; ++s)
          if (!(w.smallest[s] > 0))
            for (std::size_t c = 0; c < output.n; ++c)
              lanes[c * table->lanes + s] = std::numeric_limits<S>::quiet_NaN();
        if (lanes == batching::numbers(w.out[i])) give(output, count, first, used, lanes);
        ++i;
      }
    });
    report(function);
  }

  /// Where a tile has its three results, matrices: their lines are fetched while they are made. Where results
  /// go straight there, those of the next tile, and those of four rows on from cache to cache.
  Ahead look_ahead(const Worker& w, const batching::ListOf<Output>& outputs, std::size_t count) const {
    const bool columns = options.layout == Layout::columns, tiles = options.layout == Layout::tiles;
    const std::size_t lanes = table->lanes;
    Ahead ahead;
    ahead.step = (columns ? count : lanes) * sizeof(S);
    if (tiles) ahead.near = 4 * model.nv() * lanes * sizeof(S);
    ahead.few = model.nv() < 12;
    std::uintptr_t* at = ahead.at;
    for (const Output& output : outputs) {
      *at++ = reinterpret_cast<std::uintptr_t>(output.x.data() +
                                               (w.first + (tiles ? lanes : 0)) * (columns ? 1 : output.n));
      ahead.lines = static_cast<long>(output.n);
    }
    return ahead;
  }

  /// From the model's constants to those of each state: each worker's tree gets lanes of them.
  void use_varied() {
    table = set->varied;
    const Tree<S>& base = model.tree<S>();
    const std::size_t lanes = table->lanes,
                      slots = static_cast<std::size_t>(base.slots() + block - 1) / block * block;
    const auto spread = [&](const S* from, std::size_t n, AlignedArray<Pack<S, most_lanes<S>>>& to) {
      if (to.size() < n) to = AlignedArray<Pack<S, most_lanes<S>>>(n);
      for (std::size_t i = 0; i < n; ++i) std::fill_n(batching::numbers(to) + i * lanes, lanes, from[i]);
      return batching::numbers(to);
    };
    for (Worker& w : workers) {
      w.tree.constants = spread(base.constants, slots * constant::count, w.constants);
      w.tree.pitch = spread(base.pitch, slots, w.pitch);
      w.tree.offset = spread(base.offset, slots, w.offset);
      w.tree.has_armature = varied->has_armature;
      if (w.outboard_mass.size() == 0) w.outboard_mass = AlignedArray<Pack<S, most_lanes<S>>>(base.nv);
      if (columns) w.lin.mass = mass_outboard(w);
    }
  }
  /// The inertias of a tile's states, where they vary, to where the kernels read them.
  void load_inertias(Worker& w, std::size_t tile) const {
    if (!varied) return;
    const Tree<S>& base = model.tree<S>();
    const std::size_t lanes = table->lanes, nv = base.nv;
    w.tree.armature = varied->armature.data() + tile * nv * lanes;
    constexpr std::size_t each = constant::count - constant::mp;
    const S* const inertias = varied->inertias.data() + tile * base.bodies * each * lanes;
    table->spread_inertias(inertias, base.bodies, batching::numbers(w.constants));
    if (!columns) return;
    // The mass outboard of each joint, for each of its velocities, tip to base.
    S* const mass = batching::numbers(w.outboard_mass);
    std::fill_n(mass, nv * lanes, S(0));
    for (int k = base.bodies; k >= 1; --k) {
      const BodyIndex& b = base.index[k];
      const S* const own = inertias + ((k - 1) * each + constant::m - constant::mp) * lanes;
      S* const here = mass + b.v * lanes;
      for (std::size_t s = 0; s < lanes; ++s) here[s] += own[s];
      if (b.inboard != 0)
        for (std::size_t s = 0; s < lanes; ++s) mass[base.index[b.inboard].v * lanes + s] += here[s];
      const std::size_t end = k < base.bodies ? base.index[k + 1].v : base.nv;
      for (std::size_t i = b.v + 1; i < end; ++i) std::copy_n(here, lanes, mass + i * lanes);
    }
  }

  /// call() for algorithms that are compiled for the model's own inertias alone.
  void call_with_model_inertias(const char* function, const batching::ListOf<Input>& inputs,
                                const batching::ListOf<Output>& outputs, OnTile f) {
    refuse_varied(function);
    call(function, inputs, outputs, f);
  }
  void refuse_varied(const char* function) const {
    if (varied)
      throw ArgumentError(fmt::format(
          "{}: takes no varied inertias; use_model_inertias() goes back to the model's", function));
  }

  /// call() one state at a time: f(calls of one state, in, out), arrays of one state in the model's own
  /// coordinates.
  /// `of_inertias`: whether results depend on them.
  template <class F>
  void call_one_by_one(const char* function, const batching::ListOf<Input>& inputs,
                       const batching::ListOf<Output>& outputs, const F& f, bool of_inertias = true) {
    using In = const std::span<const S>*;
    using Out = const std::span<S>*;
    if constexpr (std::is_invocable_v<const F&, int, In, Out>)
      call_each(function, inputs, outputs, f, of_inertias);
    else
      call_each(
          function, inputs, outputs, [&](int worker, In in, Out out) { f(one(worker), in, out); },
          of_inertias);
  }
  void call_each(const char* function, const batching::ListOf<Input>& inputs,
                 const batching::ListOf<Output>& outputs, OnState f, bool of_inertias) {
    if (of_inertias) refuse_varied(function);
    const std::size_t count = check(function, inputs, outputs);
    if (options.layout != Layout::rows) make_room_for_one(inputs, outputs);
    const auto one_state = [&](int index, std::size_t state) {
      Worker& w = workers[index];
      std::span<const S> in[batching::most_inputs];
      std::span<S> out[batching::most_outputs];
      const bool in_place = options.layout == Layout::rows;
      int i = 0;
      for (const Input& input : inputs) {
        S* const x = batching::numbers(w.in[i]);
        for (std::size_t c = 0; !in_place && c < input.n; ++c)
          x[c] = input.x[place(count, input.n, state, c)];
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
      } catch (const Error&) {  // singular, or not finite: sizes are checked
        singular = true;
        note_failed(w, inputs, count, state);
      }
      i = 0;
      for (const Output& output : outputs) {
        if (singular) std::fill(out[i].begin(), out[i].end(), std::numeric_limits<S>::quiet_NaN());
        for (std::size_t c = 0; !in_place && c < output.n; ++c)
          output.x[place(count, output.n, state, c)] = out[i][c];
        ++i;
      }
    };
    if (few(inputs.begin()->x) && !large())  // not worth waking a thread
      for (std::size_t state = 0; state < count; ++state) one_state(0, state);
    else
      on_threads(count, one_state);
    report(function);
  }
  std::size_t check(const char* function, const batching::ListOf<Input>& inputs,
                    const batching::ListOf<Output>& outputs) const {
    const std::size_t count = count_of(function, inputs.begin()->x);
    const auto require = [&](const char* name, std::size_t size, std::size_t n) {
      if (size != count * n)
        throw ArgumentError(fmt::format("{}: {} has {} numbers, {} states of model '{}' need {}", function,
                                        name, size, count, model.name(), count * n));
    };
    for (const Input& i : inputs) require(i.name, i.x.size(), i.n);
    for (const Output& o : outputs) require(o.name, o.x.size(), o.n);
    if (varied && varied->count != count)
      throw ArgumentError(
          fmt::format("{}: {} states, but vary() was given inertias of {}", function, count, varied->count));
    return count;
  }
  bool is_finite(std::span<const S> x, std::size_t count, std::size_t n, std::size_t state, std::size_t first,
                 std::size_t size) const {
    return batching::is_finite(x.data(), options.layout, static_cast<std::size_t>(table->lanes), count, n,
                               state, first, size);
  }
  /// Before results are given, which may go where arguments are.
  void note_failed(Worker& w, const batching::ListOf<Input>& inputs, std::size_t count, std::size_t state) {
    if (w.failed <= state) return;
    w.failed = state;
    w.finite = std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
      return is_finite(input.x, count, input.n, state, 0, input.n);
    });
  }
  /// The first worker's state that failed, or null; forgotten by all.
  const Worker* first_failed(std::size_t& state) {
    const Worker* first = nullptr;
    state = batching::nothing_failed;
    for (Worker& w : workers) {
      if (w.failed < state) state = w.failed, first = &w;
      w.failed = batching::nothing_failed;
    }
    return first;
  }
  /// After the last state: throws for the first that has no result.
  void report(const char* function) {
    std::size_t state;
    if (const Worker* const w = first_failed(state)) throw_failed_state(function, state, w->finite);
  }

  /// An argument as it is, mimic joints not filled in.
  static Input own(Input x) {
    x.kind = Numbers::other;
    return x;
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
  Output columns_of(const char* name, Out<S> x) const {
    return {name, x, Numbers::columns, static_cast<std::size_t>(6) * model.nv()};
  }
  Output other(const char* name, Out<S> x, std::size_t n) const { return {name, x, Numbers::other, n}; }
  /// One (moment, force) per body, or none at all.
  Input wrenches(In<S> x) const {
    return {"wrenches", x, Numbers::other, x.empty() ? 0 : 6 * static_cast<std::size_t>(model.body_count())};
  }
  /// A result that is left out where the caller gives no room for it.
  Output if_wanted(const char* name, Out<S> x, std::size_t n) const {
    return {name, x, Numbers::other, x.empty() ? 0 : n};
  }
};

}  // namespace articula
