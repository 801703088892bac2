// A model's configuration as numbers that a person can move.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

/// A number that a person can move. Orientations (spherical and free joints) are roll, pitch and yaw.
struct Slider {
  int joint;
  std::string label;  // "angle", "shift", "roll", ...
  const char* unit;   // "rad" or "m"
  double lower, upper, value;
};

/// Sliders of every joint that has coordinates of its own, between its limits where they are finite, else
/// within pi or a metre or two; at zero, or the limit nearest to it.
std::vector<Slider> sliders_of(const Model& model);
/// The configuration that values of those sliders stand for. Throws ArgumentError if their number is wrong or
/// one is not finite.
std::vector<double> configuration_of(const Model& model, std::span<const double> values);
/// The other way round: roll, pitch and yaw of quaternions, and all other coordinates as they are.
std::vector<double> slider_values(const Model& model, std::span<const double> q);

}  // namespace articula
