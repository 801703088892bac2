#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "articula/error.hpp"
#include "articula/files/urdf.hpp"
#include "articula/files/urdf_kinds.hpp"
#include "articula/files/xml_writer.hpp"
#include "articula/model/edit.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
class UrdfWriter {
 public:
  UrdfWriter(const ModelSpec& spec, const ModelExtras& extras)
      : spec_(spec), extras_(extras), shapes_(by_link(extras)) {}
  std::string write();

 private:
  void write_link(const LinkSpec& link);
  void write_shape(const Shape& shape);
  void write_joint(const JointSpec& joint);
  void write_origin(const Pose& pose);
  void write_limit(const JointSpec& joint);
  void write_frame(const FrameSpec& frame);
  void write_weld(const std::string& child, const std::string& parent, const Pose& placement,
                  std::string name);
  bool needs_world() const;
  void weld_root();
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... a) {
    out_ += fmt::format(text, std::forward<A>(a)...);
    out_ += '\n';
  }

  const ModelSpec& spec_;
  const ModelExtras& extras_;
  const ShapesByLink shapes_;
  std::string out_;
  std::set<std::string, std::less<>> joint_names_;
};

std::string UrdfWriter::write() {
  if (!spec_.loops.empty() || !spec_.couplings.empty())
    throw ModelError(fmt::format("model '{}' has loops or couplings, which URDF cannot say", spec_.name));
  line("<?xml version=\"1.0\"?>");
  line("<robot name=\"{}\">", escaped(spec_.name));
  for (const auto& joint : spec_.joints) joint_names_.insert(joint.name);
  const bool adds_world = needs_world();
  if (adds_world) line("  <link name=\"{}\"/>", world);
  for (const auto& link : spec_.links) write_link(link);
  for (const auto& joint : spec_.joints) write_joint(joint);
  if (adds_world) weld_root();
  for (const auto& frame : spec_.frames) write_frame(frame);
  line("</robot>");
  return std::move(out_);
}

/// Does something hang from the world by its name, while no link has that name?
bool UrdfWriter::needs_world() const {
  const auto is_world = [](const LinkSpec& link) { return link.name == world; };
  const auto hangs = [](const JointSpec& joint) { return joint.parent == world; };
  const auto stays = [](const FrameSpec& frame) { return frame.link == world; };
  return std::none_of(spec_.links.begin(), spec_.links.end(), is_world) &&
         (std::any_of(spec_.joints.begin(), spec_.joints.end(), hangs) ||
          std::any_of(spec_.frames.begin(), spec_.frames.end(), stays));
}

/// The world being a link now, the root that stood on it without a joint needs one: URDF allows one root.
void UrdfWriter::weld_root() {
  std::set<std::string_view> children;
  for (const auto& joint : spec_.joints) children.insert(joint.child);
  for (const auto& link : spec_.links)
    if (!children.contains(link.name)) write_weld(link.name, std::string(world), {}, link.name + "_to_world");
}

void UrdfWriter::write_link(const LinkSpec& link) {
  const MassProperties& m = link.mass;
  const Sym3<double>& J = m.inertia;
  const V3& c = m.center_of_mass;
  require_finite("URDF", "link '" + link.name + "'",
                 {m.mass, c.x, c.y, c.z, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz});
  const bool empty = m.mass == 0 && is_zero(c) && is_zero({J.xx, J.yy, J.zz}) && is_zero({J.xy, J.xz, J.yz});
  const auto shapes = shapes_.find(link.name);
  if (empty && shapes == shapes_.end()) {
    line("  <link name=\"{}\"/>", escaped(link.name));
    return;
  }
  line("  <link name=\"{}\">", escaped(link.name));
  if (!empty) {
    line("    <inertial>");
    line("      <origin xyz=\"{}\"/>", say(c));
    line("      <mass value=\"{}\"/>", m.mass);
    line("      <inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/>", J.xx, J.xy,
         J.xz, J.yy, J.yz, J.zz);
    line("    </inertial>");
  }
  if (shapes != shapes_.end())
    for (const Shape& shape : shapes->second->shapes) write_shape(shape);
  line("  </link>");
}

void UrdfWriter::write_shape(const Shape& shape) {
  std::string solid;
  switch (shape.kind) {
    case ShapeKind::box:
      solid = fmt::format("<box size=\"{}\"/>", say(shape.size));
      break;
    case ShapeKind::sphere:
      solid = fmt::format("<sphere radius=\"{}\"/>", shape.radius);
      break;
    case ShapeKind::mesh:
      if (file_of(shape, extras_).empty()) return;
      solid = fmt::format("<mesh filename=\"{}\" scale=\"{}\"/>", escaped(file_of(shape, extras_)),
                          say(shape.size));
      break;
    default:
      solid =
          fmt::format("<{} radius=\"{}\" length=\"{}\"/>",
                      shape.kind == ShapeKind::capsule ? "capsule" : "cylinder", shape.radius, shape.length);
  }
  line("    <visual>");
  out_ += "  ", write_origin(shape.placement);
  line("      <geometry>{}</geometry>", solid);
  if (const auto& c = shape.color)
    line("      <material name=\"{0}\"><color rgba=\"{0}\"/></material>", say(*c));
  line("    </visual>");
}

