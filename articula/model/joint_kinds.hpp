// What joint kinds are made of, for all that goes over joints: the list of joint_kinds.cpp, and the hinges' traits
// (hinges.hpp). A new kind is a name in JointKind (spec.hpp) and an entry of the list; one that no hinges make is also a
// struct in hinges.hpp and its labels in joint_kinds.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "articula/model/hinges.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// Inboard to outboard; a fixed joint has none, a universal one two, with a massless cross between them. Where there are
/// several, each is a revolute or a prismatic one.
std::span<const HingeKind> hinges_of(JointKind kind);
inline constexpr std::size_t most_hinges = 3;
/// The axis of one of them: the first, the second, or perpendicular to both. Not of unit length, if those are not.
Vec3<double> axis_of(const JointSpec& joint, std::size_t hinge);
/// Does JointSpec::axis say something of it?
bool has_axis(JointKind kind);
/// Is this one of its velocities a turning, rad/s, not a sliding, m/s?
bool is_angular(JointKind kind, int velocity);
/// Are its first four coordinates a quaternion?
bool has_quaternion(JointKind kind);
/// How its coordinates move with its velocities.
Chart chart_of(JointKind kind);

/// What a coordinate or a velocity is called beside the joint's name: "qx", "vy", "second"; empty where there is one alone.
std::string coordinate_label(JointKind kind, int index);
std::string velocity_label(JointKind kind, int index);
/// "rad", "m", or nothing.
std::string_view coordinate_unit(JointKind kind, int index);

}  // namespace articula
