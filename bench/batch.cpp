// Many states at once, beside one state at a time by ourselves and by peers.
#include "articula/batch/batch.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <set>

#include "bench/compare.hpp"

namespace articula::bench {

namespace {

template <class S>
struct States {
  std::vector<S> q, v, a, tau;
  States(const Model& model, std::size_t count) {
    Draw draw;
    const auto add = [](std::vector<S>& to, const std::vector<double>& x) {
      to.insert(to.end(), x.begin(), x.end());
    };
    for (std::size_t i = 0; i < count; ++i) {
      add(q, draw.configuration(model));
      for (auto* x : {&v, &a, &tau}) add(*x, draw(model.nv()));
    }
  }
};

/// As Layout::columns has it: number i of all states together.
std::vector<double> in_columns(const std::vector<double>& rows, std::size_t count) {
  std::vector<double> out(rows.size());
  const std::size_t n = rows.size() / count;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < n; ++k) out[k * count + i] = rows[i * n + k];
  return out;
}

struct Algorithm {
  std::string name;
  std::function<void()> run;
};

/// Large arrays on huge pages where the system has them, as NumPy's are.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t(1) << 21;
  T* allocate(std::size_t n) {
    const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
    void* const p = std::aligned_alloc(page, bytes);
    if (!p) throw std::bad_alloc();
    madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  bool operator==(const HugePages&) const = default;
};

struct Results {
  using Array = std::vector<double, HugePages<double>>;
  Array x, A, B, C;
  explicit Results(std::size_t count, std::size_t nv)
      : x(count * nv), A(count * nv * nv), B(A.size()), C(A.size()) {}
  /// The arrays that an algorithm fills with matrices.
  std::vector<Array*> matrices(const std::string& algorithm) {
    if (algorithm.starts_with("linearized")) return {&A, &B, &C};
    if (algorithm.ends_with("mass_matrix")) return {&A};
    return {};
  }
};

/// A peer's loop over as many states that keeps what every call leaves, as a batch does: written there by the peer
/// itself, or where it cannot, as many numbers copied after each call, from the cache.
std::function<void(long)> keeping_loop(const Entry& e, Results& r, std::size_t count) {
  const auto matrices = r.matrices(e.algorithm);
  if (matrices.empty()) return {};
  return [&e, &r, count, matrices, left = std::vector<double>(r.A.size() / count)](long calls) {
    double* const to[3] = {r.A.data(), r.B.data(), r.C.data()};
    for (long i = 0; i < calls; ++i) {
      if (e.keep) {
        e.keep(static_cast<long>(count), to);
        continue;
      }
      for (std::size_t state = 0; state < count; ++state) {
        e.run(1);
        for (auto* matrix : matrices)
          std::copy(left.begin(), left.end(), matrix->begin() + static_cast<long>(state * left.size()));
      }
    }
  };
}

std::vector<Algorithm> algorithms(Batch<>& batch, const States<double>& s, Results& r, int frame) {
  return {
      {"inverse_dynamics", [&] { batch.inverse_dynamics(s.q, s.v, s.a, r.x); }},
      {"forward_dynamics", [&] { batch.forward_dynamics(s.q, s.v, s.tau, r.x); }},
      {"bias_forces", [&] { batch.bias_forces(s.q, s.v, r.x); }},
      {"gravity_forces", [&] { batch.gravity_forces(s.q, r.x); }},
      {"mass_matrix", [&] { batch.mass_matrix(s.q, r.A); }},
      {"inverse_mass_matrix", [&] { batch.inverse_mass_matrix(s.q, r.A); }},
      {"jacobian", [&, frame] { batch.jacobian(frame, s.q, std::span(r.A).first(6 * r.x.size())); }},
      {"perturbed_inverse", [&] { batch.perturbed_inverse(s.q, s.v, s.a, s.v, s.a, s.tau, r.x); }},
      {"perturbed_forward", [&] { batch.perturbed_forward(s.q, s.v, s.tau, s.v, s.a, s.tau, r.x); }},
      {"linearized_inverse", [&] { batch.linearized_inverse(s.q, s.v, s.a, r.A, r.B, r.C); }},
      {"linearized_forward", [&] { batch.linearized_forward(s.q, s.v, s.tau, r.A, r.B, r.C); }},
  };
}

/// The table of one robot. All of a row is timed by turns: the batch, one state after the other by ourselves, and what
/// peers have for it.
struct BatchTable {
  const Robot& robot;
  const Contenders& all;
  Results& r;
  std::size_t count;
  Effort effort;
  Page& page;
  Table table{{"algorithm", "one thread", "one state", "times as many", "two threads", "times one thread"}};

