#include "articula/cuda/batch_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/batch/failed_state.hpp"

namespace articula::cuda {

namespace {

constexpr unsigned long long nothing_failed = ~0ull;
constexpr int attribute_local_bytes = 3, attribute_registers = 4;

/// Calls that the library's list has not, as it would have them.
const Algorithm& energies() {
  static const Algorithm a = [] {
    Algorithm x{};
    x.name = "energies", x.uses = {Argument::q, Argument::v}, x.frames = FramesNeeded::none;
    x.parts = {{"kinetic"}, {"potential"}}, x.mimics = true;
    return x;
  }();
  return a;
}
const Algorithm& poses() {
  static const Algorithm a = [] {
    Algorithm x{};
    x.name = "poses", x.uses = {Argument::q}, x.frames = FramesNeeded::several;
    x.parts = {{"poses", Extent::task}}, x.mimics = true;
    return x;
  }();
  return a;
}
/// M^-1 times the linearized inverse dynamics: the last step of linearized_by_steps.
const Algorithm& solved_linearization() {
  static const Algorithm a = [] {
    Algorithm x{};
    x.name = "solved_linearization", x.frames = FramesNeeded::none;
    x.parts = find_algorithm("linearized_forward")->parts;
    return x;
  }();
  return a;
}
/// Without the mass matrix.
const Algorithm& linearized_inverse_by_state() {
  static const Algorithm a = [] {
    Algorithm x = *find_algorithm("linearized_inverse");
    x.parts.resize(2);
    return x;
  }();
  return a;
}
std::size_t numbers_of(const Model& model, const Algorithm& algorithm, const Part& part, std::size_t frames) {
  return std::string_view(algorithm.name) == "poses" ? 12 * frames : size_of(model, part, frames);
}

}  // namespace

const Algorithm* algorithm_on_devices(std::string_view name) {
  if (name == "energies") return &energies();
  if (name == "poses") return &poses();
  return find_algorithm(name);
}

template <class S>
Batch<S>::Data::Data(const Model& m, const BatchOptions& o)
    : model(m),
      options(o),
      context(std::make_shared<const Context>(o.device)),
      failed_here(most_kernels, nothing_failed) {
  compiler();  // its absence is said now
  failed = Array<unsigned long long>(context, most_kernels);
  failed.upload(failed_here, options.stream);
}
template <class S>
Batch<S>::Data::~Data() {
  const Driver& d = driver();
  Handle before;
  d.CtxPushCurrent(context->handle());
  d.StreamSynchronize(options.stream);
  for (const auto& k : kernels)
    if (k->module) d.ModuleUnload(k->module);
  for (Lane& lane : lanes) {
    if (lane.pinned) d.MemFreeHost(lane.pinned);
    if (lane.done) d.EventDestroy(lane.done);
    if (lane.stream) d.StreamDestroy(lane.stream);
  }
  d.CtxPopCurrent(&before);
}

template <class S>
const Kernel& Batch<S>::Data::kernel(const WantedKernel& w, const Algorithm* algorithm) {
  for (const auto& k : kernels)
    if (k->name == w.name && k->axes == w.axes && k->wrenches == w.wrenches && k->varied == w.varied &&
        k->speeds == w.speeds && k->integrator == w.integrator && k->for_call == w.for_call &&
        std::ranges::equal(k->frames, w.frames))
      return *k;
  if (kernels.size() == most_kernels)
    throw DeviceError(fmt::format("GPU: more than {} kinds of calls by one batch", most_kernels));
  Task task;
  task.algorithm = w.name;
  task.frames.assign(w.frames.begin(), w.frames.end());
  task.axes = w.axes, task.wrenches = w.wrenches, task.varied = w.varied, task.speeds = w.speeds,
  task.integrator = w.integrator;
  task.layout = options.layout;
  if (algorithm) {
    task.uses = algorithm->uses;
    task.listed = algorithm->listed;
    for (const Part& part : algorithm->parts)
      task.results.push_back({part.key, part, numbers_of(model, *algorithm, part, w.frames.size())});
  }
  auto k = std::make_unique<Kernel>();
  k->name = task.algorithm, k->frames = task.frames, k->axes = w.axes, k->wrenches = w.wrenches;
  k->varied = w.varied, k->speeds = w.speeds, k->integrator = w.integrator, k->for_call = w.for_call;
  k->failed = kernels.size();
  compile(*k, task);
  kernels.push_back(std::move(k));
  return *kernels.back();
}
template <class S>
void Batch<S>::Data::compile(Kernel& kernel, const Task& task) {
  load(kernel, task, options.style.value_or(best_style(model, task, sizeof(S) == sizeof(double))));
  // What the compiler makes of programs that are too large for it: hardly a register is used.
  constexpr int too_few_registers = 32, much_memory = 1024;
  if (options.style || kernel.use.style == Style::rolled || kernel.use.registers > too_few_registers ||
      kernel.use.local_bytes < much_memory)
    return;
  const Use use(*context);
  driver().check(driver().ModuleUnload(kernel.module), "unload a program");
  kernel.module = nullptr;
  load(kernel, task, Style::rolled);
}
template <class S>
void Batch<S>::Data::load(Kernel& kernel, const Task& task, Style style) {
  Kernel* const k = &kernel;
  k->use.style = style;
  const Program program =
      program_of<S>(model, task, style,
                    options.tuning.value_or(best_tuning(model, task, style, sizeof(S) == sizeof(double))));
  k->use.threads = program.threads, k->use.sides = program.sides;
  const Device& device = context->device();
  const std::string code = machine_code(program, 10 * device.major + device.minor, options.progress);
  const Driver& d = driver();
  const Use use(*context);
  const std::string doing = fmt::format("load {}", program.algorithm);
  d.check(d.ModuleLoadData(&k->module, code.data()), doing);
  d.check(d.ModuleGetFunction(&k->function, k->module, "articula_kernel"), doing);
  d.check(d.FuncGetAttribute(&k->use.registers, attribute_registers, k->function), doing);
  d.check(d.FuncGetAttribute(&k->use.local_bytes, attribute_local_bytes, k->function), doing);
}
/// a = M^-1 (tau - ..) into the room of the last result, the linearized inverse dynamics there, M^-1 over a, and then the
/// products, each in its place.
template <class S>
const Kernel& Batch<S>::Data::linearized_by_steps() {
  constexpr const char *name = "linearized_forward", *own = "linearized_forward, by steps";
  for (const auto& k : kernels)
    if (k->for_call == own) return *k;
  auto all = std::make_unique<Kernel>();
  const auto step = [&](const Algorithm& a) {
    all->steps.push_back(&kernel({.name = a.name, .for_call = name}, &a));
    const KernelUse& use = all->steps.back()->use;
    all->use.style = use.style, all->use.threads = use.threads;
    all->use.registers = std::max(all->use.registers, use.registers);
    all->use.local_bytes = std::max(all->use.local_bytes, use.local_bytes);
  };
  step(*find_algorithm("forward_dynamics")), step(linearized_inverse_by_state());
  step(*find_algorithm("inverse_mass_matrix")), step(solved_linearization());
  all->name = name, all->for_call = own, all->failed = all->steps[0]->failed;
  kernels.push_back(std::move(all));
  return *kernels.back();
}
template <class S>
void Batch<S>::Data::launch_steps(const Kernel& k, const Arguments<S>& args, Handle stream) {
  const auto failing_in = [&](const Kernel& step) {
    Arguments<S> x = args;
    x.failed = failed.data() + step.failed;
    return x;
  };
  Arguments<S> a = failing_in(*k.steps[0]);
  a.out[0] = args.out[2], a.out[1] = a.out[2] = nullptr;
  launch(*k.steps[0], a, stream);
  a = failing_in(*k.steps[1]);
  a.in[static_cast<int>(Argument::a)] = args.out[2], a.out[2] = nullptr;
  launch(*k.steps[1], a, stream);
  a = failing_in(*k.steps[2]);
  a.out[0] = args.out[2], a.out[1] = a.out[2] = nullptr;
  launch(*k.steps[2], a, stream);
  launch(*k.steps[3], failing_in(*k.steps[3]), stream);
}

template <class S>
std::size_t Batch<S>::Data::count_of(const char* function, std::size_t size_of_q) const {
  const std::size_t nq = model.nq();
  if (nq == 0)
    throw ArgumentError(fmt::format("{}: model '{}' has no joint that moves", function, model.name()));
  if (size_of_q % nq)
    throw ArgumentError(fmt::format("{}: q has {} numbers, no multiple of nq = {} of model '{}'", function,
                                    size_of_q, nq, model.name()));
  const std::size_t count = size_of_q / nq;
  if (options.layout == Layout::tiles && count % warp)
    throw ArgumentError(
        fmt::format("{}: {} states, no multiple of the {} of a tile (Batch::lanes)", function, count, warp));
  if (varied_count && varied_count != count)
    throw ArgumentError(
        fmt::format("{}: {} states, but vary() was given inertias of {}", function, count, varied_count));
  return count;
}
template <class S>
void Batch<S>::Data::require(const char* function, const char* name, std::size_t size, std::size_t count,
                             std::size_t n) const {
  if (size != count * n)
    throw ArgumentError(fmt::format("{}: {} has {} numbers, {} states of model '{}' need {}", function, name,
                                    size, count, model.name(), count * n));
}

template <class S>
void Batch<S>::Data::compute(const Algorithm& a, const Call<S>& call) {
  const std::size_t frames = call.frames.size(), bodies = model.body_count();
  if (!a.mimics && model.has_mimics())
    throw ArgumentError(
        fmt::format("{}: model '{}' has mimic joints, for which it is not defined", a.name, model.name()));
  if (a.frames == FramesNeeded::one ? frames != 1 : a.frames == FramesNeeded::several && frames == 0)
    throw ArgumentError(fmt::format("{}: {} frames given, expected {}", a.name, frames,
                                    a.frames == FramesNeeded::one ? "one" : "one or more"));
  if (call.out.size() != a.parts.size())
    throw ArgumentError(
        fmt::format("{}: {} results asked for, there are {}", a.name, call.out.size(), a.parts.size()));
  const std::size_t count = count_of(a.name, call[Argument::q].size());
  Arguments<S> args;
  Traffic traffic;
  for (const Argument argument : a.uses) {
    const char* const name = name_of(argument).data();
    const std::size_t n = size_of(model, argument);
    require(a.name, name, call[argument].size(), count, n);
    traffic.take(name, call[argument], n, &args.in[static_cast<int>(argument)]);
  }
  if (!call.wrenches.empty()) {
    require(a.name, "wrenches", call.wrenches.size(), count, 6 * bodies);
    traffic.take("wrenches", call.wrenches, 6 * bodies, &args.wrenches);
  }
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    if (call.out[i].empty() && a.parts.size() > 1) continue;  // left out
    const std::size_t n = numbers_of(model, a, a.parts[i], frames);
    require(a.name, a.parts[i].key, call.out[i].size(), count, n);
    traffic.give(a.parts[i].key, call.out[i], n, &args.out[i]);
  }
  if (model.has_mimics() && std::string_view(a.name) == "operational_space")
    throw ArgumentError(fmt::format(
        "{}: model '{}' has mimic joints, with which it goes one state after the other, which GPUs do not",
        a.name, model.name()));
  if (std::string_view(a.name) == "linearized_forward" && !options.style && varied_count == 0 &&
      linearized_in_steps(model) && traffic.outputs == 3)
    return run(linearized_by_steps(), args, traffic, count);
  WantedKernel wanted{
      .name = a.name, .axes = call.axes, .wrenches = !call.wrenches.empty(), .varied = varied_count > 0};
  if (a.frames != FramesNeeded::none) wanted.frames = call.frames;
  run(kernel(wanted, &a), args, traffic, count);
}

