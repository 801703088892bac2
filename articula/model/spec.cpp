#include "articula/model/spec.hpp"

#include <utility>

#include "articula/model/hinges.hpp"

namespace articula {

static_assert(PerFreedom::most == max_freedoms);

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
