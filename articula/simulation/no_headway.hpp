// The error of a motion that makes no headway (Watch), and names in messages; internal.
#pragma once

#include <string>

#include "articula/kernels/integrator.hpp"
#include "articula/simulation/system.hpp"

namespace articula {

/// The joint that velocity i is of.
std::string joint_of_velocity(const Model& model, int i);

/// Names the joint with the largest force, or, where there is none, the fastest.
IntegrationError no_headway(const Model& model, Integrator integrator, double t, double more_evaluations,
                            In<double> forces, In<double> rates);

}  // namespace articula
