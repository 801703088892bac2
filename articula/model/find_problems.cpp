// Everything wrong or suspicious in a specification. The thresholds of the suspicions are the constants just
// below.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/inertial_parameters.hpp"
#include "articula/model/massless_joints.hpp"
#include "articula/model/model.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using Severity = Finding::Severity;

// Errors.
constexpr double largest_number = 1e30;      // beyond it, squares and cubes overflow
constexpr double rotation_tolerance = 1e-6;  // |R R* - Id|: matrices rounded to single precision pass
constexpr double perpendicular = 1e-6;       // cosine between the axes of a universal joint
// Suspicions.
constexpr double unit_length = 1e-6;        // deviation of an axis' length from one
constexpr double triangle_slack = 1e-3;     // of the largest moment: files round to three digits
constexpr double osmium = 2.26e4;           // kg/m^3, the densest matter
constexpr double impossible_density = 1e5;  // kg/m^3 of a ball with the body's mass and gyration radius
constexpr double heavy = 1000;              // kg: in earnest only if the body is no denser than osmium
constexpr double long_gyration = 10;        // m
constexpr double long_offset = 50;          // m, between joints
constexpr double far_center = 10;           // m, or that many times the largest offset in the model
constexpr double many_turns = 4 * std::numbers::pi;  // rad: limits beyond it are usually degrees

double norm(const V3& a) { return std::hypot(a.x, a.y, a.z); }
bool finite(const V3& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }
std::string say(const V3& a) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", a.x, a.y, a.z); }

class NameIndex {
 public:
  void add(std::string_view name, int index) { index_.try_emplace(name, index); }
  int find(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? -1 : at->second;
  }
  /// ", did you mean 'elbow'?" if a name within two edits exists.
  std::string suggestion(std::string_view name) const;

 private:
  std::map<std::string_view, int> index_;
};

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string NameIndex::suggestion(std::string_view name) const {
  if (index_.size() > 2000 || name.size() > 60) return "";
  std::string_view best;
  std::size_t fewest = 3;
  for (const auto& [known, index] : index_) {
    if (known.size() > name.size() + 2 || name.size() > known.size() + 2) continue;
    const std::size_t n = edits(name, known);
    if (n < fewest && n < known.size()) best = known, fewest = n;
  }
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

/// "a, b, c and 7 more"
std::string list(const std::vector<std::string_view>& names, std::size_t total) {
  const std::size_t shown = std::min<std::size_t>(names.size(), 5);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  if (total > shown) out += fmt::format(" and {} more", total - shown);
  return out;
}

class Audit {
 public:
  Audit(const ModelSpec& spec, Base base) : spec_(spec), base_(base) {}

  std::vector<Finding> run() {
    check_names();
    check_connections();
    check_tree();
    for (const auto& link : spec_.links) check_link(link);
    for (const auto& joint : spec_.joints) check_joint(joint);
    for (const auto& frame : spec_.frames) check_frame(frame);
    check_mimics();
    if (errors_ == 0) check_joint_inertias();
    if (errors_ == 0) check_units();
    std::stable_partition(findings_.begin(), findings_.end(),
                          [](const Finding& f) { return f.severity == Severity::error; });
    return std::move(findings_);
  }

 private:
  template <class... A>
  void error(const std::string& where, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Severity::error, where, fmt::format(text, std::forward<A>(a)...)});
    ++errors_;
  }
  template <class... A>
  void warning(const std::string& where, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Severity::warning, where, fmt::format(text, std::forward<A>(a)...)});
  }

  // --- names and the tree ----------------------------------------------------------------------------
  template <class T>
  void check_unique(const std::vector<T>& things, std::string_view what, NameIndex& index);
  void check_names();
  void check_connections();
  void check_parent(std::size_t joint);
  void check_child(std::size_t joint);
  void check_tree();
  std::vector<int> roots() const;
  void order_links();
  void check_roots();
  void check_cycles();
  void report_cycle(const std::vector<int>& cycle);

  // --- numbers ---------------------------------------------------------------------------------------
  template <class... A>
  bool usable(const std::string& where, double value, fmt::format_string<A...> what, A&&... a);
  bool usable_pose(const std::string& where, const Pose& pose, const std::string& owner);
  void check_link(const LinkSpec& link);
  void check_moments(const LinkSpec& link);
  void check_triangle(const LinkSpec& link, const std::array<double, 3>& moments);
  void check_joint(const JointSpec& joint);
  void check_axis(const JointSpec& joint, const V3& axis, std::string_view which);
  void check_universal(const JointSpec& joint);
  void check_limits(const JointSpec& joint);
  void check_degrees(const JointSpec& joint);
  void check_coefficient(const JointSpec& joint, double value, std::string_view name, std::string_view unit);
  void check_frame(const FrameSpec& frame);

  // --- the rest --------------------------------------------------------------------------------------
  void check_mimics();
  bool check_mimic(const JointSpec& joint, int source);
  void resolve_mimic_chains(const std::vector<int>& direct);
  void check_joint_inertias();
  std::string outboard_of(int link) const;
  void check_units();
  void check_densities();
  void check_lengths();

  const ModelSpec& spec_;
  Base base_;
  std::vector<Finding> findings_;
  int errors_ = 0;
  NameIndex links_, joints_, frames_;
  ResolvedTree tree_;
  // Children of each link, as one array: those of k are children_[first_child_[k] .. first_child_[k + 1]).
  std::vector<int> children_, first_child_;
  std::vector<double> largest_moment_;  // by link, 0 where the inertia is unusable
};

