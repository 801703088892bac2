// The mechanisms that every algorithm is tried on: each joint kind alone, and random trees over all of them,
// with fixed and free base, armature, damping and mimic joints, each with a random state and its dense
// dynamics.
#pragma once

#include <functional>
#include <string>

#include "articula/model/model.hpp"
#include "tests/support/dense_dynamics.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

struct Case {
  std::string name;
  Model model;
  DenseDynamics dense;  // updated at the state
  State state;
};

/// Calls f for each case, with a trace of its name for messages.
void for_each_case(const std::function<void(const Case&)>& f);

/// Keeps the worst of many errors, and prints it when done: tests then also tell how good the library is.
class Worst {
 public:
  explicit Worst(std::string what) : what_(std::move(what)) {}
  ~Worst();
  Worst(const Worst&) = delete;
  Worst& operator=(const Worst&) = delete;
  /// Returns its argument.
  double operator()(double error);

 private:
  std::string what_;
  double worst_ = 0;
};

}  // namespace articula::testing
