// Arms that hold an object, by chance.
#pragma once

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/assembly.hpp"
#include "articula/loops/closed_chain.hpp"
#include "articula/loops/constraint.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

struct RandomScene {
  std::vector<GraspingArm> arms;
  MassProperties object;
  std::vector<State> states;
  ObjectState held;
  Assembly assembly;
  std::vector<Constraint> constraints;
  std::vector<double> q, v, tau;
  std::vector<Spatial<double>> wrenches;
};

inline MassProperties random_object(Rng& rng) {
  const Vec3<double> d = rng.vector(0.2);
  return {rng.uniform(0.5, 5),
          rng.vector(0.2),
          {0.3 + d.x, 0.35 + d.y, 0.4 + d.z, 0.02 * d.x, 0.02 * d.y, 0.02 * d.z}};
}

/// l arms, each a tree with random joints, its tip any link; contacts of all kinds. Velocities are made
/// consistent.
inline RandomScene random_scene(Rng& rng, int l, int freedoms) {
  RandomScene s;
  s.object = random_object(rng);
  for (int i = 0; i < l; ++i) {
    RandomOptions options{.links = freedoms / l,
                          .branching = rng.chance(0.7) ? Branching::chain : Branching::deep,
                          .frames = false};
    options.kinds = {JointKind::revolute,  JointKind::revolute,  JointKind::prismatic,
                     JointKind::universal, JointKind::spherical, JointKind::fixed};
    const Base base = rng.chance(0.25) ? Base::free : Base::fixed;
    const ModelSpec spec = random_spec(rng, options);
    const Model model(spec, {.base = base});
    const std::string name = "arm" + std::to_string(i);
    const std::string tip = spec.links.back().name;
    const Grasp kind = static_cast<Grasp>(rng.integer(0, 3));
    s.arms.push_back({name, model, tip, kind, rng.direction()});
    s.assembly.add(name, spec, {}, base);
    s.states.push_back(random_state(rng, model));
  }
  s.assembly.add_object("object", s.object);
  const Model model = s.assembly.model();
  s.held.pose = {rotation(rng.quaternion()), rng.vector(1)};
  const Quaternion<double> turn = quaternion(s.held.pose.R);
  for (const State& state : s.states) {
    s.q.insert(s.q.end(), state.q.begin(), state.q.end());
    s.v.insert(s.v.end(), state.v.begin(), state.v.end());
    s.tau.insert(s.tau.end(), state.tau.begin(), state.tau.end());
    s.wrenches.insert(s.wrenches.end(), state.wrenches.begin(), state.wrenches.end());
  }
  for (const double x : {turn.x, turn.y, turn.z, turn.w, s.held.pose.p.x, s.held.pose.p.y, s.held.pose.p.z})
    s.q.push_back(x);
  for (int i = 0; i < 6; ++i) s.v.push_back(rng.uniform()), s.tau.push_back(0);
  s.held.wrench = {rng.vector(), rng.vector()};
  s.wrenches.push_back(s.held.wrench);
  for (const GraspingArm& arm : s.arms) {
    Constraint c = grasp(arm.name, arm.grasp, model.frame(Assembly::name_of(arm.name, arm.tip)),
                         model.frame("object/body"), arm.axis);
    attach(model, c, s.q);
    s.constraints.push_back(c);
  }
  return s;
}

/// Hands the assembly's velocity back to the parts.
inline void set_velocity(RandomScene& s, const Model& model, const std::vector<double>& v) {
  s.v = v;
  std::size_t at = 0;
  for (State& state : s.states) {
    std::copy_n(v.begin() + static_cast<long>(at), state.v.size(), state.v.begin());
    at += state.v.size();
  }
  Kinematics<> k(model);
  k.update(s.q, v);
  s.held.velocity = k.velocity(model.frame("object/body"));
}

inline std::vector<ArmState> arm_states(const RandomScene& s) {
  std::vector<ArmState> out;
  for (const State& state : s.states) out.push_back({state.q, state.v, state.tau, state.wrenches});
  return out;
}

}  // namespace articula::testing