// --- names and the tree ------------------------------------------------------------------------------
template <class T>
void Audit::check_unique(const std::vector<T>& things, std::string_view what, NameIndex& index) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    const std::string& name = things[i].name;
    if (name.empty()) error(things[i].where, "a {} has an empty name; give it a name of its own", what);
    const int other = index.find(name);
    if (other >= 0 && !name.empty()) {
      const std::string& first = things[std::size_t(other)].where;
      error(things[i].where,
            "{} '{}' has the same name as another{}{}; names must be unique, rename one of them", what, name,
            first.empty() ? "" : " at ", first);
    }
    index.add(name, int(i));
  }
}

void Audit::check_names() {
  if (spec_.links.empty()) error("", "the model '{}' has no links; add at least one link", spec_.name);
  check_unique(spec_.links, "link", links_);
  check_unique(spec_.joints, "joint", joints_);
  check_unique(spec_.frames, "frame", frames_);
  for (const auto& frame : spec_.frames) {
    if (!frame.name.empty() && links_.find(frame.name) >= 0)
      error(frame.where,
            "frame '{}' has the name of a link, and every link is a frame already; rename the frame",
            frame.name);
    if (links_.find(frame.link) < 0 && frame.link != world)
      error(frame.where, "frame '{}' is on link '{}', which does not exist{}; name an existing link or '{}'",
            frame.name, frame.link, links_.suggestion(frame.link), world);
  }
}

void Audit::check_connections() {
  tree_.parent_link.assign(spec_.links.size(), -1);
  tree_.parent_joint.assign(spec_.links.size(), -1);
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    check_parent(j);
    check_child(j);
  }
}

void Audit::check_parent(std::size_t j) {
  const JointSpec& joint = spec_.joints[j];
  if (links_.find(joint.parent) >= 0 || joint.parent == world) return;
  error(joint.where,
        "joint '{}' has the parent link '{}', which does not exist{}; name an existing link or '{}'",
        joint.name, joint.parent, links_.suggestion(joint.parent), world);
}

void Audit::check_child(std::size_t j) {
  const JointSpec& joint = spec_.joints[j];
  const int child = links_.find(joint.child);
  if (child < 0) {
    error(joint.where, "joint '{}' has the child link '{}', which does not exist{}; name an existing link",
          joint.name, joint.child, links_.suggestion(joint.child));
    return;
  }
  int& held_by = tree_.parent_joint[std::size_t(child)];
  if (held_by >= 0) {
    const JointSpec& other = spec_.joints[std::size_t(held_by)];
    error(joint.where,
          "link '{}' is the child of two joints, '{}' and '{}'; a link has one parent: for a closed loop cut "
          "one of them",
          joint.child, other.name, joint.name);
    return;
  }
  held_by = int(j);
  tree_.parent_link[std::size_t(child)] = links_.find(joint.parent);
}

void Audit::check_tree() {
  order_links();
  check_roots();
  if (tree_.order.size() < spec_.links.size()) check_cycles();
}

std::vector<int> Audit::roots() const {
  std::vector<int> out;
  for (std::size_t k = 0; k < spec_.links.size(); ++k)
    if (tree_.parent_joint[k] < 0) out.push_back(int(k));
  return out;
}