  /// What one thread and two take, by the wall clock; nothing to tell: zeros.
  struct Two {
    double ns = 0, times = 0;
  };
  void put(const std::string& name, const std::function<void(long)>& run, const std::string& compared,
           const std::function<Two()>& two = {}) try {
    add(name, run, compared, two ? two() : Two{});
  } catch (const std::exception& error) {
    Page::note(page.left_out, fmt::format("{}, batch, {}: {}", robot.name, name, error.what()));
  }

 private:
  using Times = std::map<std::string, double>;  // by peer
  static void keep_fastest(Times& of, const std::string& peer, double x) {
    const auto [at, added] = of.emplace(peer, x);
    if (!added) at->second = std::min(at->second, x);
  }
  void add(const std::string& name, const std::function<void(long)>& run, const std::string& compared,
           const Two& two) {
    std::vector<std::function<void(long)>> runs{run};
    const auto ours = std::find_if(all.ours.begin(), all.ours.end(),
                                   [&](const Entry& e) { return e.algorithm == compared; });
    const bool known = ours != all.ours.end();
    std::vector<Way> ways;
    if (known) {
      runs.push_back(ours->run);
      ways = agreeing(robot, *ours, all, page);
      for (const Way& way : ways) runs.push_back(way.entry->run);
    }
    std::vector<std::size_t> keeping(ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (auto loop = keeping_loop(*ways[i].entry, r, count)) {
        keeping[i] = runs.size();
        runs.push_back(std::move(loop));
      }
    std::vector<double> ns = race(runs, effort);
    ns[0] /= static_cast<double>(count);
    Times loops, kept;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      keep_fastest(loops, ways[i].peer, ns[2 + i]);
      if (keeping[i]) keep_fastest(kept, ways[i].peer, ns[keeping[i]] / static_cast<double>(count));
    }
    write(name, compared, ns[0], known ? ns[1] : 0, two, loops, kept);
  }
  void write(const std::string& name, const std::string& compared, double ns, double one_state,
             const Two& two, const Times& loops, const Times& kept) {
    std::string first = fmt::format("{:.0f}", ns);
    for (const auto& [peer, loop_ns] : loops) first += fmt::format(" ({:.1f})", loop_ns / ns);
    table.rows.push_back({name, first, one_state > 0 ? fmt::format("{:.0f}", one_state) : "",
                          one_state > 0 ? fmt::format("{:.1f}", one_state / ns) : "",
                          two.ns > 0 ? fmt::format("{:.0f}", two.ns) : "",
                          two.ns > 0 ? fmt::format("{:.2f}", two.times) : ""});
    nlohmann::json row{
        {"model", robot.name}, {"algorithm", compared}, {"name", name}, {"states", count}, {"ns", ns}};
    if (two.ns > 0) row["ns_two_threads"] = two.ns, row["times_one_thread"] = two.times;
    if (one_state > 0) row["one_state"]["Articula"] = one_state;
    for (const auto& [peer, loop_ns] : loops) row["one_state"][peer] = loop_ns;
    for (const auto& [peer, entries] : all.theirs) {
      const auto at = kept.find(peer);
      table.rows.back().push_back(
          at == kept.end() ? "" : fmt::format("{:.0f} ({:.1f})", at->second, at->second / ns));
      if (at != kept.end()) row["loop_that_keeps"][peer] = at->second;
    }
    page.numbers["batch"].push_back(std::move(row));
  }
};

}  // namespace

