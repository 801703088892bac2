// MuJoCo. Not mj_forward and mj_inverse, which also do constraints, sensors and actuators, but the parts of
// them that each algorithm needs. It has the factored mass matrix, so that an inverse is a solve with unit
// vectors.
#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <stdexcept>

#include "bench/coordinates.hpp"
#include "bench/urdf_text.hpp"

namespace articula::bench {

namespace {

using Vector = std::vector<double>;

std::string mjcf(const PeerModel& model) {
  std::string s = "<mujoco><compiler angle='radian'/><worldbody>\n";
  const auto write = [&](auto&& self, int parent) -> void {
    for (int k = 0; k < int(model.bodies.size()); ++k) {
      const PeerBody& b = model.bodies[k];
      if (b.inboard != parent) continue;
      const double *R = b.R, xyaxes[6] = {R[0], R[3], R[6], R[1], R[4], R[7]};
      s += fmt::format("<body name='{}' pos='{}' xyaxes='{}'>", b.name, words(b.p, 3), words(xyaxes, 6));
      const auto [moments, axes] = principal(b.inertia);
      const Eigen::Quaterniond turn(axes);
      const double wxyz[] = {turn.w(), turn.x(), turn.y(), turn.z()};
      s += fmt::format("<inertial pos='{}' mass='{}' quat='{}' diaginertia='{}'/>", words(b.com, 3), b.mass,
                       words(wxyz, 4), words(moments.data(), 3));
      if (b.kind == PeerBody::Kind::free)
        s += "<freejoint/>";
      else
        s += fmt::format("<joint type='{}' axis='{}'/>",
                         b.kind == PeerBody::Kind::prismatic ? "slide" : "hinge", words(b.axis, 3));
      self(self, k);
      s += "</body>\n";
    }
  };
  write(write, -1);
  return s + "</worldbody></mujoco>\n";
}

struct World {
  std::shared_ptr<mjModel> m;
  std::shared_ptr<mjData> d, rest;  // rest: never moved
  PeerModel model;
  Coordinates coordinates;
  std::vector<PeerState> states;  // in its conventions
  Vector out, M, identity, J;
  int body = 0;

  World(const PeerModel& given, double h, int integrator)
      : model(given), coordinates(given, given.velocity_indices(), {true, false, true}) {
    // Its own format nests bodies, and its reader stops at 100 of them.
    const bool chain = model.is_chain() && !model.free_base;
    const TemporaryFile file(chain ? urdf_text(model) : mjcf(model), chain ? "urdf" : "xml");
    char error[1000] = "";
    m.reset(mj_loadXML(file.name.c_str(), nullptr, error, sizeof error), [](mjModel* x) {
      if (x) mj_deleteModel(x);
    });
    if (!m) throw std::runtime_error(error);
    m->opt.timestep = h;
    m->opt.integrator = integrator;
    m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_CONSTRAINT;
    std::copy(model.gravity, model.gravity + 3, m->opt.gravity);
    d.reset(mj_makeData(m.get()), mj_deleteData);
    rest.reset(mj_makeData(m.get()), mj_deleteData);
    // A free joint there: position, then w x y z; linear velocity in the world, angular in the body.
    for (const PeerState& s : model.states) {
      PeerState t{{},
                  coordinates.to_peer(s, s.v.data()),
                  coordinates.acceleration_to_peer(s),
                  coordinates.to_peer(s, s.tau.data())};
      for (const PeerBody& b : model.bodies) {
        const double* q = s.q.data() + b.q;
        if (b.kind == PeerBody::Kind::free)
          t.q.insert(t.q.end(), {q[4], q[5], q[6], q[3], q[0], q[1], q[2]});
        else
          t.q.push_back(q[0]);
      }
      states.push_back(std::move(t));
    }
    const int nv = m->nv;
    out.resize(nv), M.resize(nv * nv), identity.resize(nv * nv), J.resize(6 * nv);
    for (int i = 0; i < nv; ++i) identity[i * nv + i] = 1;
    body = model.frame.body + 1;
  }
  void place(mjData* data, int i) {
    std::copy(states[i].q.begin(), states[i].q.end(), data->qpos);
    mj_kinematics(m.get(), data);
  }
  void place_and_move(int i) {
    std::copy(states[i].v.begin(), states[i].v.end(), d->qvel);
    place(d.get(), i);
    mj_comPos(m.get(), d.get());
    mj_comVel(m.get(), d.get());
  }
  void factor() {
    mj_crb(m.get(), d.get());
    mj_factorM(m.get(), d.get());
  }
  /// The frame's origin in the world.
  void point(double* p) const {
    mju_rotVecMat(p, model.frame.p, d->xmat + 9 * body);
    mju_addTo3(p, d->xpos + 3 * body);
  }
  void jacobian() {
    double p[3];
    point(p);
    mj_jac(m.get(), d.get(), J.data() + 3 * m->nv, J.data(), p, body);
  }
  const PeerState& ours(int i) const { return model.states[i]; }
};

class Mujoco : public Peer {
 public:
  std::string name() const override { return fmt::format("MuJoCo {}", mj_versionString()); }

