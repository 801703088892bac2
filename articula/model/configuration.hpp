// The configuration space of a model: moving along a velocity, and the velocity between two configurations.
//
// Coordinates of one-axis joints add. A spherical joint moves by q exp(w), a free joint by the rigid motion
// exp(w, v) and a planar one by that of the plane, all with the velocity in the child's axes
// (docs/conventions.md). Mimic joints have no coordinates of their own. Sizes are checked (ArgumentError);
// nothing allocates unless said. `out` may be the same array as an input.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

/// out = q (+) dv: where the constant joint velocity dv leads in a unit of time. Quaternions come out with
/// unit length.
void integrate(const Model& model, std::span<const double> q, std::span<const double> dv,
               std::span<double> out);
void integrate(const Model& model, std::span<const float> q, std::span<const float> dv, std::span<float> out);

/// The inverse: integrate(q0, difference(q0, q1)) = q1 (q1 or -q1 for a quaternion: the shorter way, |w| <=
/// pi). Angles are not wrapped, except that a planar joint's loses whole turns beyond 6 rad, where almost no
/// constant velocity leads.
void difference(const Model& model, std::span<const double> q0, std::span<const double> q1,
                std::span<double> out);
void difference(const Model& model, std::span<const float> q0, std::span<const float> q1,
                std::span<float> out);

/// The point at t on the way of constant velocity from q0 (t = 0) to q1 (t = 1).
void interpolate(const Model& model, std::span<const double> q0, std::span<const double> q1, double t,
                 std::span<double> out);
void interpolate(const Model& model, std::span<const float> q0, std::span<const float> q1, double t,
                 std::span<float> out);

/// Zeros and identity quaternions.
void neutral(const Model& model, std::span<double> out);
void neutral(const Model& model, std::span<float> out);
std::vector<double> neutral(const Model& model);

struct JointRange {
  double lower, upper;
};
/// Limits of each joint's first freedom, narrowed to what the joints that mimic it allow; empty if none mimics. Allocates.
std::vector<JointRange> narrowed_limits(const Model& model);

/// Uniform within the limits of coordinates that add, where they are finite (those of mimic joints too, seen
/// from the joint that they follow), else within pi or a metre of zero; orientations are uniform. The same
/// numbers on every machine. Allocates if the model has mimic joints.
void random(const Model& model, std::mt19937_64& engine, std::span<double> out);
std::vector<double> random(const Model& model, std::uint64_t seed);

/// Gives every quaternion unit length. Throws ArgumentError, naming the joint, if one is further than
/// `within` off.
void normalise(const Model& model, std::span<double> q, double within = 1e-6);
void normalise(const Model& model, std::span<float> q, double within = 1e-6);

/// Derivatives of integrate(q, dv) along the tangent spaces, nv x nv, row by row, block diagonal:
/// integrate(q (+) e, dv) = integrate(q, dv) (+) J e and integrate(q, dv + e) = integrate(q, dv) (+) J e
/// to first order. They do not depend on q.
void integrate_dq(const Model& model, std::span<const double> dv, std::span<double> J);
void integrate_dv(const Model& model, std::span<const double> dv, std::span<double> J);

/// dq/dt of coordinates that move with velocity v: nq numbers, four for a quaternion.
void coordinate_rates(const Model& model, std::span<const double> q, std::span<const double> v,
                      std::span<double> q_dot);
void coordinate_rates(const Model& model, std::span<const float> q, std::span<const float> v,
                      std::span<float> q_dot);

}  // namespace articula
