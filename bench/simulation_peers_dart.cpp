#include <dart/dynamics/dynamics.hpp>
#include <dart/simulation/simulation.hpp>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

std::vector<Contender> dart_contenders(const Model& model, const std::vector<double>& q,
                                       const std::vector<double>& v, double h) {
  using namespace dart::dynamics;
  const auto vector = [](const Vec3<double>& a) { return Eigen::Vector3d(a.x, a.y, a.z); };
  const auto skeleton = Skeleton::create("model");
  const auto bodies = peer_bodies(model);
  std::vector<BodyNode*> made;
  for (const PeerBody& b : bodies) {
    BodyNode::Properties body;
    body.mName = b.name;
    const auto& I = b.mass.inertia;
    body.mInertia = Inertia(b.mass.mass, vector(b.mass.center_of_mass), I.xx, I.yy, I.zz, I.xy, I.xz, I.yz);
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.linear() << b.placement.R.xx, b.placement.R.xy, b.placement.R.xz, b.placement.R.yx, b.placement.R.yy,
        b.placement.R.yz, b.placement.R.zx, b.placement.R.zy, b.placement.R.zz;
    at.translation() = vector(b.placement.p);
    BodyNode* const parent = b.inboard < 0 ? nullptr : made[b.inboard];
    if (b.kind == JointKind::free) {
      FreeJoint::Properties joint;
      joint.mName = b.name + "_joint";
      joint.mT_ParentBodyToJoint = at;
      made.push_back(skeleton->createJointAndBodyNodePair<FreeJoint>(parent, joint, body).second);
    } else if (b.kind == JointKind::prismatic) {
      PrismaticJoint::Properties joint;
      joint.mName = b.name + "_joint";
      joint.mT_ParentBodyToJoint = at;
      joint.mAxis = vector(b.axis);
      made.push_back(skeleton->createJointAndBodyNodePair<PrismaticJoint>(parent, joint, body).second);
    } else {
      RevoluteJoint::Properties joint;
      joint.mName = b.name + "_joint";
      joint.mT_ParentBodyToJoint = at;
      joint.mAxis = vector(b.axis);
      made.push_back(skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, joint, body).second);
    }
  }
  const auto world = dart::simulation::World::create();
  const auto g = model.gravity();
  world->setGravity(vector(g));
  world->addSkeleton(skeleton);
  world->setTimeStep(h);
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const PeerBody& b = bodies[k];
    Joint* const joint = made[k]->getParentJoint();
    if (b.kind == JointKind::free) {
      const double* const x = q.data() + b.q;
      Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
      pose.linear() = Eigen::Quaterniond(x[3], x[0], x[1], x[2]).toRotationMatrix();
      pose.translation() << x[4], x[5], x[6];
      joint->setPositions(FreeJoint::convertToPositions(pose));
      Eigen::Matrix<double, 6, 1> twist;
      twist << v[b.v], v[b.v + 1], v[b.v + 2], v[b.v + 3], v[b.v + 4], v[b.v + 5];
      joint->setVelocities(twist);  // in the body's axes, rotation first, as ours
    } else {
      joint->setPosition(0, q[b.q]);
      joint->setVelocity(0, v[b.v]);
    }
  }
  return {{"DART, semi-implicit Euler",
           [world](long steps) {
             for (long i = 0; i < steps; ++i) world->step();
           },
           [skeleton] { return skeleton->computeKineticEnergy() + skeleton->computePotentialEnergy(); }}};
}

}  // namespace articula::bench