/// Links base to tip, without recursion: from every link that has no parent link.
void Audit::order_links() {
  const std::size_t n = spec_.links.size();
  first_child_.assign(n + 1, 0);
  for (const int parent : tree_.parent_link)
    if (parent >= 0) ++first_child_[std::size_t(parent) + 1];
  for (std::size_t k = 0; k < n; ++k) first_child_[k + 1] += first_child_[k];
  children_.resize(std::size_t(first_child_[n]));
  std::vector<int> next(first_child_.begin(), first_child_.end() - 1);
  for (std::size_t k = 0; k < n; ++k) {
    const int parent = tree_.parent_link[k];
    if (parent >= 0) children_[std::size_t(next[std::size_t(parent)]++)] = int(k);
  }
  for (std::size_t k = 0; k < n; ++k)
    if (tree_.parent_link[k] < 0) tree_.order.push_back(int(k));
  for (std::size_t i = 0; i < tree_.order.size(); ++i) {
    const std::size_t k = std::size_t(tree_.order[i]);
    for (int c = first_child_[k]; c < first_child_[k + 1]; ++c)
      tree_.order.push_back(children_[std::size_t(c)]);
  }
}

void Audit::check_roots() {
  const std::vector<int> found = roots();
  if (found.size() > 1) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < found.size() && i < 8; ++i)
      names.push_back(spec_.links[std::size_t(found[i])].name);
    error(spec_.links[std::size_t(found[1])].where,
          "{} links have no parent: {}; a model has one root: join the others to it, or to '{}', by joints",
          found.size(), list(names, found.size()), world);
  }
}

/// Links that no root reaches hang from a cycle; each has one parent, so that walking inboard ends in it.
void Audit::check_cycles() {
  enum : char { unseen, on_path, done };
  std::vector<char> state(spec_.links.size(), unseen);
  for (const int k : tree_.order) state[std::size_t(k)] = done;
  std::vector<int> path;
  for (std::size_t start = 0; start < spec_.links.size(); ++start) {
    path.clear();
    int k = int(start);
    while (k >= 0 && state[std::size_t(k)] == unseen) {
      state[std::size_t(k)] = on_path;
      path.push_back(k);
      k = tree_.parent_link[std::size_t(k)];
    }
    if (k >= 0 && state[std::size_t(k)] == on_path)
      report_cycle({std::find(path.begin(), path.end(), k), path.end()});
    for (const int seen : path) state[std::size_t(seen)] = done;
  }
}

void Audit::report_cycle(const std::vector<int>& cycle) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < cycle.size() && i < 8; ++i)
    names.push_back(spec_.links[std::size_t(cycle[i])].name);
  const JointSpec& joint = spec_.joints[std::size_t(tree_.parent_joint[std::size_t(cycle.front())])];
  error(joint.where,
        "{} a cycle of parents (joint '{}' is one of it); a model is a tree: remove one of its joints",
        cycle.size() == 1 ? fmt::format("link {} forms", list(names, 1))
                          : fmt::format("links {} form", list(names, cycle.size())),
        joint.name);
}

// --- numbers -----------------------------------------------------------------------------------------
/// Finite and small enough to compute with; says so otherwise.
template <class... A>
bool Audit::usable(const std::string& where, double value, fmt::format_string<A...> what, A&&... a) {
  if (std::abs(value) <= largest_number) return true;  // false for NaN
  error(where, "{} is {}; expected a finite number of a size to compute with (below {:g}), correct it",
        fmt::format(what, std::forward<A>(a)...), value, largest_number);
  return false;
}

bool Audit::usable_pose(const std::string& where, const Pose& pose, const std::string& owner) {
  const double numbers[] = {pose.p.x,  pose.p.y,  pose.p.z,  pose.R.xx, pose.R.xy, pose.R.xz,
                            pose.R.yx, pose.R.yy, pose.R.yz, pose.R.zx, pose.R.zy, pose.R.zz};
  for (const double x : numbers)
    if (!usable(where, x, "a number of the placement of {}", owner)) return false;
  const Mat3<double> off = pose.R * star(pose.R) - Mat3<double>::identity();
  double worst = 0;
  for (const double x : {off.xx, off.xy, off.xz, off.yy, off.yz, off.zz})
    worst = std::max(worst, std::abs(x));
  const double handed = dot(cross(column_x(pose.R), column_y(pose.R)), column_z(pose.R));
  if (worst <= rotation_tolerance && handed > 0) return true;
  error(
      where,
      "the placement of {} is not a rotation: R R* differs from the identity by {:.3g}, det R = {:.6g}; give "
      "an orthonormal right-handed matrix",
      owner, worst, handed);
  return false;
}

