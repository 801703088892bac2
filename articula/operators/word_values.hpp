// Sums of words at a state, on random vectors: how the steps of a derivation are checked.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "articula/operators/program.hpp"
#include "articula/operators/words.hpp"

namespace articula::operators {

class WordValues {
 public:
  /// For expressions that take vectors of `from`; `like` is one of them, and says how large their vectors are. The same
  /// vectors are drawn at every state.
  WordValues(OperatorState& state, const Alphabet& letters, Space from, const NodePtr& like);
  /// None where an inverse is too large to be made as a matrix.
  std::optional<std::vector<double>> operator()(const Words& sum) { return times(sum, x_); }

 private:
  using Numbers = std::optional<std::vector<double>>;
  Numbers times(const Words& sum, const std::vector<double>& x);
  Numbers times(int letter, const std::vector<double>& x);

  OperatorState& state_;
  const Alphabet& letters_;
  std::map<int, std::unique_ptr<Program>> programs_;
  std::vector<double> x_;
  std::vector<std::vector<double>> inputs_;
  int rows_ = 0;
};

}  // namespace articula::operators
