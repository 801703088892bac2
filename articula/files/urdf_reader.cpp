// Reading URDF.
#include <tinyxml2.h>

#include <cmath>
#include <cstring>
#include <map>

#include "articula/files/settle_mimics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/files/urdf_kinds.hpp"
#include "articula/files/xml_reader.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

using tinyxml2::XMLElement;
using V3 = Vec3<double>;

constexpr double axis_tolerance =
    1e-6;  // of the length: axes printed with six digits are taken as they are meant

class UrdfReader : XmlReader {
 public:
  using XmlReader::XmlReader;
  LoadedModel read(std::string_view text);

 private:
  const XMLElement& root_of(const tinyxml2::XMLDocument& document);
  void read_robot(const XMLElement& robot);
  Pose origin(const XMLElement& parent, const std::string& owner);

  void read_link(const XMLElement& e);
  MassProperties read_inertial(const XMLElement& e, const std::string& owner);
  double read_mass(const XMLElement& e, const std::string& owner);
  Sym3<double> read_inertia(const XMLElement& inertial, const std::string& owner);
  void read_joint(const XMLElement& e);
  JointKind read_kind(const XMLElement& e, const std::string& owner);
  std::string read_link_name(const XMLElement& joint, const char* which, const std::string& owner);
  V3 read_axis(const XMLElement& joint, JointKind kind, const std::string& owner);
  JointLimits read_limits(const XMLElement& joint, JointKind kind, const std::string& owner);
  void read_range(const XMLElement& limit, JointKind kind, const std::string& owner, JointLimits& limits);
  void read_transmissions();
  void read_dynamics(const XMLElement& joint, const std::string& owner, JointSpec& out);
  std::optional<Mimic> read_mimic(const XMLElement& joint, JointKind kind, const std::string& owner);

  std::map<std::string, std::string> mimic_places_;  // by joint
  std::vector<const XMLElement*> transmissions_;
};

LoadedModel UrdfReader::read(std::string_view text) {
  tinyxml2::XMLDocument document;
  parse_xml(text, name_, document, out_.findings);
  read_robot(root_of(document));
  note_ignored();
  return std::move(out_);
}

const XMLElement& UrdfReader::root_of(const tinyxml2::XMLDocument& document) {
  const XMLElement* const robot = document.FirstChildElement("robot");
  const XMLElement* const first = document.RootElement();
  if (!robot)
    give_up(
        first->GetLineNum(),
        fmt::format("the top element is <{}>; expected <robot>, is this a URDF file?", shown(first->Name())));
  for (const XMLElement* e = first; e; e = e->NextSiblingElement())
    if (e != robot)
      warning(e->GetLineNum(), "there is a second top element, <{}>; it is passed over: expected one <robot>",
              shown(e->Name()));
  return *robot;
}

void UrdfReader::read_robot(const XMLElement& robot) {
  const auto name = text(robot, "name");
  if (name && !name->empty())
    out_.spec.name = *name;
  else
    warning(robot.GetLineNum(), "<robot> has no name; URDF asks for one: add name=\"...\"");
  for (const XMLElement* e = robot.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string_view kind = e->Name();
    if (kind == "link")
      read_link(*e);
    else if (kind == "joint")
      read_joint(*e);
    else if (kind == "transmission")
      transmissions_.push_back(e);
    else if (kind == "gazebo")
      ignore("element <gazebo>", e->GetLineNum(), "it does not change the dynamics here", Severity::note);
    else if (kind.starts_with("xacro:"))
      leftover(*e);
    else if (kind != "material")
      ignore("element <" + shown(kind) + "> in <robot>", e->GetLineNum(), "correct or remove it");
  }
  read_transmissions();
  settle_mimics(out_.spec, mimic_places_, out_.findings);
  if (out_.spec.links.empty() && errors_ == 0)
    error(robot.GetLineNum(), "<robot> has no <link>; add at least one");
}

