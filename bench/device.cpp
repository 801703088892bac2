// articula_bench --device cuda: states per second on a GPU, resident and with transfers, beside the CPU's batch. Prints
// Markdown (docs/gpu.md).
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <thread>

#include "articula/cuda/batch.hpp"
#include "articula/cuda/folding.hpp"
#include "articula/diagonal/operation_counts.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "bench/device.hpp"
#include "bench/measure.hpp"

namespace articula::bench {

namespace {

using cuda::Style;

/// A way to make a call, to compare: style none: what the library takes.
struct Variant {
  std::optional<Style> style{};
  std::optional<cuda::Tuning> tuning{};
  std::string words(Style used) const {
    std::string text = used == Style::specialised ? "specialised" : "rolled";
    if (!style) return text;
    text = "to compare: " + text;
    if (tuning && tuning->threads != cuda::Tuning{}.threads)
      text += fmt::format(", {} threads", tuning->threads);
    if (tuning && tuning->blocks) text += fmt::format(", {} blocks", tuning->blocks);
    if (tuning && tuning->loops) text += ", limbs in loops";
    if (tuning && tuning->sides > 1) text += fmt::format(", {} threads per state", tuning->sides);
    return text;
  }
};
/// A row of the table: one call of one robot.
struct DeviceRow {
  int robot;
  bool in_double;
  const char* algorithm;
  Variant variant{};
  std::size_t count;
};

/// Random states, in columns, as many as asked for, of the arguments that are used: the same 4096 over and over.
template <class S>
struct ResidentStates {
  ResidentStates(const Model& model, std::size_t count, std::span<const Argument> uses) {
    const std::size_t different = std::min<std::size_t>(count, 4096);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    const std::vector<double> start = neutral(model);
    std::vector<double> at(model.nq()), step(model.nv());
    for (const Argument argument : uses) {
      auto& x = host[static_cast<int>(argument)];
      const std::size_t n = size_of(model, argument);
      x.resize(count * n);
      for (std::size_t s = 0; s < different; ++s) {
        for (double& d : step) d = draw(random);
        integrate(model, start, step, at);
        for (std::size_t i = 0; i < n; ++i)
          x[i * count + s] = static_cast<S>(argument == Argument::q ? at[i] : step[i]);
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t s = different; s < count; s += different)
          std::copy_n(&x[i * count], std::min(different, count - s), &x[i * count + s]);
    }
  }
  std::array<std::vector<S>, argument_count> host;
};

/// Least seconds of a call on the stream, by the GPU's own clock. Short calls are made more often: it takes a GPU some
/// milliseconds to leave its idle clock rate.
template <class F>
double seconds_on_device(F&& f, int repetitions) {
  const cuda::Driver& d = cuda::driver();
  const cuda::Context context(0);
  const cuda::Use use(context);
  cuda::Handle begin, end;
  d.check(d.EventCreate(&begin, 0), "make an event");
  d.check(d.EventCreate(&end, 0), "make an event");
  f();
  double best = 1e30, sum = 0;
  for (int i = 0; i < repetitions || (repetitions > 2 && sum < 20e-3); ++i) {
    d.check(d.EventRecord(begin, nullptr), "measure");
    f();
    d.check(d.EventRecord(end, nullptr), "measure");
    d.check(d.EventSynchronize(end), "measure");
    float milliseconds = 0;
    d.check(d.EventElapsedTime(&milliseconds, begin, end), "measure");
    best = std::min(best, milliseconds * 1e-3), sum += milliseconds * 1e-3;
  }
  d.EventDestroy(begin), d.EventDestroy(end);
  return best;
}

double operations_of(const Model& model, const Algorithm& algorithm) {
  double sum = 0;
  std::string counted = algorithm.counted;
  while (!counted.empty()) {
    const std::size_t plus = std::min(counted.find('+'), counted.size());
    const Tally t = count_operations(model, counted.substr(0, plus));
    sum += static_cast<double>(t.multiplications + t.divisions + t.additions);
    counted = plus < counted.size() ? counted.substr(plus + 1) : "";
  }
  return sum;
}

template <class S>
class DeviceBench {
 public:
  DeviceBench(const std::string& name, const Model& model, bool quick)
      : name_(name), model_(model), quick_(quick) {}

