#include "articula/model/spec.hpp"

#include <span>
#include <utility>

#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace {

/// The one list of joint kinds, in JointKind's order: the name, and the hinges (hinges.hpp) that it is made of.
struct KindFacts {
  JointKind kind;
  std::string_view name;
  int count;
  HingeKind hinges[2];
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
};
constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (kinds[i].kind != JointKind(i)) return false;
  return true;
}
static_assert(in_order());
static_assert(PerFreedom::most == max_freedoms);

template <class F>
int sum_over_hinges(JointKind kind, F&& f) {
  int sum = 0;
  for (const HingeKind hinge : hinges_of(kind)) sum += visit(hinge, f);
  return sum;
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
int nq_of(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return hinge.nq; });
}
int nv_of(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return hinge.nv; });
}
bool has_axis(JointKind kind) {
  return sum_over_hinges(kind, [](auto hinge) { return int(!hinge.quaternion); }) > 0;
}
bool is_angular(JointKind kind, int velocity) {
  switch (kind) {
    case JointKind::prismatic:
      return false;
    case JointKind::cylindrical:
    case JointKind::planar:
      return velocity == 0;
    case JointKind::free:
      return velocity < 3;
    default:
      return true;
  }
}

PerFreedom::PerFreedom(const PerFreedom& other)
    : all_(other.all_),
      each_(other.each_ ? std::make_unique<std::array<double, most>>(*other.each_) : nullptr) {}
PerFreedom& PerFreedom::operator=(PerFreedom other) noexcept {
  all_ = other.all_;
  each_ = std::move(other.each_);
  return *this;
}
double& PerFreedom::operator[](int freedom) {
  if (!each_) {
    each_ = std::make_unique<std::array<double, most>>();
    each_->fill(all_);
  }
  return (*each_)[std::size_t(freedom)];
}
bool PerFreedom::is_one_number(int freedoms) const {
  for (int i = 1; i < freedoms; ++i)
    if ((*this)[i] != (*this)[0]) return false;
  return true;
}
bool PerFreedom::operator==(const PerFreedom& other) const {
  for (int i = 0; i < most; ++i)
    if ((*this)[i] != other[i]) return false;
  return true;
}

LinkSpec& ModelSpec::add_link(LinkSpec link) { return links.emplace_back(std::move(link)); }
JointSpec& ModelSpec::add_joint(JointSpec joint) { return joints.emplace_back(std::move(joint)); }
FrameSpec& ModelSpec::add_frame(FrameSpec frame) { return frames.emplace_back(std::move(frame)); }

std::string describe(const Finding& finding) {
  using Severity = Finding::Severity;
  const char* severity = finding.severity == Severity::error     ? "error: "
                         : finding.severity == Severity::warning ? "warning: "
                                                                 : "note: ";
  const std::string place = finding.where.empty() ? "" : finding.where + ": ";
  return place + severity + finding.message;
}

}  // namespace articula
