// Everything wrong or suspicious in a specification: mimic joints, joints without inertia, and all the rest in turn.
#include <algorithm>

#include "articula/model/audit.hpp"
#include "articula/model/findings.hpp"

namespace articula {

Audit examine(const ModelSpec& spec, Base base) { return Examination(spec, base).run(); }

std::vector<Finding> find_problems(const ModelSpec& spec, Base base) { return examine(spec, base).findings; }

std::string first_and_more(const std::vector<Finding>& findings, Finding::Severity severity) {
  const auto wanted = [&](const Finding& f) { return f.severity == severity; };
  const auto first = std::find_if(findings.begin(), findings.end(), wanted);
  if (first == findings.end()) return "";
  const auto more = std::count_if(first + 1, findings.end(), wanted);
  return describe(*first) + (more > 0 ? fmt::format(" (and {} more: see `articula check`)", more) : "");
}

void throw_first_error(const std::vector<Finding>& findings) {
  const std::string told = first_and_more(findings, Finding::Severity::error);
  if (!told.empty()) throw ModelError(told);
}

Audit Examination::run() {
  check_names();
  check_connections();
  check_tree();
  check_extras();
  for (const auto& link : spec_.links) check_link(link);
  for (const auto& joint : spec_.joints) check_joint(joint);
  for (const auto& frame : spec_.frames) check_frame(frame);
  check_mimics();
  if (errors_ == 0) check_joint_inertias();
  if (errors_ == 0) check_units();
  std::stable_partition(findings_.begin(), findings_.end(),
                        [](const Finding& f) { return f.severity == Finding::Severity::error; });
  return {std::move(findings_), std::move(massless_)};
}

// --- mimic joints -----------------------------------------------------------------------------------
void Examination::check_mimics() {
  std::vector<int> direct(spec_.joints.size(), -1);
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    if (!spec_.joints[j].mimic) continue;
    const int source = joints_.find(spec_.joints[j].mimic->joint);
    if (check_mimic(spec_.joints[j], source)) direct[j] = source;
  }
  resolve_mimic_chains(direct);
}

bool Examination::check_mimic(const JointSpec& joint, int source) {
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
void Examination::resolve_mimic_chains(const std::vector<int>& direct) {
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

// --- joints without inertia -------------------------------------------------------------------------
std::string Examination::outboard_of(int link) const {
  std::vector<int> reached{link};
  std::vector<std::string_view> names;
  constexpr std::size_t enough = 64;  // the count is exact only below it
  for (std::size_t i = 0; i < reached.size() && i < enough; ++i) {
    const std::size_t k = std::size_t(reached[i]);
    if (names.size() < 5) names.push_back(spec_.links[k].name);
    for (int c = first_child_[k]; c < first_child_[k + 1]; ++c) reached.push_back(children_[std::size_t(c)]);
  }
  return list_of_names(names, reached.size());
}

void Examination::check_joint_inertias() {
  constexpr std::size_t most = 20;  // one missing mass condemns every joint inboard of it
  massless_ = massless_freedoms(spec_, tree_, base_);
  for (std::size_t i = 0; i < massless_.size(); ++i) {
    const MasslessFreedom& f = massless_[i];
    const LinkSpec& link = spec_.links[std::size_t(f.link)];
    const std::string& where = f.joint < 0 ? link.where : spec_.joints[std::size_t(f.joint)].where;
    if (i == most) {
      warning(where, "{} more freedoms have no inertia to move", massless_.size() - most);
      break;
    }
    const std::string who = f.joint < 0 ? fmt::format("the free base, link '{}',", link.name)
                                        : fmt::format("joint '{}'", spec_.joints[std::size_t(f.joint)].name);
    warning(where, "{} has {} when {} (axes of link '{}'): {}; forward dynamics will fail: {}", who,
            f.is_negative ? "a negative inertia to move" : "no inertia to move", f.motion, link.name,
            why_massless(f),
            f.joint < 0 ? "give it mass and inertia"
                        : "give them mass off the axis or inertia about it, or give the joint an armature");
  }
  std::erase_if(massless_, [](const MasslessFreedom& f) { return f.is_negative; });
}

std::string Examination::why_massless(const MasslessFreedom& f) const {
  const std::string outboard = outboard_of(f.link);
  if (f.is_negative)
    return fmt::format("the inertias of the bodies outboard ({}) are not those of real bodies", outboard);
  if (f.bodies_have_inertia)
    return fmt::format(
        "the joints outboard let the bodies outboard ({}) stay behind, so that nothing resists", outboard);
  return fmt::format("the bodies outboard ({}) have no inertia against it", outboard);
}

}  // namespace articula
