#include "articula/simulation/task_control.hpp"

#include <fmt/format.h>

#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

OperationalSpaceControl::OperationalSpaceControl(const Model& model, std::string_view frame,
                                                 const MotionTarget& target, std::vector<double> posture,
                                                 const OperationalSpaceOptions& options)
    : target(target),
      control_(model, {{pose_task(model, frame)}}),
      options_(options),
      posture_(std::move(posture)),
      tau_(model.nv()),
      motor_(motors(model)) {
  if (model.base() == Base::free)
    throw ArgumentError("OperationalSpaceControl: a free base has no motor; it is for fixed ones");
  if (posture_.size() != std::size_t(model.nq()))
    throw ArgumentError(
        fmt::format("OperationalSpaceControl: the posture has {} numbers, model '{}' needs nq = {}",
                    posture_.size(), model.name(), model.nq()));
  normalise(model, posture_);
}

void OperationalSpaceControl::add_forces(double, In<double> q, In<double> v, Out<double> tau) {
  control_.update(q, v);
  control_.follow(0, target, options_.gains);
  control_.hold_posture(posture_, options_.posture_stiffness, options_.posture_damping);
  control_.torques(tau_);
  for (std::size_t i = 0; i < tau_.size(); ++i)
    if (motor_[i]) tau[i] += tau_[i];
}

}  // namespace articula