template <class S>
void Batch<S>::Data::launch(const Kernel& k, const Arguments<S>& args, Handle stream) {
  if (args.count == 0) return;
  if (!k.steps.empty()) return launch_steps(k, args, stream);
  // Few states are spread over all processors.
  const long each = warp / k.use.sides, all = (args.count + each - 1) / each * warp;  // threads
  int threads = k.use.threads;
  while (threads > warp && all < static_cast<long>(threads) * context->device().processors) threads /= 2;
  Arguments<S> copy = args;
  void* parameters[] = {&copy};
  const auto blocks = static_cast<unsigned>((all + threads - 1) / threads);
  driver().check(driver().LaunchKernel(k.function, blocks, 1, 1, static_cast<unsigned>(threads), 1, 1, 0,
                                       stream, parameters, nullptr),
                 "start a computation");
}

template <class S>
void Batch<S>::Data::run(const Kernel& k, Arguments<S>& args, Traffic& traffic, std::size_t count) {
  args.count = static_cast<long>(count);
  args.failed = failed.data() + k.failed;
  if (k.varied) args.inertias = inertias.data(), args.armature = armature.data();
  if (options.memory == Where::host) return run_on_host(k, args, traffic, count);
  for (int i = 0; i < traffic.inputs; ++i) *traffic.in_place[i] = traffic.in[i].x;
  for (int i = 0; i < traffic.outputs; ++i) *traffic.out_place[i] = traffic.out[i].x;
  const Use use(*context);
  launch(k, args, options.stream);
}

