#include "articula/loops/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/finite.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace {

Model build(const SceneSpec& spec) {
  Assembly assembly;
  for (const SceneArm& arm : spec.arms) assembly.add(arm.name, arm.spec, arm.base, arm.kind);
  for (const SceneObject& object : spec.objects) assembly.add_object(object.name, object.mass);
  return assembly.model(spec.gravity);
}

Grasp kind_of(SceneGrasp::Kind kind) {
  switch (kind) {
    case SceneGrasp::Kind::rigid:
      return Grasp::rigid;
    case SceneGrasp::Kind::hinge:
      return Grasp::hinge;
    case SceneGrasp::Kind::soft_finger:
      return Grasp::soft_finger;
    case SceneGrasp::Kind::point:
      break;
  }
  return Grasp::point;
}

/// Names of constraints differ: "world", "world 2", ...
std::string unused(std::vector<std::string>& taken, const std::string& name) {
  std::string next = name;
  for (int i = 2; std::find(taken.begin(), taken.end(), next) != taken.end(); ++i)
    next = fmt::format("{} {}", name, i);
  taken.push_back(next);
  return next;
}

Constraint closing(const SceneLoop& loop, const Attachment& a, const Attachment& b) {
  if (loop.kind == "weld") return weld(loop.name, a, b);
  if (loop.kind == "hinge") return hinge(loop.name, a, b);
  if (loop.kind == "slider") return slider(loop.name, a, b);
  if (loop.kind == "cylinder") return cylinder(loop.name, a, b);
  if (loop.kind == "ball") return ball(loop.name, a, b);
  if (loop.kind == "rod") return rod(loop.name, a, b, loop.length);
  if (loop.kind == "rolling_ball") return rolling_ball(loop.name, a, b, loop.length);
  if (loop.kind == "rolling_disc") return rolling_disc(loop.name, a, b, loop.length);
  Constraint c = weld(loop.name, a, b);
  for (std::size_t i = 0; i < 6; ++i) c.fixed[i] = loop.fixed.at(i);
  return c;
}

}  // namespace

Scene::Scene(const SceneSpec& spec, const SceneOptions& options) : spec_(spec), model_(build(spec)) {
  q.assign(model_.nq(), 0);
  v.assign(model_.nv(), 0);
  tau.assign(model_.nv(), 0);
  neutral(model_, q);
  for (const SceneArm& arm : spec.arms) {
    const Assembly::Range r = Assembly::range(model_, arm.name);
    arms_.push_back(r);
    const auto put = [&](const char* what, const std::vector<double>& from, std::vector<double>& to,
                         int first, int count) {
      if (from.empty()) return;
      if (static_cast<int>(from.size()) != count)
        throw ModelError(fmt::format("{}: \"{}\" of arm '{}' has {} numbers, {} has {}", spec.where, what,
                                     arm.name, from.size(), arm.source, count));
      std::copy(from.begin(), from.end(), to.begin() + first);
    };
    put("q", arm.q, q, r.q, r.nq);
    put("v", arm.v, v, r.v, r.nv);
    put("tau", arm.tau, tau, r.v, r.nv);
  }
  for (const SceneObject& object : spec.objects) {
    const Assembly::Range r = Assembly::range(model_, object.name);
    objects_.push_back(r);
    object_frames_.push_back(model_.frame(Assembly::name_of(object.name, "body")));
    const Quaternion<double> turn = quaternion(object.pose.R);
    const double pose[] = {turn.x, turn.y, turn.z, turn.w, object.pose.p.x, object.pose.p.y, object.pose.p.z};
    std::copy(pose, pose + 7, q.begin() + r.q);
    if (!object.velocity) continue;
    const Vec3<double> w = star_times(object.pose.R, object.velocity->w),
                       u = star_times(object.pose.R, object.velocity->v);
    const double velocity[] = {w.x, w.y, w.z, u.x, u.y, u.z};
    std::copy(velocity, velocity + 6, v.begin() + r.v);
  }
  normalise(model_, q);
  std::vector<Constraint> constraints;
  build_constraints(constraints);
  dynamics_ = std::make_unique<ConstrainedDynamics>(model_, constraints);
  for (std::size_t i = 0; i < spec.grasps.size(); ++i) constraints[i].fixed.fill(true);
  rigid_ = std::make_unique<ConstrainedDynamics>(model_, constraints);
  settle_velocities(options);
}