  /// Compiles what will be timed.
  void prepare(const DeviceRow& row) {
    cuda::Batch<S> batch(model_, options_of(row.variant));
    if (row.algorithm == std::string_view("rollout"))
      batch.prepare_rollout(Integrator::rk4);
    else
      batch.prepare(row.algorithm, frames_of(row.algorithm));
  }
  void row(const DeviceRow& row) {
    if (row.algorithm == std::string_view("rollout"))
      rollout(row.variant, row.count, quick_ ? 10 : 1000);
    else
      algorithm(*find_algorithm(row.algorithm), row.variant, row.count);
  }
  /// From the host's memory and back, and the CPU's batch.
  void transfers(const char* name, std::size_t count) {
    const Algorithm& a = *find_algorithm(name);
    ResidentStates<S> states(model_, count, a.uses);
    std::vector<std::vector<S>> results;
    std::vector<std::span<S>> out;
    for (const Part& part : a.parts) results.emplace_back(count * size_of(model_, part, 1));
    for (auto& r : results) out.emplace_back(r);
    Call<S> call;
    for (const Argument x : a.uses) call.in[static_cast<int>(x)] = states.host[static_cast<int>(x)];
    call.out = out;
    cuda::Batch<S> batch(model_, {.layout = Layout::columns, .memory = cuda::Where::host});
    batch.compute(a, call);
    double best = 1e30;
    for (int i = 0; i < (quick_ ? 1 : 5); ++i)
      best = std::min(best, seconds_of([&](long) { batch.compute(a, call); }, 1));
    Threads threads;
    Batch<S> cpu(model_, {.layout = Layout::columns, .threads = &threads});
    a.many<S>()(cpu, call);
    double on_cpu = 1e30;
    for (int i = 0; i < (quick_ ? 1 : 5); ++i)
      on_cpu = std::min(on_cpu, seconds_of([&](long) { a.many<S>()(cpu, call); }, 1));
    std::size_t numbers = 0;
    for (const Argument x : a.uses) numbers += states.host[static_cast<int>(x)].size();
    for (const auto& r : results) numbers += r.size();
    fmt::print("| {} | {} | {} | {} | {:.3g} | {:.1f} GB/s | {:.3g} |\n", name_, number(), name, count,
               count / best, static_cast<double>(numbers * sizeof(S)) / best * 1e-9, count / on_cpu);
  }

 private:
  static const char* number() { return sizeof(S) == 8 ? "double" : "float"; }
  static cuda::BatchOptions options_of(const Variant& variant) {
    return {.layout = Layout::columns, .style = variant.style, .tuning = variant.tuning};
  }
  std::vector<int> frames_of(std::string_view name) const {
    const Algorithm* const a = find_algorithm(name);
    if (!a || a->frames == FramesNeeded::none) return {};
    return {static_cast<int>(model_.frames().size()) - 1};
  }

