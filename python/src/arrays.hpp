// NumPy's arrays by their own fields, as NumPy 1.x and 2.x lay them out, without NumPy's headers: a check of all of an
// array's fields costs a few nanoseconds, an exported buffer or a binder's array argument a few hundred.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <type_traits>

namespace articula::python {

struct Array {
  PyObject_HEAD char* data;
  int dimensions;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;

  template <class S>
  S* numbers() const {
    return reinterpret_cast<S*>(data);
  }
};
constexpr int contiguous_and_aligned = 0x0001 | 0x0100, writeable = 0x0400;

/// What is used of NumPy; filled by use_numpy(), which every Model has called.
struct Numpy {
  PyTypeObject* array = nullptr;
  PyObject *float64 = nullptr,
           *float32 = nullptr;  // the dtypes; every native array of the kind has this very one
  PyObject* (*make)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int,
                    PyObject*) = nullptr;
  PyObject* (*scalar_if_0d)(PyObject*) = nullptr;  // steals its argument
};
extern Numpy numpy;
/// Imports NumPy, which takes longer than the rest of the package: when the first model is made.
void use_numpy();

template <class S>
constexpr int type_number = std::is_same_v<S, double> ? 12 : 11;
template <class S>
PyObject* dtype_of() {
  return std::is_same_v<S, double> ? numpy.float64 : numpy.float32;
}

/// Null: not an array that can be used as it is.
inline Array* plain_array(PyObject* x, PyObject* dtype) {
  if (Py_TYPE(x) != numpy.array) return nullptr;
  Array* const array = reinterpret_cast<Array*>(x);
  if (array->dtype != dtype) return nullptr;
  if ((array->flags & contiguous_and_aligned) != contiguous_and_aligned) return nullptr;
  return array;
}
template <class S>
PyObject* new_array(int dimensions, const Py_ssize_t* shape) {
  return numpy.make(numpy.array, dimensions, shape, type_number<S>, nullptr, nullptr, 0, 0, nullptr);
}

}  // namespace articula::python
