// Models from screw axes: the product of exponentials of K. M. Lynch, F. C. Park, "Modern Robotics" (MR9).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "articula/model/model.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula {

/// Joint i and link i of MR9 (9.37): T_0i = exp([S_1] q_1) ... exp([S_i] q_i) M_i.
struct ScrewLink {
  Spatial<double> screw{{0, 0, 1},
                        {0, 0, 0}};  // S_i = (w, v) in the space frame at zero; |w| = 1, or w = 0 and |v| = 1
  Pose home{};                       // M_i: link frame i in the space frame at zero
  MassProperties mass{};  // in link frame i; MR9 puts that frame at the mass centre, here it need not be
  double armature = 0, damping = 0, friction = 0;
  JointLimits limits{};
  std::string joint_name{};  // empty: "joint1", "joint2", ...
  std::string link_name{};   // empty: "link1", "link2", ...
};

struct ScrewChain {
  std::string name = "screw_chain";
  std::vector<ScrewLink> links;
  Pose tool{};  // M: the tool in the space frame at zero
};

/// Links "base" (the space frame), "link1", ..., each with its frame on its joint's axis; link frames i are
/// kept as named frames "frame1", ..., the tool as "tool". A screw of pitch zero becomes a revolute joint,
/// one with w = 0 a prismatic one, any other a helical one. Throws ModelError naming the link whose screw
/// cannot be used.
ModelSpec spec_of(const ScrewChain& chain);

/// Mass properties of a spatial inertia G = [[J, m p~], [-m p~, m Id]], rotation first; MR9 (9.23) and (9.41)
/// are the case p = 0, a frame at the mass centre. Throws ModelError if G is not of that form.
MassProperties mass_properties(const std::array<std::array<double, 6>, 6>& G);

}  // namespace articula