void UrdfWriter::write_origin(const Pose& pose) {
  if (is_identity(pose.R))
    line("    <origin xyz=\"{}\"/>", say(pose.p));
  else
    line("    <origin xyz=\"{}\" rpy=\"{}\"/>", say(pose.p), say(angles_of(pose.R)));
}

std::string_view urdf_name(const JointSpec& joint) {
  for (const UrdfKind& known : urdf_kinds)
    if (known.kind == joint.kind) return known.name;
  throw ModelError(
      fmt::format("joint '{}' is {}, which URDF has no name for; replace it by revolute and prismatic joints "
                  "with massless links between them",
                  joint.name, name_of(joint.kind)));
}

/// URDF has one for all freedoms of a joint.
double one_number(const JointSpec& joint, const PerFreedom& x, std::string_view what) {
  if (x.is_one_number(nv_of(joint.kind))) return x[0];
  throw ModelError(
      fmt::format("the freedoms of joint '{}' differ in {}, which URDF cannot say; give them the "
                  "same, or split the joint",
                  joint.name, what));
}

void UrdfWriter::write_joint(const JointSpec& joint) {
  const std::string owner = "joint '" + joint.name + "'";
  require_finite("URDF", owner, joint.placement);
  const double damping = one_number(joint, joint.damping, "damping"),
               friction = one_number(joint, joint.friction, "friction"),
               armature = one_number(joint, joint.armature, "armature");
  require_finite("URDF", owner, {joint.axis.x, joint.axis.y, joint.axis.z, damping, friction, armature});
  line("  <joint name=\"{}\" type=\"{}\">", escaped(joint.name), urdf_name(joint));
  line("    <parent link=\"{}\"/>", escaped(joint.parent));
  line("    <child link=\"{}\"/>", escaped(joint.child));
  write_origin(joint.placement);
  if (has_axis(joint.kind)) line("    <axis xyz=\"{}\"/>", say(joint.axis));
  write_limit(joint);
  if (damping != 0 || friction != 0 || armature != 0)
    line("    <dynamics damping=\"{}\" friction=\"{}\"{}/>", damping, friction,
         armature == 0 ? "" : fmt::format(" armature=\"{}\"", armature));
  if (joint.mimic) {
    require_finite("URDF", owner, {joint.mimic->multiplier, joint.mimic->offset});
    line("    <mimic joint=\"{}\" multiplier=\"{}\" offset=\"{}\"/>", escaped(joint.mimic->joint),
         joint.mimic->multiplier, joint.mimic->offset);
  }
  line("  </joint>");
}

/// A bound that is missing reads as 0, so that half a range needs a number for infinity: the largest one.
void UrdfWriter::write_limit(const JointSpec& joint) {
  const struct {
    double lower, upper, effort, velocity;
  } l{one_number(joint, joint.limits.lower, "limits"), one_number(joint, joint.limits.upper, "limits"),
      one_number(joint, joint.limits.effort, "limits"), one_number(joint, joint.limits.velocity, "limits")};
  if (std::isnan(l.lower) || std::isnan(l.upper) || std::isnan(l.effort) || std::isnan(l.velocity))
    throw ModelError("joint '" + joint.name + "' has a limit that is NaN; correct it before writing");
  std::string text;
  if (std::isfinite(l.lower) || std::isfinite(l.upper))
    text += fmt::format(" lower=\"{}\" upper=\"{}\"", std::clamp(l.lower, -largest, largest),
                        std::clamp(l.upper, -largest, largest));
  if (std::isfinite(l.effort)) text += fmt::format(" effort=\"{}\"", l.effort);
  if (std::isfinite(l.velocity)) text += fmt::format(" velocity=\"{}\"", l.velocity);
  if (!text.empty()) line("    <limit{}/>", text);
}

void UrdfWriter::write_frame(const FrameSpec& frame) {
  require_finite("URDF", "frame '" + frame.name + "'", frame.placement);
  line("  <link name=\"{}\"/>", escaped(frame.name));
  write_weld(frame.name, frame.link, frame.placement, frame.name + "_joint");
}

void UrdfWriter::write_weld(const std::string& child, const std::string& parent, const Pose& placement,
                            std::string name) {
  while (!joint_names_.insert(name).second) name += '_';
  line("  <joint name=\"{}\" type=\"fixed\">", escaped(name));
  line("    <parent link=\"{}\"/>", escaped(parent));
  line("    <child link=\"{}\"/>", escaped(child));
  write_origin(placement);
  line("  </joint>");
}

}  // namespace

std::string write_urdf(const ModelSpec& spec, const ModelExtras& extras) {
  const std::vector<JointKind> split = kinds_to_split({});
  const auto is_split = [&](const JointSpec& j) {
    return std::count(std::begin(split), std::end(split), j.kind) > 0;
  };
  if (std::none_of(spec.joints.begin(), spec.joints.end(), is_split)) return UrdfWriter(spec, extras).write();
  ModelSpec plain = spec;
  split_joints(plain, split);
  return UrdfWriter(plain, extras).write();
}

}  // namespace articula
