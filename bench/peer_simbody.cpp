// Simbody, by its operators: they take forces and accelerations as arguments and compute no more than asked
// for.
#include <Simbody.h>

#include "bench/coordinates.hpp"

namespace articula::bench {

namespace {

using namespace SimTK;

Vec3 vec(const double* x) { return Vec3(x[0], x[1], x[2]); }
Vector numbers(const std::vector<double>& x) { return Vector(int(x.size()), x.data()); }

struct World {
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  std::unique_ptr<Force::Gravity> gravity;
  std::vector<MobilizedBody> made;
  PeerModel model;
  Coordinates coordinates;
  State state;
  struct Prepared {
    Vector q, u, udot, tau;
  };
  std::vector<Prepared> states;
  Vector out;
  Vector_<SpatialVec> accelerations, none;
  Matrix M, J;

  World(const PeerModel& given, bool contacts)
      : model(given), coordinates(given, given.velocity_indices(), {false, true, true}) {
    gravity = std::make_unique<Force::Gravity>(forces, matter, vec(model.gravity));
    for (const PeerBody& b : model.bodies) {
      const double *I = b.inertia, *r = b.R;
      const Vec3 c = vec(b.com);
      const Inertia central(I[0], I[1], I[2], I[3], I[4], I[5]);
      const Body::Rigid body(MassProperties(b.mass, c, central.shiftFromMassCenter(c, b.mass)));
      const Mat33 R(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]);
      const Transform at(Rotation(R, true), vec(b.p));
      MobilizedBody& parent = b.inboard < 0 ? static_cast<MobilizedBody&>(matter.Ground()) : made[b.inboard];
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
    if (contacts)
      for (const auto& c : model.contacts) Constraint::Ball(matter.Ground(), Vec3(0), made[c.body], vec(c.p));
    state = system.realizeTopology();
    for (const PeerState& s : model.states) {
      for (std::size_t k = 0; k < made.size(); ++k) {
        const PeerBody& b = model.bodies[k];
        const double* q = s.q.data() + b.q;
        if (b.kind == PeerBody::Kind::free)
          made[k].setQToFitTransform(state,
                                     Transform(Rotation(Quaternion(q[3], q[0], q[1], q[2])), vec(q + 4)));
        else
          made[k].setOneQ(state, 0, q[0]);
      }
      states.push_back({state.getQ(), numbers(coordinates.to_peer(s, s.v.data())),
                        numbers(coordinates.acceleration_to_peer(s)),
                        numbers(coordinates.to_peer(s, s.tau.data()))});
    }
    none.resize(int(made.size()) + 1);
    none.setToZero();
  }
  /// A new state, realized so far.
  void realize(int i, Stage stage) {
    state.updQ() = states[i].q;
    state.updU() = states[i].u;
    system.realize(state, stage);
  }
  const MobilizedBody& body() const { return made[model.frame.body]; }
  const PeerState& ours(int i) const { return model.states[i]; }
};

std::vector<double> row_by_row(const Matrix& M) {
  std::vector<double> out;
  for (int i = 0; i < M.nrow(); ++i)
    for (int j = 0; j < M.ncol(); ++j) out.push_back(M(i, j));
  return out;
}
void append(std::vector<double>& out, const Vec3& x) { out.insert(out.end(), {x[0], x[1], x[2]}); }

class Simbody : public Peer {
 public:
  std::string name() const override {
    int major = 0, minor = 0, build = 0;
    SimTK_version_simbody(&major, &minor, &build);
    return "Simbody " + std::to_string(major) + "." + std::to_string(minor);
  }

