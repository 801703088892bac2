// From what Python gives to what the algorithms take.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "prepared.hpp"

namespace articula::python {

namespace {

std::string type_name(PyObject* x) {
  const nanobind::object name =
      nanobind::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(x)), "__name__"));
  return nanobind::cast<std::string>(nanobind::str(name));
}

int choice(const char* function, const char* name, PyObject* given,
           std::initializer_list<const char*> choices) {
  if (!given) return 0;
  int i = 0;
  std::string expected;
  for (const char* const text : choices) {
    if (PyUnicode_Check(given) && PyUnicode_CompareWithASCIIString(given, text) == 0) return i;
    expected += fmt::format("{}\"{}\"", i++ ? ", " : "", text);
  }
  fail(fmt::format("{}: {} is {}; expected one of {}", function, name,
                   PyUnicode_Check(given) ? nanobind::cast<std::string>(nanobind::repr(given))
                                          : "of type " + type_name(given),
                   expected));
}

constexpr int most_threads = 1024;
int thread_count(const char* function, PyObject* given) {
  if (!given) return 0;
  const bool whole = PyIndex_Check(given) && !PyBool_Check(given);
  const Py_ssize_t count = whole ? PyNumber_AsSsize_t(given, nullptr) : 0;
  if (count < 1 || count > most_threads)
    fail(fmt::format(
        "{}: threads is {}; expected a whole number from 1 to {}, or None for as many as there are cores",
        function, whole ? std::to_string(count) : "of type " + type_name(given), most_threads));
  return static_cast<int>(count);
}

template <class S>
void read_options(const Callable& callable, ModelObject& m, const Given& given, Prepared<S>& p) {
  const Algorithm& algorithm = *callable.algorithm;
  const char* const function = algorithm.name;
  if (!algorithm.mimics && m.model.has_mimics())
    fail(fmt::format("{}: model '{}' has mimic joints, for which it is not defined", function,
                     m.model.name()));
  PyObject* const frame = given[frame_slot];
  if (algorithm.frames == FramesNeeded::several && !PyUnicode_Check(frame) && !PyIndex_Check(frame)) {
    const nanobind::object list = nanobind::steal(PySequence_List(frame));
    if (!list) {
      PyErr_Clear();
      fail(fmt::format("{}: frame is of type {}; expected a frame's name or index, or a sequence of them",
                       function, type_name(frame)));
    }
    for (Py_ssize_t i = 0; i < PyList_Size(list.ptr()); ++i)
      p.frames.push_back(frame_index(m, function, PyList_GetItem(list.ptr(), i)));
    if (p.frames.empty()) fail(fmt::format("{}: frame is empty; expected one frame or more", function));
    p.call.frames = p.frames;
  } else if (frame) {
    p.frame = frame_index(m, function, frame);
    p.call.frames = {&p.frame, 1};
  }
  p.call.axes = axes_of(function, given[axes_slot]);
  p.call.method =
      static_cast<Method>(choice(function, "method", given[method_slot],
                                 {"automatic", "direct", "conventional", "numerical", "printed"}));
  p.threads = thread_count(function, given[threads_slot]);
}

template <class S>
bool overlap(std::span<const S> x, std::span<const S> y) {
  return x.data() < y.data() + y.size() && y.data() < x.data() + x.size();
}

/// Results that were given, or new ones.
template <class S>
Outcome take_results(const Callable& callable, ModelObject& m, PyObject* given, Prepared<S>& p) {
  const std::vector<Part>& parts = callable.algorithm->parts;
  if (given && parts.size() > 1 &&
      (!PyTuple_Check(given) || PyTuple_Size(given) != static_cast<Py_ssize_t>(parts.size())))
    return Outcome::not_plain;
  p.given_out = given;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Py_ssize_t shape[4] = {static_cast<Py_ssize_t>(p.count)};
    const int leading = p.many ? 1 : 0;
    const int dimensions = leading + shape_of(m, parts[i], p.call.frames.size(), shape + leading);
    Array* array = nullptr;
    if (given) {
      array = plain_array(parts.size() > 1 ? PyTuple_GetItem(given, static_cast<Py_ssize_t>(i)) : given,
                          dtype_of<S>());
      if (!array || array->dimensions != dimensions || !(array->flags & writeable)) return Outcome::not_plain;
      for (int d = 0; d < dimensions; ++d)
        if (array->shape[d] != shape[d]) return Outcome::not_plain;
      Py_INCREF(reinterpret_cast<PyObject*>(array));
    } else {
      array = reinterpret_cast<Array*>(new_array<S>(dimensions, shape));
      if (!array) return Outcome::failed;
    }
    p.arrays[i] = reinterpret_cast<PyObject*>(array);
    p.array_count = i + 1;
    std::size_t size = 1;
    for (int d = 0; d < dimensions; ++d) size *= static_cast<std::size_t>(shape[d]);
    p.out[i] = {array->template numbers<S>(), size};
    if (!given) continue;
    for (const Argument argument : callable.algorithm->uses)
      if (overlap<S>(p.out[i], p.call[argument])) return Outcome::not_plain;
    if (overlap<S>(p.out[i], p.call.wrenches)) return Outcome::not_plain;
    for (std::size_t other = 0; other < i; ++other)
      if (overlap<S>(p.out[i], p.out[other]))
        fail(fmt::format("{}: out: '{}' and '{}' share memory", callable.algorithm->name, parts[other].key,
                         parts[i].key));
  }
  p.call.out = std::span(p.out).first(parts.size());
  return Outcome::done;
}

}  // namespace