void Audit::check_link(const LinkSpec& link) {
  largest_moment_.push_back(0);
  const MassProperties& m = link.mass;
  if (!usable(link.where, m.mass, "the mass of link '{}'", link.name)) return;
  for (const double x : {m.center_of_mass.x, m.center_of_mass.y, m.center_of_mass.z})
    if (!usable(link.where, x, "the mass centre of link '{}'", link.name)) return;
  for (const double x : {m.inertia.xx, m.inertia.yy, m.inertia.zz, m.inertia.xy, m.inertia.xz, m.inertia.yz})
    if (!usable(link.where, x, "the inertia of link '{}'", link.name)) return;
  if (m.mass < 0)
    error(link.where, "link '{}' has the negative mass {:.6g} kg; give a mass of zero or more", link.name,
          m.mass);
  check_moments(link);
}

void Audit::check_moments(const LinkSpec& link) {
  const auto moments = principal_moments(link.mass.inertia);
  const double largest = std::max(std::abs(moments[0]), std::abs(moments[2]));
  if (moments[0] < -negative_moment * largest) {
    error(link.where,
          "the inertia of link '{}' is not positive: its principal moments are {:.6g}, {:.6g}, {:.6g} kg "
          "m^2; check the "
          "signs of the products and that it is about the mass centre",
          link.name, moments[0], moments[1], moments[2]);
    return;
  }
  largest_moment_.back() = largest;
  if (largest > 0 && link.mass.mass == 0)
    warning(
        link.where,
        "link '{}' has no mass but an inertia (up to {:.6g} kg m^2); give it a mass or remove the inertia",
        link.name, largest);
  check_triangle(link, moments);
}

/// Moments of any real body obey a + b >= c. Then also each product is at most half the opposite moment.
void Audit::check_triangle(const LinkSpec& link, const std::array<double, 3>& m) {
  if (m[0] + m[1] >= m[2] * (1 - triangle_slack)) return;
  const Sym3<double>& J = link.mass.inertia;
  struct {
    std::string_view product, moment;
    double p, d;
  } const pairs[] = {{"iyz", "ixx", J.yz, J.xx}, {"ixz", "iyy", J.xz, J.yy}, {"ixy", "izz", J.xy, J.zz}};
  std::string cause;
  for (const auto& pair : pairs)
    if (2 * std::abs(pair.p) > pair.d * (1 + triangle_slack) && cause.empty())
      cause = fmt::format(" (the product {} = {:.6g} is more than half of {} = {:.6g})", pair.product, pair.p,
                          pair.moment, pair.d);
  warning(link.where,
          "the inertia of link '{}' breaks the triangle rule{}: its principal moments {:.6g} + {:.6g} < "
          "{:.6g} kg m^2 "
          "belong to no real body; check its numbers, and that it is about the mass centre",
          link.name, cause, m[0], m[1], m[2]);
}

bool uses_axis(JointKind kind) {
  return kind != JointKind::fixed && kind != JointKind::spherical && kind != JointKind::free;
}

void Audit::check_joint(const JointSpec& joint) {
  usable_pose(joint.where, joint.placement, fmt::format("joint '{}'", joint.name));
  if (uses_axis(joint.kind)) check_axis(joint, joint.axis, "axis");
  if (joint.kind == JointKind::universal) check_universal(joint);
  if (joint.kind == JointKind::helical &&
      usable(joint.where, joint.pitch, "the pitch of joint '{}'", joint.name) && joint.pitch == 0)
    warning(joint.where,
            "helical joint '{}' has the pitch 0; give a pitch in metres per radian, or make it revolute",
            joint.name);
  check_coefficient(joint, joint.damping, "damping", "N m s/rad or N s/m");
  check_coefficient(joint, joint.friction, "friction", "N m or N");
  check_coefficient(joint, joint.armature, "armature", "kg m^2 or kg");
  check_limits(joint);
}

