#include <fmt/format.h>
#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "bench/simulation_peers.hpp"

namespace articula::bench {

namespace {

std::string mjcf(const Model& model, const std::vector<PeerBody>& bodies, double h, const char* integrator) {
  const auto g = model.gravity();
  std::string s = fmt::format(
      "<mujoco><compiler angle='radian' balanceinertia='false' boundmass='0' boundinertia='0'/>"
      "<option timestep='{}' gravity='{} {} {}' integrator='{}'><flag contact='disable' "
      "constraint='disable'/></option>"
      "<worldbody>\n",
      h, g.x, g.y, g.z, integrator);
  const auto write = [&](auto&& self, int parent) -> void {
    for (int k = 0; k < int(bodies.size()); ++k) {
      const PeerBody& b = bodies[k];
      if (b.inboard != parent) continue;
      const Quaternion<double> r = quaternion(b.placement.R);
      const auto& p = b.placement.p;
      s += fmt::format("<body name='{}' pos='{} {} {}' quat='{} {} {} {}'>", b.name, p.x, p.y, p.z, r.w, r.x,
                       r.y, r.z);
      const auto& c = b.mass.center_of_mass;
      const auto& I = b.mass.inertia;
      s += fmt::format("<inertial pos='{} {} {}' mass='{}' fullinertia='{} {} {} {} {} {}'/>", c.x, c.y, c.z,
                       b.mass.mass, I.xx, I.yy, I.zz, I.xy, I.xz, I.yz);
      if (b.kind == JointKind::free)
        s += "<freejoint/>";
      else
        s += fmt::format("<joint type='{}' axis='{} {} {}' armature='{}'/>",
                         b.kind == JointKind::prismatic ? "slide" : "hinge", b.axis.x, b.axis.y, b.axis.z,
                         b.armature);
      self(self, k);
      s += "</body>\n";
    }
  };
  write(write, -1);
  return s + "</worldbody></mujoco>\n";
}

}  // namespace

std::vector<Contender> mujoco_contenders(const Model& model, const std::vector<double>& q,
                                         const std::vector<double>& v, double h) {
  std::vector<Contender> out;
  const std::vector<PeerBody> bodies = peer_bodies(model);
  for (const char* integrator : {"Euler", "RK4"}) {
    const std::string file = fmt::format("{}/articula_bench_{}.xml", P_tmpdir, getpid());
    std::ofstream(file) << mjcf(model, bodies, h, integrator);
    char error[1000] = "";
    const std::shared_ptr<mjModel> m(mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    std::remove(file.c_str());
    if (!m) throw std::runtime_error(fmt::format("MuJoCo: {}", error));
    const std::shared_ptr<mjData> d(mj_makeData(m.get()), mj_deleteData);
    // A free joint there: position, then w x y z; linear velocity in the world, angular in the body.
    int at_q = 0, at_v = 0;
    for (const PeerBody& b : bodies) {
      if (b.kind == JointKind::free) {
        const double* const x = q.data() + b.q;
        const Mat3<double> R = rotation(Quaternion<double>{x[0], x[1], x[2], x[3]});
        const Vec3<double> linear = R * Vec3<double>{v[b.v + 3], v[b.v + 4], v[b.v + 5]};
        const double to_q[7] = {x[4], x[5], x[6], x[3], x[0], x[1], x[2]};
        const double to_v[6] = {linear.x, linear.y, linear.z, v[b.v], v[b.v + 1], v[b.v + 2]};
        std::copy(to_q, to_q + 7, d->qpos + at_q), std::copy(to_v, to_v + 6, d->qvel + at_v);
        at_q += 7, at_v += 6;
      } else {
        d->qpos[at_q++] = q[b.q], d->qvel[at_v++] = v[b.v];
      }
    }
    out.push_back({fmt::format("MuJoCo {}, {}", mj_versionString(), integrator),
                   [m, d](long steps) {
                     for (long i = 0; i < steps; ++i) mj_step(m.get(), d.get());
                   },
                   [m, d] {
                     mj_forward(m.get(), d.get());
                     mj_energyPos(m.get(), d.get()), mj_energyVel(m.get(), d.get());
                     return d->energy[0] + d->energy[1];
                   }});
  }
  return out;
}

}  // namespace articula::bench
