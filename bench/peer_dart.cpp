// DART. Setting positions, velocities or accelerations marks what depends on them as stale; asking computes
// it.
#include <dart/config.hpp>
#include <dart/dynamics/dynamics.hpp>
#include <dart/simulation/simulation.hpp>

#include "bench/coordinates.hpp"

namespace articula::bench {

namespace {

using namespace dart::dynamics;

Eigen::Vector3d vec(const double* x) { return {x[0], x[1], x[2]}; }
Eigen::VectorXd numbers(const std::vector<double>& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), long(x.size()));
}
using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class J>
BodyNode* add(const SkeletonPtr& skeleton, BodyNode* parent, const PeerBody& b,
              const BodyNode::Properties& body) {
  typename J::Properties joint;
  joint.mName = b.name + "_joint";
  joint.mT_ParentBodyToJoint = Eigen::Isometry3d::Identity();
  joint.mT_ParentBodyToJoint.linear() = Eigen::Map<const RowMajor3>(b.R);
  joint.mT_ParentBodyToJoint.translation() = vec(b.p);
  if constexpr (!std::is_same_v<J, FreeJoint>) joint.mAxis = vec(b.axis);
  return skeleton->createJointAndBodyNodePair<J>(parent, joint, body).second;
}

struct World {
  SkeletonPtr skeleton = Skeleton::create("model");
  PeerModel model;
  Coordinates coordinates;
  struct Prepared {
    Eigen::VectorXd q, v, a, tau;
  };
  std::vector<Prepared> states;
  BodyNode* body = nullptr;
  Eigen::MatrixXd M;
  Eigen::VectorXd out;
  dart::math::Jacobian J;

  explicit World(const PeerModel& given) : model(given), coordinates(given, given.velocity_indices(), {}) {
    std::vector<BodyNode*> made;
    for (const PeerBody& b : model.bodies) {
      const double* const I = b.inertia;
      BodyNode::Properties body;
      body.mName = b.name;
      Eigen::Matrix3d moments;
      moments << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
      body.mInertia = Inertia(b.mass, vec(b.com), moments);
      BodyNode* const parent = b.inboard < 0 ? nullptr : made[b.inboard];
      made.push_back(b.kind == PeerBody::Kind::free        ? add<FreeJoint>(skeleton, parent, b, body)
                     : b.kind == PeerBody::Kind::prismatic ? add<PrismaticJoint>(skeleton, parent, b, body)
                                                           : add<RevoluteJoint>(skeleton, parent, b, body));
    }
    skeleton->setGravity(vec(model.gravity));
    body = made[model.frame.body];
    for (const PeerState& s : model.states) {
      Prepared t{Eigen::VectorXd(model.nv), numbers(coordinates.to_peer(s, s.v.data())),
                 numbers(coordinates.acceleration_to_peer(s)), numbers(coordinates.to_peer(s, s.tau.data()))};
      for (std::size_t k = 0; k < model.bodies.size(); ++k) {
        const PeerBody& b = model.bodies[k];
        const double* q = s.q.data() + b.q;
        const long at = long(made[k]->getParentJoint()->getIndexInSkeleton(0));
        if (b.kind == PeerBody::Kind::free) {
          Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
          pose.linear() = Eigen::Quaterniond(q[3], q[0], q[1], q[2]).toRotationMatrix();
          pose.translation() = vec(q + 4);
          t.q.segment<6>(at) = FreeJoint::convertToPositions(pose);
        } else {
          t.q[at] = q[0];
        }
      }
      states.push_back(std::move(t));
    }
  }
  void place(int i) { skeleton->setPositions(states[i].q); }
  void place_and_move(int i) {
    place(i);
    skeleton->setVelocities(states[i].v);
  }
  const PeerState& ours(int i) const { return model.states[i]; }
};

class Dart : public Peer {
 public:
  std::string name() const override { return "DART " DART_VERSION; }

