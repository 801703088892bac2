// Writing MJCF: bodies with their joints, masses, shapes and sites.
#include "articula/files/mjcf_writer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "articula/error.hpp"
#include "articula/files/mjcf.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace mjcf {

namespace {

using V3 = Vec3<double>;

bool is_massless(const MassProperties& m) {
  const Sym3<double>& J = m.inertia;
  return m.mass == 0 && is_zero({J.xx, J.yy, J.zz}) && is_zero({J.xy, J.xz, J.yz});
}

/// pos and quat, where they are not those of no motion.
std::string say(const Pose& pose) {
  std::string out;
  if (!is_zero(pose.p)) out += fmt::format(" pos=\"{}\"", say(pose.p));
  if (is_identity(pose.R)) return out;
  const Quaternion<double> q = quaternion(pose.R);
  return out + fmt::format(" quat=\"{} {} {} {}\"", q.w, q.x, q.y, q.z);
}

std::vector<Part> parts_of(const JointSpec& joint) {
  if (const auto hinges = hinges_of(joint.kind); hinges.size() > 1) {  // of one freedom each
    std::vector<Part> parts;
    for (std::size_t i = 0; i < hinges.size(); ++i)
      parts.push_back({hinges[i] == HingeKind::prismatic ? "slide" : "hinge",
                       i == 0 ? "" : "_" + coordinate_label(joint.kind, int(i)), axis_of(joint, i), int(i)});
    return parts;
  }
  switch (joint.kind) {
    case JointKind::fixed:
      return {};
    case JointKind::revolute:
    case JointKind::continuous:
      return {{"hinge", "", joint.axis, 0}};
    case JointKind::prismatic:
      return {{"slide", "", joint.axis, 0}};
    case JointKind::cylindrical:
      return {{"hinge", "", joint.axis, 0}, {"slide", "_slide", joint.axis, 1}};
    case JointKind::planar: {  // x and y are told before the turn
      const Mat3<double> Z =
          rotation_from_z(joint.axis * (1 / std::hypot(joint.axis.x, joint.axis.y, joint.axis.z)));
      return {{"slide", "_x", column_x(Z), 1}, {"slide", "_y", column_y(Z), 2}, {"hinge", "", joint.axis, 0}};
    }
    case JointKind::spherical:
      return {{"ball", "", {0, 0, 1}, 0}};
    case JointKind::free:
      return {{"free", "", {0, 0, 1}, 0}};
    default:
      throw ModelError(
          fmt::format("joint '{}' is {}, which MJCF has no name for; replace it by hinge and slide",
                      joint.name, name_of(joint.kind)));
  }
}

}  // namespace

/// Loops that hold a point meet in sites, for which names are made.
Writer::Writer(const ModelSpec& spec, const ModelExtras& extras)
    : spec_(spec), extras_(extras), shapes_(by_link(extras)) {
  for (const LinkSpec& link : spec.links) links_.emplace(link.name, &link);
  for (const JointSpec& joint : spec.joints) {
    joints_of_[joint.parent].push_back(&joint);
    moved_.insert(joint.child);
  }
  for (const FrameSpec& frame : spec.frames) sites_[frame.link].push_back(frame);
  for (const LoopSpec& loop : spec.loops) {
    named_.insert({loop.first, loop.second});
    if (loop.kind != JointKind::spherical) continue;
    sites_[loop.first].push_back({loop.name + ".first", loop.first, loop.first_placement});
    sites_[loop.second].push_back({loop.name + ".second", loop.second, loop.second_placement});
  }
  for (const auto& [link, frames] : sites_) named_.insert(link);
}

std::string Writer::write() {
  line(0, "<mujoco model=\"{}\">", escaped(spec_.name));
  line(1, "<compiler angle=\"radian\" autolimits=\"true\" inertiafromgeom=\"false\"/>");
  if (extras_.gravity) line(1, "<option gravity=\"{}\"/>", say(*extras_.gravity));
  write_meshes();
  line(1, "<worldbody>");
  write_bodies();
  line(1, "</worldbody>");
  write_tendons();
  write_equalities();
  write_actuators();
  line(0, "</mujoco>");
  return std::move(out_);
}

// --- bodies -----------------------------------------------------------------------------------------
void Writer::push_children(const std::string& link, int depth, std::vector<Step>& ahead) const {
  const auto joints = joints_of_.find(link);
  if (joints == joints_of_.end()) return;
  for (auto j = joints->second.rbegin(); j != joints->second.rend(); ++j) {
    Chain chain = chain_from(**j);
    const LinkSpec& last = child_of(*chain.back());
    ahead.push_back({&last, std::move(chain), depth});
  }
}

