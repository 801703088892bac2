// articula_bench --device cuda: states per second on a GPU, resident and with transfers, beside the CPU's batch. Prints
// Markdown (docs/gpu.md).
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "articula/cuda/batch.hpp"
#include "articula/diagonal/operation_counts.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "bench/measure.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

using cuda::Style;

struct DeviceRow {
  const char* algorithm;
  std::vector<Style> styles;  // to compare; empty: what the library takes
};

/// Random states, in columns, as many as asked for: the same 4096 over and over.
template <class S>
struct ResidentStates {
  ResidentStates(const Model& model, std::size_t count) : count(count) {
    constexpr std::size_t different = 4096;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    const std::vector<double> start = neutral(model);
    std::vector<double> at(model.nq()), step(model.nv());
    for (int k = 0; k < argument_count; ++k) host[k].resize(count * size_of(model, static_cast<Argument>(k)));
    for (std::size_t s = 0; s < std::min(count, different); ++s) {
      for (double& x : step) x = draw(random);
      integrate(model, start, step, at);
      for (std::size_t i = 0; i < at.size(); ++i) host[0][i * count + s] = static_cast<S>(at[i]);
      for (int k = 1; k < argument_count; ++k)
        for (std::size_t i = 0; i < step.size(); ++i) host[k][i * count + s] = static_cast<S>(draw(random));
    }
    for (int k = 0; k < argument_count; ++k)
      for (std::size_t i = 0; i < host[k].size() / count; ++i)
        for (std::size_t s = different; s < count; ++s)
          host[k][i * count + s] = host[k][i * count + s % different];
  }
  std::size_t count;
  std::array<std::vector<S>, argument_count> host;
};

/// Least seconds of a call on the stream, by the GPU's own clock.
template <class F>
double seconds_on_device(F&& f, int repetitions) {
  const cuda::Driver& d = cuda::driver();
  const cuda::Context context(0);
  const cuda::Use use(context);
  cuda::Handle begin, end;
  d.check(d.EventCreate(&begin, 0), "make an event");
  d.check(d.EventCreate(&end, 0), "make an event");
  f();
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    d.check(d.EventRecord(begin, nullptr), "measure");
    f();
    d.check(d.EventRecord(end, nullptr), "measure");
    d.check(d.EventSynchronize(end), "measure");
    float milliseconds = 0;
    d.check(d.EventElapsedTime(&milliseconds, begin, end), "measure");
    best = std::min(best, milliseconds * 1e-3);
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

  /// Compiles everything that will be timed.
  void prepare(const std::vector<DeviceRow>& rows, int part, int parts) {
    int i = 0;
    for (const DeviceRow& row : rows)
      for (const Style style : styles_of(row)) {
        if (i++ % parts != part) continue;
        cuda::Batch<S> batch(model_, {.layout = Layout::columns, .style = style});
        if (row.algorithm == std::string_view("rollout"))
          batch.prepare_rollout(Integrator::rk4);
        else
          batch.prepare(row.algorithm, frames_of(row.algorithm));
      }
  }

  void row(const DeviceRow& row, std::size_t count) {
    for (const Style style : styles_of(row)) {
      if (row.algorithm == std::string_view("rollout"))
        rollout(style, quick_ ? 256 : 65536, quick_ ? 10 : 1000);
      else
        algorithm(*find_algorithm(row.algorithm), style, count);
    }
  }
  /// From the host's memory and back, and the CPU's batch.
  void transfers(const char* name, std::size_t count) {
    const Algorithm& a = *find_algorithm(name);
    ResidentStates<S> states(model_, count);
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
    fmt::print("| {} | {} | {} | {} | {:.3g} | {:.3g} |\n", name_, number(), name, count, count / best,
               count / on_cpu);
  }

 private:
  static const char* number() { return sizeof(S) == 8 ? "double" : "float"; }
  std::vector<Style> styles_of(const DeviceRow& row) const {
    if (!row.styles.empty()) return row.styles;
    cuda::Task task;
    task.algorithm = row.algorithm;
    return {cuda::best_style(model_, task, sizeof(S) == 8)};
  }
  std::vector<int> frames_of(std::string_view name) const {
    const Algorithm* const a = find_algorithm(name);
    if (!a || a->frames == FramesNeeded::none) return {};
    return {static_cast<int>(model_.frames().size()) - 1};
  }

  void algorithm(const Algorithm& a, Style style, std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    cuda::Batch<S> batch(model_, {.layout = Layout::columns, .style = style});
    const std::vector<int> frames = frames_of(a.name);
    const cuda::KernelUse use = batch.prepare(a.name, frames);
    const double made = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ResidentStates<S> states(model_, count);
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
    fmt::print("| {} | {} | {} | {} | {} | {:.1f} us | **{:.3g}** | {} | {} | {} | {:.0f} % | {:.1f} |\n",
               name_, number(), a.name, count, style == Style::specialised ? "specialised" : "rolled",
               s * 1e6, rate, use.registers, use.local_bytes,
               operations > 0
                   ? fmt::format("{:.0f} %", 100 * operations * rate / (sizeof(S) == 8 ? 33.5e12 : 67e12))
                   : "-",
               100 * bytes * rate / 4.8e12, made);
    std::fflush(stdout);
  }

  void rollout(Style style, std::size_t count, std::size_t steps) {
    cuda::Batch<S> batch(model_, {.layout = Layout::columns, .style = style});
    const cuda::KernelUse use = batch.prepare_rollout(Integrator::rk4);
    ResidentStates<S> states(model_, count);
    cuda::Array<S> q(0, states.host[0].size()), v(0, states.host[1].size()), q_end(0, q.size()),
        v_end(0, v.size());
    q.upload(states.host[0]), v.upload(states.host[1]);
    RolloutOptions o;
    o.step = 1e-4, o.steps = steps, o.every = steps, o.damping = true;
    const double s = seconds_on_device([&] { batch.rollout(q, v, {}, o, q_end, v_end); }, quick_ ? 1 : 3);
    fmt::print(
        "| {} | {} | rollout, {} rk4 steps | {} | {} | {:.4g} ms | **{:.3g} steps** | {} | {} | | | |\n",
        name_, number(), steps, count, style == Style::specialised ? "specialised" : "rolled", s * 1e3,
        static_cast<double>(count * steps) / s, use.registers, use.local_bytes);
    std::fflush(stdout);
  }

  std::string name_;
  Model model_;
  bool quick_;
};

