// Writing SDF.
#include <fmt/format.h>
#include <new>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>

#include "articula/error.hpp"
#include "articula/files/sdf.hpp"
#include "articula/files/sdf_names.hpp"
#include "articula/files/xml_writer.hpp"
#include "articula/model/edit.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/model/name_index.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
constexpr double meets = 1e-9;  // where frames of a loop must: metres, and numbers of a rotation

struct SdfType {
  JointKind kind;
  std::string_view name;
};
constexpr SdfType types[] = {
    {JointKind::revolute, "revolute"},   {JointKind::continuous, "continuous"},
    {JointKind::prismatic, "prismatic"}, {JointKind::helical, "screw"},
    {JointKind::universal, "universal"}, {JointKind::spherical, "ball"},
    {JointKind::fixed, "fixed"},
};
const SdfType* type_of(JointKind kind) {
  const auto at = std::find_if(std::begin(types), std::end(types), [&](auto& t) { return t.kind == kind; });
  return at == std::end(types) ? nullptr : at;
}

class SdfWriter {
 public:
  SdfWriter(const ModelSpec& spec, const ModelExtras& extras)
      : spec_(spec), extras_(extras), shapes_(by_link(extras)) {}
  std::string write();

 private:
  void name_all();
  void find_carriers();
  std::string_view version() const;
  bool is_world_link(const std::string& link) const { return link == world; }
  std::string link_name(const std::string& link) const {
    return is_world_link(link) ? std::string(world) : escaped(names_('l', link));
  }
  void write_link(const LinkSpec& link);
  void write_inertial(const MassProperties& mass);
  void write_shape(const Shape& shape, std::size_t number);
  void write_pose(const Pose& pose, const std::string& relative_to);
  void write_joint(const JointSpec& joint);
  void write_planar(const JointSpec& joint);
  void write_axis(const JointSpec& joint, int freedom, const V3& axis, const char* name);
  void write_mimic(const JointSpec& joint);
  void write_armature(const JointSpec& joint);
  void write_loop(const LoopSpec& loop);
  void write_frame(const FrameSpec& frame);
  Pose pose_at_zero(const std::string& link) const;
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... a) {
    out_.append(indent_, ' ');
    out_ += fmt::format(text, std::forward<A>(a)...);
    out_ += '\n';
  }
  /// At the end of a block, where nothing may be thrown: what is missing for want of memory is told in the end.
  void close(const char* name) noexcept {
    indent_ -= 2;
    try {
      line("</{}>", name);
    } catch (const std::exception&) {
      out_of_memory_ = true;
    }
  }
  void number(const char* name, double x) { line("<{}>{}</{}>", name, x, name); }
  /// An element with others in it, until the end of a block.
  template <class... A>
  auto inside(const char* name, fmt::format_string<A...> attributes, A&&... a) {
    line("<{}{}>", name, fmt::format(attributes, std::forward<A>(a)...));
    indent_ += 2;
    struct End {
      SdfWriter* self;
      const char* name;
      ~End() { self->close(name); }
    };
    return End{this, name};
  }

  const ModelSpec& spec_;
  const ModelExtras& extras_;
  const ShapesByLink shapes_;
  std::map<std::string_view, const JointSpec*> carrier_;       // by child
  std::map<std::string_view, const CouplingSpec*> couplings_;  // by joint
  sdf::WrittenNames names_;
  std::string out_, root_;
  std::size_t indent_ = 0;
  bool out_of_memory_ = false;
};

[[noreturn]] void refuse(std::string message) { throw ModelError(std::move(message)); }

void SdfWriter::name_all() {
  for (const LinkSpec& l : spec_.links)
    if (!is_world_link(l.name)) names_.add('l', l.name, "_link");
  for (const JointSpec& j : spec_.joints) names_.add('j', j.name, "_joint");
  for (const LoopSpec& l : spec_.loops) names_.add('o', l.name, "_loop");
  for (const FrameSpec& f : spec_.frames) names_.add('f', f.name, "_frame");
}

/// And what SDF cannot say of the tree.
void SdfWriter::find_carriers() {
  for (const JointSpec& j : spec_.joints) {
    carrier_.emplace(j.child, &j);
    if (j.kind == JointKind::free && j.parent != world)
      refuse(fmt::format(
          "joint '{}' is free and hangs from link '{}'; in SDF only what hangs from nothing is free", j.name,
          j.parent));
  }
  for (const CouplingSpec& c : spec_.couplings) {
    if (c.coefficients.size() > 2 || !c.further.empty())
      refuse(
          fmt::format("coupling '{}' is not linear, or of more than two joints; SDF has no other", c.name));
    couplings_.emplace(c.joint, &c);
  }
  for (const LinkSpec& l : spec_.links) {
    if (is_world_link(l.name) && (l.mass.mass != 0 || carrier_.contains(l.name)))
      refuse(
          "a link is called 'world', and moves or has mass; in SDF that name stands for the world: rename "
          "it");
    if (!carrier_.contains(l.name) && !is_world_link(l.name)) root_ = l.name;
  }
}