/// Depth first, with a stack of our own. A root link of the name world is MJCF's world.
void Writer::write_bodies() {
  const std::string the_world(world);
  std::vector<Step> ahead;
  const bool world_is_link = links_.contains(world);
  if (world_is_link && moved_.contains(world))
    throw ModelError("a link of the name 'world' moves, which MJCF cannot say; rename it");
  push_children(the_world, 2, ahead);  // after the root link, as a model numbers them
  for (auto link = spec_.links.rbegin(); link != spec_.links.rend(); ++link)
    if (!moved_.contains(link->name) && link->name != world) ahead.push_back({&*link, {}, 2});
  write_shapes(the_world, 2);
  write_sites(the_world, 2);
  while (!ahead.empty()) {
    const Step step = std::move(ahead.back());
    ahead.pop_back();
    if (step.link)
      open_body(step, ahead);
    else
      line(step.depth, "</body>");
  }
}

/// MuJoCo wants mass in every body that joints move: a massless link between two joints is no body of its own.
bool Writer::continues(const Chain& chain, const JointSpec& next) const {
  const JointSpec& last = *chain.back();
  const LinkSpec& between = child_of(last);
  if (nv_of(last.kind) == 0 || last.kind == JointKind::free || next.kind == JointKind::free) return false;
  if (!is_massless(between.mass) || named_.contains(between.name)) return false;
  // The reader makes such a link where a joint is not at its body's origin.
  if (nv_of(next.kind) == 0 && between.name != next.child + "." + last.name) return false;
  // A ball's coordinates are told in the axes of the link that it moves.
  if (last.kind == JointKind::spherical && (nv_of(next.kind) > 0 || !is_identity(next.placement.R)))
    return false;
  int freedoms = nv_of(next.kind);
  for (const JointSpec* joint : chain) freedoms += nv_of(joint->kind);
  return freedoms <= 6;
}

Writer::Chain Writer::chain_from(const JointSpec& first) const {
  Chain chain{&first};
  while (true) {
    const auto next = joints_of_.find(chain.back()->child);
    if (next == joints_of_.end() || next->second.size() != 1 || !continues(chain, *next->second[0]))
      return chain;
    chain.push_back(next->second[0]);
  }
}

void Writer::open_body(const Step& step, std::vector<Step>& ahead) {
  Pose pose;
  for (const JointSpec* joint : step.joints) {
    require_finite(format, "joint '" + joint->name + "'", joint->placement);
    if (joint->kind == JointKind::free && joint->parent != world)
      throw ModelError(
          fmt::format("joint '{}' is free, but on link '{}'; MJCF has free joints in the world only",
                      joint->name, joint->parent));
    pose = pose * joint->placement;
  }
  line(step.depth, "<body name=\"{}\"{}>", escaped(step.link->name), say(pose));
  Pose before;  // the placements up to the joint
  for (const JointSpec* joint : step.joints) {
    before = before * joint->placement;
    write_joint(*joint, inverse(pose) * before, step.depth + 1);
  }
  write_inertial(*step.link, step.depth + 1);
  write_shapes(step.link->name, step.depth + 1);
  write_sites(step.link->name, step.depth + 1);
  ahead.push_back({nullptr, {}, step.depth});
  push_children(step.link->name, step.depth + 1, ahead);
}

void Writer::write_inertial(const LinkSpec& link, int depth) {
  const MassProperties& m = link.mass;
  const Sym3<double>& J = m.inertia;
  const V3& c = m.center_of_mass;
  require_finite(format, "link '" + link.name + "'",
                 {m.mass, c.x, c.y, c.z, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz});
  if (is_massless(m)) return;
  const bool diagonal = is_zero({J.xy, J.xz, J.yz});
  line(depth, "<inertial pos=\"{}\" mass=\"{}\" {}=\"{}{}\"/>", say(c), m.mass,
       diagonal ? "diaginertia" : "fullinertia", say(V3{J.xx, J.yy, J.zz}),
       diagonal ? "" : " " + say(V3{J.xy, J.xz, J.yz}));
}