void Audit::check_axis(const JointSpec& joint, const V3& axis, std::string_view which) {
  for (const double x : {axis.x, axis.y, axis.z})
    if (!usable(joint.where, x, "the {} of joint '{}'", which, joint.name)) return;
  const double length = norm(axis);
  if (length < 1e-30)
    error(joint.where, "the {} of joint '{}' is {}; expected a direction of unit length, such as (0, 0, 1)",
          which, joint.name, say(axis));
  else if (std::abs(length - 1) > unit_length)
    warning(joint.where,
            "the {} of joint '{}' is {} with length {:.9g}; it is used with unit length, give {}", which,
            joint.name, say(axis), length, say(axis * (1 / length)));
}

void Audit::check_universal(const JointSpec& joint) {
  check_axis(joint, joint.second_axis, "second axis");
  const double lengths = norm(joint.axis) * norm(joint.second_axis);
  if (!(lengths > 1e-60) || !finite(joint.axis) || !finite(joint.second_axis)) return;
  const double cosine = dot(joint.axis, joint.second_axis) / lengths;
  if (std::abs(cosine) <= perpendicular) return;
  const double degrees = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
  const double from_parallel = std::min(degrees, 180 - degrees);
  error(joint.where,
        "the axes {} and {} of universal joint '{}' are {}; expected perpendicular ones: correct them, or "
        "use two "
        "revolute joints",
        say(joint.axis), say(joint.second_axis), joint.name,
        from_parallel < 1e-4 ? "parallel" : fmt::format("{:.6g} degrees apart", degrees));
}

void Audit::check_limits(const JointSpec& joint) {
  const JointLimits& l = joint.limits;
  if (std::isnan(l.lower) || std::isnan(l.upper) || std::isnan(l.velocity) || std::isnan(l.effort)) {
    error(joint.where, "a limit of joint '{}' is NaN; give a number, or infinity for none", joint.name);
    return;
  }
  if (l.lower > l.upper)
    error(joint.where,
          "joint '{}' has the lower limit {:.6g} above the upper limit {:.6g}; swap or correct them",
          joint.name, l.lower, l.upper);
  else if (std::isinf(l.lower) && l.lower == l.upper)
    error(joint.where, "both limits of joint '{}' are {}; give a lower limit below the upper one", joint.name,
          l.lower);
  else if (l.lower == l.upper && nv_of(joint.kind) > 0)
    warning(joint.where,
            "the limits of joint '{}' leave no range: both are {:.6g}; widen them, or make it fixed",
            joint.name, l.lower);
  if (l.velocity < 0 || l.effort < 0)
    warning(joint.where, "joint '{}' has a negative limit (velocity {:.6g}, effort {:.6g}); give magnitudes",
            joint.name, l.velocity, l.effort);
  if (joint.kind == JointKind::revolute) check_degrees(joint);
}

void Audit::check_degrees(const JointSpec& joint) {
  double largest = 0;
  for (const double x : {joint.limits.lower, joint.limits.upper})
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  if (largest > many_turns)
    warning(joint.where,
            "joint '{}' has the limits {:.6g} and {:.6g} rad, over two turns; are they degrees? Give radians "
            "({:.6g} degrees are {:.6g} rad)",
            joint.name, joint.limits.lower, joint.limits.upper, largest, largest * std::numbers::pi / 180);
}

void Audit::check_coefficient(const JointSpec& joint, double value, std::string_view name,
                              std::string_view unit) {
  if (usable(joint.where, value, "the {} of joint '{}'", name, joint.name) && value < 0)
    error(joint.where, "joint '{}' has the negative {} {:.6g} ({}); give zero or more", joint.name, name,
          value, unit);
}

void Audit::check_frame(const FrameSpec& frame) {
  usable_pose(frame.where, frame.placement, fmt::format("frame '{}'", frame.name));
}

// --- mimic joints ------------------------------------------------------------------------------------
void Audit::check_mimics() {
  std::vector<int> direct(spec_.joints.size(), -1);
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    if (!spec_.joints[j].mimic) continue;
    const int source = joints_.find(spec_.joints[j].mimic->joint);
    if (check_mimic(spec_.joints[j], source)) direct[j] = source;
  }
  resolve_mimic_chains(direct);
}