Pose UrdfReader::origin(const XMLElement& parent, const std::string& owner) {
  const XMLElement* e = child(parent, "origin", owner);
  if (!e) return {};
  check_attributes(*e, {"xyz", "rpy"});
  const V3 rpy = vector(*e, "rpy", owner, {0, 0, 0});
  Pose pose;
  pose.p = vector(*e, "xyz", owner, {0, 0, 0});
  if (!is_zero(rpy)) pose.R = rotation_from_rpy(rpy.x, rpy.y, rpy.z);
  return pose;
}

// --- links ------------------------------------------------------------------------------------------
void UrdfReader::read_link(const XMLElement& e) {
  const int before = errors_;
  LinkSpec link;
  link.name = name_of_element(e, "link");
  link.where = where(e.GetLineNum());
  const std::string owner = "link " + in_quotes(link.name);
  check_attributes(e, {"name", "type"});
  note_unknown_children(e, {"inertial", "visual", "collision", "contact"});
  if (const XMLElement* inertial = child(e, "inertial", owner)) link.mass = read_inertial(*inertial, owner);
  if (errors_ > before) link.mass.mass = nan;  // nothing can be built of it
  out_.spec.add_link(std::move(link));
}

/// <mass value="1"/>, and with a warning <mass>1</mass>.
double UrdfReader::read_mass(const XMLElement& e, const std::string& owner) {
  const auto words = words_of(e.GetText() ? e.GetText() : "", 1);
  const auto inside = words.size() == 1 ? number_of(words[0]) : std::nullopt;
  if (e.FindAttribute("value") || !inside) return number(e, "value", owner);
  warning(e.GetLineNum(), "<mass> of {} has its number between the tags; expected <mass value=\"{}\"/>",
          owner, *inside);
  return *inside;
}

MassProperties UrdfReader::read_inertial(const XMLElement& e, const std::string& owner) {
  note_unknown_children(e, {"origin", "mass", "inertia"});
  const Pose pose = origin(e, "the inertial of " + owner);
  MassProperties out;
  out.center_of_mass = pose.p;
  const XMLElement* mass = child(e, "mass", owner);
  if (!mass) {
    warning(e.GetLineNum(),
            "<inertial> of {} has no <mass>; it is passed over: add <mass value=\"...\"/>, or remove it",
            owner);
    return {};
  }
  check_attributes(*mass, {"value"});
  out.mass = read_mass(*mass, owner);
  const Sym3<double> J = read_inertia(e, owner);
  out.inertia = is_identity(pose.R) ? J : turned(pose.R, J);
  return out;
}