  void algorithm(const Algorithm& a, const Variant& variant, std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    cuda::Batch<S> batch(model_, options_of(variant));
    const std::vector<int> frames = frames_of(a.name);
    const cuda::KernelUse use = batch.prepare(a.name, frames);
    const double made = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ResidentStates<S> states(model_, count, a.uses);
    std::vector<cuda::Array<S>> arrays;
    arrays.reserve(32);
    Call<S> call;
    double bytes = 0;
    for (const Argument x : a.uses) {
      const auto& from = states.host[static_cast<int>(x)];
      arrays.emplace_back(0, from.size());
      arrays.back().upload(from);
      call.in[static_cast<int>(x)] = arrays.back();
      bytes += static_cast<double>(from.size()) / static_cast<double>(count) * sizeof(S);
    }
    std::vector<std::span<S>> out;
    for (const Part& part : a.parts) {
      arrays.emplace_back(0, count * size_of(model_, part, frames.size()));
      out.emplace_back(arrays.back());
      bytes += static_cast<double>(size_of(model_, part, frames.size())) * sizeof(S);
    }
    call.out = out, call.frames = frames;
    const double s = seconds_on_device([&] { batch.compute(a, call); }, quick_ ? 2 : 20);
    const double rate = static_cast<double>(count) / s, operations = operations_of(model_, a);
    fmt::print(
        "| {} | {} | {} | {} | {} | {:.1f} us | **{:.3g}** | {} | {} | {} | {:.0f} % | {:.1f} |\n", name_,
        number(), a.name, count, variant.words(use.style), s * 1e6, rate, use.registers, use.local_bytes,
        operations > 0 ? fmt::format("{:.0f} %", 100 * operations * rate / (sizeof(S) == 8 ? 33.5e12 : 67e12))
                       : "-",
        100 * bytes * rate / 4.8e12, made);
    std::fflush(stdout);
  }

  void rollout(const Variant& variant, std::size_t count, std::size_t steps) {
    cuda::Batch<S> batch(model_, options_of(variant));
    const cuda::KernelUse use = batch.prepare_rollout(Integrator::rk4);
    constexpr Argument uses[] = {Argument::q, Argument::v};
    ResidentStates<S> states(model_, count, uses);
    cuda::Array<S> q(0, states.host[0].size()), v(0, states.host[1].size()), q_end(0, q.size()),
        v_end(0, v.size());
    q.upload(states.host[0]), v.upload(states.host[1]);
    RolloutOptions o;
    o.step = 1e-4, o.steps = steps, o.every = steps, o.damping = true;
    const double s = seconds_on_device([&] { batch.rollout(q, v, {}, o, q_end, v_end); }, quick_ ? 1 : 3);
    fmt::print(
        "| {} | {} | rollout, {} rk4 steps | {} | {} | {:.4g} ms | **{:.3g} steps** | {} | {} | | | |\n",
        name_, number(), steps, count, variant.words(use.style), s * 1e3,
        static_cast<double>(count * steps) / s, use.registers, use.local_bytes);
    std::fflush(stdout);
  }

  std::string name_;
  Model model_;
  bool quick_;
};

/// f(i) for i below count in so many processes, none of which has touched the GPU before, each taking the next. Those
/// that have not ended in time are stopped. Returns which are done.
template <class F>
std::vector<bool> in_processes(int processes, std::size_t count, double limit, const F& f) {
  struct Shared {
    std::atomic<std::size_t> next;
    std::atomic<bool> done[1024];
  };
  auto* const shared =
      new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared{};
  std::vector<pid_t> children;
  for (int part = 0; part < processes; ++part) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::size_t i; (i = shared->next++) < count;) try {
          f(i);
          shared->done[i] = true;
        } catch (const std::exception& error) {
          fmt::print(stderr, "articula_bench: {}\n", error.what());
        }
      _exit(0);
    }
    children.push_back(child);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit);
  while (!children.empty()) {
    std::erase_if(children, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
    if (std::chrono::steady_clock::now() > end)
      for (const pid_t child : children) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::vector<bool> done(count);
  for (std::size_t i = 0; i < count; ++i) done[i] = shared->done[i];
  return done;
}

struct DeviceRobot {
  std::string name;
  Model model;
};

/// What is timed of a robot; `variants`: also other ways to make the calls than the library's.
void add_rows(std::vector<DeviceRow>& rows, int robot, const Model& model, bool variants, bool quick) {
  const std::size_t many = quick ? 1024 : 1 << 20;
  const bool medium = model.nv() <= 20;
  const Style rolled = Style::rolled, specialised = Style::specialised;
  for (const bool in_double : {false, true}) {
    const auto add = [&](const char* name, const Variant& v = {}, std::size_t count = 0) {
      rows.push_back({robot, in_double, name, v, count ? count : many});
    };
    add("forward_dynamics", {}, 1024);
    for (const char* const name :
         {"forward_dynamics", "inverse_dynamics", "mass_matrix", "inverse_mass_matrix", "linearized_forward",
          "linearized_inverse", "forward_gradient", "jacobian"})
      add(name);
    add("rollout", {}, quick ? 256 : 65536);
    if (!variants) continue;
    add("forward_dynamics", {.style = rolled});
    for (const cuda::Tuning& t : {cuda::Tuning{128, 0, 1},
                                  {64, 0, 1},
                                  {128, 3, 1},
                                  {128, 0, 2},
                                  {64, 0, 2},
                                  {128, 3, 2},
                                  {128, 0, 4},
                                  {32, 0, 1, true}})
      if (t.sides == 1 || cuda::fold(model, t.sides).sides == t.sides)
        add("forward_dynamics", {.style = specialised, .tuning = t});
    if (!medium) continue;
    for (const char* const name : {"mass_matrix", "inverse_mass_matrix", "linearized_inverse"})
      add(name, {.style = specialised});
    if (!in_double) add("linearized_inverse", {.style = specialised, .tuning = cuda::Tuning{.blocks = 3}});
    add("linearized_forward", {.style = rolled});
    add("rollout", {.style = specialised}, quick ? 256 : 65536);
  }
}

}  // namespace

