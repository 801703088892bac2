#include "articula/batch/monte_carlo_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "articula/loops/scene.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

namespace {

/// splitmix64: a stream for each run, whatever thread it is on.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t run) : state_(seed * 0x9e3779b97f4a7c15u + run) {
    state_ = next() ^ (run * 0xd1342543de82ef95u);
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal() {
    const double r = std::sqrt(-2 * std::log(1 - uniform()));
    return r * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace

MonteCarloStart draw_start(const Model& model, const MonteCarlo& what, std::int64_t i,
                           std::vector<double>& draws) {
  Stream stream(what.seed, std::uint64_t(i));
  MonteCarloStart start{model, what.q, what.v, what.tau, {}};
  if (what.begin) what.begin(i, start.q, start.v, start.tau);
  std::optional<ModelSpec> other;
  const auto spec = [&]() -> ModelSpec& { return other ? *other : other.emplace(model.spec()); };
  Vec3<double> gravity = model.gravity();
  std::vector<double> dq(model.nv());
  draws.resize(what.drawn.size());
  if (what.chosen) what.chosen(i, draws);
  for (std::size_t k = 0; k < draws.size(); ++k) {
    const Drawn& d = what.drawn[k];
    if (!what.chosen)
      draws[k] = d.normal ? d.a + d.b * stream.normal() : d.a + (d.b - d.a) * stream.uniform();
    const double x = draws[k];
    switch (d.what) {
      case Drawn::What::q:
        dq[d.index] += x;
        break;
      case Drawn::What::v:
        start.v[d.index] += x;
        break;
      case Drawn::What::torque:
        start.tau[d.index] += x;
        break;
      case Drawn::What::mass: {
        MassProperties& mass = spec().links[d.index].mass;
        mass.mass *= x;
        for (double* j : {&mass.inertia.xx, &mass.inertia.yy, &mass.inertia.zz, &mass.inertia.xy,
                          &mass.inertia.xz, &mass.inertia.yz})
          *j *= x;
        break;
      }
      case Drawn::What::armature:
        spec().joints[d.index].armature = x;
        break;
      case Drawn::What::damping:
        spec().joints[d.index].damping = x;
        break;
      case Drawn::What::friction:
        spec().joints[d.index].friction = x;
        break;
      case Drawn::What::gravity:
        (d.index == 0 ? gravity.x : d.index == 1 ? gravity.y : gravity.z) = x;
        spec();
        break;
      case Drawn::What::other:
        break;
    }
  }
  integrate(model, std::vector<double>(start.q), dq, start.q);
  if (other) start.model = Model(*other, {model.base(), gravity});
  if (!what.constraints.empty()) {
    ConstrainedDynamics work(start.model, what.constraints);
    fit_positions(work, start.q, start.v, model.name(), {.project = true});
    fit_velocities(work, start.q, start.v, model.name(), {.project = true});
  }
  start.draws = draws;
  return start;
}

void draw_torques(const MonteCarlo& what, std::int64_t run, long interval, const MonteCarloStart& start,
                  std::span<double> tau) {
  Stream stream(what.seed ^ (std::uint64_t(interval) * 0x2545f4914f6cdd1du), std::uint64_t(run));
  std::ranges::copy(start.tau, tau.begin());
  for (std::size_t k = 0; k < what.drawn.size(); ++k) {
    const Drawn& d = what.drawn[k];
    if (d.what != Drawn::What::torque) continue;
    tau[std::size_t(d.index)] +=
        (d.normal ? d.a + d.b * stream.normal() : d.a + (d.b - d.a) * stream.uniform()) - start.draws[k];
  }
}

Drawn::What drawn_named(const std::string& section) {
  if (section == "q") return Drawn::What::q;
  if (section == "v") return Drawn::What::v;
  if (section == "torque") return Drawn::What::torque;
  if (section == "mass") return Drawn::What::mass;
  if (section == "armature") return Drawn::What::armature;
  if (section == "damping") return Drawn::What::damping;
  if (section == "friction") return Drawn::What::friction;
  if (section == "gravity") return Drawn::What::gravity;
  throw ArgumentError(fmt::format(
      "\"{}\" is not known; known: q, v, mass, torque, armature, damping, friction, gravity", section));
}

void add_drawn(const Model& model, const std::string& section, const std::string& name, bool normal, double a,
               double b, std::vector<Drawn>& to) {
  const Drawn::What what = drawn_named(section);
  const auto at = fmt::format("\"{}\": \"{}\": ", section, name);
  if (!std::isfinite(a) || !std::isfinite(b)) throw ArgumentError(at + "expected two finite numbers");
  if (normal ? b < 0 : b < a)
    throw ArgumentError(at + (normal ? "the deviation is negative" : "the largest is less than the least"));
  const std::size_t before = to.size();
  const auto put = [&](int index, const std::string& full) {
    to.push_back({what, index, normal, a, b, section + ":" + full});
  };
  if (what == Drawn::What::mass) {
    const auto& links = model.spec().links;
    for (std::size_t i = 0; i < links.size(); ++i)
      if (name == "*" ? links[i].mass.mass > 0 : links[i].name == name) put(int(i), links[i].name);
  } else if (what == Drawn::What::gravity) {
    for (int i = 0; i < 3; ++i)
      if (const std::string axis(1, "xyz"[i]); name == axis) put(i, axis);
  } else if (what == Drawn::What::armature || what == Drawn::What::damping || what == Drawn::What::friction) {
    const auto& joints = model.spec().joints;
    for (std::size_t i = 0; i < joints.size(); ++i)
      if (name == "*" ? nv_of(joints[i].kind) > 0 && !joints[i].mimic : joints[i].name == name)
        put(int(i), joints[i].name);
  } else {
    // A joint's name stands for all its freedoms, JOINT.i for one, * for all joints.
    const auto velocities = velocity_columns(model, "");
    for (std::size_t i = 0; i < velocities.size(); ++i) {
      const std::string full = velocities[i].name.substr(1), joint = full.substr(0, full.rfind('.'));
      if (name == "*" || name == full || name == joint) put(int(i), full);
    }
  }
  if (to.size() == before)
    throw ArgumentError(fmt::format("{}model '{}' has no such {}", at, model.name(),
                                    what == Drawn::What::mass      ? "link"
                                    : what == Drawn::What::gravity ? "axis of gravity: x, y, z"
                                                                   : "joint"));
}

}  // namespace articula
