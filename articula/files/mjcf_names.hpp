// Bodies, joints, sites and tendons of an MJCF model by name, for what refers to them.
#pragma once

#include "articula/files/mjcf_tree.hpp"

namespace articula::mjcf {

/// A joint of the model, in the order of its coordinates.
struct NumberedJoint {
  std::string name;
  JointKind kind;
  double reference;
  Pose pose;  // of a free one: of its body
};

struct FixedTendon {
  struct Term {
    int joint;
    double coefficient;
  };
  std::vector<Term> terms;
};

struct PlacedSite {
  int body;  // -1: the world
  Pose pose;
};

struct Names {
  std::map<std::string, int, std::less<>> bodies, joints, sites, tendons;
  std::vector<std::string> links;  // of the specification, by body
  std::vector<Pose> body_poses;    // in the world, at the pose that the file states
  std::vector<NumberedJoint> numbered;
  std::vector<PlacedSite> placed_sites;
  std::vector<FixedTendon> fixed_tendons;

  const std::string& link_of(int body) const;
  Pose pose_of_body(int body) const { return body < 0 ? Pose{} : body_poses[std::size_t(body)]; }
};

/// The elements of a section, with the values of their class for `tag`.
std::vector<Attributes> elements_of(const Instance& instance, std::string_view section, std::string_view tag,
                                    Files& files);

/// The pose that the file states as state qpos0, and the keyframes of the main file.
void read_states(const Instance& main, const Names& names, Files& files, LoadedModel& out);
/// Equalities, tendons and actuators of every instance, into the model.
void read_references(const Tree& tree, Names& names, Files& files, LoadedModel& out);

}  // namespace articula::mjcf
