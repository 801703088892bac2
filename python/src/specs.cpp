#include "specs.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {
nb::object as_tuple(const std::optional<Mimic>& mimic) {
  if (!mimic) return nb::none();
  return nb::make_tuple(mimic->joint, mimic->multiplier, mimic->offset);
}
nb::tuple as_tuple(const Pose& pose) { return nb::make_tuple(numbers<9>(pose.R), numbers<3>(pose.p)); }
}  // namespace

Pose read_pose(nb::handle from) {
  Pose pose;
  read<9>(from[0], "a rotation", pose.R);
  read<3>(from[1], "a position", pose.p);
  return pose;
}
nb::tuple as_tuple(const MassProperties& mass) {
  return nb::make_tuple(mass.mass, numbers<3>(mass.center_of_mass), numbers<6>(mass.inertia));
}
MassProperties read_mass(nb::handle from) {
  MassProperties mass{.mass = get<double>(from, 0)};
  read<3>(from[1], "a mass centre", mass.center_of_mass);
  read<6>(from[2], "an inertia", mass.inertia);
  return mass;
}
nb::object as_object(const PerFreedom& x, int freedoms) {
  if (x.is_one_number(freedoms)) return nb::float_(x[0]);
  nb::list list;
  for (int i = 0; i < freedoms; ++i) list.append(x[i]);
  return nb::tuple(list);
}
PerFreedom read_per_freedom(nb::handle from) {
  if (PyFloat_Check(from.ptr())) return nb::cast<double>(from);
  const auto list = nb::cast<std::vector<double>>(from);
  if (list.empty() || list.size() > PerFreedom::most)
    fail(fmt::format("{} numbers for the freedoms of a joint, expected 1 to {}", list.size(),
                     PerFreedom::most));
  PerFreedom x = list[0];
  for (std::size_t i = 0; i < list.size(); ++i) x[static_cast<int>(i)] = list[i];
  return x;
}
nb::tuple as_tuple(const JointLimits& limits, int freedoms) {
  return nb::make_tuple(as_object(limits.lower, freedoms), as_object(limits.upper, freedoms),
                        as_object(limits.velocity, freedoms), as_object(limits.effort, freedoms));
}
JointLimits read_limits(nb::handle from) {
  return {read_per_freedom(from[0]), read_per_freedom(from[1]), read_per_freedom(from[2]),
          read_per_freedom(from[3])};
}

nb::tuple as_tuple(const ModelSpec& spec) {
  nb::list links, joints, frames;
  for (const LinkSpec& link : spec.links)
    links.append(nb::make_tuple(link.name, as_tuple(link.mass), link.where));
  for (const JointSpec& j : spec.joints) {
    const int n = std::max(1, nv_of(j.kind));
    joints.append(nb::make_tuple(
        j.name, std::string(name_of(j.kind)), j.parent, j.child, as_tuple(j.placement), numbers<3>(j.axis),
        numbers<3>(j.second_axis), j.pitch, as_tuple(j.limits, n), as_object(j.damping, n),
        as_object(j.friction, n), as_object(j.armature, n), as_object(j.stiffness, n),
        as_object(j.spring_reference, n), as_tuple(j.mimic), j.where));
  }
  for (const FrameSpec& frame : spec.frames)
    frames.append(nb::make_tuple(frame.name, frame.link, as_tuple(frame.placement), frame.where));
  nb::list actuators, loops, couplings;
  for (const ActuatorSpec& a : spec.actuators)
    actuators.append(
        nb::make_tuple(a.name, a.joint, as_object(a.gear, PerFreedom::most), a.lower, a.upper, a.where));
  for (const LoopSpec& l : spec.loops)
    loops.append(nb::make_tuple(l.name, std::string(name_of(l.kind)), l.first, l.second,
                                as_tuple(l.first_placement), as_tuple(l.second_placement), numbers<3>(l.axis),
                                l.where));
  for (const CouplingSpec& c : spec.couplings) {
    nb::list further;
    for (const CouplingSpec::Term& t : c.further) further.append(nb::make_tuple(t.joint, t.coefficient));
    couplings.append(nb::make_tuple(c.name, c.joint, c.source, nb::tuple(nb::cast(c.coefficients)), c.where,
                                    nb::tuple(further)));
  }
  return nb::make_tuple(spec.name, nb::tuple(links), nb::tuple(joints), nb::tuple(frames),
                        nb::tuple(actuators), nb::tuple(loops), nb::tuple(couplings));
}

JointKind kind_named(const std::string& name) {
  for (int i = 0; i < joint_kinds; ++i)
    if (name == name_of(static_cast<JointKind>(i))) return static_cast<JointKind>(i);
  fail(fmt::format("'{}' is no kind of joint", name));
}
namespace {
JointSpec read_joint(nb::handle from) {
  JointSpec j;
  j.name = get<std::string>(from, 0);
  j.kind = kind_named(get<std::string>(from, 1));
  j.parent = get<std::string>(from, 2);
  j.child = get<std::string>(from, 3);
  j.placement = read_pose(from[4]);
  read<3>(from[5], "an axis", j.axis);
  read<3>(from[6], "a second axis", j.second_axis);
  j.pitch = get<double>(from, 7);
  j.limits = read_limits(from[8]);
  j.damping = read_per_freedom(from[9]);
  j.friction = read_per_freedom(from[10]);
  j.armature = read_per_freedom(from[11]);
  j.stiffness = read_per_freedom(from[12]);
  j.spring_reference = read_per_freedom(from[13]);
  const nb::object mimic = from[14];
  if (!mimic.is_none())
    j.mimic = Mimic{get<std::string>(mimic, 0), get<double>(mimic, 1), get<double>(mimic, 2)};
  j.where = get<std::string>(from, 15);
  return j;
}
}  // namespace

ModelSpec read_spec(nb::handle from) {
  ModelSpec spec;
  spec.name = get<std::string>(from, 0);
  for (nb::handle x : from[1])
    spec.links.push_back({get<std::string>(x, 0), read_mass(x[1]), get<std::string>(x, 2)});
  for (nb::handle x : from[2]) spec.joints.push_back(read_joint(x));
  for (nb::handle x : from[3])
    spec.frames.push_back(
        {get<std::string>(x, 0), get<std::string>(x, 1), read_pose(x[2]), get<std::string>(x, 3)});
  for (nb::handle x : from[4])
    spec.actuators.push_back({get<std::string>(x, 0), get<std::string>(x, 1), read_per_freedom(x[2]),
                              get<double>(x, 3), get<double>(x, 4), get<std::string>(x, 5)});
  for (nb::handle x : from[5]) {
    LoopSpec loop{.name = get<std::string>(x, 0),
                  .kind = kind_named(get<std::string>(x, 1)),
                  .first = get<std::string>(x, 2),
                  .second = get<std::string>(x, 3),
                  .first_placement = read_pose(x[4]),
                  .second_placement = read_pose(x[5]),
                  .where = get<std::string>(x, 7)};
    read<3>(x[6], "an axis", loop.axis);
    spec.loops.push_back(std::move(loop));
  }
  for (nb::handle x : from[6]) {
    spec.couplings.push_back({get<std::string>(x, 0), get<std::string>(x, 1), get<std::string>(x, 2),
                              get<std::vector<double>>(x, 3), get<std::string>(x, 4)});
    for (nb::handle t : x[5])
      spec.couplings.back().further.push_back({get<std::string>(t, 0), get<double>(t, 1)});
  }
  return spec;
}

}  // namespace articula::python
