// What the links and joints of an SDF file say.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/files/sdf_parser.hpp"
#include "articula/files/sdf_shapes.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/inertial_parameters.hpp"

namespace articula::sdf {

namespace {

constexpr double no_limit = 1e16;  // as SDF writes it

}  // namespace

std::string Parser::attribute(const Element& e, const char* name) {
  const char* const value = e.Attribute(name);
  return value ? value : "";
}

std::string Parser::text_of(const Element* e) const {
  const char* const text = e ? e->GetText() : nullptr;
  const auto words = words_of(text ? text : "", 1);
  if (words.empty()) return "";
  // Names may hold spaces inside.
  std::string_view all = text;
  all.remove_prefix(std::size_t(words[0].data() - text));
  while (std::isspace(static_cast<unsigned char>(all.back()))) all.remove_suffix(1);
  return std::string(all);
}

/// Exactly `count` numbers between the tags; else an error, and NaNs.
std::vector<double> Parser::numbers_in(const Element& e, std::size_t count, const std::string& owner) {
  const char* const text = e.GetText();
  const auto words = words_of(text ? text : "", count);
  std::vector<double> out;
  for (const std::string_view word : words)
    if (const auto number = number_of(word)) out.push_back(*number);
  if (words.size() == count && out.size() == count) return out;
  error(e.GetLineNum(), "<{}> of {} is {}; expected {} finite number{}", e.Name(), owner,
        in_quotes(text ? text : ""), count, count == 1 ? "" : "s separated by spaces");
  return std::vector<double>(count, nan);
}

double Parser::number_in(const Element& parent, const char* name, const std::string& owner, double missing) {
  const Element* const e = child(parent, name, owner);
  if (!e) return missing;
  const std::string text = text_of(e);  // infinities are words here
  if (text == "inf" || text == "+inf") return infinity;
  if (text == "-inf") return -infinity;
  if (const std::size_t end = text.find_first_not_of("0123456789.eE+-"); end != text.npos && end > 0)
    if (const auto number = number_of(std::string_view(text).substr(0, end))) {  // 2.5"
      warning(e->GetLineNum(), "<{}> of {} is {}; it is read as {}: correct it", name, owner, in_quotes(text),
              *number);
      return *number;
    }
  return numbers_in(*e, 1, owner)[0];
}

bool Parser::flag_in(const Element& parent, const char* name) const {
  const std::string text = text_of(parent.FirstChildElement(name));
  return text == "true" || text == "1" || text == "True";
}

Placement Parser::placement_of(const Element& parent, const std::string& owner) {
  Placement out;
  const Element* const e = child(parent, "pose", owner);
  out.where = where(e ? e->GetLineNum() : parent.GetLineNum());
  if (!e) return out;
  out.relative_to = attribute(*e, minor_ < 7 ? "frame" : "relative_to");
  const bool is_quaternion = attribute(*e, "rotation_format") == "quat_xyzw";
  const bool degrees = attribute(*e, "degrees") == "true" || attribute(*e, "degrees") == "1";
  if (text_of(e).empty()) return out;
  const std::vector<double> x = numbers_in(*e, is_quaternion ? 7 : 6, "the pose of " + owner);
  out.pose.p = {x[0], x[1], x[2]};
  if (is_quaternion) {
    const Quaternion<double> q{x[3], x[4], x[5], x[6]};
    const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!(std::abs(length - 1) < 1e-3))
      error(e->GetLineNum(), "the quaternion of {} has the length {:.6g}; expected 1", owner, length);
    out.pose.R = rotation(normalized(q));
    return out;
  }
  const double unit = degrees ? std::numbers::pi / 180 : 1;
  if (x[3] != 0 || x[4] != 0 || x[5] != 0)
    out.pose.R = rotation_from_rpy(x[3] * unit, x[4] * unit, x[5] * unit);
  return out;
}

// --- links ------------------------------------------------------------------------------------------
void Parser::read_link(const Element& e, Model& model) {
  const int before = errors_;
  Link link;
  link.name = name_of_element(e, "link");
  link.where = where(e.GetLineNum());
  link.element = &e;
  link.file = file_;
  const std::string owner = "link " + in_quotes(link.name);
  link.placement = placement_of(e, owner);
  link.mass = {1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};  // what SDF says of a link that says nothing
  if (const Element* inertial = child(e, "inertial", owner)) {
    link.has_inertial = true;
    link.mass = attribute(*inertial, "auto") == "true" ? automatic(e, *inertial, owner)
                                                       : read_inertial(*inertial, owner);
  }
  if (const std::string gravity = text_of(e.FirstChildElement("gravity"));
      gravity == "0" || gravity == "false")
    ignore("<gravity>false</gravity> of a link", e.GetLineNum(), "gravity pulls at every link here");
  if (errors_ > before) link.mass.mass = nan;
  model.links.push_back(std::move(link));
}

