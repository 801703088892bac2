#include "articula/model/massless_joints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "articula/spatial/dense.hpp"
#include "articula/spatial/inertia.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using M3 = Mat3<double>;
using V6 = Spatial<double>;
using Articulated = ArticulatedInertia<double>;

constexpr double rounding = 1.2e-16;
/// A pivot that is this many roundings of the numbers it is the difference of counts as zero.
constexpr double roundings = 1000;
/// Above this many freedoms mimic groups are judged by a simpler rule instead of their dense mass matrix.
constexpr int dense_limit = 300;

/// One row of H: a motion of the link, world axes, at the link's origin; and how to say it.
struct Row {
  V6 h;
  V3 axis;      // link axes
  char motion;  // 't'urning, 's'liding, screwing 'w'
};

struct Placed {
  M3 R = M3::identity();  // link axes in the world
  V3 l{0, 0, 0};          // from the parent link's origin, world axes
  int first_row = 0, rows = 0;
};

struct Posture {
  std::vector<Placed> links;
  std::vector<Row> rows;
};

/// Repeatable on every machine: std::uniform_real_distribution is not.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  double symmetric() {  // in (-1, 1)
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return 2 * (double(z >> 11) + 0.5) * 0x1p-53 - 1;
  }
  V3 vector(double scale) {
    const double x = symmetric(), y = symmetric(), z = symmetric();
    return {x * scale, y * scale, z * scale};
  }

 private:
  std::uint64_t state_;
};

V3 unit(const V3& a) {
  // Scaled first: the squares of 1e-200 vanish.
  const double largest = std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)});
  const V3 b = a * (1 / largest);
  return b * (1 / std::sqrt(dot(b, b)));
}
M3 turn(const V3& axis, double angle) { return rotation(exp_quaternion(axis * angle)); }

/// A link's motion by its joint: where it goes, and the rows of H in link axes.
struct Motion {
  Pose pose;
  std::array<Row, 6> rows;
  int count = 0;
  void add(V6 h, V3 axis, char motion) { rows[std::size_t(count++)] = {h, axis, motion}; }
  void add_turn(const V3& a) { add({a, {0, 0, 0}}, a, 't'); }
  void add_slide(const V3& a) { add({{0, 0, 0}, a}, a, 's'); }
};

constexpr V3 ex{1, 0, 0}, ey{0, 1, 0}, ez{0, 0, 1};

Motion free_motion(Numbers& numbers, double size) {
  Motion m;
  m.pose = {rotation(exp_quaternion(numbers.vector(1.5))), numbers.vector(size)};
  for (const V3& e : {ex, ey, ez}) m.add_turn(e);
  for (const V3& e : {ex, ey, ez}) m.add_slide(e);
  return m;
}

Motion joint_motion(const JointSpec& joint, Numbers& numbers, double size) {
  Motion m;
  const double angle = 3 * numbers.symmetric(), slide = size * numbers.symmetric();
  const V3 a = joint.kind == JointKind::fixed ? ez : unit(joint.axis);
  switch (joint.kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
    case JointKind::continuous:
      m.pose.R = turn(a, angle);
      m.add_turn(a);
      break;
    case JointKind::prismatic:
      m.pose.p = a * slide;
      m.add_slide(a);
      break;
    case JointKind::helical:
      m.pose = {turn(a, angle), a * (joint.pitch * angle)};
      m.add({a, a * joint.pitch}, a, 'w');
      break;
    case JointKind::cylindrical:
      m.pose = {turn(a, angle), a * slide};
      m.add_turn(a);
      m.add_slide(a);
      break;
    case JointKind::universal: {
      const V3 b = unit(joint.second_axis);
      const M3 second = turn(b, 2 * numbers.symmetric());
      m.pose.R = turn(a, angle) * second;
      m.add_turn(star_times(second, a));
      m.add_turn(b);
      break;
    }
    case JointKind::planar: {
      const M3 plane = rotation_from_z(a);
      m.pose = {turn(a, angle), column_x(plane) * slide + column_y(plane) * (size * numbers.symmetric())};
      m.add_turn(a);
      m.add_slide(column_x(plane));
      m.add_slide(column_y(plane));
      break;
    }
    case JointKind::spherical:
      m.pose.R = rotation(exp_quaternion(numbers.vector(1.5)));
      for (const V3& e : {ex, ey, ez}) m.add_turn(e);
      break;
    case JointKind::free:
      return free_motion(numbers, size);
  }
  return m;
}

/// A length to slide joints by: the size of the mechanism, whatever its units.
double typical_size(const ModelSpec& spec) {
  double largest = 0;
  for (const auto& j : spec.joints)
    largest =
        std::max({largest, std::abs(j.placement.p.x), std::abs(j.placement.p.y), std::abs(j.placement.p.z)});
  for (const auto& l : spec.links)
    largest = std::max({largest, std::abs(l.mass.center_of_mass.x), std::abs(l.mass.center_of_mass.y),
                        std::abs(l.mass.center_of_mass.z)});
  return largest > 0 ? largest : 1;
}