template <class S>
void Batch<S>::Data::report(const Traffic* host, std::size_t count) {
  failed.download(failed_here, options.stream);
  const Kernel* which = nullptr;
  unsigned long long least = nothing_failed;
  for (const auto& k : kernels)
    if (const unsigned long long x = failed_here[k->failed]; x < nothing_failed && k->steps.empty()) {
      const unsigned long long state = k->name == "rollout" ? x >> step_bits : x;
      if (state < least) least = state, which = k.get();
    }
  if (!which) return;
  const unsigned long long x = failed_here[which->failed];
  std::fill(failed_here.begin(), failed_here.end(), nothing_failed);
  failed.upload(failed_here, options.stream);
  // On the device nobody looks at arguments: the sentence of a SingularError says that they may be to blame.
  bool finite = true;
  for (int i = 0; host && i < host->inputs; ++i) {
    const S* const given = host->in[i].x;
    const std::size_t n = host->in[i].n;
    const bool overwritten =
        std::any_of(host->out, host->out + host->outputs, [&](const auto& o) { return o.x == given; });
    finite =
        finite && (overwritten || batching::is_finite(given, options.layout, warp, count, n, least, 0, n));
  }
  if (which->name != "rollout")
    throw_failed_state((which->for_call.empty() ? which->name : which->for_call).c_str(), least, finite);
  throw_failed_step("rollout", least, x & ((1ull << step_bits) - 1), finite);
}

