// From the tree of an MJCF model to a specification.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "articula/files/mjcf.hpp"
#include "articula/files/mjcf_inertia.hpp"
#include "articula/files/mjcf_names.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace mjcf {

namespace {

using V3 = Vec3<double>;

class MjcfBuilder {
 public:
  explicit MjcfBuilder(const ModelText& model) : files_(model), tree_(read_tree(model, files_)) {}
  LoadedModel build();

 private:
  void read_top();
  void note_sections();
  void name_bodies();
  void add_body(int index);
  void check_joints(const BodyItem& body);
  void add_joint(const BodyItem& body, JointItem item, const std::string& parent, const std::string& child,
                 Pose placement);
  void add_sites();
  void add_site(const Site& site, int body);
  void scale_masses();
  std::string unused(std::string name, std::set<std::string, std::less<>>& taken);
  const BodyItem& body_at(int index) const { return tree_.bodies[std::size_t(index)]; }

  Files files_;
  Tree tree_;
  Names names_;
  LoadedModel out_;
  std::set<std::string, std::less<>> link_names_, joint_names_;
};

LoadedModel MjcfBuilder::build() {
  read_top();
  note_sections();
  name_bodies();
  for (int i = 0; i < int(tree_.bodies.size()); ++i) add_body(i);
  scale_masses();
  add_sites();
  read_references(tree_, names_, files_, out_);
  read_states(tree_.instances.front(), names_, files_, out_);
  if (tree_.bodies.empty())
    files_.error(*tree_.documents.front().root, "<mujoco> has no <body>; add at least one to <worldbody>");
  out_.findings = files_.take_findings();
  const auto is_error = [](const Finding& f) { return f.severity == Finding::Severity::error; };
  if (!out_.spec.links.empty() && std::any_of(out_.findings.begin(), out_.findings.end(), is_error))
    out_.spec.links.front().mass.mass =
        std::numeric_limits<double>::quiet_NaN();  // nothing can be built of it
  return std::move(out_);
}

/// The model's name and gravity.
void MjcfBuilder::read_top() {
  const Document& main = tree_.documents.front();
  const std::string name = Attributes(files_, *main.root).text("model", "MuJoCo Model");
  out_.spec.name = name.empty() ? "model" : name;
  for (const Element* section : files_.children(*main.root)) {
    if (std::string_view(section->Name()) != "option") continue;
    const Attributes a(files_, *section);
    if (a.has("gravity")) out_.gravity = a.vector("gravity", {0, 0, -9.81});
    for (const char* medium : {"density", "viscosity", "wind"})
      if (a.has(medium))
        files_.ignore(std::string(medium) + " of <option>", *section, "there is no air or water here");
    for (const Element* c : files_.children(*section))
      if (std::string_view(c->Name()) == "flag" && Attributes(files_, *c).text("gravity") == "disable")
        out_.gravity = V3{0, 0, 0};
  }
}

void MjcfBuilder::note_sections() {
  constexpr std::string_view read[] = {"compiler", "option", "default",  "asset", "worldbody", "equality",
                                       "actuator", "tendon", "keyframe", "size",  "visual",    "statistic"};
  for (const Element* section : files_.children(*tree_.documents.front().root)) {
    const std::string_view tag = section->Name();
    if (std::find(std::begin(read), std::end(read), tag) != std::end(read)) continue;
    files_.ignore("<" + shown(tag) + ">", *section, "it does not change the dynamics here");
  }
}

std::string MjcfBuilder::unused(std::string name, std::set<std::string, std::less<>>& taken) {
  while (!taken.insert(name).second) name += '_';
  return name;
}

/// Names that the file gives first, so that made-up ones give way.
void MjcfBuilder::name_bodies() {
  names_.links.resize(tree_.bodies.size());
  for (const bool given : {true, false})
    for (std::size_t i = 0; i < tree_.bodies.size(); ++i) {
      const BodyItem& body = tree_.bodies[i];
      if (body.name.empty() == given) continue;
      if (given && (body.name == world || !names_.bodies.emplace(body.name, int(i)).second))
        files_.error(*body.element, "the name {} of a body is taken; rename it", in_quotes(body.name));
      names_.links[i] = unused(given ? body.name : fmt::format("body{}", i + 1), link_names_);
    }
  for (const BodyItem& body : tree_.bodies)
    for (const JointItem& joint : body.joints)
      if (!joint.spec.name.empty()) joint_names_.insert(joint.spec.name);
}

/// What MuJoCo refuses.
void MjcfBuilder::check_joints(const BodyItem& body) {
  bool ball = false;
  for (const JointItem& joint : body.joints) {
    const bool free = joint.spec.kind == JointKind::free;
    if (free && (body.parent >= 0 || body.joints.size() > 1))
      files_.error(*body.element, "a free joint is alone in a body of <worldbody>; this one is not: move it");
    if (ball && joint.spec.kind != JointKind::prismatic)
      files_.error(*body.element, "a ball joint is followed by one that turns, in the same body; remove one");
    ball = ball || joint.spec.kind == JointKind::spherical;
  }
}

/// A body's joints move it one after the other; all but the last have a massless link of their own. Each such link
/// has the body's axes and its origin on the joint.
void MjcfBuilder::add_body(int index) {
  const BodyItem& body = body_at(index);
  const std::string& name = names_.links[std::size_t(index)];
  const std::string where = files_.where(*body.element);
  std::string parent = names_.link_of(body.parent);
  names_.body_poses.push_back(names_.pose_of_body(body.parent) * body.pose);
  check_joints(body);
  const bool ends_at_origin = !body.joints.empty() && body.joints.back().anchor.x == 0 &&
                              body.joints.back().anchor.y == 0 && body.joints.back().anchor.z == 0;
  Pose from = body.pose;  // of the body's frame, seen from `parent`
  for (std::size_t i = 0; i < body.joints.size(); ++i) {
    const JointItem& joint = body.joints[i];
    const bool last = i + 1 == body.joints.size();
    const std::string joint_name =
        joint.spec.name.empty()
            ? unused(body.joints.size() == 1 ? name + "_joint" : fmt::format("{}_joint{}", name, i + 1),
                     joint_names_)
            : joint.spec.name;
    JointItem named = joint;
    named.spec.name = joint_name;
    const std::string child = last && ends_at_origin ? name : unused(name + "." + joint_name, link_names_);
    if (child != name) out_.spec.add_link({.name = child, .where = where});
    add_joint(body, std::move(named), parent, child, from * Pose{Mat3<double>::identity(), joint.anchor});
    from = {Mat3<double>::identity(), -joint.anchor};
    parent = child;
  }
  out_.spec.add_link({.name = name, .mass = mass_of_body(body, files_), .where = where});
  if (ends_at_origin) return;
  JointSpec weld{.name = unused(name + "_weld", joint_names_), .kind = JointKind::fixed};
  weld.parent = parent, weld.child = name, weld.placement = from, weld.where = where;
  out_.spec.add_joint(std::move(weld));
}

/// The coordinate is MuJoCo's: zero is where the file's pose has been moved back by `ref`.
void MjcfBuilder::add_joint(const BodyItem& body, JointItem item, const std::string& parent,
                            const std::string& child, Pose placement) {
  JointSpec& joint = item.spec;
  if (!names_.joints.emplace(joint.name, int(names_.numbered.size())).second)
    files_.error(*body.element, "the name {} of a joint in this body is taken; rename it",
                 in_quotes(joint.name));
  names_.numbered.push_back({joint.name, joint.kind, item.reference, body.pose});
  joint.parent = parent, joint.child = child;
  if (joint.kind == JointKind::free)
    placement = {};  // its coordinates are the pose in the world
  else if (joint.kind == JointKind::prismatic)
    placement.p -= placement.R * joint.axis * item.reference;
  else if (item.reference != 0)
    placement.R = placement.R * rotation(exp_quaternion(joint.axis * -item.reference));
  joint.placement = placement;
  out_.spec.add_joint(std::move(joint));
}

void MjcfBuilder::scale_masses() {
  const double wanted = tree_.documents.front().compiler.total_mass;
  if (!(wanted > 0)) return;
  double total = 0;
  for (const LinkSpec& link : out_.spec.links) total += link.mass.mass;
  if (!(total > 0)) return;
  const double by = wanted / total;
  for (LinkSpec& link : out_.spec.links) {
    Sym3<double>& J = link.mass.inertia;
    link.mass.mass *= by;
    J = {J.xx * by, J.yy * by, J.zz * by, J.xy * by, J.xz * by, J.yz * by};
  }
}

void MjcfBuilder::add_site(const Site& site, int body) {
  if (!site.name.empty() && !names_.sites.emplace(site.name, int(names_.placed_sites.size())).second)
    files_.error(*site.element, "the name {} of a site is taken; rename it", in_quotes(site.name));
  names_.placed_sites.push_back({body, site.pose});
  if (site.name.empty()) return;
  // Bodies and sites may share names in MJCF.
  const std::string name =
      unused(link_names_.contains(site.name) ? site.name + ".site" : site.name, link_names_);
  out_.spec.add_frame({name, names_.link_of(body), site.pose, files_.where(*site.element)});
}

void MjcfBuilder::add_sites() {
  for (const Site& site : tree_.world_sites) add_site(site, -1);
  for (std::size_t i = 0; i < tree_.bodies.size(); ++i)
    for (const Site& site : tree_.bodies[i].sites) add_site(site, int(i));
}

}  // namespace

const std::string& Names::link_of(int body) const {
  static const std::string in_the_world(world);
  return body < 0 ? in_the_world : links[std::size_t(body)];
}

}  // namespace mjcf

LoadedModel parse_mjcf(const ModelText& model) { return mjcf::MjcfBuilder(model).build(); }

}  // namespace articula