  std::vector<Entry> entries(const PeerModel& model) const override {
    const auto w = std::make_shared<World>(model);
    const auto forces = [w](int i) { return w->coordinates.from_peer(w->ours(i), w->out.data()); };
    const auto matrix = [w](int i) { return w->coordinates.matrix_from_peer(w->ours(i), w->M.data()); };
    std::vector<Entry> all;
    all.push_back(entry(
        "inverse_dynamics",
        [w](int i) {
          w->place_and_move(i);
          w->skeleton->setAccelerations(w->states[i].a);
          w->skeleton->computeInverseDynamics();
        },
        [w, forces](int i) {
          w->out = w->skeleton->getForces();
          return forces(i);
        }));
    all.push_back(entry(
        "forward_dynamics",
        [w](int i) {
          w->place_and_move(i);
          w->skeleton->setForces(w->states[i].tau);
          w->skeleton->computeForwardDynamics();
        },
        [w](int i) {
          w->out = w->skeleton->getAccelerations();
          return w->coordinates.acceleration_from_peer(w->ours(i), w->out.data());
        }));
    all.push_back(entry(
        "bias_forces",
        [w](int i) {
          w->place_and_move(i);
          w->out = w->skeleton->getCoriolisAndGravityForces();
        },
        forces));
    all.push_back(entry(
        "gravity_forces",
        [w](int i) {
          w->place(i);
          w->out = w->skeleton->getGravityForces();
        },
        forces));
    all.push_back(entry(
        "poses",
        [w](int i) {
          w->place(i);
          for (const BodyNode* body : w->skeleton->getBodyNodes()) body->getWorldTransform();
        },
        [w](int) {
          const Eigen::Isometry3d& at = w->body->getWorldTransform();
          std::vector<double> out(12);
          Eigen::Map<RowMajor3> R(out.data());
          R = at.linear() * Eigen::Map<const RowMajor3>(w->model.frame.R);
          Eigen::Map<Eigen::Vector3d>(out.data() + 9) = at * vec(w->model.frame.p);
          return out;
        }));
    all.push_back(entry(
        "velocities",
        [w](int i) {
          w->place_and_move(i);
          for (const BodyNode* body : w->skeleton->getBodyNodes()) body->getSpatialVelocity();
        },
        [w](int) {
          std::vector<double> out(6);
          Eigen::Map<Eigen::Vector3d>(out.data()) = w->body->getAngularVelocity();
          Eigen::Map<Eigen::Vector3d>(out.data() + 3) = w->body->getLinearVelocity(vec(w->model.frame.p));
          return out;
        }));
    all.push_back(entry(
        "kinematics",
        [w](int i) {
          w->place_and_move(i);
          w->skeleton->setAccelerations(w->states[i].a);
          for (const BodyNode* body : w->skeleton->getBodyNodes()) body->getSpatialAcceleration();
        },
        [w](int) {
          std::vector<double> out(6);
          Eigen::Map<Eigen::Vector3d>(out.data()) = w->body->getAngularAcceleration();
          Eigen::Map<Eigen::Vector3d>(out.data() + 3) = w->body->getLinearAcceleration(vec(w->model.frame.p));
          return out;
        }));
    all.push_back(entry(
        "jacobian",
        [w](int i) {
          w->place(i);
          w->J = w->skeleton->getJacobian(w->body, vec(w->model.frame.p), Frame::World());
        },
        [w](int i) {
          const RowMajor J = w->J;
          return w->coordinates.rows_from_peer(w->ours(i), J.data(), 6);
        }));
    const auto energies = std::make_shared<std::vector<double>>(2);
    all.push_back(entry(
        "energies",
        [w, energies, g = vec(model.gravity)](int i) {
          w->place_and_move(i);
          // Body by body: the skeleton's own sum of potentials does not agree with its mass centres.
          double kinetic = 0, potential = 0;
          for (const BodyNode* body : w->skeleton->getBodyNodes()) {
            kinetic += body->computeKineticEnergy();
            potential -= body->getMass() * g.dot(body->getCOM());
          }
          *energies = {kinetic, potential};
        },
        [energies](int) { return *energies; }));
    all.push_back(entry(
        "mass_matrix",
        [w](int i) {
          w->place(i);
          w->M = w->skeleton->getMassMatrix();
        },
        matrix));
    all.push_back(entry(
        "inverse_mass_matrix",
        [w](int i) {
          w->place(i);
          w->M = w->skeleton->getInvMassMatrix();
        },
        matrix));
    return all;
  }

  std::vector<Simulation> simulations(const PeerModel& model, double h) const override {
    const auto w = std::make_shared<World>(model);
    const auto world = dart::simulation::World::create();
    world->setGravity(vec(model.gravity));
    world->addSkeleton(w->skeleton);
    world->setTimeStep(h);
    w->place_and_move(0);
    return {{"semi-implicit Euler", 1,
             [world](long steps) {
               for (long i = 0; i < steps; ++i) world->step();
             },
             [w, g = vec(model.gravity)] {
               double sum = 0;
               for (const BodyNode* body : w->skeleton->getBodyNodes())
                 sum += body->computeKineticEnergy() - body->getMass() * g.dot(body->getCOM());
               return sum;
             }}};
  }
};

}  // namespace

std::unique_ptr<Peer> dart_peer() { return std::make_unique<Dart>(); }

}  // namespace articula::bench
