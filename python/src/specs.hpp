// Specifications as plain Python data, nested tuples with every number as it is, and back.
#pragma once

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "articula/model/model.hpp"
#include "articula/spatial/numbers.hpp"
#include "model_object.hpp"

namespace articula::python {

template <std::size_t n, class T>
nanobind::tuple numbers(const T& x) {
  nanobind::list list;
  for (std::size_t i = 0; i < n; ++i) list.append(numbers_of(x)[i]);
  return nanobind::tuple(list);
}
template <std::size_t n, class T>
void read(nanobind::handle from, const char* what, T& to) {
  const auto list = nanobind::cast<std::vector<double>>(from);
  if (list.size() != n) fail(fmt::format("{} has {} numbers, expected {}", what, list.size(), n));
  std::copy_n(list.begin(), n, numbers_of(to));
}
template <class T>
T get(nanobind::handle from, int i) {
  return nanobind::cast<T>(from[i]);
}

/// One number, or one for each of the freedoms where they differ.
nanobind::object as_object(const PerFreedom& x, int freedoms);
PerFreedom read_per_freedom(nanobind::handle from);
nanobind::tuple as_tuple(const JointLimits& limits, int freedoms);
JointLimits read_limits(nanobind::handle from);
nanobind::tuple as_tuple(const MassProperties& mass);
MassProperties read_mass(nanobind::handle from);
Pose read_pose(nanobind::handle from);  // (nine numbers, three numbers)
JointKind kind_named(const std::string& name);

nanobind::tuple as_tuple(const ModelSpec& spec);
ModelSpec read_spec(nanobind::handle from);

}  // namespace articula::python