std::string_view SdfWriter::version() const {
  const auto any = [&](auto has) { return std::any_of(spec_.joints.begin(), spec_.joints.end(), has); };
  if (!couplings_.empty() || any([](const JointSpec& j) { return j.mimic.has_value(); })) return "1.11";
  return any([](const JointSpec& j) { return j.kind == JointKind::helical; }) ? "1.10" : "1.9";
}

std::string SdfWriter::write() {
  find_carriers();
  name_all();
  // What floats, what is fixed to the world without a link, and gravity, there is in worlds only.
  const bool in_world =
      extras_.gravity ||
      std::any_of(spec_.joints.begin(), spec_.joints.end(),
                  [](const JointSpec& j) { return j.kind == JointKind::free && j.parent == world; }) ||
      std::any_of(spec_.frames.begin(), spec_.frames.end(), [&](auto& f) { return is_world_link(f.link); });
  line("<?xml version=\"1.0\"?>");
  {
    const auto sdf = inside("sdf",
                            " version=\"{}\" xmlns:drake=\"http://drake.mit.edu\" "
                            "xmlns:articula=\"urn:articula\"",
                            version());
    if (in_world) {
      line("<world name=\"world\">");
      indent_ += 2;
      if (extras_.gravity) line("<gravity>{}</gravity>", say(*extras_.gravity));
    }
    {
      const auto model = inside("model", " name=\"{}\"{}", escaped(spec_.name),
                                root_.empty() || spec_.links[0].name == root_
                                    ? ""
                                    : fmt::format(" canonical_link=\"{}\"", link_name(root_)));
      for (const LinkSpec& l : spec_.links)
        if (!is_world_link(l.name)) write_link(l);
      for (const JointSpec& j : spec_.joints) write_joint(j);
      if (in_world && !root_.empty()) {
        const auto weld = inside("joint", " name=\"{}\" type=\"fixed\"", names_.fresh("root_to_world"));
        line("<parent>world</parent>");
        line("<child>{}</child>", link_name(root_));
      }
      for (const LoopSpec& l : spec_.loops) write_loop(l);
      for (const FrameSpec& f : spec_.frames)
        if (!is_world_link(f.link)) write_frame(f);
    }
    if (in_world) {
      for (const FrameSpec& f : spec_.frames)
        if (is_world_link(f.link)) write_frame(f);
      indent_ -= 2;
      line("</world>");
    }
  }
  if (out_of_memory_) throw std::bad_alloc();
  return std::move(out_);
}

void SdfWriter::write_pose(const Pose& pose, const std::string& relative_to) {
  const std::string in = relative_to.empty() ? "" : fmt::format(" relative_to=\"{}\"", relative_to);
  if (is_identity(pose.R) && pose.p.x == 0 && pose.p.y == 0 && pose.p.z == 0 && in.empty()) return;
  line("<pose{}>{} {}</pose>", in, say(pose.p), is_identity(pose.R) ? "0 0 0" : say(angles_of(pose.R)));
}

void SdfWriter::write_link(const LinkSpec& link) {
  const auto e = inside("link", " name=\"{}\"", link_name(link.name));
  if (const auto carrier = carrier_.find(link.name); carrier != carrier_.end()) {
    const JointSpec& joint = *carrier->second;
    require_finite("SDF", "joint '" + joint.name + "'", joint.placement);
    write_pose(joint.placement, is_world_link(joint.parent) ? "" : link_name(joint.parent));
  }
  require_finite("SDF", "link '" + link.name + "'",
                 {link.mass.mass, link.mass.center_of_mass.x, link.mass.center_of_mass.y,
                  link.mass.center_of_mass.z, link.mass.inertia.xx, link.mass.inertia.yy,
                  link.mass.inertia.zz, link.mass.inertia.xy, link.mass.inertia.xz, link.mass.inertia.yz});
  write_inertial(link.mass);
  if (const auto shapes = shapes_.find(link.name); shapes != shapes_.end())
    for (std::size_t i = 0; i < shapes->second->shapes.size(); ++i)
      write_shape(shapes->second->shapes[i], i + 1);
}

