// The methods of Model, made by going over the list of algorithms; and calls that are checked once.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "prepared.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

PyObject* slow_call = nullptr;  // articula._arrays.call

/// Arguments that are no plain arrays: made so in Python, which then calls _compute.
PyObject* call_slowly(const Callable& callable, PyObject* self, const Given& given) {
  nb::dict arguments;
  for (const auto& name : callable.names)
    if (given[name.slot]) arguments[nb::handle(name.text)] = nb::handle(given[name.slot]);
  return PyObject_CallFunction(slow_call, "OsO", self, callable.algorithm->name, arguments.ptr());
}

template <class S>
PyObject* call_with(const Callable& callable, ModelObject& m, PyObject* self, const Given& given,
                    bool by_arrays_py) {
  Prepared<S> p;
  switch (prepare(callable, m, given, by_arrays_py, p)) {
    case Outcome::failed:
      return nullptr;
    case Outcome::not_plain:
      if (!by_arrays_py) return call_slowly(callable, self, given);
      PyErr_Format(PyExc_TypeError, "_compute: %s: the arguments are not plain arrays",
                   callable.algorithm->name);
      return nullptr;
    case Outcome::done:
      break;
  }
  return compute(m, p) ? result_of(callable, p) : nullptr;
}

bool in_float(PyObject* x) {
  return Py_TYPE(x) == numpy.array && reinterpret_cast<Array*>(x)->dtype == numpy.float32;
}
bool in_float(const Callable& callable, const Given& given) {
  return in_float(given[callable.names[0].slot]);
}
PyObject* call(const Callable& callable, ModelObject& m, PyObject* self, const Given& given,
               bool by_arrays_py) {
  return in_float(callable, given) ? call_with<float>(callable, m, self, given, by_arrays_py)
                                   : call_with<double>(callable, m, self, given, by_arrays_py);
}

template <class S>
QuickCall<S>& quick_call(ModelObject& m, std::size_t place) {
  auto& all = m.quick<S>();
  if (all.empty()) all.resize(callables().size());
  if (!all[place]) all[place] = std::make_unique<QuickCall<S>>(m, callables()[place]);
  return *all[place];
}

const Callable* first_callable = nullptr;

/// C functions without data of their own, one per place in the list.
constexpr std::size_t most_algorithms = 128;
template <std::size_t i>
PyObject* method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  ModelObject* const m = model_of(self);
  if (!m) return nullptr;
  if (count > 0 && keywords) {  // out= may be among them
    PyObject* result = nullptr;
    const bool quick = in_float(arguments[0])
                           ? quick_call<float>(*m, i)(*m, arguments, count, keywords, result)
                           : quick_call<double>(*m, i)(*m, arguments, count, keywords, result);
    if (quick) return result;
  }
  const Callable& callable = first_callable[i];
  Given given{};
  if (!parse(callable, arguments, count, keywords, given)) return nullptr;
  return call(callable, *m, self, given, false);
}
using Method = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
template <std::size_t... i>
constexpr std::array<Method, sizeof...(i)> methods_of(std::index_sequence<i...>) {
  return {&method<i>...};
}
constexpr auto methods = methods_of(std::make_index_sequence<most_algorithms>());

/// A call of which everything was checked beforehand. Arrays can be changed in place (resized, say), so that what they
/// are is looked at again: that costs less than a nanosecond each.
struct Bound {
  struct Seen {
    nb::object array;
    char* data;
    int dimensions;
    Py_ssize_t shape[4];

    explicit Seen(PyObject* x) : array(nb::borrow(x)) {
      const Array* const a = reinterpret_cast<Array*>(x);
      data = a->data;
      dimensions = a->dimensions;
      for (int d = 0; d < dimensions; ++d) shape[d] = a->shape[d];
    }
    bool unchanged(PyObject* dtype) const {
      const Array* const a = reinterpret_cast<Array*>(array.ptr());
      if (a->data != data || a->dimensions != dimensions || a->dtype != dtype) return false;
      for (int d = 0; d < dimensions; ++d)
        if (a->shape[d] != shape[d]) return false;
      return true;
    }
  };
  virtual ~Bound() = default;
  virtual PyObject* operator()() = 0;
  virtual double seconds(std::size_t calls) = 0;
  nb::object model, result;
  ModelObject* m = nullptr;
  std::vector<Seen> seen;
  const Callable* callable = nullptr;
};

