// The ten numbers by which a body's inertia enters the dynamics, linearly: what identification finds and what
// randomisation varies. Order: mass; mass times mass centre (x y z); inertia about the origin (xx xy xz yy yz
// zz). Axes and origin are those of the body's link, as files state them; links welded to it are included.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

inline constexpr int inertial_parameter_count = 10;
using InertialParameters = std::array<double, inertial_parameter_count>;

InertialParameters inertial_parameters(const MassProperties& mass);
/// Of all bodies of a model, body after body (Model::bodies): 10 per body.
std::vector<double> inertial_parameters(const Model& model);
/// The other way. Without mass the mass centre is the origin.
MassProperties mass_properties(const InertialParameters& parameters);

/// Adds a welded piece, given by its mass properties in a frame at `pose`.
void weld(MassProperties& body, const MassProperties& piece, const Pose& pose);

/// What is wrong with them, or nothing: the errors that find_problems tells of a link's. `rounding`: of the
/// numbers, relative.
std::optional<std::string> problem_with(const InertialParameters& parameters, double rounding = 1e-15);

// --- for the kernels ---------------------------------------------------------------------------------
/// Moments below zero by this much of the largest are rounding: files have six digits.
inline constexpr double negative_moment = 1e-6;
/// Inertias of a body of this mass below it are zero but for rounding: the body is a point to a micrometre.
inline double negligible_inertia(double mass) { return std::max(1e-12 * mass, 1e-20); }
/// Principal moments, ascending; what only rounding left of them is zero.
std::array<double, 3> principal_moments(const Sym3<double>& J);

/// A body's constants from constant::mp on (tree.hpp) in this order, all in the body's internal axes, J being its
/// inertia about the origin.
struct InertialConstants {
  Vec3<double> mp, u, w;
  double m, lambda, sigma;
  Sym3<double> J;
};
InertialConstants inertial_constants(double mass, const Vec3<double>& mp, const Sym3<double>& J);
/// A body's constants from parameters in link axes, which the body's internal axes see as link_axes.
InertialConstants inertial_constants(const InertialParameters& parameters, const Mat3<double>& link_axes);

}  // namespace articula
