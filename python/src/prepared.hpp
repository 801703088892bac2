// A call of an algorithm with every argument checked, ready to be computed any number of times.
#pragma once

#include "arrays.hpp"
#include "callables.hpp"

namespace articula::python {

template <class S>
struct Prepared {
  const Algorithm* algorithm = nullptr;
  Call<S> call{};
  std::array<std::span<S>, most_parts> out;  // as many as there are arrays
  std::array<PyObject*, most_parts> arrays;  // of the results; owned
  std::size_t array_count = 0;
  std::vector<int> frames{};
  int frame = -1;
  int threads = 0;  // 0: as many as there are cores
  bool many = false;
  std::size_t count = 1;
  PyObject* given_out = nullptr;  // borrowed

  Prepared() {}  // `out` and `arrays` are left as they are: clearing them would take longer than the checks
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (std::size_t i = 0; i < array_count; ++i) Py_XDECREF(arrays[i]);
  }
};

/// From a frame's name or index; from the word for axes, null: the world's.
int frame_index(ModelObject& m, const char* function, PyObject* frame);
Axes axes_of(const char* function, PyObject* given);

enum class Outcome {
  done,
  not_plain,  // some argument is not an array as the algorithms want it: articula/_arrays.py makes it one
  failed,     // an exception is set
};
template <class S>
Outcome prepare(const Callable& callable, ModelObject& m, const Given& given, bool by_arrays_py,
                Prepared<S>& p);
/// False: an exception is set.
template <class S>
bool compute(ModelObject& m, Prepared<S>& p);
/// So many calls of the library itself, for comparison with those through Python.
template <class S>
double seconds_in_cpp(ModelObject& m, Prepared<S>& p, std::size_t calls);
/// What the call returns; null: an exception is set.
template <class S>
PyObject* result_of(const Callable& callable, Prepared<S>& p);

}  // namespace articula::python