/// What a part's freedom has; of a ball or free joint (`whole`) all freedoms must have the same.
std::string Writer::dynamics_of(const JointSpec& joint, const Part& part, bool whole) const {
  std::string out;
  const auto add = [&](const char* name, const PerFreedom& x) {
    if (whole && !x.is_one_number(nv_of(joint.kind)))
      throw ModelError(
          fmt::format("the freedoms of joint '{}' differ in {}, which MJCF cannot say; give them the same",
                      joint.name, name));
    require_finite(format, "joint '" + joint.name + "'", {x[part.freedom]});
    if (x[part.freedom] != 0) out += fmt::format(" {}=\"{}\"", name, x[part.freedom]);
  };
  add("armature", joint.armature);
  add("damping", joint.damping);
  add("frictionloss", joint.friction);
  add("stiffness", joint.stiffness);
  if (whole) return out;
  add("springref", joint.spring_reference);
  const double lower = joint.limits.lower[part.freedom], upper = joint.limits.upper[part.freedom],
               effort = joint.limits.effort[part.freedom];
  if (std::isfinite(lower) || std::isfinite(upper))  // half a range needs a number for infinity
    out += fmt::format(" range=\"{} {}\"", std::clamp(lower, -largest, largest),
                       std::clamp(upper, -largest, largest));
  if (std::isfinite(effort) && effort > 0) out += fmt::format(" actuatorfrcrange=\"{} {}\"", -effort, effort);
  return out;
}

void Writer::write_joint(const JointSpec& joint, const Pose& in_body, int depth) {
  require_finite(format, "joint '" + joint.name + "'", {joint.axis.x, joint.axis.y, joint.axis.z});
  for (const Part& part : parts_of(joint)) {
    const std::string_view type = part.type;
    const bool whole = type == "ball" || type == "free";
    std::string place;
    if (type != "free" && !is_zero(in_body.p)) place += fmt::format(" pos=\"{}\"", say(in_body.p));
    if (!whole) place += fmt::format(" axis=\"{}\"", say(in_body.R * part.axis));
    line(depth, "<joint name=\"{}{}\" type=\"{}\"{}{}/>", escaped(joint.name), part.suffix, type, place,
         dynamics_of(joint, part, whole));
  }
}

void Writer::write_sites(const std::string& link, int depth) {
  const auto sites = sites_.find(link);
  if (sites == sites_.end()) return;
  for (const FrameSpec& site : sites->second) {
    require_finite(format, "frame '" + site.name + "'", site.placement);
    line(depth, "<site name=\"{}\"{}/>", escaped(site.name), say(site.placement));
  }
}

// --- shapes -----------------------------------------------------------------------------------------
/// Each file once for each scale; MuJoCo reads STL and OBJ.
void Writer::write_meshes() {
  std::map<std::string, std::string> known;  // by file and scale
  std::string assets;
  for (const LinkShapes& link : extras_.shapes)
    for (const Shape& shape : link.shapes) {
      const std::string file = shape.kind == ShapeKind::mesh ? file_of(shape, extras_) : "";
      const auto ends = [&](std::string_view ending) {
        return file.size() > ending.size() &&
               std::equal(ending.begin(), ending.end(), file.end() - std::ptrdiff_t(ending.size()),
                          [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
      };
      if (!ends(".stl") && !ends(".obj")) continue;
      const auto [at, is_new] =
          known.try_emplace(file + " " + say(shape.size), fmt::format("mesh{}", known.size() + 1));
      meshes_[&shape] = at->second;
      if (is_new)
        assets += fmt::format("    <mesh name=\"{}\" file=\"{}\" scale=\"{}\"/>\n", at->second, escaped(file),
                              say(shape.size));
    }
  if (!assets.empty()) out_ += "  <asset>\n" + assets + "  </asset>\n";
}

/// To be seen, in a group that MuJoCo shows; nothing touches them, and masses are stated.
void Writer::write_shapes(const std::string& link, int depth) {
  const auto shapes = shapes_.find(link);
  if (shapes == shapes_.end()) return;
  for (const Shape& shape : shapes->second->shapes) {
    std::string solid;
    switch (shape.kind) {
      case ShapeKind::box:
        solid = fmt::format("box\" size=\"{}", say(shape.size * 0.5));
        break;
      case ShapeKind::sphere:
        solid = fmt::format("sphere\" size=\"{}", shape.radius);
        break;
      case ShapeKind::mesh:
        if (!meshes_.contains(&shape)) continue;
        solid = fmt::format("mesh\" mesh=\"{}", meshes_.at(&shape));
        break;
      default:
        solid = fmt::format("{}\" size=\"{} {}", shape.kind == ShapeKind::capsule ? "capsule" : "cylinder",
                            shape.radius, shape.length / 2);
    }
    line(depth, "<geom type=\"{}\"{}{} contype=\"0\" conaffinity=\"0\" group=\"2\"/>", solid,
         say(shape.placement), shape.color ? fmt::format(" rgba=\"{}\"", articula::say(*shape.color)) : "");
  }
}

}  // namespace mjcf

std::string write_mjcf(const ModelSpec& spec, const ModelExtras& extras) {
  return mjcf::Writer(spec, extras).write();
}

}  // namespace articula
