// A specification placed at random coordinates, for judging what its joints have to move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "articula/model/massless_joints.hpp"
#include "articula/spatial/inertia.hpp"

namespace articula {

/// One row of H: a motion of the link, world axes, at the link's origin; and how to say it.
struct HingeRow {
  Spatial<double> h;
  Vec3<double> axis;   // link axes
  const char* motion;  // "turning about"
  int joint, freedom;  // of the specification; joint -1: the base
  double armature;
};
/// "turning about (0, 0, 1)"
std::string say(const HingeRow& row);

struct PlacedLink {
  Mat3<double> R = Mat3<double>::identity();  // link axes in the world
  Vec3<double> l{0, 0, 0};                    // from the parent link's origin, world axes
  int first_row = 0, rows = 0;
};

struct Posture {
  std::vector<PlacedLink> links;
  std::vector<HingeRow> rows;
  double size = 1;  // a length of the mechanism, whatever its units
};

/// The same on every machine.
Posture random_posture(const ModelSpec& spec, const ResolvedTree& tree, Base base, std::uint64_t seed);

/// A link's inertia at its origin, link axes R in the world.
Inertia<double> inertia_of(const MassProperties& mass, const Mat3<double>& R);

}  // namespace articula
