// The list of joint kinds, and what follows from it.
#include "articula/model/joint_kinds.hpp"

#include <array>

#include "articula/model/joint_motion.hpp"

namespace articula {

namespace {

/// In JointKind's order: the name, and the hinges (hinges.hpp) that it is made of, inboard to outboard. Everything else is
/// known of the hinges.
struct KindFacts {
  JointKind kind;
  std::string_view name;
  int count;
  HingeKind hinges[most_hinges];
};
using enum HingeKind;
constexpr KindFacts kinds[] = {
    {JointKind::fixed, "fixed", 0, {}},
    {JointKind::revolute, "revolute", 1, {revolute}},
    {JointKind::continuous, "continuous", 1, {revolute}},
    {JointKind::prismatic, "prismatic", 1, {prismatic}},
    {JointKind::helical, "helical", 1, {helical}},
    {JointKind::cylindrical, "cylindrical", 1, {cylindrical}},
    {JointKind::universal, "universal", 2, {revolute, revolute}},
    {JointKind::planar, "planar", 1, {planar}},
    {JointKind::spherical, "spherical", 1, {spherical}},
    {JointKind::free, "free", 1, {HingeKind::free}},
    {JointKind::translational, "translational", 3, {prismatic, prismatic, prismatic}},
};
constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (kinds[i].kind != JointKind(i)) return false;
  return true;
}
static_assert(in_order() && std::size(kinds) == joint_kinds);

/// What a hinge's coordinates and velocities are called, in HingeKind's order.
struct HingeLabels {
  std::array<std::string_view, 7> coordinates;
  std::array<std::string_view, max_freedoms> velocities;
};
constexpr HingeLabels labels[] = {
    {{"angle"}, {"angle"}},                                                          // revolute
    {{"shift"}, {"shift"}},                                                          // prismatic
    {{"angle"}, {"angle"}},                                                          // helical
    {{"angle", "shift"}, {"angle", "shift"}},                                        // cylindrical
    {{"angle", "x", "y"}, {"w", "vx", "vy"}},                                        // planar
    {{"qx", "qy", "qz", "qw"}, {"wx", "wy", "wz"}},                                  // spherical
    {{"qx", "qy", "qz", "qw", "x", "y", "z"}, {"wx", "wy", "wz", "vx", "vy", "vz"}}  // free
};
static_assert(std::size(labels) == hinge_kinds);

template <class F>
int sum_over_hinges(JointKind kind, F&& f) {
  int sum = 0;
  for (const HingeKind hinge : hinges_of(kind)) sum += visit(hinge, f);
  return sum;
}

/// Which hinge a coordinate or velocity (`count` of a hinge's type) belongs to, and its number there.
struct HingeNumber {
  std::size_t hinge;
  int number;
};
template <class F>
HingeNumber hinge_number(JointKind kind, int index, F&& count) {
  const auto hinges = hinges_of(kind);
  std::size_t h = 0;
  for (; h + 1 < hinges.size(); ++h) {
    const int n = visit(hinges[h], count);
    if (index < n) break;
    index -= n;
  }
  return {h, index};
}

/// Of a joint of several hinges: which; of one with one number: nothing.
std::string label(JointKind kind, const HingeNumber& at, int all, const auto& of_hinge) {
  constexpr std::string_view numerals[most_hinges] = {"first", "second", "third"};
  if (hinges_of(kind).size() > 1) return std::string(numerals[at.hinge]);
  return all == 1 ? std::string() : std::string(of_hinge[std::size_t(at.number)]);
}

}  // namespace

std::string_view name_of(JointKind kind) {
  return std::size_t(kind) < std::size(kinds) ? kinds[std::size_t(kind)].name : "unknown";
}
std::span<const HingeKind> hinges_of(JointKind kind) {
  if (std::size_t(kind) >= std::size(kinds)) return {};
  const KindFacts& facts = kinds[std::size_t(kind)];
  return {facts.hinges, std::size_t(facts.count)};
}
Vec3<double> axis_of(const JointSpec& joint, std::size_t hinge) {
  return hinge == 0 ? joint.axis : hinge == 1 ? joint.second_axis : cross(joint.axis, joint.second_axis);
}
int nq_of(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return hinge.nq; });
}
int nv_of(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return hinge.nv; });
}
bool has_axis(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return int(!hinge.quaternion); }) > 0;
}
bool has_quaternion(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return int(hinge.quaternion); }) > 0;
}
Chart chart_of(JointKind kind) {
  const auto hinges = hinges_of(kind);
  return hinges.size() == 1 ? visit(hinges[0], [](auto hinge) { return hinge.chart; }) : Chart::adds;
}
bool is_angular(JointKind kind, int velocity) { return !slides(kind, velocity); }

std::string coordinate_label(JointKind kind, int index) {
  const HingeNumber at = hinge_number(kind, index, [](auto hinge) { return hinge.nq; });
  return label(kind, at, nq_of(kind), labels[std::size_t(hinges_of(kind)[at.hinge])].coordinates);
}
std::string velocity_label(JointKind kind, int index) {
  const HingeNumber at = hinge_number(kind, index, [](auto hinge) { return hinge.nv; });
  return label(kind, at, nv_of(kind), labels[std::size_t(hinges_of(kind)[at.hinge])].velocities);
}
std::string_view coordinate_unit(JointKind kind, int index) {
  const HingeNumber at = hinge_number(kind, index, [](auto hinge) { return hinge.nq; });
  return visit(hinges_of(kind)[at.hinge], [&](auto hinge) -> std::string_view {
    return hinge.quaternion && at.number < 4 ? "" : at.number == hinge.angle ? "rad" : "m";
  });
}

}  // namespace articula