template <class S>
struct BoundIn final : Bound {
  Prepared<S> prepared;
  double seconds(std::size_t calls) override { return seconds_in_cpp(*m, prepared, calls); }
  PyObject* operator()() override {
    for (const Seen& x : seen)
      if (!x.unchanged(dtype_of<S>())) {
        PyErr_Format(error_class("Error"),
                     "%s: an array of this bound call was resized or changed its kind; bind again",
                     callable->algorithm->name);
        return nullptr;
      }
    if (!compute(*m, prepared)) return nullptr;
    Py_INCREF(result.ptr());
    return result.ptr();
  }
};

PyObject* call_bound(PyObject* self, PyObject*) {
  return (*static_cast<Bound*>(PyCapsule_GetPointer(self, nullptr)))();
}

template <class S>
nb::object bind_in(const Callable& callable, nb::handle model, ModelObject& m, const Given& given) {
  auto bound = std::make_unique<BoundIn<S>>();
  const Outcome outcome = prepare(callable, m, given, false, bound->prepared);
  if (outcome == Outcome::failed) throw nb::python_error();
  if (outcome == Outcome::not_plain)
    fail(
        fmt::format("bind: {}: arguments of a bound call, out among them, are contiguous NumPy arrays, all "
                    "float64 or all "
                    "float32, of one shape ({}), and share no memory with out",
                    callable.algorithm->name, "n,) or (B, n"));
  bound->model = nb::borrow(model);
  bound->m = &m;
  bound->callable = &callable;
  for (const Argument argument : callable.algorithm->uses)
    bound->seen.emplace_back(given[static_cast<int>(argument)]);
  if (given[wrenches_slot]) bound->seen.emplace_back(given[wrenches_slot]);
  nb::list out;
  for (std::size_t i = 0; i < callable.algorithm->parts.size(); ++i) {
    bound->seen.emplace_back(bound->prepared.arrays[i]);
    out.append(nb::borrow(bound->prepared.arrays[i]));
  }
  bound->result = out.size() == 1 ? nb::object(out[0]) : nb::borrow(callable.make_result)(out);
  Bound* const base = bound.release();
  const nb::object capsule = nb::steal(PyCapsule_New(base, nullptr, [](PyObject* self) {
    delete static_cast<Bound*>(PyCapsule_GetPointer(self, nullptr));
  }));
  static PyMethodDef definition{"bound_call", call_bound, METH_NOARGS,
                                "Computes again, into the same arrays."};
  return nb::steal(PyCFunction_NewEx(&definition, capsule.ptr(), nullptr));
}

double seconds_of(nb::handle bound, std::size_t calls) {
  if (!PyCFunction_Check(bound.ptr()) || PyCFunction_GetFunction(bound.ptr()) != call_bound)
    fail("_seconds: expected what Model.bind returns");
  PyObject* const self = PyCFunction_GetSelf(bound.ptr());
  return static_cast<Bound*>(PyCapsule_GetPointer(self, nullptr))->seconds(calls);
}

/// Python's (*args, **kwargs) as a quick call has them.
const Callable& parse_slowly(const char* name, nb::args args, nb::kwargs kwargs, Given& given) {
  const Callable* const callable = find_callable(name);
  if (!callable) fail(fmt::format("'{}' is no algorithm; see articula.algorithms()", name));
  std::vector<PyObject*> all;
  nb::list names;
  for (nb::handle x : args) all.push_back(x.ptr());
  for (auto [key, value] : kwargs) {
    names.append(key);
    all.push_back(value.ptr());
  }
  const nb::tuple keys(names);
  if (!parse(*callable, all.data(), static_cast<Py_ssize_t>(args.size()), keys.ptr(), given))
    throw nb::python_error();
  return *callable;
}

