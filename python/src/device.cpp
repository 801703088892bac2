// Calls on arrays that live on a GPU: addresses, a stream and a layout, put together by articula/_device.py.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "articula/cuda/batch.hpp"
#include "prepared.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// Batches of one model by device and layout, one call at a time.
template <class S>
using Batches = std::map<std::pair<int, bool>, cuda::Batch<S>>;
struct OnDevices {
  std::mutex mutex;
  Batches<double> in_double;
  Batches<float> in_float;
  template <class S>
  Batches<S>& all() {
    if constexpr (std::is_same_v<S, double>)
      return in_double;
    else
      return in_float;
  }
};
OnDevices& on_devices(ModelObject& m) {
  if (!m.on_devices) m.on_devices = std::make_shared<OnDevices>();
  return *static_cast<OnDevices*>(m.on_devices.get());
}
/// f(model's batches) without the interpreter's lock: programs may take long to compile. The lock is given back first, so
/// that whoever waits for the batches does not keep it.
template <class F>
void with_batches(nb::handle model, const F& f) {
  ModelObject* const m = model_of(model.ptr());
  if (!m) throw nb::python_error();
  OnDevices& devices = on_devices(*m);
  try {
    nb::gil_scoped_release others;
    const std::lock_guard lock(devices.mutex);
    f(*m, devices);
  } catch (...) {
    translate_exception();
    throw nb::python_error();
  }
}
template <class S>
cuda::Batch<S>& batch_of(ModelObject& m, OnDevices& devices, int device, bool columns) {
  Batches<S>& all = devices.all<S>();
  if (const auto found = all.find({device, columns}); found != all.end()) return found->second;
  cuda::BatchOptions options{.layout = columns ? Layout::columns : Layout::rows, .device = device};
  if (isatty(2))
    options.progress = [](const std::string& said) { fmt::print(stderr, "articula: {}\n", said); };
  return all.emplace(std::pair(device, columns), cuda::Batch<S>(m.model, options)).first->second;
}

/// An array on a device: its address, and how many numbers it has.
using There = std::pair<std::uintptr_t, std::size_t>;
There there(nb::handle x) { return {nb::cast<std::uintptr_t>(x[0]), nb::cast<std::size_t>(x[1])}; }
template <class S>
std::span<S> numbers(const There& x) {
  return {reinterpret_cast<S*>(x.first), x.second};
}

struct Asked {
  std::string name;
  int device;
  std::uintptr_t stream;
  bool columns;
  std::vector<std::pair<Argument, There>> in;
  There wrenches{};
  std::vector<There> out;
  std::vector<int> frames;
  Axes axes;
};
template <class S>
void compute(nb::handle model, const Asked& asked) {
  with_batches(model, [&](ModelObject& m, OnDevices& devices) {
    Call<S> call;
    for (const auto& [argument, x] : asked.in) call.in[static_cast<int>(argument)] = numbers<const S>(x);
    std::vector<std::span<S>> out;
    for (const There& x : asked.out) out.push_back(numbers<S>(x));
    call.wrenches = numbers<const S>(asked.wrenches);
    call.out = out, call.frames = asked.frames, call.axes = asked.axes;
    cuda::Batch<S>& batch = batch_of<S>(m, devices, asked.device, asked.columns);
    batch.use_stream(reinterpret_cast<cuda::Handle>(asked.stream));
    const Algorithm* const algorithm = find_algorithm(asked.name);
    if (!algorithm) throw ArgumentError(fmt::format("there is no algorithm '{}'", asked.name));
    batch.compute(*algorithm, call);
  });
}

