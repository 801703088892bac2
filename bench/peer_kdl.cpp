// Orocos KDL: joints with one axis on a fixed base. Trees have inverse dynamics and Jacobians there, serial
// chains all the rest. It has no energies, inverse mass matrix, simulation or free base.
#include <kdl/config.h>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainfksolvervel_recursive.hpp>
#include <kdl/chainhdsolver_vereshchagin.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacsolver.hpp>
#include <kdl/treeidsolver_recursive_newton_euler.hpp>
#include <kdl/treejnttojacsolver.hpp>

#include <stdexcept>

#include "bench/coordinates.hpp"

namespace articula::bench {

namespace {

using namespace KDL;

KDL::Vector vec(const double* x) { return {x[0], x[1], x[2]}; }
Frame frame(const double* R, const double* p) {
  return {Rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]), vec(p)};
}
Segment segment(const PeerBody& b) {
  // Its joints are placed and directed in the inboard segment's frame.
  const Frame at = frame(b.R, b.p);
  const Joint joint(b.name + "_joint", at.p, at.M * vec(b.axis),
                    b.kind == PeerBody::Kind::prismatic ? Joint::TransAxis : Joint::RotAxis);
  const double* I = b.inertia;
  return Segment(b.name, joint, at,
                 RigidBodyInertia(b.mass, vec(b.com), RotationalInertia(I[0], I[1], I[2], I[3], I[4], I[5])));
}

struct World {
  PeerModel model;
  Tree tree{"world"};
  Chain chain;
  std::vector<int> theirs;  // joint of each body
  struct Prepared {
    JntArray q, v, a, tau;
    JntArrayVel qv;
  };
  std::vector<Prepared> states;
  JntArray out;
  explicit World(const PeerModel& given) : model(given) {
    for (const PeerBody& b : model.bodies) {
      if (b.kind == PeerBody::Kind::free) throw std::runtime_error("KDL has no free base");
      const Segment s = segment(b);
      tree.addSegment(s, b.inboard < 0 ? "world" : model.bodies[b.inboard].name);
      if (model.is_chain()) chain.addSegment(s);
    }
    for (const PeerBody& b : model.bodies)
      theirs.push_back(model.is_chain() ? b.v : int(GetTreeElementQNr(tree.getSegment(b.name)->second)));
    for (const PeerState& s : model.states) {
      const auto take = [&](const std::vector<double>& x, bool q) {
        JntArray y(model.nv);
        for (std::size_t k = 0; k < theirs.size(); ++k)
          y(theirs[k]) = x[q ? model.bodies[k].q : model.bodies[k].v];
        return y;
      };
      Prepared t{take(s.q, true), take(s.v, false), take(s.a, false), take(s.tau, false), {}};
      t.qv = JntArrayVel(t.q, t.v);
      states.push_back(t);
    }
    out.resize(model.nv);
  }
  /// From a point of the last body to the frame.
  Frame offset() const { return frame(model.frame.R, model.frame.p); }
  std::vector<double> forces(const JntArray& x) const {
    std::vector<double> y(model.nv);
    for (std::size_t k = 0; k < theirs.size(); ++k) y[model.bodies[k].v] = x(theirs[k]);
    return y;
  }
  /// Theirs is linear first, at the last body's origin.
  std::vector<double> jacobian(const KDL::Jacobian& J, const KDL::Vector& to_frame) const {
    KDL::Jacobian moved = J;
    moved.changeRefPoint(to_frame);
    std::vector<double> y(6 * model.nv);
    for (std::size_t k = 0; k < theirs.size(); ++k)
      for (int i = 0; i < 6; ++i) y[i * model.nv + model.bodies[k].v] = moved((i + 3) % 6, theirs[k]);
    return y;
  }
};

class Kdl : public Peer {
 public:
  std::string name() const override { return "KDL " KDL_VERSION_STRING; }