void SdfWriter::write_shape(const Shape& shape, std::size_t number) {
  std::string solid;
  switch (shape.kind) {
    case ShapeKind::box:
      solid = fmt::format("<box><size>{}</size></box>", say(shape.size));
      break;
    case ShapeKind::sphere:
      solid = fmt::format("<sphere><radius>{}</radius></sphere>", shape.radius);
      break;
    case ShapeKind::mesh:
      if (file_of(shape, extras_).empty()) return;
      solid = fmt::format("<mesh><uri>{}</uri><scale>{}</scale></mesh>", escaped(file_of(shape, extras_)),
                          say(shape.size));
      break;
    default:
      solid =
          fmt::format("<{0}><radius>{1}</radius><length>{2}</length></{0}>",
                      shape.kind == ShapeKind::capsule ? "capsule" : "cylinder", shape.radius, shape.length);
  }
  const auto e = inside("visual", " name=\"visual{}\"", number);
  write_pose(shape.placement, "");
  line("<geometry>{}</geometry>", solid);
  if (const auto& c = shape.color) line("<material><diffuse>{}</diffuse></material>", say(*c));
}

/// Always: a link that says nothing has 1 kg.
void SdfWriter::write_inertial(const MassProperties& mass) {
  const auto e = inside("inertial", "");
  const Sym3<double>& J = mass.inertia;
  write_pose({Mat3<double>::identity(), mass.center_of_mass}, "");
  number("mass", mass.mass);
  line("<inertia><ixx>{}</ixx><ixy>{}</ixy><ixz>{}</ixz><iyy>{}</iyy><iyz>{}</iyz><izz>{}</izz></inertia>",
       J.xx, J.xy, J.xz, J.yy, J.yz, J.zz);
}

// --- joints -----------------------------------------------------------------------------------------
void SdfWriter::write_joint(const JointSpec& joint) {
  const std::string owner = "joint '" + joint.name + "'";
  require_finite("SDF", owner, {joint.axis.x, joint.axis.y, joint.axis.z, joint.pitch});
  if (joint.kind == JointKind::free) return;  // nothing carries the link
  if (joint.kind == JointKind::planar) return write_planar(joint);
  const auto e = inside("joint", " name=\"{}\" type=\"{}\"", escaped(names_('j', joint.name)),
                        type_of(joint.kind)->name);
  line("<parent>{}</parent>", link_name(joint.parent));
  line("<child>{}</child>", link_name(joint.child));
  if (has_axis(joint.kind)) write_axis(joint, 0, joint.axis, "axis");
  if (joint.kind == JointKind::universal) write_axis(joint, 1, joint.second_axis, "axis2");
  if (joint.kind == JointKind::helical) number("screw_thread_pitch", joint.pitch * 2 * std::numbers::pi);
  write_armature(joint);
}

/// As Drake has it: in the plane of the joint's x and y.
void SdfWriter::write_planar(const JointSpec& joint) {
  const auto e = inside("drake:joint", " name=\"{}\" type=\"planar\"", escaped(names_('j', joint.name)));
  line("<drake:parent>{}</drake:parent>", link_name(joint.parent));
  line("<drake:child>{}</drake:child>", link_name(joint.child));
  const V3 normal = joint.axis * (1 / std::sqrt(dot(joint.axis, joint.axis)));
  write_pose({rotation_from_z(normal), {0, 0, 0}}, "");
  write_armature(joint);
}

void SdfWriter::write_axis(const JointSpec& joint, int i, const V3& axis, const char* name) {
  const std::string owner = "joint '" + joint.name + "'";
  require_finite("SDF", owner,
                 {axis.x, axis.y, axis.z, joint.damping[i], joint.friction[i], joint.stiffness[i],
                  joint.spring_reference[i]});
  const auto e = inside(name, "");
  line("<xyz>{}</xyz>", say(axis));
  const JointLimits& l = joint.limits;
  const std::pair<const char*, double> bounds[] = {
      {"lower", l.lower[i]}, {"upper", l.upper[i]}, {"effort", l.effort[i]}, {"velocity", l.velocity[i]}};
  std::string limits;
  for (const auto& [what, x] : bounds) {
    if (std::isnan(x)) refuse(owner + " has a limit that is NaN; correct it before writing");
    if (std::isfinite(x)) limits += fmt::format("<{}>{}</{}>", what, x, what);
  }
  if (!limits.empty()) line("<limit>{}</limit>", limits);
  std::string dynamics;
  const std::pair<const char*, double> forces[] = {{"damping", joint.damping[i]},
                                                   {"friction", joint.friction[i]},
                                                   {"spring_stiffness", joint.stiffness[i]},
                                                   {"spring_reference", joint.spring_reference[i]}};
  for (const auto& [what, x] : forces)
    if (x != 0) dynamics += fmt::format("<{}>{}</{}>", what, x, what);
  if (!dynamics.empty()) line("<dynamics>{}</dynamics>", dynamics);
  write_mimic(joint);
}

