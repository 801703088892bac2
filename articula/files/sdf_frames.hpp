// The frames of an SDF file resolved: where each is, and which link it moves with. Names are told from a model's point of
// view: of its own, `model::name` of what is in nested ones, __model__ of the model itself.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "articula/files/sdf_tree.hpp"

namespace articula::sdf {

class Frames {
 public:
  /// Names that stand for nothing, and frames that are relative to themselves, are errors among the findings.
  explicit Frames(std::vector<Finding>& findings) : findings_(findings) {}

  /// In the axes of the model's frame; `where` is who asks. NaN after an error.
  Pose pose(const Model& model, std::string_view name, const std::string& where);
  Pose pose(const Model& model, Named named);

  /// Of a frame in another, if it is told relative to that one in a few steps: without the rounding of other ways.
  std::optional<Pose> told(const Model& model, Named frame, Named in);

  struct Body {
    const Link* link = nullptr;  // nullptr: the world
    bool operator==(const Body&) const = default;
  };
  std::optional<Body> body(const Model& model, std::string_view name, const std::string& where);

 private:
  using Key = std::pair<const Model*, Named>;
  /// Where a frame is told from: another frame of the model, and a pose there.
  struct Origin {
    std::optional<Named> from;  // nothing: the model's frame
    Pose pose;
  };
  std::optional<Named> look_up(const Model& model, std::string_view name, const std::string& where);
  Origin origin(const Model& model, std::string_view name, const std::string& where);
  Pose own_pose(const Model& model, Named named);
  void error(const std::string& where, std::string message);

  std::vector<Finding>& findings_;
  std::map<Key, Pose> poses_;
  std::map<Key, std::optional<Body>> bodies_;
};

Pose pose_in(const Model& model, std::string_view name, std::vector<Finding>& findings);

/// Does the name of a joint's parent or child stand for the world? (Unless a link is called so.)
bool is_world(const Model& model, std::string_view name);

/// The link that a model's frame moves with, as a name in the model; empty if it has none.
std::string canonical_link(const Model& model);

}  // namespace articula::sdf