  std::vector<Entry> entries(const PeerModel& model) const override {
    const auto w = std::make_shared<World>(model);
    const KDL::Vector g = vec(model.gravity);
    const auto forces = [w](int) { return w->forces(w->out); };
    std::vector<Entry> all;
    if (!model.is_chain()) {
      const auto id = std::make_shared<TreeIdSolver_RNE>(w->tree, g);
      all.push_back(entry(
          "inverse_dynamics",
          [w, id, none = WrenchMap()](int i) {
            const auto& s = w->states[i];
            id->CartToJnt(s.q, s.v, s.a, none, w->out);
          },
          forces));
      return all;
    }
    const auto id = std::make_shared<ChainIdSolver_RNE>(w->chain, g);
    const auto fd = std::make_shared<ChainFdSolver_RNE>(w->chain, g);
    const auto terms = std::make_shared<ChainDynParam>(w->chain, g);
    const auto position = std::make_shared<ChainFkSolverPos_recursive>(w->chain);
    const auto velocity = std::make_shared<ChainFkSolverVel_recursive>(w->chain);
    const auto jacobian = std::make_shared<ChainJntToJacSolver>(w->chain);
    const KDL::Wrenches none(w->chain.getNrOfSegments());
    all.push_back(entry(
        "inverse_dynamics",
        [w, id, none](int i) {
          const auto& s = w->states[i];
          id->CartToJnt(s.q, s.v, s.a, none, w->out);
        },
        forces));
    all.push_back(entry(
        "forward_dynamics",
        [w, fd, none](int i) {
          const auto& s = w->states[i];
          fd->CartToJnt(s.q, s.v, s.tau, none, w->out);
        },
        forces));
    // The other forward dynamics, O(n): a hybrid solver, with one constraint along no direction.
    struct Hybrid {
      ChainHdSolver_Vereshchagin solver;
      KDL::Jacobian alpha{1};
      JntArray beta{1}, torques;
      Hybrid(const Chain& chain, const KDL::Vector& g, int nv)
          : solver(chain, Twist(-g, KDL::Vector::Zero()), 1), torques(nv) {
        SetToZero(alpha);
      }
    };
    const auto hybrid = std::make_shared<Hybrid>(w->chain, g, model.nv);
    all.push_back(entry(
        "forward_dynamics",
        [w, hybrid, none](int i) {
          const auto& s = w->states[i];
          hybrid->solver.CartToJnt(s.q, s.v, w->out, hybrid->alpha, hybrid->beta, none, s.tau,
                                   hybrid->torques);
        },
        forces));
    const auto zero = std::make_shared<JntArray>(model.nv);
    all.push_back(entry(
        "bias_forces",
        [w, id, zero, none](int i) { id->CartToJnt(w->states[i].q, w->states[i].v, *zero, none, w->out); },
        forces));
    all.push_back(entry(
        "gravity_forces", [w, terms](int i) { terms->JntToGravity(w->states[i].q, w->out); }, forces));
    const auto M = std::make_shared<JntSpaceInertiaMatrix>(model.nv);
    all.push_back(entry(
        "mass_matrix", [w, terms, M](int i) { terms->JntToMass(w->states[i].q, *M); },
        [M](int) { return std::vector<double>(M->data.data(), M->data.data() + M->data.size()); }));
    const auto at = std::make_shared<Frame>();
    all.push_back(entry(
        "poses", [w, position, at](int i) { position->JntToCart(w->states[i].q, *at); },
        [w, at](int) {
          const Frame f = *at * w->offset();
          std::vector<double> out(f.M.data, f.M.data + 9);
          out.insert(out.end(), f.p.data, f.p.data + 3);
          return out;
        }));
    const auto moving = std::make_shared<FrameVel>();
    all.push_back(entry(
        "velocities", [w, velocity, moving](int i) { velocity->JntToCart(w->states[i].qv, *moving); },
        [w, moving](int) {
          const Twist t = moving->GetTwist().RefPoint(moving->M.R * w->offset().p);
          return std::vector<double>{t.rot.x(), t.rot.y(), t.rot.z(), t.vel.x(), t.vel.y(), t.vel.z()};
        }));
    const auto J = std::make_shared<KDL::Jacobian>(model.nv);
    all.push_back(entry(
        "jacobian", [w, jacobian, J](int i) { jacobian->JntToJac(w->states[i].q, *J); },
        [w, position, J](int i) {
          Frame end;
          position->JntToCart(w->states[i].q, end);
          return w->jacobian(*J, end.M * w->offset().p);
        }));
    return all;
  }

  std::vector<Simulation> simulations(const PeerModel&, double) const override { return {}; }
};

}  // namespace

std::unique_ptr<Peer> kdl_peer() { return std::make_unique<Kdl>(); }

}  // namespace articula::bench
