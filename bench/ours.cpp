// Articula's algorithms for one state, as entries of the contest.
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/task_space/task_space.hpp"
#include "bench/robot.hpp"

#include <fmt/format.h>

namespace articula::bench {

namespace {

using Numbers = std::vector<double>;

class Entries {
 public:
  Entries(const Robot& robot, std::vector<Entry>& all) : robot_(robot), all_(all) {}
  template <class Call, class Result>
  void add(const char* name, const char* counted, std::size_t bytes, Call call, Result result) {
    all_.push_back(entry(name, std::move(call), std::move(result)));
    all_.back().counted = counted;
    all_.back().bytes = bytes;
  }
  /// call(state, out) fills `size` numbers, which are the result.
  template <class Call>
  void fill(const char* name, const char* counted, std::size_t bytes, std::size_t size, Call call) {
    const auto out = std::make_shared<Numbers>(size);
    add(
        name, counted, bytes, [&s = robot_.states, call, out](int i) { call(s[i], *out); },
        [out](int) { return *out; });
  }

 private:
  const Robot& robot_;
  std::vector<Entry>& all_;
};

Numbers six(const Spatial<double>& x) { return {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z}; }

void add_dynamics(const Robot& robot, Entries& to, bool matrices) {
  const Model& model = robot.model;
  const std::size_t nv = model.nv(), square = nv * nv;
  const auto [id, id_bytes] = make_workspace<InverseDynamics<>>(model);
  const auto [fd, fd_bytes] = make_workspace<ForwardDynamics<>>(model);
  to.fill("inverse_dynamics", "inverse_dynamics", id_bytes, nv,
          [id = id](const PeerState& s, Numbers& out) { inverse_dynamics(*id, s.q, s.v, s.a, out); });
  to.fill("forward_dynamics", "forward_dynamics", fd_bytes, nv,
          [fd = fd](const PeerState& s, Numbers& out) { forward_dynamics(*fd, s.q, s.v, s.tau, out); });
  to.fill("bias_forces", "", id_bytes, nv,
          [id = id](const PeerState& s, Numbers& out) { bias_forces(*id, s.q, s.v, out); });
  to.fill("gravity_forces", "", id_bytes, nv,
          [id = id](const PeerState& s, Numbers& out) { gravity_forces(*id, s.q, out); });
  to.fill("solve_mass_matrix", "", fd_bytes, nv,
          [fd = fd](const PeerState& s, Numbers& out) { solve_mass_matrix(*fd, s.q, s.tau, out); });
  const auto [factor, factor_bytes] = make_workspace<MassFactor<>>(model);
  if (!matrices) return;
  const auto [mm, mm_bytes] = make_workspace<MassMatrix<>>(model);
  const auto [coriolis, coriolis_bytes] = make_workspace<Coriolis>(model);
  to.fill("mass_matrix", "mass_matrix", mm_bytes, square,
          [mm = mm](const PeerState& s, Numbers& out) { mass_matrix(*mm, s.q, out); });
  to.fill("inverse_mass_matrix", "inverse_mass_matrix", factor_bytes, square,
          [factor = factor](const PeerState& s, Numbers& out) { inverse_mass_matrix(*factor, s.q, out); });
  const auto C = std::make_shared<Numbers>(square);
  to.add(
      "coriolis_matrix", "", coriolis_bytes,
      [&s = robot.states, coriolis = coriolis, C](int i) { coriolis_matrix(*coriolis, s[i].q, s[i].v, *C); },
      [&s = robot.states, C, nv](int i) {
        Numbers out(nv);
        for (std::size_t r = 0; r < nv; ++r)
          for (std::size_t c = 0; c < nv; ++c) out[r] += (*C)[r * nv + c] * s[i].v[c];
        return out;
      });
}

void add_kinematics(const Robot& robot, Entries& to, bool matrices) {
  const auto [work, bytes] = make_workspace<Kinematics<>>(robot.model);
  const auto& s = robot.states;
  const int frame = robot.frame;
  to.add(
      "poses", "", bytes, [&s, k = work](int i) { k->update(s[i].q); },
      [k = work, frame](int) {
        const auto [R, p] = k->pose(frame);
        return Numbers{R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz, p.x, p.y, p.z};
      });
  to.add(
      "velocities", "", bytes, [&s, k = work](int i) { k->update(s[i].q, s[i].v); },
      [k = work, frame](int) { return six(k->velocity(frame)); });
  to.add(
      "kinematics", "kinematics", bytes, [&s, k = work](int i) { k->update(s[i].q, s[i].v, s[i].a); },
      [k = work, frame](int) { return six(k->acceleration(frame)); });
  if (matrices)
    to.fill("jacobian", "", bytes, 6 * robot.model.nv(),
            [k = work, frame](const PeerState& s, Numbers& out) { k->jacobian(frame, s.q, out); });
  to.fill("energies", "", bytes, 2, [k = work](const PeerState& s, Numbers& out) {
    k->update(s.q, s.v);
    const auto t = k->totals();
    out[0] = t.kinetic, out[1] = t.potential;
  });
}

void add_operational_space(const Robot& robot, Entries& to) {
  const std::size_t before = heap_in_use();
  const auto space = std::make_shared<TaskSpace>(
      robot.model, pose_task(robot.model, robot.model.frames()[robot.frame].name));
  const std::size_t bytes = heap_in_use() - before;
  to.fill("operational_omega", "", bytes, 36, [space](const PeerState& s, Numbers& out) {
    space->update(s.q);
    space->omega(out);
  });
  int freedoms = 0;  // of the frame
  for (int k = robot.model.frames()[robot.frame].body; k >= 0; k = robot.model.bodies()[k].inboard)
    freedoms += robot.model.joints()[robot.model.bodies()[k].joint].nv;
  if (freedoms < 6) return;  // Omega has no inverse
  to.fill("operational_lambda", "", bytes, 36, [space](const PeerState& s, Numbers& out) {
    space->update(s.q);
    space->lambda(out);
  });
}

void add_closed_chain(const Robot& robot, Entries& to) {
  if (robot.contacts.empty()) return;
  std::vector<Constraint> contacts;
  for (const int foot : robot.contacts)
    contacts.push_back(ball(robot.model.frames()[foot].name, {-1, {}}, {foot, {}}));
  const auto [work, bytes] = make_workspace<ConstrainedDynamics>(robot.model, contacts);
  const std::size_t nv = robot.model.nv();
  to.fill("constrained_dynamics", "", bytes, nv,
          [w = work](const PeerState& s, Numbers& out) { w->acceleration(s.q, s.v, s.tau, out); });
  to.fill("impulse", "", bytes, nv,
          [w = work](const PeerState& s, Numbers& out) { w->impulse(s.q, s.v, out); });
  const auto linear = std::make_shared<LinearizedConstrained>(*work);
  const auto joined = [](const std::vector<const Numbers*>& all) {
    Numbers out;
    for (const Numbers* x : all) out.insert(out.end(), x->begin(), x->end());
    return out;
  };
  const auto d = std::make_shared<ConstrainedDerivatives>();
  to.add(
      "linearized_constrained", "", 0,
      [&s = robot.states, w = work, linear, d](int i) { linear->compute(s[i].q, s[i].v, s[i].tau, *d); },
      [d, joined](int) {
        return joined({&d->da_dq, &d->da_dv, &d->da_dtau});
      });
  const auto e = std::make_shared<ImpulseDerivatives>();
  to.add(
      "linearized_impulse", "", 0,
      [&s = robot.states, w = work, linear, e](int i) { linear->impulse(s[i].q, s[i].v, *e); },
      [e, joined](int) {
        return joined({&e->dv_dq, &e->dv_dv});
      });
}

}  // namespace

std::vector<Entry> our_entries(const Robot& robot, bool matrices, std::vector<std::string>& left_out) {
  std::vector<Entry> all;
  Entries to(robot, all);
  const auto add = [&](const char* what, auto&& some) {
    try {
      some();
    } catch (const std::exception& error) {
      left_out.push_back(fmt::format("{}, {}: {}", robot.name, what, error.what()));
    }
  };
  add("dynamics", [&] { add_dynamics(robot, to, matrices); });
  add("kinematics", [&] { add_kinematics(robot, to, matrices); });
  add("operational space", [&] { add_operational_space(robot, to); });
  add("diagonalized", [&] {
    if (robot.model.has_mimics()) return;
    const auto [diagonal, bytes] = make_workspace<DiagonalizedDynamics>(robot.model);
    to.fill("diagonalized", "normalized", bytes, robot.model.nv(),
            [d = diagonal](const PeerState& s, Numbers& out) { d->nu_dot(s.q, s.v, s.tau, out); });
  });
  add("closed chain", [&] {
    if (matrices) add_closed_chain(robot, to);
  });
  add("linearizations", [&] { add_linearizations(robot, matrices, all); });
  return all;
}

}  // namespace articula::bench
