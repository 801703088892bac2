// Other simulators from Debian packages, on the same mechanism: built only where they are found. Plain C++17,
// and nothing of Articula: that is what their headers compile with.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace articula::bench {

/// One way to simulate a model: steps of h, the total energy at any time.
struct Contender {
  std::string name;
  std::function<void(long steps)> advance;
  std::function<double()> energy;
};

/// Revolute, prismatic and free joints only. Numbers as in Articula: row by row; rotation first; x y z w.
struct PeerBody {
  enum class Kind { revolute, prismatic, free } kind;
  std::string name;
  int inboard;          // -1: the world
  double R[9], p[3];    // joint frame at zero in the inboard body's link axes
  double axis[3];       // in joint axes
  double mass, com[3];  // in link axes, from the joint origin
  double inertia[6];    // about the mass centre: xx yy zz xy xz yz
  int q, v;             // of the joint in the state
};
struct PeerModel {
  std::vector<PeerBody> bodies;  // parents first
  double gravity[3];
  std::vector<double> q, v;  // the start
};

/// Without limits, damping, friction or contacts. Integrators: as each names them.
std::vector<Contender> mujoco_contenders(const PeerModel& model, double h);
std::vector<Contender> simbody_contenders(const PeerModel& model, double h);
std::vector<Contender> dart_contenders(const PeerModel& model, double h);

}  // namespace articula::bench