Posture random_posture(const ModelSpec& spec, const ResolvedTree& tree, Base base, std::uint64_t seed) {
  Posture posture;
  posture.links.resize(spec.links.size());
  posture.rows.reserve(spec.joints.size() + 6);
  Numbers numbers(seed);
  const double size = typical_size(spec);
  const Placed at_world;
  for (const int k : tree.order) {
    const std::size_t i = std::size_t(k);
    const int joint = tree.parent_joint[i], parent = tree.parent_link[i];
    const Placed& inboard = parent < 0 ? at_world : posture.links[std::size_t(parent)];
    Motion motion;
    Pose placement;
    if (joint >= 0) {
      motion = joint_motion(spec.joints[std::size_t(joint)], numbers, size);
      placement = spec.joints[std::size_t(joint)].placement;
    } else if (base == Base::free) {
      motion = free_motion(numbers, size);
    }
    const Pose local = placement * motion.pose;
    Placed& self = posture.links[i];
    self = {inboard.R * local.R, inboard.R * local.p, int(posture.rows.size()), motion.count};
    for (int r = 0; r < motion.count; ++r) {
      Row row = motion.rows[std::size_t(r)];
      row.h = {self.R * row.h.w, self.R * row.h.v};
      posture.rows.push_back(row);
    }
  }
  return posture;
}

Inertia<double> inertia_of(const MassProperties& mass, const M3& R) {
  const V3 c = R * mass.center_of_mass;
  const Sym3<double> about_center = symmetric(R * (mass.inertia * star(R)));
  return shifted(Phi<double>{c}, Inertia<double>{mass.mass, {0, 0, 0}, about_center});
}

/// What rounding can leave in P: it strikes every direction alike, also those in which P itself is zero.
Articulated rounding_of(const Articulated& P) {
  const double turning = rounding * (P.J.xx + P.J.yy + P.J.zz),
               sliding = rounding * (P.C.xx + P.C.yy + P.C.zz);
  return {{turning, turning, turning, 0, 0, 0}, {}, {sliding, sliding, sliding, 0, 0, 0}};
}

/// What arrives at a link from outboard.
struct Sweep {
  Articulated P{};          // articulated inertia
  Articulated E{};          // its rounding errors so far: dE = psi dE psi* + new ones, to first order
  Inertia<double> rigid{};  // inertia if every outboard joint were locked
};

/// E - G (H E) - (E H*) G* + G (H E H*) G*, that is tau_bar E tau_bar*.
void apply_tau_bar(Articulated& E, const V6& G, const V6& h) {
  const V6 Eh = E * h;
  const double hEh = dot(h, Eh);
  // -(G Eh* + Eh G*) + hEh G G* = -(a b* + b a*) with a = G, b = Eh - (hEh / 2) G; each rank-one part is not
  // symmetric, the sum is.
  const V6 b = Eh - G * (0.5 * hEh);
  const auto outer = [](const V3& u, const V3& w) { return symmetric_product(u, w); };
  E.J = E.J - outer(G.w, b.w);
  E.C = E.C - outer(G.v, b.v);
  const auto cross_part = [](const V3& u, const V3& w) {
    return M3{u.x * w.x, u.x * w.y, u.x * w.z, u.y * w.x, u.y * w.y,
              u.y * w.z, u.z * w.x, u.z * w.y, u.z * w.z};
  };
  E.B = E.B - (cross_part(G.w, b.v) + cross_part(b.w, G.v));
}

double armature_of(const ModelSpec& spec, int joint) {
  return joint < 0 ? 0 : spec.joints[std::size_t(joint)].armature;
}

struct Verdict {
  bool massless = false, bodies_have_inertia = false;
};

