// Mechanisms with a start, for tests of integrators.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/dormand_prince.hpp"

namespace articula::testing {

struct Start {
  std::string name;
  Model model;
  std::vector<double> q, v;
  double duration = 1;  // after which orders are measured
};

inline Model shipped(const std::string& name, const BuildOptions& options = {}) {
  return read_urdf(std::string(ARTICULA_SOURCE_DIR "/models/") + name + ".urdf", options);
}

/// A body with inertias 1, 2, 3 (times 0.01), its mass centre beside the link's origin.
inline ModelSpec one_body(JointKind kind, Vec3<double> center = {0, 0, 0}) {
  ModelSpec spec;
  spec.name = "body";
  if (kind == JointKind::free) {
    spec.add_link({"body", {2, center, {0.01, 0.02, 0.025, 0, 0, 0}}});
    return spec;
  }
  spec.add_link({"ground"});
  spec.add_link({"body", {2, center, {0.01, 0.02, 0.025, 0, 0, 0}}});
  JointSpec joint;
  joint.name = "ball";
  joint.kind = kind;
  joint.parent = "ground";
  joint.child = "body";
  spec.add_joint(joint);
  return spec;
}

inline Start double_pendulum() {
  return {"2R pendulum", shipped("double_pendulum"), {1.2, -0.7}, {0.3, 0.5}};
}
inline Start free_body(Vec3<double> gravity = {0, 0, 0}, Vec3<double> center = {0, 0, 0}) {
  return {"free spinning body",
          Model(one_body(JointKind::free, center), {.base = Base::free, .gravity = gravity}),
          {0, 0, 0, 1, 0.2, -0.1, 0.4},
          {0.4, 3, -0.7, 0.1, 0.3, -0.2}};
}
inline Start spherical_pendulum() {
  return {"spherical pendulum",
          Model(one_body(JointKind::spherical, {0.1, 0.05, -0.4})),
          {0.1, -0.3, 0.2, std::sqrt(1 - 0.01 - 0.09 - 0.04)},
          {1, -0.5, 2}};
}
inline Start quadruped_in_flight() {
  const Model model = shipped("quadruped", {.base = Base::free});
  Start s{"quadruped in free flight", model, neutral(model), std::vector<double>(model.nv())};
  for (int i = 0; i < model.nv(); ++i) s.v[i] = 0.8 * std::sin(1.7 * i + 0.4);
  return s;
}
inline std::vector<Start> motions() {
  Start gentle = double_pendulum();
  gentle.q = {0.3, -0.2}, gentle.v = {0.1, 0.4}, gentle.duration = 2;
  return {gentle, free_body({0, 0, -9.81}, {0.05, 0.02, -0.03}), spherical_pendulum(), quadruped_in_flight()};
}

/// Free motion: no joint forces.
struct FreeMotion {
  explicit FreeMotion(const Model& model) : work(model), tau(model.nv()) {}
  void operator()(double, In<double> q, In<double> v, Out<double> a) {
    ++evaluations;
    forward_dynamics(work, q, v, tau, a);
  }
  ForwardDynamics<> work;
  std::vector<double> tau;
  long evaluations = 0;
};

/// The state after `duration`, to about 1e-13.
inline Start reference(const Start& from, double duration) {
  Start s = from;
  const Manifold manifold(s.model);
  FreeMotion motion(s.model);
  DormandPrince integrator(manifold, {1e-14, 1e-14});
  integrator.advance({manifold, motion}, 0, duration, s.q, s.v);
  return s;
}

/// The larger of the distances of configurations and velocities.
inline double distance(const Model& model, const std::vector<double>& q, const std::vector<double>& v,
                       const Start& other) {
  std::vector<double> d(model.nv());
  difference(model, other.q, q, d);
  double out = 0;
  for (int i = 0; i < model.nv(); ++i) out = std::max({out, std::abs(d[i]), std::abs(v[i] - other.v[i])});
  return out;
}

}  // namespace articula::testing
