#include <dart/dynamics/dynamics.hpp>
#include <dart/simulation/simulation.hpp>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

namespace {

using namespace dart::dynamics;

Eigen::Vector3d vec(const double* x) { return {x[0], x[1], x[2]}; }

template <class J>
BodyNode* add(const SkeletonPtr& skeleton, BodyNode* parent, const PeerBody& b,
              const BodyNode::Properties& body) {
  typename J::Properties joint;
  joint.mName = b.name + "_joint";
  joint.mT_ParentBodyToJoint = Eigen::Isometry3d::Identity();
  joint.mT_ParentBodyToJoint.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.R);
  joint.mT_ParentBodyToJoint.translation() = vec(b.p);
  if constexpr (!std::is_same_v<J, FreeJoint>) joint.mAxis = vec(b.axis);
  return skeleton->createJointAndBodyNodePair<J>(parent, joint, body).second;
}

}  // namespace

std::vector<Contender> dart_contenders(const PeerModel& model, double h) {
  const auto skeleton = Skeleton::create("model");
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
  const auto world = dart::simulation::World::create();
  world->setGravity(vec(model.gravity));
  world->addSkeleton(skeleton);
  world->setTimeStep(h);
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const PeerBody& b = model.bodies[k];
    const double *q = model.q.data() + b.q, *v = model.v.data() + b.v;
    Joint* const joint = made[k]->getParentJoint();
    if (b.kind == PeerBody::Kind::free) {
      Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
      pose.linear() = Eigen::Quaterniond(q[3], q[0], q[1], q[2]).toRotationMatrix();
      pose.translation() = vec(q + 4);
      joint->setPositions(FreeJoint::convertToPositions(pose));
      joint->setVelocities(Eigen::Map<const Eigen::Matrix<double, 6, 1>>(v));  // body axes, rotation first
    } else {
      joint->setPosition(0, q[0]);
      joint->setVelocity(0, v[0]);
    }
  }
  return {{"DART, semi-implicit Euler",
           [world](long steps) {
             for (long i = 0; i < steps; ++i) world->step();
           },
           [skeleton, g = vec(model.gravity)] {
             // Body by body: the skeleton's own sum of potentials does not agree with its mass centres.
             double sum = 0;
             for (const BodyNode* body : skeleton->getBodyNodes())
               sum += body->computeKineticEnergy() - body->getMass() * g.dot(body->getCOM());
             return sum;
           }}};
}

}  // namespace articula::bench