MassProperties Parser::read_inertial(const Element& e, const std::string& owner) {
  const Pose pose = placement_of(e, "the inertial of " + owner).pose;
  MassProperties own{number_in(e, "mass", owner, 1), {0, 0, 0}, {1, 1, 1, 0, 0, 0}}, out;
  if (const Element* inertia = child(e, "inertia", owner)) {
    Sym3<double>& J = own.inertia;
    const auto moment = [&](const char* name, double missing) {
      return number_in(*inertia, name, owner, missing);
    };
    J = {moment("ixx", 1), moment("iyy", 1), moment("izz", 1),
         moment("ixy", 0), moment("ixz", 0), moment("iyz", 0)};
  }
  const Mat3<double>& R = pose.R;
  out.mass = own.mass;
  out.center_of_mass = pose.p;
  out.inertia = is_identity(R) ? own.inertia : symmetric(R * (own.inertia * star(R)));
  return out;
}

/// auto="true": the masses of the collision shapes, by their densities.
MassProperties Parser::automatic(const Element& link, const Element& inertial, const std::string& owner) {
  const double usual = number_in(inertial, "density", owner, 1000);
  MassProperties out;
  for (const Element* c = link.FirstChildElement("collision"); c; c = c->NextSiblingElement("collision")) {
    const auto shape = shape_in(c->FirstChildElement("geometry"));
    const auto mass = shape ? solid_mass(*shape, number_in(*c, "density", owner, usual)) : std::nullopt;
    if (mass)
      weld(out, *mass, placement_of(*c, "a collision of " + owner).pose);
    else
      error(c->GetLineNum(), "the inertia of {} cannot be had from this shape; give <inertial> with numbers",
            owner);
  }
  return out;
}

// --- joints -----------------------------------------------------------------------------------------
void Parser::read_joint(const Element& e, Model& model) {
  Joint joint;
  joint.name = name_of_element(e, "joint");
  joint.where = where(e.GetLineNum());
  joint.type = attribute(e, "type");
  const std::string owner = "joint " + in_quotes(joint.name);
  joint.placement = placement_of(e, owner);
  for (const auto& [name, into] : {std::pair("parent", &joint.parent), std::pair("child", &joint.child)}) {
    *into = text_of(child(e, name, owner));
    if (into->empty()) error(e.GetLineNum(), "{} has no {}; add <{}>LINK</{}>", owner, name, name, name);
  }
  read_axis(e, "axis", owner, joint.axes[0]);
  read_axis(e, "axis2", owner, joint.axes[1]);
  if (joint.type == "screw") joint.pitch = read_pitch(e, owner);
  joint.gearbox_ratio = number_in(e, "gearbox_ratio", owner, 1);
  joint.gearbox_reference = text_of(e.FirstChildElement("gearbox_reference_body"));
  read_armature(e, owner, joint);
  model.joints.push_back(std::move(joint));
}

/// screw_thread_pitch: metres per turn, right-handed. thread_pitch, until 1.9: radians per metre, left-handed.
double Parser::read_pitch(const Element& e, const std::string& owner) {
  constexpr double turn = 2 * std::numbers::pi;
  if (e.FirstChildElement("screw_thread_pitch")) return number_in(e, "screw_thread_pitch", owner, 1) / turn;
  const Element* const old = e.FirstChildElement("thread_pitch");
  if (!old) {
    warning(e.GetLineNum(), "{} has no <screw_thread_pitch>; it is taken as 1 metre for a turn: add it",
            owner);
    return 1 / turn;
  }
  const double inverse = number_in(e, "thread_pitch", owner, 1);
  if (inverse != 0) return -1 / inverse;
  error(old->GetLineNum(), "<thread_pitch> of {} is 0, in radians per metre; give <screw_thread_pitch>",
        owner);
  return nan;
}

/// What Drake calls rotor and gear; and what write_sdf writes for joints of several freedoms.
void Parser::read_armature(const Element& e, const std::string& owner, Joint& out) {
  const double gear = number_in(e, "drake:gear_ratio", owner, 1);
  out.armature = number_in(e, "drake:rotor_inertia", owner, 0) * gear * gear;
  const Element* const own = child(e, "articula:armature", owner);
  if (!own) return;
  const auto words = words_of(own->GetText() ? own->GetText() : "", PerFreedom::most);
  const auto numbers = numbers_in(*own, std::clamp<std::size_t>(words.size(), 1, PerFreedom::most), owner);
  out.armature = numbers[0];
  for (std::size_t i = 1; i < numbers.size(); ++i) out.armature[int(i)] = numbers[i];
}