  std::vector<Entry> entries(const PeerModel& model) const override {
    const auto w = std::make_shared<World>(model, 1e-3, mjINT_EULER);
    mjModel* const m = w->m.get();
    m->opt.enableflags |= mjENBL_ENERGY;  // else the energies are zero; nothing else asks for it
    mjData* const d = w->d.get();
    const int nv = m->nv;
    const auto forces = [w](int i) { return w->coordinates.from_peer(w->ours(i), w->out.data()); };
    const auto matrix = [w](int i) { return w->coordinates.matrix_from_peer(w->ours(i), w->M.data()); };
    std::vector<Entry> all;
    all.push_back(entry(
        "inverse_dynamics",
        [w, m, d](int i) {
          std::copy(w->states[i].a.begin(), w->states[i].a.end(), d->qacc);
          w->place_and_move(i);
          mj_rne(m, d, 1, w->out.data());
        },
        forces));
    all.push_back(entry(
        "forward_dynamics",
        [w, m, d, nv](int i) {
          w->place_and_move(i);
          w->factor();
          mj_rne(m, d, 0, w->out.data());
          for (int k = 0; k < nv; ++k) w->out[k] = w->states[i].tau[k] - w->out[k];
          mj_solveM(m, d, w->out.data(), w->out.data(), 1);
        },
        [w](int i) { return w->coordinates.acceleration_from_peer(w->ours(i), w->out.data()); }));
    all.push_back(entry(
        "bias_forces",
        [w, m, d](int i) {
          w->place_and_move(i);
          mj_rne(m, d, 0, w->out.data());
        },
        [w, m, d, nv](int i) {  // its base accelerates where ours does not
          const Vector turning = w->coordinates.turning(w->ours(i));
          std::copy(turning.begin(), turning.end(), d->qacc);
          Vector bias(nv);
          mj_rne(m, d, 1, bias.data());
          return w->coordinates.from_peer(w->ours(i), bias.data());
        }));
    all.push_back(entry(
        "gravity_forces",
        [w, m](int i) {
          w->place(w->rest.get(), i);
          mj_comPos(m, w->rest.get());
          mj_rne(m, w->rest.get(), 0, w->out.data());
        },
        forces));
    all.push_back(entry(
        "poses", [w, d](int i) { w->place(d, i); },
        [w, d](int) {
          Vector out(12);
          mju_mulMatMat(out.data(), d->xmat + 9 * w->body, w->model.frame.R, 3, 3, 3);
          w->point(out.data() + 9);
          return out;
        }));
    all.push_back(entry(
        "velocities", [w](int i) { w->place_and_move(i); },
        [w, d, nv](int) {
          w->jacobian();
          Vector out(6);
          mju_mulMatVec(out.data(), w->J.data(), d->qvel, 6, nv);
          return out;
        }));
    all.push_back(entry(
        "jacobian",
        [w, m, d](int i) {
          w->place(d, i);
          mj_comPos(m, d);
          w->jacobian();
        },
        [w](int i) { return w->coordinates.rows_from_peer(w->ours(i), w->J.data(), 6); }));
    all.push_back(entry(
        "energies",
        [w, m, d](int i) {
          w->place_and_move(i);
          mj_crb(m, d);
          mj_energyPos(m, d);
          mj_energyVel(m, d);
        },
        [d](int) {
          return Vector{d->energy[1], d->energy[0]};
        }));
    all.push_back(entry(
        "mass_matrix",
        [w, m, d](int i) {
          w->place(d, i);
          mj_comPos(m, d);
          mj_crb(m, d);
          mj_fullM(m, w->M.data(), d->qM);
        },
        matrix));
    all.push_back(entry(
        "inverse_mass_matrix",
        [w, m, d, nv](int i) {
          w->place(d, i);
          mj_comPos(m, d);
          w->factor();
          mj_solveM(m, d, w->M.data(), w->identity.data(), nv);
        },
        matrix));
    all.push_back(entry(
        "solve_mass_matrix",
        [w, m, d](int i) {
          w->place(d, i);
          mj_comPos(m, d);
          w->factor();
          mj_solveM(m, d, w->out.data(), w->states[i].tau.data(), 1);
        },
        forces));
    const auto omega = std::make_shared<std::pair<Vector, Vector>>(Vector(6 * nv), Vector(36));
    all.push_back(entry(
        "operational_omega",
        [w, m, d, nv, omega](int i) {  // half of M^-1 on each row of J, and the products
          w->place(d, i);
          mj_comPos(m, d);
          w->factor();
          w->jacobian();
          mj_solveM2(m, d, omega->first.data(), w->J.data(), 6);
          mju_mulMatMatT(omega->second.data(), omega->first.data(), omega->first.data(), 6, nv, 6);
        },
        [omega](int) { return omega->second; }));
    return all;
  }

  std::vector<Simulation> simulations(const PeerModel& model, double h) const override {
    std::vector<Simulation> all;
    for (const int order : {1, 4}) {
      const auto w = std::make_shared<World>(model, h, order == 1 ? mjINT_EULER : mjINT_RK4);
      std::copy(w->states[0].q.begin(), w->states[0].q.end(), w->d->qpos);
      std::copy(w->states[0].v.begin(), w->states[0].v.end(), w->d->qvel);
      all.push_back({order == 1 ? "Euler" : "RK4", order,
                     [w](long steps) {
                       for (long i = 0; i < steps; ++i) mj_step(w->m.get(), w->d.get());
                     },
                     [w] {
                       w->m->opt.enableflags |= mjENBL_ENERGY;
                       mj_forward(w->m.get(), w->d.get());
                       w->m->opt.enableflags &= ~mjENBL_ENERGY;
                       return w->d->energy[0] + w->d->energy[1];
                     }});
    }
    return all;
  }
};

}  // namespace

std::unique_ptr<Peer> mujoco_peer() { return std::make_unique<Mujoco>(); }

}  // namespace articula::bench
