#include "tests/support/random_models.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula::testing {

using std::numbers::pi;

std::uint64_t Rng::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
double Rng::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
}
int Rng::integer(int low, int high) {
  return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1));
}
Vec3<double> Rng::vector(double size) {
  const double x = uniform(-size, size), y = uniform(-size, size), z = uniform(-size, size);
  return {x, y, z};
}
Vec3<double> Rng::direction() {
  const double z = uniform(), turn = uniform(-pi, pi), r = std::sqrt(1 - z * z);
  return {r * std::cos(turn), r * std::sin(turn), z};
}
Quaternion<double> Rng::quaternion() {  // Shoemake
  const double u = uniform(0, 1), s = uniform(-pi, pi), t = uniform(-pi, pi);
  const double a = std::sqrt(1 - u), b = std::sqrt(u);
  return normalized(Quaternion<double>{a * std::sin(s), a * std::cos(s), b * std::sin(t), b * std::cos(t)});
}

const std::vector<JointKind>& all_joint_kinds() {
  static const std::vector<JointKind> kinds = [] {
    std::vector<JointKind> all;
    for (int i = 0; name_of(static_cast<JointKind>(i)) != "unknown"; ++i)
      all.push_back(static_cast<JointKind>(i));
    return all;
  }();
  return kinds;
}
const std::vector<JointKind>& moving_joint_kinds() {
  static const std::vector<JointKind> kinds = [] {
    std::vector<JointKind> moving = all_joint_kinds();
    std::erase_if(moving, [](JointKind kind) { return nv_of(kind) == 0; });
    return moving;
  }();
  return kinds;
}
const std::vector<JointKind>& usual_joint_kinds() {
  static const std::vector<JointKind> kinds = [] {
    std::vector<JointKind> usual = all_joint_kinds();
    usual.resize(static_cast<std::size_t>(JointKind::free) + 1);
    return usual;
  }();
  return kinds;
}

namespace {

Pose random_pose(Rng& rng, double size) { return {rotation(rng.quaternion()), rng.vector(size)}; }

/// Principal moments of a box-like body, so that the triangle rule holds, in random axes.
MassProperties random_mass(Rng& rng, const RandomOptions& options) {
  const double mass = std::exp(rng.uniform(0, std::log(options.mass_ratio))) / std::sqrt(options.mass_ratio);
  const double a = options.size * rng.uniform(0.2, 1), b = options.size * rng.uniform(0.2, 1),
               c = options.size * rng.uniform(0.2, 1), s = mass / 12;
  const Mat3<double> R = rotation(rng.quaternion());
  const Sym3<double> principal{s * (b * b + c * c), s * (a * a + c * c), s * (a * a + b * b), 0, 0, 0};
  return {mass, rng.vector(options.size / 2), symmetric(R * full(principal) * star(R))};
}

/// Mostly general axes, sometimes the ones for which rotation_from_z has no work or a special case.
Vec3<double> random_axis(Rng& rng) {
  switch (rng.integer(0, 7)) {
    case 0:
      return {0, 0, 1};
    case 1:
      return {0, 0, -1};
    case 2:
      return {1, 0, 0};
    case 3:
      return {0, -1, 0};
    default:
      return rng.direction();
  }
}

/// A universal joint's axes must be perpendicular.
Vec3<double> perpendicular_axis(Rng& rng, const Vec3<double>& first) {
  while (true) {
    const Vec3<double> c = cross(first, rng.direction());
    if (dot(c, c) > 0.1) return c * (1 / std::sqrt(dot(c, c)));
  }
}

JointSpec random_joint(Rng& rng, JointKind kind, const RandomOptions& options) {
  JointSpec joint;
  joint.kind = kind;
  joint.placement = random_pose(rng, options.size);
  joint.axis = random_axis(rng);
  joint.second_axis = perpendicular_axis(rng, joint.axis);
  if (kind == JointKind::helical) joint.pitch = rng.uniform(-0.3, 0.3);
  if (rng.chance(options.armature)) {
    const double first = rng.uniform(0.001, 0.1);
    for (int i = 0; i < nv_of(kind); ++i) joint.armature[i] = first * (1 + 0.3 * i);
  }
  return joint;
}

int parent_of(Rng& rng, Branching branching, int link) {
  switch (branching) {
    case Branching::chain:
      return link - 1;
    case Branching::bushy:
      return rng.integer(0, std::min(link - 1, 3));
    case Branching::several:
      return rng.chance(0.3) ? -1 : rng.integer(0, link - 1);
    case Branching::deep:
      return rng.integer(std::max(0, link - 6), link - 1);
    default:
      return rng.integer(0, link - 1);
  }
}

}  // namespace

