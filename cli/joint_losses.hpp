// Damping and dry friction of a model's joints, in what eval computes (--damping, --friction).
#pragma once

#include <optional>

#include "articula/algorithms/algorithms.hpp"
#include "articula/simulation/forces.hpp"

namespace articula::cli {

class JointLosses {
 public:
  /// Throws InputError where one of the algorithms cannot have them, or none does.
  JointLosses(const Model& model, bool damping, bool friction, const std::vector<const Algorithm*>& wanted);

  bool act_on(const Algorithm& algorithm) const;
  /// For one state: what is given to the algorithm in the place of tau and dtau.
  void before(const Algorithm& algorithm, Call<double>& call);
  /// What is added to its results.
  void after(const Algorithm& algorithm, const Call<double>& call);

 private:
  std::optional<JointDampers> dampers_;
  std::optional<DryFriction> friction_;
  std::vector<double> damping_;        // the dampers' constants
  std::vector<double> loss_, forces_;  // at the state; what is given
};

}  // namespace articula::cli
