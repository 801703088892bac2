// Many states at once, beside one state at a time by ourselves and by peers.
#include "articula/batch/batch.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <set>

#include "bench/page.hpp"
#include "bench/robot.hpp"

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

/// A peer's loop over as many states that keeps what every call leaves, as a batch does: after each call as
/// many numbers are copied, from the cache, to their place. Nanoseconds per state, of the fastest way; 0:
/// none.
double keeping_loop(const std::vector<Entry>& entries, const std::string& algorithm, Results& r,
                    std::size_t count, const Effort& effort) {
  const auto matrices = r.matrices(algorithm);
  std::vector<double> left(r.A.size() / count);
  double best = 0;
  for (const Entry& e : entries) {
    if (e.algorithm != algorithm || matrices.empty()) continue;
    const double ns = effort.ns([&](long calls) {
      for (long i = 0; i < calls; ++i)
        for (std::size_t state = 0; state < count; ++state) {
          e.run(1);
          for (auto* to : matrices)
            std::copy(left.begin(), left.end(), to->begin() + static_cast<long>(state * left.size()));
        }
    });
    if (best == 0 || ns < best) best = ns;
  }
  return best / static_cast<double>(count);
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

}  // namespace

void batch_section(const Options& options, const Peers& peers, Page& page) {
  const std::size_t count = options.quick ? 64 : 4096;
  page.write("## Many states");
  std::string intro = fmt::format(
      "{} states, in rows; nanoseconds per state on one thread, and on two. \"one state\" is the loop over "
      "single calls of "
      "the tables above; results are on huge pages where the system gives them to who asks, as NumPy does",
      count);
  std::vector<std::string> loops;  // of which peers' loops there are times
  for (const auto& peer : peers)
    for (const auto& [robot, kept] : page.one_state)
      if (kept.count("linearized_forward") && kept.at("linearized_forward").count(peer->name())) {
        loops.push_back(peer->name());
        break;
      }
  for (const auto& name : loops)
    intro += fmt::format("; in brackets, times the throughput of {}'s loop", name);
  if (!loops.empty())
    intro +=
        ", which drops what it computes; where that is matrices, also of a loop that keeps them, as the "
        "batch "
        "does: each call's are copied to their place";
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
    Table table{{"algorithm", "one thread", "one state", "times as many", "two threads", "times one thread"}};
    std::vector<std::vector<Entry>> theirs;
    const std::optional<PeerModel> their_model = loops.empty() ? std::nullopt : peer_model(robot);
    for (const auto& peer : peers)
      if (their_model && std::find(loops.begin(), loops.end(), peer->name()) != loops.end()) {
        theirs.push_back(peer->entries(*their_model));
        table.head.push_back(fmt::format("{}'s loop, kept", peer->name()));
      }
    const auto one = algorithms(batch, s, r, robot.frame), two = algorithms(parallel, s, r, robot.frame);
    auto& kept = page.one_state[robot.name];
    const auto put = [&](const std::string& name, double ns, double two_ns, const std::string& compared,
                         double times = 0) {
      std::string first = fmt::format("{:.0f}", ns);
      for (const auto& peer : loops)
        if (kept[compared].count(peer)) first += fmt::format(" ({:.1f})", kept[compared][peer] / ns);
      const bool known = kept[compared].count("") > 0;
      table.rows.push_back({name, first, known ? fmt::format("{:.0f}", kept[compared][""]) : "",
                            known ? fmt::format("{:.1f}", kept[compared][""] / ns) : "",
                            two_ns > 0 ? fmt::format("{:.0f}", two_ns) : "",
                            two_ns > 0 ? fmt::format("{:.2f}", times) : ""});
      nlohmann::json row{
          {"model", robot.name}, {"algorithm", compared}, {"name", name}, {"states", count}, {"ns", ns}};
      if (two_ns > 0) row["ns_two_threads"] = two_ns, row["times_one_thread"] = times;
      for (const auto& [contender, loop_ns] : kept[compared])
        row["one_state"][contender.empty() ? "Articula" : contender] = loop_ns;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        const double keeping = keeping_loop(theirs[i], compared, r, count, effort);
        table.rows.back().push_back(keeping > 0 ? fmt::format("{:.0f} ({:.1f})", keeping, keeping / ns) : "");
        if (keeping > 0) row["loop_that_keeps"][loops[i]] = keeping;
      }
      page.numbers["batch"].push_back(std::move(row));
    };
    const auto repeat = [](const std::function<void()>& f) {
      return [&f](long calls) {
        for (long i = 0; i < calls; ++i) f();
      };
    };
    // Both cores are seldom free together on a shared machine: fewer cases, single calls, more patience.
    const std::set<std::string> twice{"inverse_dynamics", "forward_dynamics", "linearized_inverse",
                                      "linearized_forward"};
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double ns = effort.ns(repeat(one[i].run)) / static_cast<double>(count);
      double two_ns = 0, times = 0;
      if (twice.count(one[i].name)) {
        const auto wall = race({repeat(one[i].run), repeat(two[i].run)}, {1e-5, 3 * effort.total, true});
        two_ns = wall[1] / static_cast<double>(count), times = wall[0] / wall[1];
      }
      std::string words = one[i].name;
      std::replace(words.begin(), words.end(), '_', ' ');
      put(words, ns, two_ns, one[i].name, times);
    }
    Batch<> by_columns(model, {.layout = Layout::columns});
    const auto q = in_columns(s.q, count), v = in_columns(s.v, count), tau = in_columns(s.tau, count);
    put("forward dynamics, in columns",
        effort.ns(repeat([&] { by_columns.forward_dynamics(q, v, tau, r.x); })) / static_cast<double>(count),
        0, "forward_dynamics");
    Batch<> by_tiles(model, {.layout = Layout::tiles});
    const auto tiled = [&](const std::vector<double>& rows) {
      const std::size_t n = rows.size() / count, lanes = static_cast<std::size_t>(by_tiles.lanes());
      Results::Array out(rows.size());
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < n; ++k) out[(i / lanes * n + k) * lanes + i % lanes] = rows[i * n + k];
      return out;
    };
    const auto tq = tiled(s.q), tv = tiled(s.v), ttau = tiled(s.tau);
    put("forward dynamics, in tiles",
        effort.ns(repeat([&] { by_tiles.forward_dynamics(tq, tv, ttau, r.x); })) / static_cast<double>(count),
        0, "forward_dynamics");
    put("linearized forward, in tiles",
        effort.ns(repeat([&] { by_tiles.linearized_forward(tq, tv, ttau, r.A, r.B, r.C); })) /
            static_cast<double>(count),
        0, "linearized_forward");
    Batch<float> floats(model);
    const States<float> f(model, count);
    std::vector<float> x(count * model.nv());
    put("forward dynamics, float",
        effort.ns(repeat([&] { floats.forward_dynamics(f.q, f.v, f.tau, x); })) / static_cast<double>(count),
        0, "forward_dynamics");
    page.write(table);
  }
}

}  // namespace articula::bench
