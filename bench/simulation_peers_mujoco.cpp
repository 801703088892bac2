#include <fmt/format.h>
#include <mujoco/mujoco.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

namespace {

std::string words(const double* x, int n) { return fmt::format("{}", fmt::join(x, x + n, " ")); }

std::string mjcf(const PeerModel& model, double h, const char* integrator) {
  std::string s = fmt::format(
      "<mujoco><compiler angle='radian'/><option timestep='{}' gravity='{}' integrator='{}'>"
      "<flag contact='disable' constraint='disable'/></option><worldbody>\n",
      h, words(model.gravity, 3), integrator);
  const auto write = [&](auto&& self, int parent) -> void {
    for (int k = 0; k < int(model.bodies.size()); ++k) {
      const PeerBody& b = model.bodies[k];
      if (b.inboard != parent) continue;
      const double *R = b.R, xyaxes[6] = {R[0], R[3], R[6], R[1], R[4], R[7]};
      s += fmt::format("<body name='{}' pos='{}' xyaxes='{}'>", b.name, words(b.p, 3), words(xyaxes, 6));
      s += fmt::format("<inertial pos='{}' mass='{}' fullinertia='{}'/>", words(b.com, 3), b.mass,
                       words(b.inertia, 6));
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

}  // namespace

std::vector<Contender> mujoco_contenders(const PeerModel& model, double h) {
  std::vector<Contender> out;
  for (const char* integrator : {"Euler", "RK4"}) {
    const std::string file = fmt::format("{}/articula_bench_{}.xml", P_tmpdir, getpid());
    std::ofstream(file) << mjcf(model, h, integrator);
    char error[1000] = "";
    const std::shared_ptr<mjModel> m(mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    std::remove(file.c_str());
    if (!m) throw std::runtime_error(fmt::format("MuJoCo: {}", error));
    const std::shared_ptr<mjData> d(mj_makeData(m.get()), mj_deleteData);
    // A free joint there: position, then w x y z; linear velocity in the world, angular in the body.
    int at_q = 0, at_v = 0;
    for (const PeerBody& b : model.bodies) {
      const double *q = model.q.data() + b.q, *v = model.v.data() + b.v;
      if (b.kind == PeerBody::Kind::free) {
        const double turn[4] = {q[3], q[0], q[1], q[2]}, to_q[7] = {q[4], q[5], q[6], q[3], q[0], q[1], q[2]};
        std::copy(to_q, to_q + 7, d->qpos + at_q);
        mju_rotVecQuat(d->qvel + at_v, v + 3, turn);
        std::copy(v, v + 3, d->qvel + at_v + 3);
        at_q += 7, at_v += 6;
      } else {
        d->qpos[at_q++] = q[0], d->qvel[at_v++] = v[0];
      }
    }
    out.push_back({fmt::format("MuJoCo {}, {}", mj_versionString(), integrator),
                   [m, d](long steps) {
                     for (long i = 0; i < steps; ++i) mj_step(m.get(), d.get());
                   },
                   [m, d] {
                     m->opt.enableflags |= mjENBL_ENERGY;
                     mj_forward(m.get(), d.get());
                     m->opt.enableflags &= ~mjENBL_ENERGY;
                     return d->energy[0] + d->energy[1];
                   }});
  }
  return out;
}

}  // namespace articula::bench