int frame_index(ModelObject& m, const char* function, PyObject* frame) {
  if (frame == m.frame_name.ptr()) return m.frame;
  if (PyUnicode_Check(frame)) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(frame, &size);
    if (!text) {  // surrogates
      PyErr_Clear();
      fail(fmt::format("{}: frame is no text that can be written; expected a frame's name or index",
                       function));
    }
    m.frame = m.model.frame({text, static_cast<std::size_t>(size)});
    m.frame_name = nanobind::borrow(frame);
    return m.frame;
  }
  if (!PyIndex_Check(frame) || PyBool_Check(frame))
    fail(
        fmt::format("{}: frame is of type {}; expected a frame's name or index", function, type_name(frame)));
  const Py_ssize_t index = PyNumber_AsSsize_t(frame, nullptr),
                   count = static_cast<Py_ssize_t>(m.model.frames().size());
  if (index < 0 || index >= count)
    fail(fmt::format("{}: frame is {}; model '{}' has frames 0 to {}", function, index, m.model.name(),
                     count - 1));
  return static_cast<int>(index);
}
Axes axes_of(const char* function, PyObject* given) {
  return static_cast<Axes>(choice(function, "axes", given, {"world", "local", "spatial"}));
}

template <class S>
Outcome prepare(const Callable& callable, ModelObject& m, const Given& given, bool by_arrays_py,
                Prepared<S>& p) {
  if (callable.whole_numbers && !by_arrays_py) return Outcome::not_plain;
  p.algorithm = callable.algorithm;
  p.call.listed = callable.algorithm->listed;
  int leading = -1;
  for (const Argument argument : callable.algorithm->uses) {
    const Array* const x = plain_array(given[static_cast<int>(argument)], dtype_of<S>());
    if (!x) return Outcome::not_plain;
    if (leading < 0) {
      leading = x->dimensions - 1;
      if (leading != 0 && leading != 1) return Outcome::not_plain;
      if (leading) p.count = static_cast<std::size_t>(x->shape[0]);
    }
    if (x->dimensions != leading + 1 || (leading && static_cast<std::size_t>(x->shape[0]) != p.count))
      return Outcome::not_plain;
    const Py_ssize_t n = argument == Argument::q ? m.nq : m.nv;
    if (x->shape[leading] != n) return Outcome::not_plain;
    p.call.in[static_cast<int>(argument)] = {x->numbers<S>(), p.count * static_cast<std::size_t>(n)};
  }
  p.many = leading == 1;
  if (PyObject* const wrenches = given[wrenches_slot]) {
    const Array* const x = plain_array(wrenches, dtype_of<S>());
    if (!x || x->dimensions != leading + 2 || x->shape[leading] != m.bodies || x->shape[leading + 1] != 6 ||
        (leading && static_cast<std::size_t>(x->shape[0]) != p.count))
      return Outcome::not_plain;
    p.call.wrenches = {x->numbers<S>(), p.count * 6 * static_cast<std::size_t>(m.bodies)};
  }
  try {
    read_options(callable, m, given, p);
    return take_results(callable, m, given[out_slot], p);
  } catch (...) {
    translate_exception();
    return Outcome::failed;
  }
}

template <class S>
PyObject* result_of(const Callable& callable, Prepared<S>& p) {
  const std::size_t parts = callable.algorithm->parts.size();
  if (p.given_out &&
      (parts == 1 || Py_TYPE(p.given_out) == reinterpret_cast<PyTypeObject*>(callable.result_class))) {
    Py_INCREF(p.given_out);
    return p.given_out;
  }
  const auto part = [&](std::size_t i) {
    PyObject* const array = p.arrays[i];
    if (p.given_out) {
      Py_INCREF(array);
      return array;
    }
    p.arrays[i] = nullptr;
    return reinterpret_cast<Array*>(array)->dimensions == 0 ? numpy.scalar_if_0d(array) : array;
  };
  if (parts == 1) return part(0);
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(parts));
  if (!tuple) return nullptr;
  for (std::size_t i = 0; i < parts; ++i) PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), part(i));
  // tuple.__new__(class, (parts,)): what the class's own _make does, without running Python.
  static const auto new_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  PyObject* const arguments = PyTuple_Pack(1, tuple);
  Py_DECREF(tuple);
  if (!arguments) return nullptr;
  PyObject* const result =
      new_tuple(reinterpret_cast<PyTypeObject*>(callable.result_class), arguments, nullptr);
  Py_DECREF(arguments);
  return result;
}

template Outcome prepare(const Callable&, ModelObject&, const Given&, bool, Prepared<double>&);
template Outcome prepare(const Callable&, ModelObject&, const Given&, bool, Prepared<float>&);
template PyObject* result_of(const Callable&, Prepared<double>&);
template PyObject* result_of(const Callable&, Prepared<float>&);

}  // namespace articula::python
