// Models from Denavit-Hartenberg tables, standard and modified.
#pragma once

#include <string>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

enum class DhConvention {
  /// Frame i at the far end of link i, Rz(theta) Tz(d) Tx(a) Rx(alpha); joint i turns about z of frame i - 1.
  standard,
  /// Craig's: frame i at joint i, Rx(alpha) Tx(a) Rz(theta) Tz(d); a and alpha are those of link i - 1.
  modified
};

/// One joint and the link that it moves. The coordinate is added to theta (revolute, continuous) or to d
/// (prismatic).
struct DhRow {
  double a = 0, alpha = 0, d = 0, theta = 0;  // metres, radians
  JointKind kind = JointKind::revolute;
  MassProperties mass{};  // in the axes of DH frame i, mass centre from its origin
  double armature = 0, damping = 0, friction = 0;
  JointLimits limits{};
  std::string joint_name{};  // empty: "joint1", "joint2", ...
  std::string link_name{};   // empty: "link1", "link2", ...
};

struct DhTable {
  std::string name = "dh_table";
  DhConvention convention = DhConvention::standard;
  std::vector<DhRow> rows;
  Pose base{};  // of DH frame 0 in the base link
  Pose tool{};  // of the tool in the last DH frame
};

/// Links "base", "link1", ..., each with its frame at its joint; the DH frames are kept as named frames
/// "dh0", "dh1", ..., "tool". (With the standard convention DH frame i is at the far end of link i, not where
/// the link's own frame is.) Throws ModelError naming the row that cannot be used.
ModelSpec spec_of(const DhTable& table);

}  // namespace articula