void batch_section(const Options& options, const Peers& peers, Page& page) {
  const std::size_t count = options.quick ? 64 : 4096;
  page.write("## Many states");
  std::string intro = fmt::format(
      "{} states, in rows; nanoseconds per state on one thread, and on two. \"one state\" is the loop over "
      "single calls of "
      "the tables above; results are on huge pages where the system gives them to who asks, as NumPy does",
      count);
  if (!peers.empty())
    intro +=
        "; in brackets, times the throughput of the peers' loops that linearize too, which drop what they "
        "compute; "
        "where that is matrices, also of loops that keep them, as the batch does: written to their place by "
        "the peer, "
        "or copied there. All of a row is timed by turns";
  intro +=
      ". Two threads are timed by the wall clock, call by call and by turns with one thread, and that ratio "
      "is given";
  page.write(intro + ".");
  const Effort effort{options.effort.batch * 10, options.effort.total * 4};
  for (const std::string& argument : options.robots) {
    const Robot robot = load(argument);
    const Model& model = robot.model;
    const States<double> s(model, count);
    Results r(count, model.nv());
    Batch<> batch(model);
    use_other_cores();  // where the second thread then stays
    Threads threads(2);
    stay_on_one_core();
    Batch<> parallel(model, {.threads = &threads});
    page.write("### " + robot.name);
    Contenders all = contenders(robot, true, peers, page);
    std::erase_if(all.theirs, [](const auto& peer) {
      return std::none_of(peer.second.begin(), peer.second.end(),
                          [](const Entry& e) { return e.algorithm == "linearized_forward"; });
    });
    BatchTable table{robot, all, r, count, effort, page};
    for (const auto& [name, entries] : all.theirs)
      table.table.head.push_back(fmt::format("{}'s loop, kept", name));
    const auto one = algorithms(batch, s, r, robot.frame), two = algorithms(parallel, s, r, robot.frame);
    const auto repeat = [](const std::function<void()>& f) {
      return [f](long calls) {
        for (long i = 0; i < calls; ++i) f();
      };
    };
    // Both cores are seldom free together on a shared machine: fewer cases, single calls, more patience.
    const std::set<std::string> twice{"inverse_dynamics", "forward_dynamics", "linearized_inverse",
                                      "linearized_forward"};
    for (std::size_t i = 0; i < one.size(); ++i) {
      const auto both = [&]() -> BatchTable::Two {
        const auto wall = race({repeat(one[i].run), repeat(two[i].run)}, {1e-5, 3 * effort.total, true});
        return {wall[1] / static_cast<double>(count), wall[0] / wall[1]};
      };
      std::string words = one[i].name;
      std::replace(words.begin(), words.end(), '_', ' ');
      table.put(words, repeat(one[i].run), one[i].name,
                twice.count(one[i].name) ? std::function<BatchTable::Two()>(both) : nullptr);
    }
    Batch<> by_columns(model, {.layout = Layout::columns});
    const auto q = in_columns(s.q, count), v = in_columns(s.v, count), tau = in_columns(s.tau, count);
    table.put("forward dynamics, in columns", repeat([&] { by_columns.forward_dynamics(q, v, tau, r.x); }),
              "forward_dynamics");
    Batch<> by_tiles(model, {.layout = Layout::tiles});
    const auto tiled = [&](const std::vector<double>& rows) {
      const std::size_t n = rows.size() / count, lanes = static_cast<std::size_t>(by_tiles.lanes());
      Results::Array out(rows.size());
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < n; ++k) out[(i / lanes * n + k) * lanes + i % lanes] = rows[i * n + k];
      return out;
    };
    const auto tq = tiled(s.q), tv = tiled(s.v), ttau = tiled(s.tau);
    table.put("forward dynamics, in tiles", repeat([&] { by_tiles.forward_dynamics(tq, tv, ttau, r.x); }),
              "forward_dynamics");
    table.put("linearized forward, in tiles",
              repeat([&] { by_tiles.linearized_forward(tq, tv, ttau, r.A, r.B, r.C); }),
              "linearized_forward");
    Batch<float> floats(model);
    const States<float> f(model, count);
    std::vector<float> x(count * model.nv());
    table.put("forward dynamics, float", repeat([&] { floats.forward_dynamics(f.q, f.v, f.tau, x); }),
              "forward_dynamics");
    page.write(table.table);
  }
}

}  // namespace articula::bench
