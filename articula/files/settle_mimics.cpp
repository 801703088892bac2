#include "articula/files/settle_mimics.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "articula/files/xml_text.hpp"

namespace articula {

void settle_mimics(ModelSpec& spec, const std::map<std::string, std::string>& places,
                   std::vector<Finding>& findings) {
  std::map<std::string_view, JointSpec*> joints;
  for (JointSpec& joint : spec.joints) joints.emplace(joint.name, &joint);
  const auto drop = [&](JointSpec& joint, std::string_view why) {
    const auto place = places.find("joint " + in_quotes(joint.name));
    findings.push_back({Finding::Severity::warning, place == places.end() ? joint.where : place->second,
                        fmt::format("joint {} mimics {}, {}; it moves by itself: correct or remove the mimic",
                                    in_quotes(joint.name), in_quotes(joint.mimic->joint), why)});
    joint.mimic.reset();
  };
  for (JointSpec& joint : spec.joints) {
    if (!joint.mimic) continue;
    const auto source = joints.find(joint.mimic->joint);
    if (source == joints.end())
      drop(joint, "which does not exist");
    else if (nv_of(source->second->kind) != 1)
      drop(joint, fmt::format("a {} joint: one with one freedom is expected", name_of(source->second->kind)));
  }
  // A chain of mimics that comes back is cut where it does. Joints that are `settled` lead to an end.
  std::set<const JointSpec*> settled;
  for (JointSpec& joint : spec.joints) {
    std::set<const JointSpec*> path;
    for (JointSpec* at = &joint; at->mimic && !settled.contains(at); at = joints.at(at->mimic->joint)) {
      path.insert(at);
      if (path.contains(joints.at(at->mimic->joint))) drop(*at, "which in the end mimics it");
      if (!at->mimic) break;
    }
    settled.merge(path);
  }
}

}  // namespace articula
