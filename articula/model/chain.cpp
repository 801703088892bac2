#include "articula/model/chain.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <random>

#include "articula/error.hpp"

namespace articula {

namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// std:: distributions differ between machines; this does not.
  double between(double low, double high) { return low + (high - low) * (double(engine_() >> 11) * 0x1p-53); }
  Vec3<double> direction() {
    const double z = between(-1, 1), angle = between(-std::numbers::pi, std::numbers::pi),
                 r = std::sqrt(1 - z * z);
    return {r * std::cos(angle), r * std::sin(angle), z};
  }
  Mat3<double> orientation() { return rotation(exp_quaternion(direction() * between(0, std::numbers::pi))); }

 private:
  std::mt19937_64 engine_;
};

/// A solid box around the middle of the way to the next joint.
MassProperties box(Draw& draw, const Vec3<double>& to_next) {
  const double mass = draw.between(0.5, 3);
  const double a = draw.between(0.05, 0.15), b = draw.between(0.05, 0.15), c = draw.between(0.2, 0.5);
  const double k = mass / 12;
  const Sym3<double> own{k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b), 0, 0, 0};
  const Mat3<double> R = draw.orientation();
  return {mass, to_next * 0.5, symmetric(R * (own * star(R)))};
}

}  // namespace

ModelSpec make_chain(int joints, std::uint64_t seed) {
  if (joints < 1) throw ArgumentError(fmt::format("a chain of {} joints: expected at least 1", joints));
  Draw draw(seed);
  ModelSpec spec;
  spec.name = fmt::format("chain_{}", joints);
  spec.links.reserve(joints + 1);
  spec.joints.reserve(joints);
  std::string inboard = "base";
  Vec3<double> to_next = draw.direction() * draw.between(0.2, 0.6);
  spec.add_link({inboard, box(draw, to_next)});
  for (int k = 1; k <= joints; ++k) {
    JointSpec joint;
    joint.name = fmt::format("joint_{}", k);
    joint.parent = inboard;
    joint.child = inboard = fmt::format("link_{}", k);
    joint.placement = {draw.orientation(), to_next};
    joint.axis = draw.direction();
    to_next = draw.direction() * draw.between(0.2, 0.6);
    spec.add_link({joint.child, box(draw, to_next)});
    spec.add_joint(std::move(joint));
  }
  return spec;
}

}  // namespace articula
