// What the edits of a specification share: finding what a name stands for.
#pragma once

#include <string>
#include <string_view>

#include "articula/model/spec.hpp"

namespace articula::edit {

// Throw ArgumentError that suggests a name if there is none.
LinkSpec& find_link(ModelSpec& spec, std::string_view name);
JointSpec& find_joint(ModelSpec& spec, std::string_view name);
bool has_link(const ModelSpec& spec, std::string_view name);

/// A link or named frame as a place on a link (or on the world).
struct Place {
  std::string link;
  Pose pose;
};
Place find_place(const ModelSpec& spec, std::string_view name);

/// `name`, or that with 2, 3, .. behind it: one that no link and no frame has, or no joint.
std::string new_link_name(const ModelSpec& spec, std::string name);
std::string new_joint_name(const ModelSpec& spec, std::string name);

}  // namespace articula::edit