nb::object bind(nb::handle model, const std::string& name, nb::args args, nb::kwargs kwargs) {
  ModelObject* const m = model_of(model.ptr());
  if (!m) throw nb::python_error();
  Given given{};
  const Callable& callable = parse_slowly(name.c_str(), args, kwargs, given);
  return in_float(callable, given) ? bind_in<float>(callable, model, *m, given)
                                   : bind_in<double>(callable, model, *m, given);
}
nb::object compute_plain(nb::handle model, const std::string& name, nb::args args, nb::kwargs kwargs) {
  Given given{};
  const Callable& callable = parse_slowly(name.c_str(), args, kwargs, given);
  ModelObject* const m = model_of(model.ptr());
  PyObject* const result = m ? call(callable, *m, model.ptr(), given, true) : nullptr;
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

/// Of all parts, beside the leading dimensions.
nb::list shapes(nb::handle model, const std::string& name, std::size_t frames) {
  const ModelObject* const m = model_of(model.ptr());
  const Callable* const callable = find_callable(name.c_str());
  if (!m) throw nb::python_error();
  if (!callable) fail(fmt::format("'{}' is no algorithm; see articula.algorithms()", name));
  nb::list all;
  for (const Part& part : callable->algorithm->parts) {
    Py_ssize_t shape[3];
    const int dimensions = shape_of(*m, part, frames, shape);
    nb::list one;
    for (int d = 0; d < dimensions; ++d) one.append(shape[d]);
    all.append(nb::tuple(one));
  }
  return all;
}

nb::list described() {
  nb::list all;
  for (const Callable& callable : callables()) {
    const Algorithm& algorithm = *callable.algorithm;
    nb::dict d;
    nb::list uses, parts, keywords;
    for (const Argument argument : algorithm.uses) uses.append(std::string(name_of(argument)));
    for (const Part& part : algorithm.parts) {
      nb::list shape;
      for (const Extent extent : {part.planes, part.rows, part.columns})
        if (extent != Extent::one) shape.append(text_of(extent));
      parts.append(nb::make_tuple(python_name(part.key), nb::tuple(shape), part.whole_number));
    }
    for (std::size_t i = algorithm.uses.size(); i < callable.names.size(); ++i)
      keywords.append(nb::borrow(callable.names[i].text));
    d["name"] = algorithm.name;
    d["arguments"] = nb::tuple(uses);
    d["keywords"] = nb::tuple(keywords);
    d["parts"] = nb::tuple(parts);
    d["frames"] = algorithm.frames == FramesNeeded::none  ? "none"
                  : algorithm.frames == FramesNeeded::one ? "one"
                                                          : "several";
    d["mimics"] = algorithm.mimics;
    d["meaning"] = algorithm.meaning;
    all.append(d);
  }
  return all;
}

}  // namespace

constexpr const char* bind_documentation =
    R"(A call without arguments that computes an algorithm into the same arrays again.

Everything is checked now, so that the call is the quickest there is. Arguments are those of the method `name`:
contiguous NumPy arrays, all float64 or all float32, which can be changed in place between calls. Where out= is not
given, a new array is made once; every call returns it.

Example:
    >>> arm = articula.load("arm7")
    >>> q, v, tau = arm.neutral(), np.zeros(7), np.ones(7)
    >>> forward = arm.bind("forward_dynamics", q, v, tau)
    >>> q[1] = 0.5
    >>> np.array_equal(forward(), arm.forward_dynamics(q, v, tau))
    True
)";

void add_algorithms(nb::module_& m, nb::object model_class) {
  if (callables().size() > most_algorithms)
    throw std::length_error("more algorithms than methods; see most_algorithms");
  first_callable = callables().data();
  std::size_t i = 0;
  for (Callable& callable : callables()) {
    callable.definition = {callable.algorithm->name,
                           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(methods[i++])),
                           METH_FASTCALL | METH_KEYWORDS, callable.documentation.c_str()};
    const nb::object descriptor = nb::steal(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(model_class.ptr()), &callable.definition));
    model_class.attr(callable.algorithm->name) = descriptor;
  }
  model_class.attr("bind") =
      nb::cpp_function(bind, nb::is_method(), nb::name("bind"), nb::scope(model_class), nb::arg("name"),
                       nb::arg("args"), nb::arg("kwargs"), bind_documentation);
  m.def("algorithms", described,
        "What each algorithm of the list takes and gives: a dictionary each.\n\n"
        "Example:\n    >>> [a[\"arguments\"] for a in articula.algorithms() if a[\"name\"] == \"jacobian\"]\n"
        "    [('q',)]\n");
  m.def("_compute", compute_plain, nb::arg("model"), nb::arg("name"), nb::arg("args"), nb::arg("kwargs"));
  m.def("_seconds", seconds_of, nb::arg("bound"), nb::arg("calls"));
  m.def("_shapes", shapes, nb::arg("model"), nb::arg("name"), nb::arg("frames"));
  m.def("_use", [](nb::object slow, nb::dict results) {
    slow_call = slow.release().ptr();
    for (Callable& callable : callables()) {
      if (callable.algorithm->parts.size() < 2) continue;
      nb::object type = results[callable.algorithm->name];
      callable.make_result = nb::object(type.attr("_make")).release().ptr();
      callable.result_class = type.release().ptr();
    }
  });
}

}  // namespace articula::python