/// From a mimic, or from a coupling, which says the same as a constraint.
void SdfWriter::write_mimic(const JointSpec& joint) {
  std::optional<Mimic> mimic = joint.mimic;
  if (const auto coupling = couplings_.find(joint.name); coupling != couplings_.end() && !mimic) {
    auto c = coupling->second->coefficients;
    c.resize(2);
    mimic = Mimic{coupling->second->source, c[1], c[0]};
  }
  if (!mimic) return;
  require_finite("SDF", "joint '" + joint.name + "'", {mimic->multiplier, mimic->offset});
  const auto e = inside("mimic", " joint=\"{}\"", escaped(names_('j', mimic->joint)));
  number("multiplier", mimic->multiplier);
  number("offset", mimic->offset);
  number("reference", 0);
}

void SdfWriter::write_armature(const JointSpec& joint) {
  const int freedoms = nv_of(joint.kind);
  std::string all;
  bool any = false;
  for (int i = 0; i < freedoms; ++i) {
    require_finite("SDF", "joint '" + joint.name + "'", {joint.armature[i]});
    all += fmt::format("{}{}", i ? " " : "", joint.armature[i]);
    any |= joint.armature[i] != 0;
  }
  if (any && freedoms == 1) line("<drake:rotor_inertia>{}</drake:rotor_inertia>", all);
  if (any && freedoms > 1) line("<articula:armature>{}</articula:armature>", all);
}

// --- loops and frames -------------------------------------------------------------------------------
Pose SdfWriter::pose_at_zero(const std::string& link) const {
  Pose out;
  for (auto at = carrier_.find(link); at != carrier_.end(); at = carrier_.find(at->second->parent))
    out = at->second->placement * out;
  return out;
}

/// A joint's frame is one: SDF says loops that are closed at zero.
void SdfWriter::write_loop(const LoopSpec& loop) {
  const SdfType* const type = type_of(loop.kind);
  if (!type) refuse(fmt::format("loop '{}' is {}, which SDF has no name for", loop.name, name_of(loop.kind)));
  const Pose apart = inverse(pose_at_zero(loop.first) * loop.first_placement) * pose_at_zero(loop.second) *
                     loop.second_placement;
  const Mat3<double> turn = apart.R - Mat3<double>::identity();
  double off = std::sqrt(dot(apart.p, apart.p));
  if (loop.kind != JointKind::spherical)
    for (const double x : {turn.xx, turn.xy, turn.xz, turn.yx, turn.yy, turn.yz, turn.zx, turn.zy, turn.zz})
      off = std::max(off, std::abs(x));
  if (!(off < meets))
    refuse(fmt::format(
        "loop '{}' is not closed where all coordinates are zero, as SDF says it; it is {:.3g} apart",
        loop.name, off));
  const auto e = inside("joint", " name=\"{}\" type=\"{}\"", escaped(names_('o', loop.name)), type->name);
  line("<parent>{}</parent>", link_name(loop.first));
  line("<child>{}</child>", link_name(loop.second));
  write_pose(loop.second_placement, "");
  if (has_axis(loop.kind)) {
    const auto axis = inside("axis", "");
    line("<xyz>{}</xyz>", say(loop.axis));
  }
}

void SdfWriter::write_frame(const FrameSpec& frame) {
  require_finite("SDF", "frame '" + frame.name + "'", frame.placement);
  const auto e = inside("frame", " name=\"{}\" attached_to=\"{}\"", escaped(names_('f', frame.name)),
                        link_name(frame.link));
  write_pose(frame.placement, "");
}

}  // namespace

std::string write_sdf(const ModelSpec& spec, const ModelExtras& extras) {
  constexpr JointKind known[] = {JointKind::universal, JointKind::helical};
  const std::vector<JointKind> split = kinds_to_split(known);
  const auto is_split = [&](const JointSpec& j) {
    return std::count(split.begin(), split.end(), j.kind) > 0;
  };
  if (std::none_of(spec.joints.begin(), spec.joints.end(), is_split)) return SdfWriter(spec, extras).write();
  ModelSpec plain = spec;
  split_joints(plain, split);
  return SdfWriter(plain, extras).write();
}

}  // namespace articula
