// The call that is made most: one state, every argument a plain array, results into out=, no option but frame=.
#pragma once

#include <array>
#include <span>

#include "arrays.hpp"
#include "articula/algorithms/algorithms.hpp"

namespace articula::python {

struct Callable;
struct ModelObject;
inline constexpr std::size_t most_parts = 8;

/// Of one model and algorithm; under the interpreter's lock. What is the same from call to call is kept here, so that a
/// call is some comparisons for each array. Whatever does not fit is left to prepare(), which has all rules and messages.
template <class S>
class QuickCall {
 public:
  QuickCall(const ModelObject& m, const Callable& callable);
  ~QuickCall();
  QuickCall(const QuickCall&) = delete;
  QuickCall& operator=(const QuickCall&) = delete;

  /// Arguments as Python's vectorcall has them. False: they do not fit; else `result` is a new reference, or null with
  /// an exception set.
  bool operator()(ModelObject& m, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
                  PyObject*& result);

 private:
  struct Shape {
    int dimensions = 0;
    Py_ssize_t lengths[3]{};
    bool is_of(const Array& x) const {
      if (x.dimensions != dimensions) return false;
      for (int d = 0; d < dimensions; ++d)
        if (x.shape[d] != lengths[d]) return false;
      return true;
    }
  };
  bool read_keywords(PyObject* keywords);
  bool take_results(PyObject* out);

  const Callable& callable_;
  bool possible_ = true;
  std::size_t inputs_, parts_;
  std::array<int, argument_count> slots_{};
  std::array<Shape, argument_count> input_shapes_{};
  std::array<Shape, most_parts> part_shapes_{};
  std::array<std::span<S>, most_parts> out_{};
  Call<S> call_{};
  int frame_ = -1;
  PyObject* keywords_ = nullptr;  // of the last call; owned. The same tuple says the same
  Py_ssize_t out_at_ = -1, frame_at_ = -1;
};

}  // namespace articula::python