int device_bench(const std::vector<std::string>& robots, bool quick, bool variants) {
  std::vector<DeviceRobot> all;
  std::vector<DeviceRow> rows;
  for (const std::string& given : robots) {
    const bool free = given.starts_with("free:");
    const std::string file = free ? given.substr(5) : given;
    const std::size_t slash = file.find_last_of('/') + 1;
    all.push_back({file.substr(slash, file.size() - slash - 5),
                   read_urdf(file, {.base = free ? Base::free : Base::fixed})});
    add_rows(rows, static_cast<int>(all.size()) - 1, all.back().model, variants, quick);
  }
  const auto with = [&](const DeviceRow& row, auto&& f) {
    const DeviceRobot& r = all[row.robot];
    if (row.in_double)
      f(DeviceBench<double>(r.name, r.model, quick));
    else
      f(DeviceBench<float>(r.name, r.model, quick));
  };
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Large robots first: their programs take longest.
  const auto made = in_processes(cores, rows.size(), 150, [&](std::size_t i) {
    const DeviceRow& row = rows[rows.size() - 1 - i];
    with(row, [&](auto&& bench) { bench.prepare(row); });
  });
  for (const cuda::Device& d : cuda::devices())
    fmt::print("GPU {}: {}, compute capability {}.{}, {} multiprocessors, {:.0f} GB\n\n", d.number, d.name,
               d.major, d.minor, d.processors, static_cast<double>(d.memory) * 1e-9);
  fmt::print(
      "| robot | numbers | call | states | kernel | time | per second | registers | local bytes | arithmetic "
      "| memory | made in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DeviceRow& row = rows[i];
    if (made[rows.size() - 1 - i])
      with(row, [&](auto&& bench) { bench.row(row); });
    else
      fmt::print("| {} | {} | {} | {} | not compiled in time |\n", all[row.robot].name,
                 row.in_double ? "double" : "float", row.algorithm, row.count);
  }
  fmt::print("\nFrom the host's memory and back, and the CPU's batch on {} threads ({}):\n\n", cores,
             cpu_name());
  fmt::print(
      "| robot | numbers | call | states | GPU with transfers, per second | of which bytes | CPU, per second "
      "|\n|---|---|---|---|---|---|---|\n");
  const std::size_t some = quick ? 256 : 1 << 18;
  for (const DeviceRobot& r : all)
    for (const char* const name : {"forward_dynamics", "linearized_forward"}) {
      DeviceBench<float>(r.name, r.model, quick).transfers(name, some);
      DeviceBench<double>(r.name, r.model, quick).transfers(name, some);
    }
  return 0;
}

}  // namespace articula::bench