void Scene::build_constraints(std::vector<Constraint>& out) const {
  std::vector<std::string> names;
  for (const SceneGrasp& g : spec_.grasps) {
    const int object = model_.frame(Assembly::name_of(g.object, "body"));
    int tip = -1;
    for (const SceneArm& arm : spec_.arms)
      if (arm.name == g.arm) tip = model_.frame(Assembly::name_of(arm.name, arm.tip));
    Constraint c = grasp(unused(names, g.name), kind_of(g.kind), tip, object, g.axis);
    if (g.position) c.a.placement.p = *g.position;
    if (g.limits) {
      // Given in tip axes; a's axes may be turned.
      c.limits = ContactLimits{g.limits->friction, g.limits->torsional_radius,
                               star_times(c.a.placement.R, g.limits->normal)};
    }
    attach(model_, c, q);
    out.push_back(c);
  }
  for (Constraint& c : constraints_of(model_, spec_.loops)) {
    c.name = unused(names, c.name);
    out.push_back(std::move(c));
  }
}

std::vector<Constraint> constraints_of(const Model& model, const std::vector<SceneLoop>& loops) {
  std::vector<Constraint> out;
  std::vector<std::string> names;
  for (const SceneLoop& loop : loops) {
    if (loop.kind == "coupler") {
      std::vector<Constraint::Term> terms;
      for (const SceneLoop::Term& term : loop.terms)
        terms.push_back(
            {model.joint(Assembly::name_of(term.part, term.joint)), term.coefficient, term.higher});
      out.push_back(coupler(unused(names, loop.name), terms, loop.length));
      continue;
    }
    const auto end = [&](const SceneLoop::End& e) {
      return Attachment{e.part == "world" ? -1 : model.frame(Assembly::name_of(e.part, e.link)), e.placement};
    };
    out.push_back(closing(loop, end(loop.a), end(loop.b)));
    out.back().name = unused(names, loop.name);
  }
  return out;
}

void fit_positions(ConstrainedDynamics& work, Out<double> q, Out<double> v, const std::string& where,
                   const SceneOptions& options) {
  if (!are_finite(q, v))
    throw ArgumentError(fmt::format("{}: q or v has numbers that are not finite", where));
  const ConstraintDrift off = work.drift(q, v);
  const auto name_of = [&](int i) { return work.constraints()[std::size_t(std::max(0, i))].name; };
  if (!(off.position <= options.tolerance) && !options.project)
    throw ModelError(fmt::format(
        "{}: loop '{}' is not closed: it is off by {:.3g} at the given q (limit {:g}); --project closes it",
        where, name_of(off.worst_position), off.position, options.tolerance));
  if (off.position == 0 || !options.project) return;
  const Projection p = work.project(q, v);
  if (!p.converged)
    throw SingularError(
        fmt::format("{}: loop '{}' cannot be closed from the given q: off by {:.3g} after {} steps", where,
                    name_of(p.after.worst_position), p.after.position, p.steps));
}

void fit_velocities(ConstrainedDynamics& work, In<double> q, Out<double> v, const std::string& where,
                    const SceneOptions& options, const std::function<std::string(int)>& who) {
  const ConstraintDrift off = work.drift(q, v);
  if (off.velocity <= options.tolerance) return;
  if (!options.project) {
    const int i = std::max(0, off.worst_velocity);
    throw ModelError(
        fmt::format("{}: the velocity of {} does not fit the others: residual {:.3g} (limit {:g}); --project "
                    "makes it fit",
                    where, who ? who(i) : "loop '" + work.constraints()[std::size_t(i)].name + "'",
                    off.velocity, options.tolerance));
  }
  work.impulse(q, v, v);
}

