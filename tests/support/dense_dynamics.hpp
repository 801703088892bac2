// The dynamics of a ModelSpec the obvious way, in long double: what every algorithm of the library is held
// against.
//
// Nothing of the library's trees, hinges or kernels is used. The only mechanics stated here is where each
// link is as a function of the coordinates (4x4 products, one link after the other). Velocities,
// accelerations and Jacobians are derivatives of that, carried along exactly by Taylor numbers in time; the
// forces follow from d'Alembert's principle, sum over the links of J* (rate of change of momentum - weight),
// with the Jacobian at each mass centre.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/spec.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula::testing {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
using Long3 = Eigen::Matrix<Long, 3, 1>;
using Long6 = Eigen::Matrix<Long, 6, 1>;
using Long33 = Eigen::Matrix<Long, 3, 3>;

/// A frame's pose, velocity, acceleration (rotation first) and Jacobian in one choice of axes.
struct DenseFrame {
  Long33 R;
  Long3 p;
  Long6 velocity, acceleration;
  LongMatrix jacobian;  // 6 x nv
};
enum class DenseAxes { world, local, spatial };

class DenseDynamics {
 public:
  DenseDynamics(const ModelSpec& spec, Base base, const Vec3<double>& gravity = {0, 0, -9.81});

  int nq = 0, nv = 0;
  int body_count = 0;
  /// First coordinate and velocity of a joint; of a mimic joint: of its source.
  int q_index(std::string_view joint) const;
  int v_index(std::string_view joint) const;

  /// Sets the state, and computes everything below. v and a may be empty: zero.
  void update(std::span<const double> q, std::span<const double> v = {}, std::span<const double> a = {});

  // Results of the last update.
  LongMatrix mass_matrix;
  LongVector bias;     // C v + g
  LongVector gravity;  // g
  Long kinetic, potential, mass;
  Long3 center_of_mass;
  Long6 momentum;             // about the centre of mass, (angular, linear), world axes
  LongMatrix centroidal_map;  // 6 x nv

  /// M a + bias - external forces (one per body, bodies numbered as the library does).
  LongVector inverse_dynamics(std::span<const double> a,
                              std::span<const Spatial<double>> wrenches = {}) const;
  /// M^-1 (tau + external forces - bias), by a Cholesky factor.
  LongVector forward_dynamics(std::span<const double> tau,
                              std::span<const Spatial<double>> wrenches = {}) const;
  LongVector external_forces(std::span<const Spatial<double>> wrenches) const;
  LongMatrix inverse_mass_matrix() const;
  Long condition_number() const;  // of the mass matrix

  /// A link or named frame of the specification.
  DenseFrame frame(std::string_view name, DenseAxes axes = DenseAxes::world) const;

 private:
  /// A link with the joint inboard of it, or the cross of a universal joint.
  struct Node {
    std::string name, joint;
    int inboard = -1;  // node; -1: the world
    JointKind kind = JointKind::fixed;
    Long33 E = Long33::Identity();
    Long3 l = Long3::Zero(), axis = Long3::UnitZ();
    Long pitch = 0, multiplier = 1, offset = 0;
    PerFreedom armature;
    int q = 0, v = 0, nv = 0, body = -1;
    Long mass = 0;
    Long3 com = Long3::Zero();
    Long33 inertia = Long33::Zero();
  };
  struct Motion {  // world axes, at the node's origin
    Long33 R;
    Long3 p, w, v, w_dot, v_dot;
  };
  void number_coordinates(const ModelSpec& spec);
  std::vector<Motion> move(const LongVector& q, const LongVector& v, const LongVector& a) const;
  LongMatrix jacobian_at(int node, const Long3& point) const;  // of the node's body at a point of the world

  std::vector<Node> nodes_;
  std::vector<FrameSpec> frames_;
  Long3 g_;
  std::vector<Motion> motion_;                    // at the state
  std::vector<std::vector<Motion>> unit_motion_;  // with unit velocity i
};

std::vector<double> to_std(const LongVector& x);
/// Row by row, as the library writes matrices.
std::vector<double> to_std(const LongMatrix& m);

}  // namespace articula::testing
