// External forces that stay what they are while the bodies move, as LinearizationOptions names them;
// internal.
#pragma once

#include <vector>

#include "articula/linearization/workspace.hpp"

namespace articula {

class HeldForces : public Workspace<double> {
 public:
  explicit HeldForces(const Model& model);
  /// Takes the options of a call, stated at q; borrowed. Throws ArgumentError for wrong sizes.
  void start(const char* function, In<double> q, const LinearizationOptions<double>& options);
  /// The forces at another configuration: those held in body axes have turned with their bodies; those held
  /// in world axes act at points that have.
  const LinearizationOptions<double>& at(In<double> q);

 private:
  void place(In<double> q);
  Mat3<double> axes(int k) const;
  LinearizationOptions<double> given_, now_;
  bool turn_ = false;
  std::vector<Mat3<double>> axes_at_start_, levers_;
  std::vector<Spatial<double>> wrenches_;
};

}  // namespace articula
