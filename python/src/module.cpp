// articula._core: what the Python package is built on. Errors and NumPy.
#include <nanobind/stl/string.h>

#include <map>
#include <system_error>

#include "arrays.hpp"
#include "articula/dynamics/singular_joint.hpp"
#include "model_object.hpp"

namespace nb = nanobind;

namespace articula::python {

Numpy numpy;

void use_numpy() {
  if (numpy.array) return;
  nb::object module = nb::module_::import_("numpy");
  nb::object arrays;
  try {
    arrays = nb::module_::import_("numpy._core._multiarray_umath");
  } catch (nb::python_error&) {
    arrays = nb::module_::import_("numpy.core._multiarray_umath");  // before NumPy 2
  }
  // Places in NumPy's table of functions, the same in 1.x and 2.x.
  void** const table = static_cast<void**>(PyCapsule_GetPointer(arrays.attr("_ARRAY_API").ptr(), nullptr));
  if (!table) throw nb::python_error();
  numpy.make = reinterpret_cast<decltype(numpy.make)>(table[93]);
  numpy.scalar_if_0d = reinterpret_cast<decltype(numpy.scalar_if_0d)>(table[76]);
  numpy.float64 = module.attr("dtype")("float64").release().ptr();
  numpy.float32 = module.attr("dtype")("float32").release().ptr();
  numpy.array = reinterpret_cast<PyTypeObject*>(nb::object(module.attr("ndarray")).release().ptr());
}

namespace {
std::map<std::string, PyObject*>& error_classes() {
  static auto& classes = *new std::map<std::string, PyObject*>;
  return classes;
}
void set_error(const char* name, const char* message) { PyErr_SetString(error_class(name), message); }
void set_singular(const SingularError& error) {
  const auto* const joint = dynamic_cast<const SingularJointError*>(&error);
  if (!joint) return set_error("SingularError", error.what());
  PyErr_SetObject(error_class("SingularError"),
                  nb::make_tuple(error.what(), "", nb::none(), joint->joint).ptr());
}
}  // namespace

PyObject* error_class(const char* name) {
  const auto found = error_classes().find(name);
  return found == error_classes().end() ? PyExc_ValueError : found->second;
}
void fail(const std::string& message) { throw ArgumentError(message); }
void set_error_of_states(const char* name, const std::string& message, const nb::list& states) {
  const nb::object error = nb::borrow(error_class(name))(message);
  error.attr("states") = nb::tuple(states);
  PyErr_SetObject(error_class(name), error.ptr());
}

void translate_exception() {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const SingularError& error) {
    set_singular(error);
  } catch (const ModelError& error) {
    set_error("ModelError", error.what());
  } catch (const Error& error) {
    set_error("Error", error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "an argument is not of the kind that is expected");
  } catch (const std::exception& error) {
    set_error("Error", error.what());
  }
}

ModelObject* model_of(PyObject* x) {
  static PyTypeObject* known = nullptr;  // a class of models, as almost all calls have
  if (Py_TYPE(x) != known) {
    if (!nb::isinstance<ModelObject>(nb::handle(x))) {
      PyErr_SetString(PyExc_TypeError, "expected an articula.Model");
      return nullptr;
    }
    Py_INCREF(reinterpret_cast<PyObject*>(Py_TYPE(x)));
    Py_XDECREF(reinterpret_cast<PyObject*>(known));
    known = Py_TYPE(x);
  }
  if (!nb::inst_ready(x)) {
    PyErr_SetString(error_class("Error"), "this model was never initialised: models come from articula.load");
    return nullptr;
  }
  return nb::inst_ptr<ModelObject>(x);
}

}  // namespace articula::python

NB_MODULE(_core, m) {
  using namespace articula::python;
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const articula::Error&) {
      translate_exception();
    } catch (const nb::cast_error&) {
      translate_exception();
    }
  });
  m.def("_use_errors", [](nb::dict classes) {
    for (auto [name, value] : classes) {
      PyObject* const type = value.ptr();
      Py_INCREF(type);
      error_classes()[nb::cast<std::string>(name)] = type;
    }
  });
  add_models(m);
  add_scenes(m);
  add_simulation(m);
  add_many_motions(m);
  add_operators(m);
  add_spaces(m);
  add_edits(m);
  add_derivatives(m);
  add_devices(m);
}
