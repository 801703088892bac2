#include <Simbody.h>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

namespace {

using namespace SimTK;

/// A rotation that takes z to the axis.
SimTK::Rotation about(const Vec3& axis) { return SimTK::Rotation(UnitVec3(axis), ZAxis); }

struct World {
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  std::unique_ptr<Force::UniformGravity> gravity;
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<TimeStepper> stepper;
  double h = 0;
  long count = 0;
};

}  // namespace

std::vector<Contender> simbody_contenders(const Model& model, const std::vector<double>& q,
                                          const std::vector<double>& v, double h) {
  std::vector<Contender> out;
  for (const bool euler : {true, false}) {
    const auto w = std::make_shared<World>();
    const auto g = model.gravity();
    w->gravity = std::make_unique<Force::UniformGravity>(w->forces, w->matter, Vec3(g.x, g.y, g.z));
    const auto bodies = peer_bodies(model);
    std::vector<MobilizedBody> made;
    for (const PeerBody& b : bodies) {
      const auto& I = b.mass.inertia;
      const Vec3 c(b.mass.center_of_mass.x, b.mass.center_of_mass.y, b.mass.center_of_mass.z);
      const SimTK::Inertia central(I.xx, I.yy, I.zz, I.xy, I.xz, I.yz);
      const Body::Rigid body(
          SimTK::MassProperties(b.mass.mass, c, central.shiftFromMassCenter(-c, b.mass.mass)));
      const Mat33 R(b.placement.R.xx, b.placement.R.xy, b.placement.R.xz, b.placement.R.yx, b.placement.R.yy,
                    b.placement.R.yz, b.placement.R.zx, b.placement.R.zy, b.placement.R.zz);
      const Transform at(SimTK::Rotation(R, true), Vec3(b.placement.p.x, b.placement.p.y, b.placement.p.z));
      MobilizedBody& parent =
          b.inboard < 0 ? static_cast<MobilizedBody&>(w->matter.Ground()) : made[b.inboard];
      if (b.kind == JointKind::free) {
        made.push_back(MobilizedBody::Free(parent, at, body, Transform()));
      } else {
        const Vec3 axis(b.axis.x, b.axis.y, b.axis.z);
        if (b.kind == JointKind::prismatic) {
          const Transform x(SimTK::Rotation(UnitVec3(axis), XAxis));
          made.push_back(MobilizedBody::Slider(parent, at * x, body, x));
        } else {
          const Transform z(about(axis));
          made.push_back(MobilizedBody::Pin(parent, at * z, body, z));
        }
      }
    }
    State state = w->system.realizeTopology();
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const PeerBody& b = bodies[k];
      if (b.kind == JointKind::free) {
        const double* const x = q.data() + b.q;
        const Transform pose(SimTK::Rotation(SimTK::Quaternion(x[3], x[0], x[1], x[2])),
                             Vec3(x[4], x[5], x[6]));
        made[k].setQToFitTransform(state, pose);
        const Vec3 angular(v[b.v], v[b.v + 1], v[b.v + 2]), linear(v[b.v + 3], v[b.v + 4], v[b.v + 5]);
        made[k].setUToFitVelocity(state, SpatialVec(pose.R() * angular, pose.R() * linear));
      } else {
        made[k].setOneQ(state, 0, q[b.q]);
        made[k].setOneU(state, 0, v[b.v]);
      }
    }
    if (euler)
      w->integrator = std::make_unique<SemiExplicitEulerIntegrator>(w->system, h);
    else
      w->integrator = std::make_unique<RungeKuttaMersonIntegrator>(w->system);
    if (!euler) w->integrator->setFixedStepSize(h);
    w->stepper = std::make_unique<TimeStepper>(w->system, *w->integrator);
    w->stepper->initialize(state);
    w->h = h;
    out.push_back({euler ? "Simbody, SemiExplicitEuler" : "Simbody, RungeKuttaMerson (fixed step)",
                   [w](long steps) {
                     w->count += steps;
                     w->stepper->stepTo(double(w->count) * w->h);
                   },
                   [w] {
                     const State& s = w->stepper->getState();
                     w->system.realize(s, Stage::Dynamics);
                     return w->system.calcEnergy(s);
                   }});
  }
  return out;
}

}  // namespace articula::bench
