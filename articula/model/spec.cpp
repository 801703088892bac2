#include "articula/model/spec.hpp"

#include <utility>

namespace articula {

namespace {
struct KindFacts {
  std::string_view name;
  int nq, nv;
};

constexpr KindFacts facts_of(JointKind kind) {
  switch (kind) {
    case JointKind::fixed:
      return {"fixed", 0, 0};
    case JointKind::revolute:
      return {"revolute", 1, 1};
    case JointKind::continuous:
      return {"continuous", 1, 1};
    case JointKind::prismatic:
      return {"prismatic", 1, 1};
    case JointKind::helical:
      return {"helical", 1, 1};
    case JointKind::cylindrical:
      return {"cylindrical", 2, 2};
    case JointKind::universal:
      return {"universal", 2, 2};
    case JointKind::planar:
      return {"planar", 3, 3};
    case JointKind::spherical:
      return {"spherical", 4, 3};
    case JointKind::free:
      return {"free", 7, 6};
  }
  return {"unknown", 0, 0};
}
}  // namespace

std::string_view name_of(JointKind kind) { return facts_of(kind).name; }
int nq_of(JointKind kind) { return facts_of(kind).nq; }
int nv_of(JointKind kind) { return facts_of(kind).nv; }

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
