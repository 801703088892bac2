// URDF's names of joint kinds.
#pragma once

#include <string_view>

#include "articula/model/spec.hpp"

namespace articula {

struct UrdfKind {
  std::string_view name;
  JointKind kind;
};
inline constexpr UrdfKind urdf_kinds[] = {
    {"revolute", JointKind::revolute},   {"continuous", JointKind::continuous},
    {"prismatic", JointKind::prismatic}, {"fixed", JointKind::fixed},
    {"planar", JointKind::planar},       {"floating", JointKind::free},
    {"spherical", JointKind::spherical},  // beyond the specification, but RaiSim, Bullet and Habitat have it
};

}  // namespace articula
