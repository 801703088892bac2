// Units: masses in grams, lengths in millimetres.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/model/audit.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

constexpr double osmium = 2.26e4;           // kg/m^3, the densest matter
constexpr double impossible_density = 1e5;  // kg/m^3 of a ball with the body's mass and gyration radius
constexpr double heavy = 1000;              // kg: in earnest only if the body is no denser than osmium
constexpr double long_gyration = 10;        // m
constexpr double long_offset = 50;          // m, between joints
constexpr double far_center = 10;           // m, or that many times the largest offset in the model

/// Counts what one wrong unit does to many links, for one message that names the worst.
class Worst {
 public:
  void add(double value, const std::string& where, std::string_view name) {
    ++count_;
    if (value > value_) value_ = value, where_ = &where, name_ = name;
  }
  explicit operator bool() const { return where_ != nullptr; }
  double value() const { return value_; }
  const std::string& where() const { return *where_; }
  std::string say(std::string_view what) const {
    return count_ == 1 ? fmt::format("{} '{}'", what, name_)
                       : fmt::format("{} '{}' (the worst of {})", what, name_, count_);
  }

 private:
  double value_ = 0;
  const std::string* where_ = nullptr;
  std::string_view name_;
  int count_ = 0;
};

/// Density of the ball that has this mass and gyration radius: below the true one for every other shape.
double ball_density(double mass, double gyration) {
  const double radius = gyration * std::sqrt(2.5);
  return mass / (4 * std::numbers::pi / 3 * radius * radius * radius);
}

}  // namespace

void Examination::check_units() {
  check_densities();
  check_lengths();
}

void Examination::check_densities() {
  Worst grams, dense, wide;
  for (std::size_t k = 0; k < spec_.links.size(); ++k) {
    const LinkSpec& link = spec_.links[k];
    const double mass = link.mass.mass, moment = largest_moment_[k];
    if (mass <= 0) continue;
    const double gyration = std::sqrt(moment / mass),
                 density = gyration > 0 ? ball_density(mass, gyration) : 0;
    if (mass > heavy && (moment == 0 || density > osmium))
      grams.add(mass, link.where, link.name);
    else if (density > impossible_density)
      dense.add(density, link.where, link.name);
    if (gyration > long_gyration) wide.add(gyration, link.where, link.name);
  }
  if (grams)
    warning(grams.where(), "{} has the mass {:.6g} kg in a small body; are masses in grams? Give kilograms",
            grams.say("link"), grams.value());
  if (dense)
    warning(dense.where(),
            "{} has an inertia far too small for its mass: as a ball it would weigh {:.3g} kg/m^3; give kg "
            "and kg m^2, about the mass centre",
            dense.say("link"), dense.value());
  if (wide)
    warning(wide.where(),
            "{} has an inertia far too large for its mass: a gyration radius of {:.6g} m; are lengths in "
            "millimetres, or the inertia in kg mm^2? Give metres and kg m^2",
            wide.say("link"), wide.value());
}

void Examination::check_lengths() {
  Worst offsets, centers;
  double size = 0;
  for (const auto& joint : spec_.joints) {
    const double length = norm(joint.placement.p);
    if (joint.parent == world) continue;  // a model may stand anywhere
    size = std::max(size, length);
    if (length > long_offset) offsets.add(length, joint.where, joint.name);
  }
  for (std::size_t k = 0; k < spec_.links.size(); ++k) {
    const MassProperties& m = spec_.links[k].mass;
    if (m.mass <= 0) continue;
    const double gyration = std::sqrt(largest_moment_[k] / m.mass), distance = norm(m.center_of_mass);
    const double limit = size > 0 ? std::max({far_center * size, far_center * gyration, 1.0}) : far_center;
    if (distance > limit) centers.add(distance, spec_.links[k].where, spec_.links[k].name);
  }
  if (offsets)
    warning(offsets.where(),
            "{} is {:.6g} m from the joint inboard of it; are lengths in millimetres? Give metres",
            offsets.say("joint"), offsets.value());
  if (centers)
    warning(centers.where(),
            "{} has its mass centre {:.6g} m from its origin, far outside the mechanism; are lengths in "
            "millimetres? Give metres",
            centers.say("link"), centers.value());
}

}  // namespace articula