bool Audit::check_mimic(const JointSpec& joint, int source) {
  const Mimic& mimic = *joint.mimic;
  usable(joint.where, mimic.multiplier, "the mimic multiplier of joint '{}'", joint.name);
  usable(joint.where, mimic.offset, "the mimic offset of joint '{}'", joint.name);
  if (nv_of(joint.kind) != 1) {
    error(joint.where,
          "{} joint '{}' mimics '{}', but has {} freedoms; only joints with one can mimic: remove the mimic",
          name_of(joint.kind), joint.name, mimic.joint, nv_of(joint.kind));
    return false;
  }
  if (source < 0) {
    error(joint.where, "joint '{}' mimics the joint '{}', which does not exist{}; name an existing joint",
          joint.name, mimic.joint, joints_.suggestion(mimic.joint));
    return false;
  }
  const JointSpec& followed = spec_.joints[std::size_t(source)];
  if (nv_of(followed.kind) != 1) {
    error(joint.where,
          "joint '{}' mimics the {} joint '{}' with {} freedoms; only joints with one can be mimicked",
          joint.name, name_of(followed.kind), followed.name, nv_of(followed.kind));
    return false;
  }
  if (mimic.multiplier == 0)
    warning(joint.where,
            "joint '{}' mimics '{}' with the multiplier 0: it stands still; make it fixed, or correct it",
            joint.name, mimic.joint);
  return true;
}

/// Follows each chain once: a joint whose chain comes back to itself is in a loop.
void Audit::resolve_mimic_chains(const std::vector<int>& direct) {
  enum : char { unseen, on_path, done };
  std::vector<char> state(direct.size(), unseen);
  tree_.mimic_source.assign(direct.size(), -1);
  tree_.mimic_multiplier.assign(direct.size(), 1);
  std::vector<int> path;
  for (std::size_t start = 0; start < direct.size(); ++start) {
    path.clear();
    int j = int(start);
    while (j >= 0 && state[std::size_t(j)] == unseen) {
      state[std::size_t(j)] = on_path;
      path.push_back(j);
      j = direct[std::size_t(j)];
    }
    if (j >= 0 && state[std::size_t(j)] == on_path) {
      const JointSpec& joint = spec_.joints[std::size_t(j)];
      error(joint.where,
            "joint '{}' mimics '{}', which in the end mimics '{}' itself; let one of them move by itself",
            joint.name, joint.mimic->joint, joint.name);
    }
    // Sources before followers.
    for (std::size_t i = path.size(); i-- > 0;) {
      const std::size_t follower = std::size_t(path[i]);
      state[follower] = done;
      const int source = direct[follower];
      if (source < 0) continue;
      const int beyond = tree_.mimic_source[std::size_t(source)];
      tree_.mimic_source[follower] = beyond >= 0 ? beyond : source;
      tree_.mimic_multiplier[follower] =
          spec_.joints[follower].mimic->multiplier * tree_.mimic_multiplier[std::size_t(source)];
    }
  }
}

// --- joints without inertia --------------------------------------------------------------------------
std::string Audit::outboard_of(int link) const {
  std::vector<int> reached{link};
  std::vector<std::string_view> names;
  constexpr std::size_t enough = 64;  // the count is exact only below it
  for (std::size_t i = 0; i < reached.size() && i < enough; ++i) {
    const std::size_t k = std::size_t(reached[i]);
    if (names.size() < 5) names.push_back(spec_.links[k].name);
    for (int c = first_child_[k]; c < first_child_[k + 1]; ++c) reached.push_back(children_[std::size_t(c)]);
  }
  return list(names, reached.size());
}

void Audit::check_joint_inertias() {
  constexpr std::size_t most = 20;  // one missing mass condemns every joint inboard of it
  const auto freedoms = massless_freedoms(spec_, tree_, base_);
  for (std::size_t i = 0; i < freedoms.size(); ++i) {
    const MasslessFreedom& f = freedoms[i];
    const LinkSpec& link = spec_.links[std::size_t(f.link)];
    const std::string& where = f.joint < 0 ? link.where : spec_.joints[std::size_t(f.joint)].where;
    if (i == most) {
      error(where, "{} more freedoms have no inertia to move", freedoms.size() - most);
      break;
    }
    const std::string why =
        f.bodies_have_inertia
            ? fmt::format(
                  "the joints outboard let the bodies outboard ({}) stay behind, so that nothing resists",
                  outboard_of(f.link))
            : fmt::format("the bodies outboard ({}) have no inertia against it", outboard_of(f.link));
    if (f.joint < 0)
      error(where,
            "the free base, link '{}', has no inertia when {} (base axes): {}; give it mass and inertia",
            link.name, f.motion, why);
    else
      error(where,
            "joint '{}' has no inertia to move when {} (axes of link '{}'): {}; give them mass off the axis "
            "or inertia "
            "about it, or give the joint an armature",
            spec_.joints[std::size_t(f.joint)].name, f.motion, link.name, why);
  }
}

