#include "articula/model/edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "articula/error.hpp"
#include "articula/model/edit_parts.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/model/joint_motion.hpp"
#include "articula/model/name_index.hpp"

namespace articula {

namespace edit {

namespace {

template <class T>
int index_in(const std::vector<T>& things, std::string_view name) {
  for (std::size_t i = 0; i < things.size(); ++i)
    if (things[i].name == name) return int(i);
  return -1;
}

template <class T>
std::string suggestion(const std::vector<T>& things, std::string_view name) {
  NameIndex names;
  for (const T& thing : things) names.add(thing.name, 0);
  return names.suggestion(name);
}

template <class T>
T& find_in(std::vector<T>& things, std::string_view name, std::string_view what) {
  const int at = index_in(things, name);
  if (at < 0)
    throw ArgumentError(
        fmt::format("there is no {} '{}'{}; name one of the model's", what, name, suggestion(things, name)));
  return things[std::size_t(at)];
}

template <class Taken>
std::string numbered(const std::string& name, const Taken& is_taken) {
  std::string out = name;
  for (int i = 2; is_taken(out); ++i) out = fmt::format("{}{}", name, i);
  return out;
}

}  // namespace

LinkSpec& find_link(ModelSpec& spec, std::string_view name) { return find_in(spec.links, name, "link"); }
JointSpec& find_joint(ModelSpec& spec, std::string_view name) { return find_in(spec.joints, name, "joint"); }
bool has_link(const ModelSpec& spec, std::string_view name) { return index_in(spec.links, name) >= 0; }

Place find_place(const ModelSpec& spec, std::string_view name) {
  if (has_link(spec, name) || name == world) return {std::string(name), {}};
  const int frame = index_in(spec.frames, name);
  if (frame < 0) {
    const std::string near = suggestion(spec.links, name);
    throw ArgumentError(fmt::format("there is no link or frame '{}'{}; name one of the model's", name,
                                    near.empty() ? suggestion(spec.frames, name) : near));
  }
  return {spec.frames[std::size_t(frame)].link, spec.frames[std::size_t(frame)].placement};
}

std::string new_link_name(const ModelSpec& spec, std::string name) {
  return numbered(name, [&](const std::string& x) {
    return x == world || has_link(spec, x) || index_in(spec.frames, x) >= 0;
  });
}
std::string new_joint_name(const ModelSpec& spec, std::string name) {
  return numbered(name, [&](const std::string& x) { return index_in(spec.joints, x) >= 0; });
}

}  // namespace edit

using namespace edit;

namespace {

void require_finite(std::initializer_list<double> numbers, std::string_view what) {
  for (const double x : numbers)
    if (!std::isfinite(x)) throw ArgumentError(fmt::format("{} is {}; expected finite numbers", what, x));
}

/// Its coordinates, quaternions to unit length.
std::vector<double> coordinates_of(const JointSpec& joint, std::span<const double> q) {
  if (int(q.size()) != nq_of(joint.kind))
    throw ArgumentError(fmt::format("joint '{}' is {}, with {} coordinate{}; {} given", joint.name,
                                    name_of(joint.kind), nq_of(joint.kind), nq_of(joint.kind) == 1 ? "" : "s",
                                    q.size()));
  for (const double x : q) require_finite({x}, fmt::format("a coordinate of joint '{}'", joint.name));
  std::vector<double> out(q.begin(), q.end());
  if (has_quaternion(joint.kind)) {
    const Quaternion<double> given{q[0], q[1], q[2], q[3]};
    const double length =
        std::sqrt(given.x * given.x + given.y * given.y + given.z * given.z + given.w * given.w);
    if (!(std::abs(length - 1) < 1e-6))
      throw ArgumentError(
          fmt::format("the quaternion of joint '{}' has the length {:.9g}; expected 1", joint.name, length));
    const Quaternion<double> unit = normalized(given);
    std::copy_n(std::array{unit.x, unit.y, unit.z, unit.w}.begin(), 4, out.begin());
  }
  return out;
}

void make_fixed(JointSpec& joint, std::span<const double> q) {
  JointSpec fixed;
  fixed.name = joint.name, fixed.parent = joint.parent, fixed.child = joint.child, fixed.where = joint.where;
  fixed.kind = JointKind::fixed;
  fixed.placement = joint.placement * pose_of(joint, q);
  joint = std::move(fixed);
}

double value_of(const CouplingSpec& coupling, double source) {
  double out = 0;
  for (std::size_t i = coupling.coefficients.size(); i-- > 0;) out = out * source + coupling.coefficients[i];
  return out;
}

/// A joint that stands still, of a coupling that has others beside it, is a constant in it.
void take_out(CouplingSpec& coupling, const std::string& joint, double at) {
  auto& further = coupling.further;
  if (coupling.coefficients.empty()) coupling.coefficients.push_back(0);
  for (const CouplingSpec::Term& term : further)
    if (term.joint == joint) coupling.coefficients[0] += term.coefficient * at;
  std::erase_if(further, [&](const auto& term) { return term.joint == joint; });
  if (coupling.source != joint || further.empty()) return;
  coupling.coefficients = {value_of(coupling, at), further.back().coefficient};
  coupling.source = further.back().joint;
  further.pop_back();
}

}  // namespace

void lock_joint(ModelSpec& spec, std::string_view name, std::span<const double> q) {
  const JointSpec& first = find_joint(spec, name);
  if (first.mimic)
    throw ArgumentError(fmt::format("joint '{}' follows '{}'; lock that one", name, first.mimic->joint));
  for (const CouplingSpec& c : spec.couplings)
    if (c.joint == name)
      throw ArgumentError(fmt::format("joint '{}' is coupled to '{}'; lock that one", name, c.source));
  struct Held {
    std::string joint;
    std::vector<double> q;
  };
  std::vector<Held> held{{std::string(name), coordinates_of(first, q)}};
  for (std::size_t i = 0; i < held.size(); ++i) {  // and those that follow
    const double at = held[i].q.empty() ? 0 : held[i].q[0];
    const std::string source = held[i].joint;
    for (const JointSpec& j : spec.joints)
      if (j.mimic && j.mimic->joint == source)
        held.push_back({j.name, {j.mimic->multiplier * at + j.mimic->offset}});
    for (CouplingSpec& c : spec.couplings) take_out(c, source, at);
    for (const CouplingSpec& c : spec.couplings)
      if (c.source == source) held.push_back({c.joint, {value_of(c, at)}});
    std::erase_if(spec.couplings, [&](const CouplingSpec& c) { return c.source == source; });
    make_fixed(find_joint(spec, source), held[i].q);
    std::erase_if(spec.actuators, [&](const ActuatorSpec& a) { return a.joint == source; });
  }
}

void lock_joint(ModelSpec& spec, std::string_view joint, double q) {
  lock_joint(spec, joint, std::span(&q, 1));
}

void remove_link(ModelSpec& spec, std::string_view link) {
  find_link(spec, link);
  std::set<std::string, std::less<>> links{std::string(link)}, joints;
  for (std::size_t before = 0; before != links.size();) {
    before = links.size();
    for (const JointSpec& j : spec.joints)
      if (links.contains(j.parent)) links.insert(j.child);
  }
  if (links.size() == spec.links.size())
    throw ArgumentError(fmt::format("without link '{}', and what hangs from it, nothing is left", link));
  for (const JointSpec& j : spec.joints)
    if (links.contains(j.child)) joints.insert(j.name);
  std::erase_if(spec.joints, [&](const JointSpec& j) { return joints.contains(j.name); });
  std::erase_if(spec.links, [&](const LinkSpec& l) { return links.contains(l.name); });
  std::erase_if(spec.frames, [&](const FrameSpec& f) { return links.contains(f.link); });
  std::erase_if(spec.actuators, [&](const ActuatorSpec& a) { return joints.contains(a.joint); });
  std::erase_if(spec.loops,
                [&](const LoopSpec& l) { return links.contains(l.first) || links.contains(l.second); });
  std::erase_if(spec.couplings, [&](const CouplingSpec& c) {
    return joints.contains(c.joint) || joints.contains(c.source) ||
           std::any_of(c.further.begin(), c.further.end(), [&](auto& t) { return joints.contains(t.joint); });
  });
  for (JointSpec& j : spec.joints)
    if (j.mimic && joints.contains(j.mimic->joint)) j.mimic.reset();
}

void add_frame(ModelSpec& spec, std::string_view name, std::string_view on, const Pose& placement) {
  const Place place = find_place(spec, on);
  if (name.empty() || new_link_name(spec, std::string(name)) != name)
    throw ArgumentError(fmt::format("'{}' cannot be the name of a new frame: {}; choose another", name,
                                    name.empty() ? "it is empty" : "a link or frame has it"));
  spec.add_frame({std::string(name), place.link, place.pose * placement});
}

void add_payload(ModelSpec& spec, std::string_view frame, const MassProperties& mass, std::string name) {
  const Place place = find_place(spec, frame);
  const auto& [c, J] = std::tie(mass.center_of_mass, mass.inertia);
  require_finite({mass.mass, c.x, c.y, c.z, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz}, "a number of the payload");
  if (mass.mass < 0)
    throw ArgumentError(fmt::format("the payload has the mass {:.6g}; expected zero or more", mass.mass));
  if (name.empty())
    name = new_link_name(spec, "payload");
  else if (new_link_name(spec, name) != name)
    throw ArgumentError(fmt::format("a link or frame has the name '{}'; choose another", name));
  JointSpec weld;
  weld.name = new_joint_name(spec, name + "_joint");
  weld.kind = JointKind::fixed;
  weld.parent = place.link;
  weld.child = name;
  weld.placement = place.pose;
  spec.add_link({name, mass});
  spec.add_joint(std::move(weld));
}

void add_rotor(ModelSpec& spec, std::string_view name, double inertia, double gear_ratio) {
  JointSpec& joint = find_joint(spec, name);
  require_finite({inertia, gear_ratio}, "a number of the rotor");
  if (inertia < 0)
    throw ArgumentError(fmt::format("the rotor has the inertia {:.6g}; expected zero or more", inertia));
  if (nv_of(joint.kind) == 0)
    throw ArgumentError(fmt::format("joint '{}' is fixed; a rotor needs one that moves", name));
  for (int i = 0; i < nv_of(joint.kind); ++i) joint.armature[i] += gear_ratio * gear_ratio * inertia;
}

void scale(ModelSpec& spec, double length, double mass) {
  require_finite({length, mass}, "a scale");
  if (!(length > 0) || !(mass > 0))
    throw ArgumentError(fmt::format("scales are {:.6g} and {:.6g}; expected positive numbers", length, mass));
  const double inertia = mass * length * length;
  for (LinkSpec& link : spec.links) {
    MassProperties& m = link.mass;
    Sym3<double>& J = m.inertia;
    m.mass *= mass;
    m.center_of_mass = m.center_of_mass * length;
    for (double* x : {&J.xx, &J.yy, &J.zz, &J.xy, &J.xz, &J.yz}) *x *= inertia;
  }
  const auto unit = [&](std::string_view joint) {  // of the coordinate of a joint with one freedom
    return slides(find_joint(spec, joint).kind, 0) ? length : 1.0;
  };
  for (CouplingSpec& c : spec.couplings) {
    for (double factor = unit(c.joint); double& coefficient : c.coefficients) {
      coefficient *= factor;
      factor /= unit(c.source);
    }
    for (CouplingSpec::Term& term : c.further) term.coefficient *= unit(c.joint) / unit(term.joint);
  }
  for (JointSpec& j : spec.joints) {
    j.placement.p = j.placement.p * length;
    j.pitch *= length;
    if (j.mimic) {
      j.mimic->multiplier *= unit(j.name) / unit(j.mimic->joint);
      j.mimic->offset *= unit(j.name);
    }
    for (int i = 0; i < nv_of(j.kind); ++i) {
      const bool along = slides(j.kind, i);
      if (j.armature[i] != 0) j.armature[i] *= along ? mass : inertia;
      if (!along) continue;
      for (PerFreedom* x : {&j.limits.lower, &j.limits.upper, &j.limits.velocity, &j.spring_reference})
        (*x)[i] *= length;
    }
  }
  for (FrameSpec& f : spec.frames) f.placement.p = f.placement.p * length;
  for (LoopSpec& l : spec.loops)
    for (Pose* pose : {&l.first_placement, &l.second_placement}) pose->p = pose->p * length;
}

}  // namespace articula
