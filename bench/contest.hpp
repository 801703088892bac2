// What is raced: the same algorithm by Articula and by its peers, on the same model and states. Plain C++17
// and nothing of Articula: that is what the peers' headers compile with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace articula::bench {

constexpr int state_count = 16;  // a power of two: calls go round them

/// One algorithm by one contender. Results are in Articula's conventions whoever made them, row by row:
///
///   inverse_dynamics bias_forces gravity_forces             nv joint forces
///   forward_dynamics constrained_dynamics                   nv accelerations
///   impulse                                                 nv velocities after it, the contacts at rest
///   solve_mass_matrix                                       nv: M^-1 tau
///   mass_matrix inverse_mass_matrix                         nv x nv
///   coriolis_matrix                                         nv: C v, for C is not unique
///   poses (q), velocities (q, v), kinematics (q, v, a)      of every body; the frame's pose, with v also its
///                                                           velocity, with a also its acceleration
///   jacobian                                                6 x nv of the frame, rotation first, world axes
///   energies                                                kinetic, potential (zero at the world's origin)
///   linearized_inverse, linearized_forward                  by q, by v, by a or tau: nv x nv each
///   linearized_constrained, linearized_impulse              likewise; of impulses by q and by v
///   operational_omega, operational_lambda                   6 x 6: J M^-1 J* of the frame, and its inverse
struct Entry {
  std::string algorithm;
  std::function<void(long calls)> run;                   // on one state after the other, and round again
  std::function<std::vector<double>(int state)> result;  // empty: nothing to compare
  std::string counted{};                                 // its name among the counted algorithms
  std::size_t bytes = 0;                                 // of its workspace
  /// As run, for as many states, but each call's nv x nv matrices end where the caller wants them: matrix i of call n
  /// at to[i] + n nv nv. Null: it cannot.
  std::function<void(long calls, double* const* to)> keep{};
};

/// call(state) is what is timed; result(state) reads what it left.
template <class Call, class Result>
Entry entry(std::string algorithm, Call call, Result result) {
  return {std::move(algorithm),
          // Goes on where it stopped: a library might remember the state of the last call.
          [call, at = 0](long calls) mutable {
            for (long i = 0; i < calls; ++i) call(at++ & (state_count - 1));
          },
          [call, result](int state) {
            call(state);
            return result(state);
          }};
}

/// One way to simulate a model: steps of h, the total energy at any time.
struct Simulation {
  std::string name;
  int order;  // 1 or 4
  std::function<void(long steps)> advance;
  std::function<double()> energy;
};

/// Revolute (continuous ones too: one angle), prismatic and free joints only. Numbers as in Articula: row by row; rotation first; x y z w.
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
struct PeerState {
  std::vector<double> q, v, a, tau;
};
struct PeerModel {
  std::string urdf;  // its file, or empty
  bool free_base;
  int nq, nv;
  std::vector<PeerBody> bodies;     // parents first
  std::vector<std::string> joints;  // their names
  double gravity[3];
  std::vector<PeerState> states;  // state_count of them
  struct Point {
    std::string name;
    int body;
    double R[9], p[3];  // in the body's link axes
  };
  Point frame;                  // of Jacobians and operational quantities
  std::vector<Point> contacts;  // held on the ground in constrained_dynamics; none: not asked for
  bool is_chain() const {
    for (std::size_t k = 0; k < bodies.size(); ++k)
      if (bodies[k].inboard != int(k) - 1) return false;
    return true;
  }
  /// The first velocity of each body, for libraries that number them in our order.
  std::vector<int> velocity_indices() const {
    std::vector<int> at;
    int v = 0;
    for (const PeerBody& b : bodies) {
      at.push_back(v);
      v += b.kind == PeerBody::Kind::free ? 6 : 1;
    }
    return at;
  }
};

/// Another library. Both throw std::exception for a model that it cannot take.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Entry> entries(const PeerModel& model) const = 0;
  /// From state 0, with steps of h; without limits, damping, friction or contacts.
  virtual std::vector<Simulation> simulations(const PeerModel& model, double h) const = 0;
};
using Peers = std::vector<std::unique_ptr<Peer>>;

// Those that CMake found (peers.cpp), and a plug-in (peer.hpp).
std::unique_ptr<Peer> mujoco_peer();
std::unique_ptr<Peer> simbody_peer();
std::unique_ptr<Peer> dart_peer();
std::unique_ptr<Peer> kdl_peer();
std::unique_ptr<Peer> plugin_peer(const std::string& file);
Peers found_peers();

}  // namespace articula::bench