/// For each row of the posture: is D zero there?
std::vector<Verdict> sweep_inward(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture) {
  std::vector<Verdict> verdicts(posture.rows.size());
  std::vector<Sweep> sweeps(spec.links.size());
  for (auto it = tree.order.rbegin(); it != tree.order.rend(); ++it) {
    const std::size_t k = std::size_t(*it);
    const Placed& placed = posture.links[k];
    Sweep s = sweeps[k];
    const Inertia<double> own = inertia_of(spec.links[k].mass, placed.R);
    s.P += own;
    s.rigid += own;
    s.E += rounding_of(s.P);
    const Articulated before = s.P;
    const double armature = armature_of(spec, tree.parent_joint[k]);
    for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
      const V6& h = posture.rows[std::size_t(r)].h;
      const V6 Ph = s.P * h;
      const double d = dot(h, Ph) + armature, noise = dot(h, s.E * h);
      if (!(d > roundings * noise)) {  // also if d is NaN
        // What the same bodies would offer with every joint locked, this one's other freedoms included.
        const double locked = dot(h, s.rigid * h);
        verdicts[std::size_t(r)] = {true, locked > roundings * noise};
        continue;  // no elimination: the freedom passes nothing on
      }
      const V6 G = Ph * (1 / d);
      subtract_rank_one(s.P, Ph, G);
      apply_tau_bar(s.E, G, h);
    }
    if (tree.parent_link[k] < 0) continue;
    s.E += rounding_of(before);
    Sweep& inboard = sweeps[std::size_t(tree.parent_link[k])];
    const Phi<double> phi{placed.l};
    inboard.P += shifted(phi, s.P);
    inboard.E += shifted(phi, s.E);
    inboard.rigid += shifted(phi, s.rigid);
  }
  return verdicts;
}

/// Joint by row; -1: the base.
std::vector<int> joint_of_rows(const ResolvedTree& tree, const Posture& posture) {
  std::vector<int> joint(posture.rows.size(), -1);
  for (const int k : tree.order) {
    const Placed& placed = posture.links[std::size_t(k)];
    for (int r = 0; r < placed.rows; ++r)
      joint[std::size_t(placed.first_row + r)] = tree.parent_joint[std::size_t(k)];
  }
  return joint;
}

/// How the rows depend on the independent velocities: row = multiplier * column.
struct Reduction {
  std::vector<int> column;
  std::vector<double> multiplier;
  int columns = 0;
};

Reduction reduction_of(const ModelSpec& spec, const ResolvedTree& tree,
                       const std::vector<int>& joint_of_row) {
  Reduction out;
  out.column.resize(joint_of_row.size());
  out.multiplier.assign(joint_of_row.size(), 1);
  std::vector<int> row_of_joint(spec.joints.size(), -1);
  for (std::size_t r = 0; r < joint_of_row.size(); ++r) {
    const int j = joint_of_row[r];
    if (j >= 0 && tree.mimic_source[std::size_t(j)] >= 0) continue;
    if (j >= 0) row_of_joint[std::size_t(j)] = int(r);
    out.column[r] = out.columns++;
  }
  for (std::size_t r = 0; r < joint_of_row.size(); ++r) {
    const int j = joint_of_row[r];
    if (j < 0 || tree.mimic_source[std::size_t(j)] < 0) continue;
    out.column[r] = out.column[std::size_t(row_of_joint[std::size_t(tree.mimic_source[std::size_t(j)])])];
    out.multiplier[r] = tree.mimic_multiplier[std::size_t(j)];
  }
  return out;
}

/// The mass matrix of the independent velocities, dense: the sum of J* M J over the bodies, and the
/// armatures. `noise` is what rounding can have left on its diagonal: what the sum would be if nothing
/// cancelled, times a rounding.
struct DenseMass {
  dense::Matrix matrix;
  std::vector<double> noise;
};
/// A link's Jacobian, and bounds on what its columns were summed from.
struct LinkJacobian {
  dense::Matrix J;
  std::vector<double> turning, sliding;
};

double length(const V3& a) { return std::sqrt(dot(a, a)); }

LinkJacobian jacobian_of(const LinkJacobian* inboard, const Placed& placed, const Posture& posture,
                         const Reduction& reduction) {
  const int n = reduction.columns;
  LinkJacobian out{dense::Matrix(6, n), std::vector<double>(n), std::vector<double>(n)};
  if (inboard) {
    out = *inboard;
    for (int c = 0; c < n; ++c) {
      const V3 shift = cross(V3{out.J(0, c), out.J(1, c), out.J(2, c)}, placed.l);
      out.J.block(3, c, 3, 1) += dense::column(shift);
      out.sliding[c] += out.turning[c] * length(placed.l);
    }
  }
  for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
    const std::size_t row = std::size_t(r);
    const V6 h = posture.rows[row].h * reduction.multiplier[row];
    const int c = reduction.column[row];
    out.J.block(0, c, 6, 1) += dense::column(h);
    out.turning[c] += length(h.w);
    out.sliding[c] += length(h.v);
  }
  return out;
}

