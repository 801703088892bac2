// Other simulators from Debian packages, on the same mechanism: built only where they are found.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "articula/model/model.hpp"

namespace articula::bench {

/// One way to simulate a model: steps of h, the total energy at any time.
struct Contender {
  std::string name;
  std::function<void(long steps)> advance;
  std::function<double()> energy;
};

/// What a peer needs to know of a body: revolute, prismatic and free joints only.
struct PeerBody {
  std::string name;
  int inboard;  // -1: the world
  JointKind kind;
  Pose placement;  // joint frame at zero in the inboard body's link axes
  Vec3<double> axis;
  MassProperties mass;
  double armature;
  int q, v;
};
std::vector<PeerBody> peer_bodies(const Model& model);

/// Each starts at q and v of the model (its conventions), without limits, damping, friction or contacts.
/// Integrators: as each names them.
std::vector<Contender> mujoco_contenders(const Model& model, const std::vector<double>& q,
                                         const std::vector<double>& v, double h);
std::vector<Contender> simbody_contenders(const Model& model, const std::vector<double>& q,
                                          const std::vector<double>& v, double h);
std::vector<Contender> dart_contenders(const Model& model, const std::vector<double>& q,
                                       const std::vector<double>& v, double h);

}  // namespace articula::bench