  std::vector<Entry> entries(const PeerModel& model) const override {
    const auto w = std::make_shared<World>(model, false);
    const auto forces = [w](int i) { return w->coordinates.from_peer(w->ours(i), &w->out[0]); };
    const auto matrix = [w](int i) {
      return w->coordinates.matrix_from_peer(w->ours(i), row_by_row(w->M).data());
    };
    std::vector<Entry> all;
    all.push_back(entry(
        "inverse_dynamics",
        [w](int i) {
          w->realize(i, Stage::Velocity);
          w->matter.calcResidualForceIgnoringConstraints(
              w->state, Vector(), w->gravity->getBodyForces(w->state), w->states[i].udot, w->out);
        },
        forces));
    all.push_back(entry(
        "forward_dynamics",
        [w](int i) {
          w->realize(i, Stage::Dynamics);
          w->matter.calcAccelerationIgnoringConstraints(
              w->state, w->states[i].tau, w->gravity->getBodyForces(w->state), w->out, w->accelerations);
        },
        [w](int i) { return w->coordinates.acceleration_from_peer(w->ours(i), &w->out[0]); }));
    all.push_back(entry(
        "bias_forces",
        [w](int i) {
          w->realize(i, Stage::Velocity);
          w->matter.calcResidualForceIgnoringConstraints(
              w->state, Vector(), w->gravity->getBodyForces(w->state), Vector(), w->out);
        },
        [w](int i) {  // its base accelerates where ours does not
          w->matter.calcResidualForceIgnoringConstraints(w->state, Vector(),
                                                         w->gravity->getBodyForces(w->state),
                                                         numbers(w->coordinates.turning(w->ours(i))), w->out);
          return w->coordinates.from_peer(w->ours(i), &w->out[0]);
        }));
    all.push_back(entry(
        "gravity_forces",
        [w](int i) {
          w->realize(i, Stage::Position);
          w->matter.multiplyBySystemJacobianTranspose(w->state, w->gravity->getBodyForces(w->state), w->out);
        },
        [w, forces](int i) {
          w->out *= -1;
          return forces(i);
        }));
    all.push_back(entry(
        "poses", [w](int i) { w->realize(i, Stage::Position); },
        [w](int) {
          const Transform at = w->body().getBodyTransform(w->state);
          const double* r = w->model.frame.R;
          const Mat33 R = at.R().asMat33() * Mat33(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]);
          std::vector<double> out;
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) out.push_back(R(i, j));
          append(out, at * vec(w->model.frame.p));
          return out;
        }));
    all.push_back(entry(
        "velocities", [w](int i) { w->realize(i, Stage::Velocity); },
        [w](int) {
          std::vector<double> out;
          append(out, w->body().getBodyAngularVelocity(w->state));
          append(out, w->body().findStationVelocityInGround(w->state, vec(w->model.frame.p)));
          return out;
        }));
    all.push_back(entry(
        "kinematics",
        [w](int i) {
          w->realize(i, Stage::Velocity);
          w->matter.calcBodyAccelerationFromUDot(w->state, w->states[i].udot, w->accelerations);
        },
        [w](int) {
          const SpatialVec a = w->accelerations[w->body().getMobilizedBodyIndex()];
          const Vec3 r = w->body().getBodyRotation(w->state) * vec(w->model.frame.p),
                     omega = w->body().getBodyAngularVelocity(w->state);
          std::vector<double> out;
          append(out, a[0]);
          append(out, a[1] + a[0] % r + omega % (omega % r));
          return out;
        }));
    all.push_back(entry(
        "jacobian",
        [w](int i) {
          w->realize(i, Stage::Position);
          w->matter.calcFrameJacobian(w->state, w->body().getMobilizedBodyIndex(), vec(w->model.frame.p),
                                      w->J);
        },
        [w](int i) { return w->coordinates.rows_from_peer(w->ours(i), row_by_row(w->J).data(), 6); }));
    const auto energies = std::make_shared<std::vector<double>>(2);
    all.push_back(entry(
        "energies",
        [w, energies](int i) {
          w->realize(i, Stage::Velocity);
          *energies = {w->matter.calcKineticEnergy(w->state), w->gravity->getPotentialEnergy(w->state)};
        },
        [energies](int) { return *energies; }));
    all.push_back(entry(
        "mass_matrix",
        [w](int i) {
          w->realize(i, Stage::Position);
          w->matter.calcM(w->state, w->M);
        },
        matrix));
    all.push_back(entry(
        "inverse_mass_matrix",
        [w](int i) {
          w->realize(i, Stage::Position);
          w->matter.calcMInv(w->state, w->M);
        },
        matrix));
    all.push_back(entry(
        "solve_mass_matrix",
        [w](int i) {
          w->realize(i, Stage::Position);
          w->matter.multiplyByMInv(w->state, w->states[i].tau, w->out);
        },
        forces));
    if (!model.contacts.empty()) {
      const auto c = std::make_shared<World>(model, true);
      all.push_back(entry(
          "constrained_dynamics",
          [c](int i) {
            c->realize(i, Stage::Dynamics);
            c->matter.calcAcceleration(c->state, c->states[i].tau, c->gravity->getBodyForces(c->state),
                                       c->out, c->accelerations);
          },
          [c](int i) { return c->coordinates.acceleration_from_peer(c->ours(i), &c->out[0]); }));
    }
    return all;
  }

  std::vector<Simulation> simulations(const PeerModel& model, double h) const override {
    struct Run {
      World world;
      std::unique_ptr<Integrator> integrator;
      std::unique_ptr<TimeStepper> stepper;
      long count = 0;
      explicit Run(const PeerModel& model) : world(model, false) {}
    };
    std::vector<Simulation> all;
    for (const int order : {1, 4}) {
      const auto r = std::make_shared<Run>(model);
      World& w = r->world;
      w.state.updQ() = w.states[0].q;
      w.state.updU() = w.states[0].u;
      if (order == 1) {
        r->integrator = std::make_unique<SemiExplicitEulerIntegrator>(w.system, h);
      } else {
        r->integrator = std::make_unique<RungeKuttaMersonIntegrator>(w.system);
        r->integrator->setFixedStepSize(h);
      }
      r->stepper = std::make_unique<TimeStepper>(w.system, *r->integrator);
      r->stepper->initialize(w.state);
      all.push_back({order == 1 ? "SemiExplicitEuler" : "RungeKuttaMerson (fixed step)", order,
                     [r, h](long steps) {
                       r->count += steps;
                       r->stepper->stepTo(double(r->count) * h);
                     },
                     [r] {
                       const State& s = r->stepper->getState();
                       r->world.system.realize(s, Stage::Dynamics);
                       return double(r->world.system.calcEnergy(s));
                     }});
    }
    return all;
  }
};

}  // namespace

std::unique_ptr<Peer> simbody_peer() { return std::make_unique<Simbody>(); }

}  // namespace articula::bench