/// Objects without a velocity take the one that fits the arms best (V_C = (A*A)^-1 A* V(0), JPL88 Part II).
void Scene::settle_velocities(const SceneOptions& options) {
  const int rows = dynamics_->rows();
  fit_positions(*dynamics_, q, v, spec_.where, options);
  std::vector<int> unknown;
  for (std::size_t i = 0; i < objects_.size(); ++i)
    if (!spec_.objects[i].velocity)
      for (int c = 0; c < 6; ++c) {
        unknown.push_back(objects_[i].v + c);
        v[objects_[i].v + c] = 0;
      }
  if (!unknown.empty() && rows > 0) {
    dense::Matrix J(rows, model_.nv());
    dynamics_->jacobian(q, J.numbers());
    const dense::Matrix x = least_norm_solution(columns_of(J, unknown), -(J * dense::view(v)));
    for (std::size_t i = 0; i < unknown.size(); ++i) v[unknown[i]] = x.numbers()[i];
  }
  fit_velocities(*dynamics_, q, v, spec_.where, options, [&](int i) {
    const bool of_arm = std::size_t(i) < spec_.grasps.size();
    return of_arm ? "arm '" + spec_.grasps[std::size_t(i)].arm + "'"
                  : "loop '" + constraints()[std::size_t(i)].name + "'";
  });
}

std::vector<double> Scene::contact_rates(int grasp, In<double> at, In<double> velocity, In<double> a) const {
  const Constraint& c = constraints().at(grasp);
  Kinematics<> k(model_);
  k.update(at, velocity, a);
  const bool on_world = c.a.frame < 0;
  const Mat3<double> R = (on_world ? Mat3<double>::identity() : k.pose(c.a.frame).rotation) * c.a.placement.R;
  const Vec3<double> zero{0, 0, 0}, w = on_world ? zero : k.velocity(c.a.frame).w,
                                    alpha = on_world ? zero : k.acceleration(c.a.frame).w;
  const Vec3<double> rate =
      star_times(R, k.acceleration(c.b.frame).w - alpha - cross(w, k.velocity(c.b.frame).w - w));
  std::vector<double> out;
  for (int i = 0; i < 3; ++i)
    if (!c.fixed[i]) out.push_back(numbers_of(rate)[i]);
  return out;
}

int Scene::omega_rank(In<double> at, In<double> velocity) {
  std::vector<double> a(model_.nv());
  rigid_->acceleration(at, velocity, tau, a);
  return rigid_->rank();
}

SceneClosedChain closed_chain_of(const Scene& scene) {
  const SceneSpec& spec = scene.spec();
  const auto refuse = [&](const std::string& what) {
    throw ArgumentError(fmt::format(
        "{}: {}; RCCFD1 to 3 and the coupled form are for arms that hold one object by one grasp each",
        spec.where, what));
  };
  if (spec.objects.size() != 1) refuse(fmt::format("{} objects", spec.objects.size()));
  if (!spec.loops.empty()) refuse("it has loops of its own");
  std::vector<GraspingArm> arms;
  std::vector<ArmState> states;
  for (std::size_t i = 0; i < spec.arms.size(); ++i) {
    const SceneArm& arm = spec.arms[i];
    const auto holds = [&](const SceneGrasp& g) { return g.arm == arm.name; };
    const auto grasp = std::find_if(spec.grasps.begin(), spec.grasps.end(), holds);
    if (std::count_if(spec.grasps.begin(), spec.grasps.end(), holds) != 1)
      refuse(fmt::format("arm '{}' has not one grasp", arm.name));
    Assembly alone;
    alone.add(arm.name, arm.spec, arm.base, arm.kind);
    arms.push_back({arm.name, alone.model(spec.gravity), Assembly::name_of(arm.name, arm.tip),
                    kind_of(grasp->kind), grasp->axis});
    const Assembly::Range r = scene.arm(static_cast<int>(i));
    states.push_back({std::span(scene.q).subspan(r.q, r.nq), std::span(scene.v).subspan(r.v, r.nv),
                      std::span(scene.tau).subspan(r.v, r.nv)});
  }
  if (arms.size() != spec.grasps.size()) refuse("the object rests on the world");
  Kinematics<> k(scene.model());
  k.update(scene.q, scene.v);
  const int frame = scene.object_frame(0);
  const FramePose<double> pose = k.pose(frame);
  return {ClosedChain(std::move(arms), spec.objects[0].mass, spec.gravity),
          std::move(states),
          {.pose = {pose.rotation, pose.position}, .velocity = k.velocity(frame)}};
}

}  // namespace articula
