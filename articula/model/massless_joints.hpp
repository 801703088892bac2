// Which joints have no inertia to move, decided by the factor of the mass matrix.
#pragma once

#include <string>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula {

/// A specification whose names are resolved and whose links form trees; see find_problems.
struct ResolvedTree {
  std::vector<int> parent_link;   // by link; -1: the world
  std::vector<int> parent_joint;  // by link; -1: a root link, held by the base
  std::vector<int> order;         // links, parents before children
  std::vector<int>
      mimic_source;  // by joint; the independent joint at the end of its mimic chain, -1: no mimic
  std::vector<double> mimic_multiplier;  // by joint; the product along that chain
};

/// A freedom that nothing resists: forward dynamics would divide by zero.
struct MasslessFreedom {
  int link;                  // that it moves
  int joint;                 // -1: the free joint between the world and a free base
  int freedom;               // of that joint
  std::string motion;        // "turning about (0, 0, 1)", in the axes of `link`
  bool bodies_have_inertia;  // yes: outboard joints take up the motion; no: the bodies outboard offer none
  bool is_negative;          // D is below zero in some posture: inertias of no real body
  double scale;              // what D's rounding errors are relative to
};

/// D(k) = H P H* + armature at two fixed pseudo-random configurations. The mass matrix is
/// [Id + H phi K] D [Id + H phi K]* (docs/math.md 2): it is regular exactly if every D(k) is. Numbers must be
/// finite and axes nonzero.
std::vector<MasslessFreedom> massless_freedoms(const ModelSpec& spec, const ResolvedTree& tree, Base base);

}  // namespace articula
