// Arrays of doubles for what is not on the list of algorithms: the package makes them contiguous, here they are checked.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <span>

#include "arrays.hpp"
#include "model_object.hpp"

namespace articula::python {

/// The numbers of a contiguous array of float64, `size` of them.
inline std::span<double> numbers_in(nanobind::handle x, const char* name, std::size_t size) {
  const Array* const array = plain_array(x.ptr(), numpy.float64);
  std::size_t found = 1;
  for (int d = 0; array && d < array->dimensions; ++d) found *= static_cast<std::size_t>(array->shape[d]);
  if (!array || found != size)
    fail(fmt::format("{}: expected a contiguous array of {} float64 numbers{}", name, size,
                     array ? fmt::format(", given {}", found) : ""));
  return {array->numbers<double>(), size};
}

/// A new array, and its numbers.
struct NewNumbers {
  nanobind::object array;
  std::span<double> numbers;

  explicit NewNumbers(std::initializer_list<std::size_t> lengths) {
    Py_ssize_t shape[4];
    int dimensions = 0;
    std::size_t size = 1;
    for (const std::size_t n : lengths) shape[dimensions++] = static_cast<Py_ssize_t>(n), size *= n;
    array = nanobind::steal(new_array<double>(dimensions, shape));
    if (!array) throw nanobind::python_error();
    numbers = {reinterpret_cast<Array*>(array.ptr())->numbers<double>(), size};
  }
};
template <class Numbers>
nanobind::object copied(const Numbers& from, std::initializer_list<std::size_t> lengths) {
  NewNumbers made(lengths);
  std::copy_n(from.begin(), made.numbers.size(), made.numbers.begin());
  return made.array;
}

inline ModelObject& checked_model(nanobind::handle x) {
  ModelObject* const m = model_of(x.ptr());
  if (!m) throw nanobind::python_error();
  return *m;
}

}  // namespace articula::python
