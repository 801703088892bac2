#include "articula/model/fingerprint.hpp"

#include <fmt/format.h>

#include <bit>

namespace articula {

void Fingerprint::bytes(const void* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    state_ ^= static_cast<const unsigned char*>(data)[i];
    state_ *= 0x100000001b3u;
  }
}
Fingerprint& Fingerprint::add(std::string_view text) {
  bytes(text.data(), text.size());
  return add(double(text.size()));
}
Fingerprint& Fingerprint::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  unsigned char in_order[8];
  for (int i = 0; i < 8; ++i) in_order[i] = static_cast<unsigned char>(bits >> (8 * i));
  bytes(in_order, 8);
  return *this;
}
Fingerprint& Fingerprint::add(std::span<const double> x) {
  for (const double number : x) add(number);
  return add(double(x.size()));
}
std::string Fingerprint::text() const { return fmt::format("{:016x}", state_); }

namespace {
struct Adder {
  Fingerprint& to;
  void vector(const Vec3<double>& x) { to.add(x.x).add(x.y).add(x.z); }
  void pose(const Pose& x) {
    for (const Vec3<double>& unit : {Vec3<double>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) vector(x.R * unit);
    vector(x.p);
  }
  void each(const PerFreedom& x) {
    for (int i = 0; i < PerFreedom::most; ++i) to.add(x[i]);
  }
  void joint(const JointSpec& x) {
    to.add(x.name).add(name_of(x.kind)).add(x.parent).add(x.child);
    pose(x.placement), vector(x.axis), vector(x.second_axis), to.add(x.pitch);
    for (const PerFreedom* numbers :
         {&x.limits.lower, &x.limits.upper, &x.limits.velocity, &x.limits.effort, &x.damping, &x.friction,
          &x.armature, &x.stiffness, &x.spring_reference})
      each(*numbers);
    if (x.mimic) to.add(x.mimic->joint).add(x.mimic->multiplier).add(x.mimic->offset);
  }
};
}  // namespace

std::string fingerprint(const Model& model) {
  Fingerprint out;
  Adder add{out};
  const ModelSpec& spec = model.spec();
  out.add(spec.name).add(model.base() == Base::free ? "free" : "fixed");
  add.vector(model.gravity());
  for (const LinkSpec& link : spec.links) {
    const auto& [mass, center, inertia] = link.mass;
    out.add(link.name).add(mass);
    add.vector(center);
    for (const double x : {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz})
      out.add(x);
  }
  for (const JointSpec& joint : spec.joints) add.joint(joint);
  for (const FrameSpec& frame : spec.frames) {
    out.add(frame.name).add(frame.link);
    add.pose(frame.placement);
  }
  return out.text();
}

}  // namespace articula