/// Drake's joints beyond SDF.
void Parser::read_drake_joint(const Element& e, Model& model) {
  Joint joint;
  joint.name = name_of_element(e, "drake:joint");
  joint.where = where(e.GetLineNum());
  joint.type = "drake:" + attribute(e, "type");
  joint.placement = placement_of(e, "joint " + in_quotes(joint.name));
  joint.parent = text_of(e.FirstChildElement("drake:parent"));
  joint.child = text_of(e.FirstChildElement("drake:child"));
  for (Axis& axis : joint.axes)
    axis.lower = -infinity, axis.upper = axis.effort = axis.velocity = infinity, axis.where = joint.where;
  read_armature(e, "joint " + in_quotes(joint.name), joint);
  model.joints.push_back(std::move(joint));
}

void Parser::read_axis(const Element& joint, const char* name, const std::string& owner, Axis& axis) {
  axis.lower = -infinity;
  axis.upper = axis.effort = axis.velocity = infinity;
  axis.where = where(joint.GetLineNum());
  const Element* const e = child(joint, name, owner);
  if (!e) return;
  axis.where = where(e->GetLineNum());
  const std::string whose = fmt::format("the {} of {}", name, owner);
  const Element* const xyz = child(*e, "xyz", whose);
  if (xyz) {
    const auto x = numbers_in(*xyz, 3, whose);
    const double length = std::hypot(x[0], x[1], x[2]);
    if (length > 1e-30 && length < 1e30)
      axis.xyz = std::abs(length - 1) < 2e-15 ? Vec3<double>{x[0], x[1], x[2]}
                                              : Vec3<double>{x[0], x[1], x[2]} * (1 / length);
    else if (!std::isnan(length))
      error(xyz->GetLineNum(), "{} is 0; expected a direction, such as 0 0 1", whose);
  }
  read_expression(*e, xyz, axis);
  read_limit(*e, whose, axis);
  read_mimic(*e, whose, axis);
  if (const Element* dynamics = child(*e, "dynamics", whose)) {
    axis.damping = number_in(*dynamics, "damping", whose, 0);
    axis.friction = number_in(*dynamics, "friction", whose, 0);
    axis.stiffness = number_in(*dynamics, "spring_stiffness", whose, 0);
    axis.spring_reference = number_in(*dynamics, "spring_reference", whose, 0);
  }
}

/// Until 1.4 in the model's frame; then, unless use_parent_model_frame, in the joint's; from 1.7 on as it says.
void Parser::read_expression(const Element& axis, const Element* xyz, Axis& out) {
  if (minor_ >= 7) {
    if (xyz) out.expressed_in = attribute(*xyz, "expressed_in");
    if (axis.FirstChildElement("use_parent_model_frame"))
      ignore("element <use_parent_model_frame>", axis.GetLineNum(),
             "from 1.7 on it is <xyz expressed_in=\"__model__\">");
    return;
  }
  if (minor_ <= 4 || flag_in(axis, "use_parent_model_frame")) out.expressed_in = "__model__";
}

void Parser::read_limit(const Element& axis, const std::string& owner, Axis& out) {
  const Element* const limit = child(axis, "limit", owner);
  if (!limit) return;
  const auto bound = [&](const char* name, double missing) {
    const double x = number_in(*limit, name, owner, missing);
    return std::abs(x) >= no_limit ? std::copysign(infinity, x) : x;
  };
  const double lower = bound("lower", -infinity), upper = bound("upper", infinity);
  if (lower > upper)
    warning(
        limit->GetLineNum(),
        "<limit> of {} has the lower bound {:.6g} above the upper bound {:.6g}; it is taken as unlimited: "
        "swap or correct them",
        owner, lower, upper);
  else
    out.lower = lower, out.upper = upper;
  const auto most = [&](const char* name) {  // a negative one says that there is none
    const double x = bound(name, infinity);
    return x < 0 ? infinity : x;
  };
  out.effort = most("effort");
  out.velocity = most("velocity");
}

/// From 1.11: q = multiplier (q' - reference) + offset. Drake's own form has no reference.
void Parser::read_mimic(const Element& axis, const std::string& owner, Axis& out) {
  const Element* const e = child(axis, "mimic", owner);
  const Element* const drake = axis.FirstChildElement("drake:mimic");
  if (e) {
    const double multiplier = number_in(*e, "multiplier", owner, 1);
    out.mimic = Mimic{attribute(*e, "joint"), multiplier,
                      number_in(*e, "offset", owner, 0) - multiplier * number_in(*e, "reference", owner, 0)};
    if (const std::string which = attribute(*e, "axis"); which == "axis2")
      ignore("axis=\"axis2\" of a <mimic>", e->GetLineNum(), "joints of one freedom can be followed");
  } else if (drake) {
    out.mimic = Mimic{attribute(*drake, "joint"), optional_number(*drake, "multiplier", owner).value_or(1),
                      optional_number(*drake, "offset", owner).value_or(0)};
  }
}

}  // namespace articula::sdf
