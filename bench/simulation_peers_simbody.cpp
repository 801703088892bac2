#include <Simbody.h>

#include <memory>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

namespace {

using namespace SimTK;

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

Vec3 vec(const double* x) { return Vec3(x[0], x[1], x[2]); }

}  // namespace

std::vector<Contender> simbody_contenders(const PeerModel& model, double h) {
  std::vector<Contender> out;
  for (const bool euler : {true, false}) {
    const auto w = std::make_shared<World>();
    w->gravity = std::make_unique<Force::UniformGravity>(w->forces, w->matter, vec(model.gravity));
    std::vector<MobilizedBody> made;
    for (const PeerBody& b : model.bodies) {
      const double *I = b.inertia, *r = b.R;
      const Vec3 c = vec(b.com);
      const Inertia central(I[0], I[1], I[2], I[3], I[4], I[5]);
      const Body::Rigid body(MassProperties(b.mass, c, central.shiftFromMassCenter(c, b.mass)));
      const Mat33 R(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]);
      const Transform at(Rotation(R, true), vec(b.p));
      MobilizedBody& parent =
          b.inboard < 0 ? static_cast<MobilizedBody&>(w->matter.Ground()) : made[b.inboard];
      if (b.kind == PeerBody::Kind::free) {
        made.push_back(MobilizedBody::Free(parent, at, body, Transform()));
      } else if (b.kind == PeerBody::Kind::prismatic) {
        const Transform x(Rotation(UnitVec3(vec(b.axis)), XAxis));
        made.push_back(MobilizedBody::Slider(parent, at * x, body, x));
      } else {
        const Transform z(Rotation(UnitVec3(vec(b.axis)), ZAxis));
        made.push_back(MobilizedBody::Pin(parent, at * z, body, z));
      }
    }
    State state = w->system.realizeTopology();
    for (std::size_t k = 0; k < model.bodies.size(); ++k) {
      const PeerBody& b = model.bodies[k];
      const double *q = model.q.data() + b.q, *v = model.v.data() + b.v;
      if (b.kind == PeerBody::Kind::free) {
        const Transform pose(Rotation(Quaternion(q[3], q[0], q[1], q[2])), vec(q + 4));
        made[k].setQToFitTransform(state, pose);
        made[k].setUToFitVelocity(state, SpatialVec(pose.R() * vec(v), pose.R() * vec(v + 3)));
      } else {
        made[k].setOneQ(state, 0, q[0]);
        made[k].setOneU(state, 0, v[0]);
      }
    }
    if (euler) {
      w->integrator = std::make_unique<SemiExplicitEulerIntegrator>(w->system, h);
    } else {
      w->integrator = std::make_unique<RungeKuttaMersonIntegrator>(w->system);
      w->integrator->setFixedStepSize(h);
    }
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
                     return double(w->system.calcEnergy(s));
                   }});
  }
  return out;
}

}  // namespace articula::bench