ModelSpec random_spec(Rng& rng, const RandomOptions& options) {
  ModelSpec spec;
  spec.name = "random";
  const Branching branching =
      options.branching == Branching::any
          ? static_cast<Branching>(rng.integer(0, static_cast<int>(Branching::any) - 1))
          : options.branching;
  std::vector<std::string> followable;  // joints with one freedom so far
  spec.add_link({.name = "link0", .mass = random_mass(rng, options)});
  for (int i = 1; i <= options.links; ++i) {
    const std::string number = std::to_string(i);
    spec.add_link({.name = "link" + number, .mass = random_mass(rng, options)});
    const JointKind kind = options.kinds[rng.integer(0, static_cast<int>(options.kinds.size()) - 1)];
    JointSpec joint = random_joint(rng, kind, options);
    const int parent = parent_of(rng, branching, i);
    joint.name = "joint" + number;
    joint.parent = parent < 0 ? std::string(world) : "link" + std::to_string(parent);
    joint.child = "link" + number;
    if (nv_of(kind) == 1) {
      if (!followable.empty() && rng.chance(options.mimic))
        joint.mimic = Mimic{followable[rng.integer(0, static_cast<int>(followable.size()) - 1)],
                            rng.uniform(-1.5, 1.5), rng.uniform(-0.5, 0.5)};
      followable.push_back(joint.name);
    }
    spec.add_joint(joint);
  }
  if (options.frames) {
    spec.add_frame({"tool", "link" + std::to_string(options.links), random_pose(rng, options.size)});
    spec.add_frame({"marker", "link" + std::to_string(options.links / 2), random_pose(rng, options.size)});
    spec.add_frame({"table", std::string(world), random_pose(rng, options.size)});
  }
  return spec;
}

ModelSpec one_joint_spec(JointKind kind) {
  Rng rng(1000 + static_cast<int>(kind));
  RandomOptions options{.links = 1, .kinds = {kind}, .branching = Branching::chain, .armature = 1};
  ModelSpec spec = random_spec(rng, options);
  spec.name = std::string("one ") + std::string(name_of(kind));
  return spec;
}

ModelSpec massless_followers_spec() {
  ModelSpec spec;
  spec.name = "massless followers";
  spec.add_link({"base", {3, {0.1, 0, 0.1}, {0.3, 0.2, 0.3, 0.01, 0, 0}}});
  spec.add_link({"arm", {2, {0.3, 0.1, 0}, {0.1, 0.2, 0.3, 0, 0, 0}}});
  spec.add_link({"tip"});
  spec.add_link({"far", {1, {0.1, 0.2, 0}, {0.1, 0.2, 0.3, 0, 0, 0}}});
  spec.add_link({"fork"});
  const auto joint = [&](const char* name, const char* parent, const char* child,
                         Vec3<double> axis) -> JointSpec& {
    JointSpec j;
    j.name = name, j.parent = parent, j.child = child, j.axis = axis, j.damping = 0.2;
    j.placement.p = {0.2, 0.1, -0.3};
    return spec.add_joint(j);
  };
  joint("a", "base", "arm", {0, 1, 0});
  joint("b", "arm", "tip", {0, 0, 1}).mimic = Mimic{"a", -0.5, 0.1};
  joint("c", "arm", "far", {1, 0, 1}).armature = 0.1;
  joint("d", "far", "fork", {1, 2, 0}).mimic = Mimic{"c", 2, 0};
  return spec;
}

std::vector<double> random_vector(Rng& rng, std::size_t size, double range) {
  std::vector<double> x(size);
  for (double& y : x) y = rng.uniform(-range, range);
  return x;
}

std::vector<double> random_configuration(Rng& rng, const Model& model) {
  std::vector<double> q(model.nq());
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    double* const x = q.data() + joint.q_index;
    for (int i = 0; i < joint.nq; ++i) x[i] = rng.uniform(-pi, pi);
    if (has_quaternion(joint.kind)) {
      const Quaternion<double> r = rng.quaternion();
      x[0] = r.x, x[1] = r.y, x[2] = r.z, x[3] = r.w;
    }
    for (int i = 0; i < joint.nq; ++i)
      if (coordinate_unit(joint.kind, i) == "m") x[i] = rng.uniform();
  }
  return q;
}