void device_compute(nb::handle model, const std::string& name, bool in_float, int device,
                    std::uintptr_t stream, bool columns, nb::dict in, nb::list out, nb::object frames,
                    nb::object axes) {
  ModelObject* const m = model_of(model.ptr());
  if (!m) throw nb::python_error();
  Asked asked{name, device, stream, columns, {}, {}, {}, {}, {}};
  asked.axes = axes_of(name.c_str(), axes.ptr());
  for (auto [key, x] : in) {
    const std::string argument = nb::cast<std::string>(key);
    if (argument == "wrenches") asked.wrenches = there(x);
    for (int i = 0; i < argument_count; ++i)
      if (name_of(static_cast<Argument>(i)) == argument)
        asked.in.emplace_back(static_cast<Argument>(i), there(x));
  }
  for (nb::handle x : out) asked.out.push_back(there(x));
  for (nb::handle frame : frames) asked.frames.push_back(frame_index(*m, name.c_str(), frame.ptr()));
  in_float ? compute<float>(model, asked) : compute<double>(model, asked);
}

struct AskedRollout {
  int device;
  std::uintptr_t stream;
  There q, v, tau, q_path, v_path;
  RolloutOptions options;
};
template <class S>
void roll_out(nb::handle model, const AskedRollout& asked) {
  with_batches(model, [&](ModelObject& m, OnDevices& devices) {
    cuda::Batch<S>& batch = batch_of<S>(m, devices, asked.device, false);
    batch.use_stream(reinterpret_cast<cuda::Handle>(asked.stream));
    batch.rollout(numbers<const S>(asked.q), numbers<const S>(asked.v), numbers<const S>(asked.tau),
                  asked.options, numbers<S>(asked.q_path), numbers<S>(asked.v_path));
  });
}
void device_rollout(nb::handle model, bool in_float, int device, std::uintptr_t stream, nb::dict in,
                    nb::list out, double step, std::size_t steps, std::size_t every,
                    const std::string& integrator, bool damping) {
  AskedRollout asked{device, stream, there(in["q"]), there(in["v"]), {}, there(out[0]), there(out[1]), {}};
  if (in.contains("tau")) asked.tau = there(in["tau"]);
  asked.options.integrator = integrator_named(integrator);
  asked.options.step = step, asked.options.steps = steps, asked.options.every = every;
  asked.options.damping = damping;
  in_float ? roll_out<float>(model, asked) : roll_out<double>(model, asked);
}

/// Waits for the calls so far.
void device_check(nb::handle model) {
  with_batches(model, [](ModelObject&, OnDevices& devices) {
    for (auto& [where, batch] : devices.in_double) batch.check();
    for (auto& [where, batch] : devices.in_float) batch.check();
  });
}

nb::list device_list() {
  nb::list all;
  for (const cuda::Device& d : cuda::devices())
    all.append(nb::make_tuple(d.number, d.name, d.major, d.minor, d.memory, d.processors));
  return all;
}
/// Why nothing can be computed on a GPU; empty: it can.
std::string device_missing() {
  std::string why;
  return cuda::available(&why) ? std::string() : why;
}

/// New numbers on a device, as an object of DLPack that owns them, and their address.
template <class S>
nb::object empty_in(int device, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  auto* const array = new cuda::Array<S>(device, count);
  const nb::capsule owner(array, [](void* x) noexcept { delete static_cast<cuda::Array<S>*>(x); });
  const nb::ndarray<nb::array_api, S> made(array->data(), shape.size(), shape.data(), owner, nullptr,
                                           nb::dtype<S>(), nb::device::cuda::value, device);
  return nb::make_tuple(made, reinterpret_cast<std::uintptr_t>(array->data()));
}
nb::object device_empty(bool in_float, int device, const std::vector<std::size_t>& shape) {
  try {
    return in_float ? empty_in<float>(device, shape) : empty_in<double>(device, shape);
  } catch (...) {
    translate_exception();
    throw nb::python_error();
  }
}

}  // namespace

void add_devices(nb::module_& m) {
  m.def("_device_compute", device_compute);
  m.def("_device_rollout", device_rollout);
  m.def("_device_check", device_check);
  m.def("_devices", device_list);
  m.def("_device_missing", device_missing);
  m.def("_device_empty", device_empty);
}

}  // namespace articula::python