/// f(part) in so many processes, none of which has touched the GPU before.
template <class F>
void in_processes(int count, const F& f) {
  std::vector<pid_t> children;
  for (int part = 0; part < count; ++part) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        f(part);
      } catch (const std::exception& error) {
        fmt::print(stderr, "articula_bench: {}\n", error.what());
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
}

}  // namespace

int device_bench(const std::vector<std::string>& robots, bool quick) {
  const std::vector<Style> both{Style::rolled, Style::specialised}, rolled{Style::rolled};
  struct Robot {
    std::string name;
    Model model;
    std::vector<DeviceRow> rows, rows_in_double;
  };
  std::vector<Robot> all;
  for (const std::string& given : robots) {
    const bool free = given.starts_with("free:");
    const std::string file = free ? given.substr(5) : given;
    const Model model = read_urdf(file, {.base = free ? Base::free : Base::fixed});
    const std::size_t slash = file.find_last_of('/') + 1;
    Robot r{file.substr(slash, file.size() - slash - 5), model, {}, {}};
    const bool small = model.nv() <= 8, medium = model.nv() <= 20;
    r.rows = {{"forward_dynamics", medium ? both : rolled},
              {"inverse_dynamics", medium ? both : rolled},
              {"mass_matrix", small ? both : rolled},
              {"inverse_mass_matrix", small ? both : rolled},
              {"linearized_forward", small ? both : rolled},
              {"linearized_inverse", small ? both : rolled},
              {"forward_gradient", small ? both : rolled},
              {"jacobian", {}},
              {"rollout", small ? both : rolled}};
    r.rows_in_double = {{"forward_dynamics", medium ? both : rolled},
                        {"inverse_dynamics", medium ? both : rolled},
                        {"mass_matrix", rolled},
                        {"inverse_mass_matrix", rolled},
                        {"linearized_forward", rolled},
                        {"linearized_inverse", rolled}};
    all.push_back(std::move(r));
  }
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  in_processes(cores, [&](int part) {
    for (Robot& r : all) {
      DeviceBench<float>(r.name, r.model, quick).prepare(r.rows, part, cores);
      DeviceBench<double>(r.name, r.model, quick)
          .prepare(r.rows_in_double, (part + cores / 2) % cores, cores);
    }
  });
  for (const cuda::Device& d : cuda::devices())
    fmt::print("GPU {}: {}, compute capability {}.{}, {} multiprocessors, {:.0f} GB\n\n", d.number, d.name,
               d.major, d.minor, d.processors, static_cast<double>(d.memory) * 1e-9);
  fmt::print(
      "| robot | numbers | call | states | kernel | time | per second | registers | local bytes | arithmetic "
      "| memory | made "
      "in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  const std::size_t many = quick ? 1024 : 1 << 20;
  for (Robot& r : all) {
    DeviceBench<float> in_float(r.name, r.model, quick);
    DeviceBench<double> in_double(r.name, r.model, quick);
    in_float.row({"forward_dynamics", {}}, 1024);
    in_double.row({"forward_dynamics", {}}, 1024);
    for (const DeviceRow& row : r.rows) in_float.row(row, many);
    for (const DeviceRow& row : r.rows_in_double) in_double.row(row, many);
  }
  fmt::print("\nFrom the host's memory and back, and the CPU's batch on {} threads ({}):\n\n", cores,
             cpu_name());
  fmt::print(
      "| robot | numbers | call | states | GPU with transfers, per second | CPU, per second "
      "|\n|---|---|---|---|---|---|\n");
  for (Robot& r : all)
    for (const char* const name : {"forward_dynamics", "linearized_forward"}) {
      DeviceBench<float>(r.name, r.model, quick).transfers(name, many / 4);
      DeviceBench<double>(r.name, r.model, quick).transfers(name, many / 4);
    }
  return 0;
}

}  // namespace articula::bench
