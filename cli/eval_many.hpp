// The quantities of `articula eval` at many states at once, through Batch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "articula/linearization/workspace.hpp"
#include "cli/output.hpp"
#include "cli/states.hpp"

namespace articula::cli {

class ManyStates {
 public:
  /// A quantity by name, and the vectors of a state that it uses.
  struct Wanted {
    std::string name;
    std::vector<Input> uses;
  };
  ManyStates(const Model& model, const std::vector<int>& frames, Method method, std::vector<Wanted> wanted,
             std::span<const State> states);
  ~ManyStates();

  /// The value at a state, if it was made together with others': nothing for quantities that Batch does not
  /// have, states with external forces, few states, and values that are not finite or need words. Those are
  /// made by themselves, which also finds what to say. States must come in order.
  std::optional<Json> value(const std::string& quantity, std::size_t state);

 private:
  struct Work;
  std::unique_ptr<Work> work_;  // none: too few states
};

}  // namespace articula::cli
