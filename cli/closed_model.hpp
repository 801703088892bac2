// A model whose file closes loops or couples joints, as articula eval computes with it: as the scene with these
// constraints would be.
#pragma once

#include <string>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/loops/scene.hpp"
#include "cli/states.hpp"

namespace articula::cli {

class ClosedModel {
 public:
  /// `where` stands for the model in messages.
  ClosedModel(const Model& model, std::string where, const SceneOptions& options);

  /// Whether the constraints change it. All others are of the tree.
  static bool changes(const Algorithm& algorithm);
  /// Of these, the ones in which forces are without those of the constraints; ", " between them.
  static std::string of_the_tree(const std::vector<const Algorithm*>& wanted);

  /// q, and v where it is given, fit the constraints, or are made to.
  void settle(State& state);
  /// One that `changes`, at a state that is settled.
  void compute(const Algorithm& algorithm, const State& state, Wrenches<double> wrenches,
               std::span<const int> frames, std::span<const std::span<double>> out);

 private:
  const ConstrainedDerivatives& derivatives(const State& state);

  std::string where_;
  SceneOptions options_;
  ConstrainedDynamics work_;
  LinearizedConstrained linear_;
  ConstrainedDerivatives found_;
  std::vector<double> zero_;
};

}  // namespace articula::cli
