// What `articula view` shows: a model at a configuration that sliders choose, its mass matrix, the factor D
// by joint, and the operational-space ellipsoid of a frame.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "articula/files/shapes.hpp"
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

/// The velocities that kinetic energy gives a frame: with the mechanism otherwise free to respond, the
/// frame's origin moves within v* Lambda v <= 2 E, Lambda^-1 = the linear part of J M^-1 J*.
struct OperationalEllipsoid {
  Vec3<double> centre;
  Mat3<double> axes;       // columns, the longest first, right-handed
  double inverse_mass[3];  // along each: 1 / (effective mass), 1/kg; zero where the frame cannot move
  int rank;                // of J M^-1 J*, all six directions
};

class ModelView {
 public:
  /// `fit`, if given, moves what the sliders say to a configuration that the mechanism can have.
  ModelView(const Model& model, std::span<const LinkShapes> shapes, std::vector<std::string> notes = {},
            std::function<void(std::span<double>)> fit = {});
  ~ModelView();

  const Model& model() const;
  const std::vector<Slider>& sliders() const;
  /// The frame shown first: the last link of the longest branch.
  int first_frame() const;

  /// Everything that depends on the configuration, as JSON: poses, mass matrix, D, ellipsoid. Where M is
  /// singular "error" says which joint, and what needs its inverse is left out. Throws ArgumentError on wrong
  /// values or frame.
  std::string state_json(std::span<const double> slider_values, int frame);
  OperationalEllipsoid ellipsoid(std::span<const double> slider_values, int frame);

  /// The whole page, at the first state. `live`: it asks its server for other states; else the sliders are
  /// left out. Throws Error if the library was built without the page.
  std::string page(bool live);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace articula
