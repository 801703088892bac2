// From an SDF file's elements to a specification.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "articula/files/sdf_frames.hpp"
#include "articula/files/sdf_tree.hpp"
#include "articula/files/spanning_tree.hpp"

namespace articula::sdf {

/// A link of the assembly.
struct Placed {
  const Link* link;
  std::string name;
  Pose pose;  // in the world
  bool is_static;
};
/// A joint, with the links that it joins by index; -1 is the world.
struct Joining {
  const Joint* joint;
  std::string name;
  int parent, child;
  Pose pose;  // in the world, at zero
  JointKind kind;
  Vec3<double> axes[2]{};  // joint axes
  Pose in_parent{}, in_child{};
};

using Names = std::unordered_set<std::string>;
/// That, or with underscores behind it: one that is not taken.
std::string new_name(std::string name, const Names& taken);
/// Can a joint of this kind be a LoopSpec?
bool closes_loops(JointKind kind);

class Assembly {
 public:
  explicit Assembly(const Document& document) : document_(document), frames_(out_.findings) {
    out_.findings = document.findings;
  }
  LoadedModel build();

 private:
  void place(const Model& model, const std::string& prefix, const Pose& pose, bool is_static);
  void join(const Model& model, const std::string& prefix, const Pose& pose);
  void add_frames(const Model& model, const std::string& prefix, const Pose& pose);
  void couple();
  void add_links();
  void hang_roots();
  void hang(int link, JointKind kind);
  /// `carried`, if given: the link that it carries instead of the one it names.
  void add_joint(const Joining& joining, bool turned, const std::string& carried = "");
  void add_part(JointSpec joint, const Pose& in_parent, const Pose& in_child, bool turned);
  void add_loop(const Joining& joining);
  void add_halved(const Joining& joining);
  JointSpec spec_of(const Joining& joining);
  Pose in_link(const Pose& pose, int link) const {
    return link < 0 ? pose : inverse(links_[std::size_t(link)].pose) * pose;
  }
  /// Of joint i in a link that the model calls `name`: as the file has it, where that leads from one to the other.
  Pose relative(const Model& model, std::size_t i, const std::string& name, const Pose& pose, int link) {
    const auto named = model.names.find(name);
    if (named != model.names.end() && named->second.kind == Named::link)
      if (const auto told = frames_.told(model, {Named::joint, i}, named->second)) return *told;
    return in_link(pose, link);
  }
  std::string link_name(int link) const {
    return link < 0 ? std::string(world) : links_[std::size_t(link)].name;
  }
  /// Of a model in the world: a single one needs none.
  std::string prefix_of(const Model& model) const {
    return document_.world.models.size() > 1 ? model.name + "::" : "";
  }
  int index_of(const Frames::Body& body) const { return body.link ? index_.at(body.link) : -1; }
  /// Inside a static model, and between two of them, nothing moves.
  bool stands(int link) const { return link < 0 || links_[std::size_t(link)].is_static; }
  void warn(const std::string& where, std::string message) {
    out_.findings.push_back({Finding::Severity::warning, where, std::move(message)});
  }
  void fail(const std::string& where, std::string message) {
    out_.findings.push_back({Finding::Severity::error, where, std::move(message)});
  }

  const Document& document_;
  LoadedModel out_;
  Frames frames_;
  std::vector<Placed> links_;
  std::unordered_map<const Link*, int> index_;
  std::vector<Joining> joints_;
  std::vector<std::pair<const Model*, const Joint*>> gearboxes_;
  SpanningTree tree_;
  Names link_names_{std::string(world)}, joint_names_;  // taken: those of links and frames, and of joints
};

}  // namespace articula::sdf
