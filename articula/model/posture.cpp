#include "articula/model/posture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "articula/model/joint_kinds.hpp"
#include "articula/model/joint_motion.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using M3 = Mat3<double>;

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

/// How a row of H moves its link.
const char* motion_of(const Turn<double>&) { return "turning about"; }
const char* motion_of(const Slide<double>&) { return "sliding along"; }
const char* motion_of(const Screw<double>&) { return "screwing along"; }

/// A link's motion by its joint: where it goes, and the rows of H in link axes, at its origin.
struct Motion {
  Pose pose;
  std::array<HingeRow, max_freedoms> rows;
  int count = 0;
};

/// Coordinates at random: any angle and orientation, shifts within `size`.
template <class J>
std::array<double, J::nq> random_coordinates(Numbers& numbers, double size) {
  std::array<double, J::nq> q;
  for (double& x : q) x = size * numbers.symmetric();
  if constexpr (J::angle >= 0) q[J::angle] = 3 * numbers.symmetric();
  if constexpr (J::quaternion) {
    const Quaternion<double> turn = exp_quaternion(numbers.vector(1.5));
    q[0] = turn.x, q[1] = turn.y, q[2] = turn.z, q[3] = turn.w;
  }
  return q;
}

/// Lets the link move by one more hinge, outboard of those before.
template <class J>
void add_hinge(Motion& m, J, const V3& axis, double pitch, Numbers& numbers, double size) {
  const M3 Z = J::quaternion ? M3::identity() : rotation_from_z(unit(axis));
  const std::array<double, J::nq> q = random_coordinates<J>(numbers, size);
  const Pose step = hinge_pose<J>(J::quaternion ? axis : unit(axis), pitch, q.data());
  for (int i = 0; i < m.count; ++i) {  // of the hinges before, now at this one's outboard side
    HingeRow& row = m.rows[std::size_t(i)];
    row.h = {star_times(step.R, row.h.w), star_times(step.R, row.h.v + cross(row.h.w, step.p))};
    row.axis = star_times(step.R, row.axis);
  }
  for_each_index<J::nv>([&](auto i) {
    const auto row = J::template row<i.value>(Z, pitch);
    m.rows[std::size_t(m.count++)] = {spatial(row), row.h, motion_of(row), -1, 0, 0};
  });
  m.pose = m.pose * step;
}

Motion joint_motion(const JointSpec& joint, int index, Numbers& numbers, double size) {
  Motion m;
  for (std::size_t i = 0; const HingeKind kind : hinges_of(joint.kind))
    visit(kind, [&](auto j) { add_hinge(m, j, axis_of(joint, i++), joint.pitch, numbers, size); });
  for (int i = 0; i < m.count; ++i) {
    HingeRow& row = m.rows[std::size_t(i)];
    row.joint = index;
    row.freedom = i;
    row.armature = joint.armature[i];
  }
  return m;
}

Motion free_motion(Numbers& numbers, double size) {
  Motion m;
  add_hinge(m, Free{}, {0, 0, 1}, 0, numbers, size);
  for (int i = 0; i < m.count; ++i) m.rows[std::size_t(i)].freedom = i;
  return m;
}

/// A length to slide joints by.
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

}  // namespace

std::string say(const HingeRow& row) {
  return fmt::format("{} ({:.6g}, {:.6g}, {:.6g})", row.motion, row.axis.x, row.axis.y, row.axis.z);
}

Posture random_posture(const ModelSpec& spec, const ResolvedTree& tree, Base base, std::uint64_t seed) {
  Posture posture;
  posture.links.resize(spec.links.size());
  posture.rows.reserve(spec.joints.size() + 6);
  Numbers numbers(seed);
  const double size = posture.size = typical_size(spec);
  const PlacedLink at_world;
  for (const int k : tree.order) {
    const std::size_t i = std::size_t(k);
    const int joint = tree.parent_joint[i], parent = tree.parent_link[i];
    const PlacedLink& inboard = parent < 0 ? at_world : posture.links[std::size_t(parent)];
    Motion motion;
    Pose placement;
    if (joint >= 0) {
      motion = joint_motion(spec.joints[std::size_t(joint)], joint, numbers, size);
      placement = spec.joints[std::size_t(joint)].placement;
    } else if (base == Base::free) {
      motion = free_motion(numbers, size);
    }
    const Pose local = placement * motion.pose;
    PlacedLink& self = posture.links[i];
    self = {inboard.R * local.R, inboard.R * local.p, int(posture.rows.size()), motion.count};
    for (int r = 0; r < motion.count; ++r) {
      HingeRow row = motion.rows[std::size_t(r)];
      row.h = {self.R * row.h.w, self.R * row.h.v};
      posture.rows.push_back(row);
    }
  }
  return posture;
}

Inertia<double> inertia_of(const MassProperties& mass, const Mat3<double>& R) {
  const V3 c = R * mass.center_of_mass;
  const Sym3<double> about_center = symmetric(R * (mass.inertia * star(R)));
  return shifted(Phi<double>{c}, Inertia<double>{mass.mass, {0, 0, 0}, about_center});
}

}  // namespace articula