// --- units -------------------------------------------------------------------------------------------
void Audit::check_units() {
  check_densities();
  check_lengths();
}

/// Counts what one wrong unit does to many links, for one message that names the worst.
class Worst {
 public:
  void add(double value, const std::string& where, std::string_view name) {
    ++count_;
    if (value > value_) value_ = value, where_ = &where, name_ = name;
  }
  explicit operator bool() const { return where_ != nullptr; }
  double value() const { return value_; }
  const std::string& where() const { return *where_; }
  std::string say(std::string_view what) const {
    return count_ == 1 ? fmt::format("{} '{}'", what, name_)
                       : fmt::format("{} '{}' (the worst of {})", what, name_, count_);
  }

 private:
  double value_ = 0;
  const std::string* where_ = nullptr;
  std::string_view name_;
  int count_ = 0;
};

/// Density of the ball that has this mass and gyration radius: below the true one for every other shape.
double ball_density(double mass, double gyration) {
  const double radius = gyration * std::sqrt(2.5);
  return mass / (4 * std::numbers::pi / 3 * radius * radius * radius);
}

void Audit::check_densities() {
  Worst grams, dense, wide;
  for (std::size_t k = 0; k < spec_.links.size(); ++k) {
    const LinkSpec& link = spec_.links[k];
    const double mass = link.mass.mass, moment = largest_moment_[k];
    if (mass <= 0) continue;
    const double gyration = std::sqrt(moment / mass),
                 density = gyration > 0 ? ball_density(mass, gyration) : 0;
    if (mass > heavy && (moment == 0 || density > osmium))
      grams.add(mass, link.where, link.name);
    else if (density > impossible_density)
      dense.add(density, link.where, link.name);
    if (gyration > long_gyration) wide.add(gyration, link.where, link.name);
  }
  if (grams)
    warning(grams.where(), "{} has the mass {:.6g} kg in a small body; are masses in grams? Give kilograms",
            grams.say("link"), grams.value());
  if (dense)
    warning(dense.where(),
            "{} has an inertia far too small for its mass: as a ball it would weigh {:.3g} kg/m^3; give kg "
            "and kg m^2, about the mass centre",
            dense.say("link"), dense.value());
  if (wide)
    warning(wide.where(),
            "{} has an inertia far too large for its mass: a gyration radius of {:.6g} m; are lengths in "
            "millimetres, or the inertia in kg mm^2? Give metres and kg m^2",
            wide.say("link"), wide.value());
}

void Audit::check_lengths() {
  Worst offsets, centers;
  double size = 0;
  for (const auto& joint : spec_.joints) {
    const double length = norm(joint.placement.p);
    if (joint.parent == world) continue;  // a model may stand anywhere
    size = std::max(size, length);
    if (length > long_offset) offsets.add(length, joint.where, joint.name);
  }
  for (std::size_t k = 0; k < spec_.links.size(); ++k) {
    const MassProperties& m = spec_.links[k].mass;
    if (m.mass <= 0) continue;
    const double gyration = std::sqrt(largest_moment_[k] / m.mass), distance = norm(m.center_of_mass);
    const double limit = size > 0 ? std::max({far_center * size, far_center * gyration, 1.0}) : far_center;
    if (distance > limit) centers.add(distance, spec_.links[k].where, spec_.links[k].name);
  }
  if (offsets)
    warning(offsets.where(),
            "{} is {:.6g} m from the joint inboard of it; are lengths in millimetres? Give metres",
            offsets.say("joint"), offsets.value());
  if (centers)
    warning(centers.where(),
            "{} has its mass centre {:.6g} m from its origin, far outside the mechanism; are lengths in "
            "millimetres? Give metres",
            centers.say("link"), centers.value());
}

}  // namespace

std::vector<Finding> find_problems(const ModelSpec& spec, Base base) { return Audit(spec, base).run(); }

}  // namespace articula