DenseMass dense_mass(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture,
                     const Reduction& reduction, const std::vector<int>& joint_of_row) {
  const int n = reduction.columns;
  DenseMass out{dense::Matrix(n, n), std::vector<double>(n)};
  for (std::size_t r = 0; r < joint_of_row.size(); ++r) {
    const double ratio = reduction.multiplier[r];
    out.matrix(reduction.column[r], reduction.column[r]) +=
        armature_of(spec, joint_of_row[r]) * ratio * ratio;
  }
  std::vector<LinkJacobian> jacobians(spec.links.size());
  for (const int link : tree.order) {
    const std::size_t k = std::size_t(link);
    const int parent = tree.parent_link[k];
    jacobians[k] = jacobian_of(parent < 0 ? nullptr : &jacobians[std::size_t(parent)], posture.links[k],
                               posture, reduction);
    const auto& [J, turning, sliding] = jacobians[k];
    const Inertia<double> M = inertia_of(spec.links[k].mass, posture.links[k].R);
    dense::Matrix MJ(6, n);
    const double trace = M.J.xx + M.J.yy + M.J.zz;
    for (int c = 0; c < n; ++c) {
      MJ.block(0, c, 6, 1) = dense::column(M * dense::spatial(J.block(0, c, 6, 1)));
      out.noise[c] += rounding * (trace * turning[c] * turning[c] + M.m * sliding[c] * sliding[c]);
    }
    out.matrix += star(J) * MJ;
  }
  return out;
}

/// Pivots of the dense matrix, tips first as the sweep does it: which independent velocities have no inertia?
std::vector<bool> singular_columns(DenseMass mass) {
  const int n = mass.matrix.rows();
  std::vector<bool> singular(std::size_t(n), false);
  for (int k = n - 1; k >= 0; --k) {
    const double d = mass.matrix(k, k);
    singular[std::size_t(k)] = !(d > roundings * mass.noise[k]);
    if (singular[std::size_t(k)]) continue;
    for (int i = 0; i < k; ++i) {
      const double G = mass.matrix(i, k) / d;
      for (int j = 0; j < k; ++j) mass.matrix(i, j) -= G * mass.matrix(k, j);
      mass.noise[i] += G * G * (mass.noise[k] + rounding * d);
    }
  }
  return singular;
}

bool has_mimics(const ResolvedTree& tree) {
  return std::any_of(tree.mimic_source.begin(), tree.mimic_source.end(), [](int s) { return s >= 0; });
}

/// A mimic joint may be massless by itself: what counts is the motion of all that follow one source. Keeps a
/// verdict only on the source's row, and only if the motion of the whole group has no inertia.
void judge_mimic_groups(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture,
                        std::vector<Verdict>& verdicts) {
  const std::vector<int> joints = joint_of_rows(tree, posture);
  const Reduction reduction = reduction_of(spec, tree, joints);
  std::vector<bool> singular(std::size_t(reduction.columns), true);
  if (reduction.columns <= dense_limit && int(joints.size()) <= 2 * dense_limit &&
      spec.links.size() <= std::size_t(4 * dense_limit)) {
    singular = singular_columns(dense_mass(spec, tree, posture, reduction, joints));
  } else {
    for (std::size_t r = 0; r < joints.size(); ++r)
      if (!verdicts[r].massless) singular[std::size_t(reduction.column[r])] = false;
  }
  for (std::size_t r = 0; r < joints.size(); ++r) {
    const bool independent = joints[r] < 0 || tree.mimic_source[std::size_t(joints[r])] < 0;
    verdicts[r].massless = independent && singular[std::size_t(reduction.column[r])];
  }
}

std::vector<Verdict> verdicts_at(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture) {
  std::vector<Verdict> verdicts = sweep_inward(spec, tree, posture);
  const bool any = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.massless; });
  if (any && has_mimics(tree)) judge_mimic_groups(spec, tree, posture, verdicts);
  return verdicts;
}

std::string say(const Row& row) {
  const char* motion = row.motion == 't'   ? "turning about"
                       : row.motion == 's' ? "sliding along"
                                           : "screwing along";
  return fmt::format("{} ({:.6g}, {:.6g}, {:.6g})", motion, row.axis.x, row.axis.y, row.axis.z);
}

}  // namespace

std::vector<MasslessFreedom> massless_freedoms(const ModelSpec& spec, const ResolvedTree& tree, Base base) {
  // Two postures, so that a chance alignment in one of them condemns nothing.
  const Posture posture = random_posture(spec, tree, base, 1);
  const std::vector<Verdict> first = verdicts_at(spec, tree, posture);
  std::vector<MasslessFreedom> out;
  if (std::none_of(first.begin(), first.end(), [](const Verdict& v) { return v.massless; })) return out;
  const std::vector<Verdict> second = verdicts_at(spec, tree, random_posture(spec, tree, base, 2));
  for (const int k : tree.order) {
    const Placed& placed = posture.links[std::size_t(k)];
    for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
      const std::size_t row = std::size_t(r);
      if (!first[row].massless || !second[row].massless) continue;
      out.push_back(
          {k, tree.parent_joint[std::size_t(k)], say(posture.rows[row]), first[row].bodies_have_inertia});
    }
  }
  return out;
}

}  // namespace articula