Sym3<double> UrdfReader::read_inertia(const XMLElement& inertial, const std::string& owner) {
  const XMLElement* e = child(inertial, "inertia", owner);
  if (!e) {
    warning(inertial.GetLineNum(),
            "<inertial> of {} has no <inertia>; it is taken as a point mass: add <inertia ixx=... />", owner);
    return {0, 0, 0, 0, 0, 0};
  }
  check_attributes(*e, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
  const auto moment = [&](const char* attribute) {
    if (const auto value = optional_number(*e, attribute, owner)) return *value;
    warning(e->GetLineNum(), "<inertia> of {} has no attribute {}; it is taken as 0: add it", owner,
            attribute);
    return 0.0;
  };
  const double xx = moment("ixx"), yy = moment("iyy"), zz = moment("izz");
  const double xy = moment("ixy"), xz = moment("ixz"), yz = moment("iyz");
  return {xx, yy, zz, xy, xz, yz};
}

// --- joints -----------------------------------------------------------------------------------------
void UrdfReader::read_joint(const XMLElement& e) {
  const int before = errors_;
  JointSpec joint;
  joint.name = name_of_element(e, "joint");
  joint.where = where(e.GetLineNum());
  const std::string owner = "joint " + in_quotes(joint.name);
  check_attributes(e, {"name", "type"});
  note_unknown_children(e, {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
                            "safety_controller", "calibration"});
  joint.kind = read_kind(e, owner);
  joint.parent = read_link_name(e, "parent", owner);
  joint.child = read_link_name(e, "child", owner);
  joint.placement = origin(e, owner);
  joint.axis = read_axis(e, joint.kind, owner);
  joint.limits = read_limits(e, joint.kind, owner);
  read_dynamics(e, owner, joint);
  joint.mimic = read_mimic(e, joint.kind, owner);
  if (errors_ > before) joint.placement.p.x = nan;  // nothing can be built of it
  out_.spec.add_joint(std::move(joint));
}

JointKind UrdfReader::read_kind(const XMLElement& e, const std::string& owner) {
  const auto type = text(e, "type");
  for (const UrdfKind& known : urdf_kinds)
    if (type && *type == known.name) return known.kind;
  error(e.GetLineNum(),
        "{} has {}; expected type=\"revolute\", \"continuous\", \"prismatic\", \"fixed\", \"planar\" or "
        "\"floating\"",
        owner, type ? "the type " + in_quotes(*type) : "no type");
  return JointKind::fixed;
}

std::string UrdfReader::read_link_name(const XMLElement& joint, const char* which, const std::string& owner) {
  const XMLElement* e = child(joint, which, owner);
  if (e) check_attributes(*e, {"link"});
  const auto name = e ? text(*e, "link") : std::nullopt;
  if (name && !name->empty()) return *name;
  error(e ? e->GetLineNum() : joint.GetLineNum(), "{} has no {} link; add <{} link=\"...\"/>", owner, which,
        which);
  return "";
}

V3 UrdfReader::read_axis(const XMLElement& joint, JointKind kind, const std::string& owner) {
  constexpr V3 missing{1, 0, 0};  // by the URDF specification
  const XMLElement* e = child(joint, "axis", owner);
  // Fixed and floating joints often carry an axis, even a zero one, that means nothing.
  if (!e || !has_axis(kind)) return missing;
  check_attributes(*e, {"xyz"});
  const V3 axis = vector(*e, "xyz", owner, missing);
  const double length = std::hypot(axis.x, axis.y, axis.z);
  if (std::isnan(length)) return axis;
  if (!(length > 1e-30 && length < 1e30)) {
    warning(
        e->GetLineNum(),
        "the axis of {} is ({:.6g}, {:.6g}, {:.6g}); expected a direction of unit length, such as 0 0 1: 1 0 "
        "0 is taken, as if there were none",
        owner, axis.x, axis.y, axis.z);
    return missing;
  }
  const double deviation = std::abs(length - 1);
  if (deviation < 2e-15) return axis;  // a unit vector, but for rounding: keep its bits
  const V3 unit = axis * (1 / length);
  if (deviation > axis_tolerance)
    warning(e->GetLineNum(),
            "the axis of {} is ({:.6g}, {:.6g}, {:.6g}) with length {:.9g}; expected unit length: it is "
            "normalised, give "
            "xyz=\"{} {} {}\"",
            owner, axis.x, axis.y, axis.z, length, unit.x, unit.y, unit.z);
  return unit;
}

JointLimits UrdfReader::read_limits(const XMLElement& joint, JointKind kind, const std::string& owner) {
  JointLimits limits;
  const bool ranged = kind == JointKind::revolute || kind == JointKind::prismatic;
  const XMLElement* e = child(joint, "limit", owner);
  if (!e) {
    if (ranged)
      warning(joint.GetLineNum(),
              "{} has no <limit>, which URDF asks for; it is taken as unlimited: add one, or {}", owner,
              kind == JointKind::revolute ? "make it continuous" : "give a wide range");
    return limits;
  }
  read_range(*e, kind, owner, limits);
  for (const auto& [attribute, value] :
       {std::pair("effort", &limits.effort), std::pair("velocity", &limits.velocity)}) {
    if (const auto given = optional_number(*e, attribute, owner))
      *value = *given == largest ? infinity : *given;
    else if (ranged)
      warning(e->GetLineNum(),
              "<limit> of {} has no {}, which URDF asks for; it is taken as unlimited: add it", owner,
              attribute);
  }
  return limits;
}

/// URDF reads a missing bound as 0; if both are missing, the range that this gives cannot be meant.
void UrdfReader::read_range(const XMLElement& limit, JointKind kind, const std::string& owner,
                            JointLimits& limits) {
  const auto lower = optional_number(limit, "lower", owner), upper = optional_number(limit, "upper", owner);
  const bool ranged = kind == JointKind::revolute || kind == JointKind::prismatic;
  if (!lower && !upper) {
    if (ranged)
      warning(limit.GetLineNum(),
              "<limit> of {} has no lower and no upper bound; it is taken as unlimited: add them", owner);
    return;
  }
  const double from = lower.value_or(0), to = upper.value_or(0);
  if (from > to) {  // bullet's way to say that there is none
    warning(
        limit.GetLineNum(),
        "<limit> of {} has the lower bound {:.6g} above the upper bound {:.6g}; it is taken as unlimited: "
        "swap or correct them",
        owner, from, to);
    return;
  }
  // The largest double stands for "no bound", see write_urdf.
  limits.lower = from == -largest ? -infinity : from;
  limits.upper = to == largest ? infinity : to;
}

void UrdfReader::read_dynamics(const XMLElement& joint, const std::string& owner, JointSpec& out) {
  const XMLElement* e = child(joint, "dynamics", owner);
  if (!e) return;
  check_attributes(*e, {"damping", "friction", "armature"});
  out.damping = optional_number(*e, "damping", owner).value_or(0);
  out.friction = optional_number(*e, "friction", owner).value_or(0);
  out.armature = optional_number(*e, "armature", owner).value_or(0);
}

/// Drake's words for a rotor: its inertia times the square of its gear ratio is armature of the joint.
void UrdfReader::read_transmissions() {
  std::map<std::string_view, JointSpec*> joints;
  if (!transmissions_.empty())
    for (JointSpec& j : out_.spec.joints) joints.emplace(j.name, &j);
  for (const XMLElement* e : transmissions_) {
    const XMLElement* const joint = e->FirstChildElement("joint");
    const XMLElement* const actuator = e->FirstChildElement("actuator");
    const XMLElement* const rotor = actuator ? actuator->FirstChildElement("drake:rotor_inertia") : nullptr;
    const char* const name = joint ? joint->Attribute("name") : nullptr;
    const auto moved = name ? joints.find(name) : joints.end();
    if (!rotor || moved == joints.end() || nv_of(moved->second->kind) != 1) {
      ignore("element <transmission>", e->GetLineNum(), "give rotor inertia as armature in <dynamics>",
             Severity::note);
      continue;
    }
    const XMLElement* const gear = actuator->FirstChildElement("drake:gear_ratio");
    const std::string owner = fmt::format("joint '{}'", name);
    const double ratio = gear ? number(*gear, "value", owner) : 1;
    PerFreedom& armature = moved->second->armature;
    armature = armature[0] + number(*rotor, "value", owner) * ratio * ratio;
  }
}

std::optional<Mimic> UrdfReader::read_mimic(const XMLElement& joint, JointKind kind,
                                            const std::string& owner) {
  const XMLElement* e = child(joint, "mimic", owner);
  if (!e) return std::nullopt;
  if (nv_of(kind) != 1) {
    ignore(fmt::format("<mimic> of a {} joint", name_of(kind)), e->GetLineNum(),
           "only joints with one freedom can mimic: remove it, or change the joint");
    return std::nullopt;
  }
  check_attributes(*e, {"joint", "multiplier", "offset"});
  const auto source = text(*e, "joint");
  if (!source || source->empty()) {
    warning(e->GetLineNum(), "<mimic> of {} does not say which joint, and is passed over; add joint=\"...\"",
            owner);
    return std::nullopt;
  }
  mimic_places_[owner] = where(e->GetLineNum());
  return Mimic{*source, optional_number(*e, "multiplier", owner).value_or(1),
               optional_number(*e, "offset", owner).value_or(0)};
}

}  // namespace

LoadedModel parse_urdf_spec(std::string_view text, const std::string& name) {
  return UrdfReader(name).read(text);
}

}  // namespace articula