template <class S>
void Batch<S>::Data::rollout(const char* function, In<S> q, In<S> v, In<S> tau, const RolloutOptions& o,
                             Out<S> q_path, Out<S> v_path, Out<S> fastest) {
  const std::size_t nq = model.nq(), nv = model.nv(), count = count_of(function, q.size());
  require(function, "v", v.size(), count, nv);
  if (!(o.step > 0) || !std::isfinite(o.step))
    throw ArgumentError(fmt::format("{}: the step is {} s, expected more than 0", function, o.step));
  if (o.steps == 0 || o.every == 0 || o.steps % o.every)
    throw ArgumentError(
        fmt::format("{}: {} steps, states after every {}: expected a multiple, both at least 1", function,
                    o.steps, o.every));
  if (stepping_of(o.integrator) != Stepping::explicit_step)
    throw ArgumentError(fmt::format("{}: {} does not step explicitly; {} do", function, name_of(o.integrator),
                                    integrator_names(Stepping::explicit_step)));
  const std::size_t times = o.steps / o.every;
  Arguments<S> args;
  Traffic t;
  t.take("q", q, nq, &args.in[static_cast<int>(Argument::q)]);
  t.take("v", v, nv, &args.in[static_cast<int>(Argument::v)]);
  if (!tau.empty()) {
    args.forces_each_step = o.steps > 1 && tau.size() == count * o.steps * nv;
    if (!args.forces_each_step && tau.size() != count * nv)
      throw ArgumentError(
          fmt::format("{}: tau has {} numbers, {} trajectories of model '{}' need none, {} (constant) or {} "
                      "(of {} steps)",
                      function, tau.size(), count, model.name(), count * nv, count * o.steps * nv, o.steps));
    t.take("tau", tau, args.forces_each_step ? o.steps * nv : nv, &args.in[static_cast<int>(Argument::tau)]);
  }
  const auto path = [&](const char* name, Out<S> x, std::size_t n, S** place) {
    if (x.empty()) return;
    if (x.size() != count * times * n)
      throw ArgumentError(
          fmt::format("{}: {} has {} numbers, {} trajectories of {} states of model '{}' need {}", function,
                      name, x.size(), count, times, model.name(), count * times * n));
    t.give(name, x, times * n, place);
  };
  path("q_path", q_path, nq, &args.out[0]);
  path("v_path", v_path, nv, &args.out[1]);
  if (!fastest.empty()) {
    require(function, "fastest", fastest.size(), count, 1);
    t.give("fastest", fastest, 1, &args.out[2]);
  }
  args.step = o.step, args.steps = static_cast<long>(o.steps), args.every = static_cast<long>(o.every);
  args.damping = o.damping;
  run(kernel({.name = "rollout",
              .varied = varied_count > 0,
              .speeds = !fastest.empty(),
              .integrator = o.integrator},
             nullptr),
      args, t, count);
}

template struct Batch<double>::Data;
template struct Batch<float>::Data;

}  // namespace articula::cuda