State random_state(Rng& rng, const Model& model, double speed) {
  State s;
  s.q = random_configuration(rng, model);
  s.v = random_vector(rng, model.nv(), speed);
  s.a = random_vector(rng, model.nv(), speed);
  s.tau = random_vector(rng, model.nv(), 10);
  for (int k = 0; k < model.body_count(); ++k) {
    const Vec3<double> moment = rng.vector(5), force = rng.vector(5);
    s.wrenches.push_back({moment, force});
  }
  return s;
}

namespace {
/// integral over [0, 1] of R(s w) ds: what a constant velocity in turning axes adds up to.
Vec3<double> turned_sum(const Vec3<double>& w, const Vec3<double>& v) {
  const double x = std::hypot(w.x, w.y, w.z), x2 = x * x;
  const double b = x < 1e-2 ? 0.5 - x2 / 24 * (1 - x2 / 30 * (1 - x2 / 56)) : (1 - std::cos(x)) / x2;
  const double c =
      x < 1e-2 ? (1 - x2 / 20 * (1 - x2 / 42 * (1 - x2 / 72))) / 6 : (x - std::sin(x)) / (x2 * x);
  const Vec3<double> wv = cross(w, v);
  return v + wv * b + cross(w, wv) * c;
}
}  // namespace

std::vector<double> manifold_add(const Model& model, std::span<const double> q, std::span<const double> dv) {
  std::vector<double> out(q.begin(), q.end());
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    double* const x = out.data() + joint.q_index;
    const double* const d = dv.data() + joint.v_index;
    switch (joint.kind) {
      case JointKind::spherical:
      case JointKind::free: {
        const Quaternion<double> from{x[0], x[1], x[2], x[3]};
        const Vec3<double> w{d[0], d[1], d[2]};
        if (joint.kind == JointKind::free) {
          const Vec3<double> p = rotation(from) * turned_sum(w, {d[3], d[4], d[5]});
          x[4] += p.x, x[5] += p.y, x[6] += p.z;
        }
        const Quaternion<double> to = normalized(from * exp_quaternion(w));
        x[0] = to.x, x[1] = to.y, x[2] = to.z, x[3] = to.w;
        break;
      }
      case JointKind::planar: {
        const Vec3<double> p = turned_sum({0, 0, d[0]}, {d[1], d[2], 0});
        const double c = std::cos(x[0]), s = std::sin(x[0]);
        x[1] += c * p.x - s * p.y;
        x[2] += s * p.x + c * p.y;
        x[0] += d[0];
        break;
      }
      default:
        for (int i = 0; i < joint.nq; ++i) x[i] += d[i];
    }
  }
  return out;
}

std::vector<float> to_float(std::span<const double> x) { return {x.begin(), x.end()}; }
std::vector<Spatial<float>> to_float(std::span<const Spatial<double>> x) {
  std::vector<Spatial<float>> out;
  for (const Spatial<double>& f : x)
    out.push_back({{float(f.w.x), float(f.w.y), float(f.w.z)}, {float(f.v.x), float(f.v.y), float(f.v.z)}});
  return out;
}
std::vector<double> to_double(std::span<const float> x) { return {x.begin(), x.end()}; }

double largest(std::span<const double> x) {
  double most = 0;
  for (double y : x) {
    if (!std::isfinite(y)) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(y));
  }
  return most;
}
double relative_error(std::span<const double> a, std::span<const double> b, double floor) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  std::vector<double> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return largest(d) / std::max(floor, largest(b));
}
double relative_error(const Vec3<double>& a, const Vec3<double>& b, double floor) {
  return relative_error(std::span(numbers_of(a), 3), std::span(numbers_of(b), 3), floor);
}
double relative_error(const Spatial<double>& a, const Spatial<double>& b, double floor) {
  return relative_error(std::span(numbers_of(a), 6), std::span(numbers_of(b), 6), floor);
}

std::string describe(const ModelSpec& spec) {
  std::string text = std::to_string(spec.links.size()) + " links:";
  for (const JointSpec& joint : spec.joints) {
    text += ' ';
    text += joint.parent;
    text += joint.mimic ? " -mimic " : " -";
    text += name_of(joint.kind);
    text += "- ";
    text += joint.child;
    text += ';';
  }
  return text;
}

}  // namespace articula::testing
