// What `articula view` shows: a model at a configuration that sliders choose, its mass matrix, the factor D
// by joint, and the operational-space ellipsoid of a frame.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/loops/constraint.hpp"
#include "articula/model/model.hpp"
#include "articula/report/sliders.hpp"

namespace articula {

/// The velocities that kinetic energy gives a frame: with the mechanism otherwise free to respond, the
/// frame's origin moves within v* Lambda v <= 2 E, Lambda^-1 = the linear part of J M^-1 J*.
struct OperationalEllipsoid {
  Vec3<double> centre;
  Mat3<double> axes;       // columns, the longest first, right-handed
  double inverse_mass[3];  // along each: 1 / (effective mass), 1/kg; zero where the frame cannot move
  int rank;                // of J M^-1 J*, all six directions
};

struct ViewOptions {
  std::string title{};  // empty: the model's name
  std::vector<std::string> notes{};
  /// Loops, which stay closed whatever is moved. Where they cannot be closed at first, they are shown open, with a note.
  std::vector<Constraint> constraints{};
  std::vector<double> q{};  // where it begins; empty: as sliders_of says
};

/// Where the sliders are, and what is to be moved from there: one of them, with the others following as loops make them,
/// or the frame, by inverse kinematics.
struct ViewRequest {
  std::vector<double> values;
  int frame = 0;
  struct Move {
    int slider;
    double to;
  };
  struct Drag {
    Vec3<double> position;                     // world axes
    std::optional<Quaternion<double>> turn{};  // absent: as it comes
  };
  std::optional<Move> move{};
  std::optional<Drag> drag{};
};

class ModelView {
 public:
  ModelView(const Model& model, std::span<const LinkShapes> shapes, ViewOptions options = {});
  ~ModelView();

  ModelView(ModelView&&) noexcept;
  const Model& model() const;
  const std::string& title() const;
  const std::vector<std::string>& notes() const;
  const std::vector<Slider>& sliders() const;
  /// The frame shown first: the last link of the longest branch.
  int first_frame() const;

  /// Whether loops are kept closed.
  bool closed() const;

  /// Everything that depends on the configuration, as JSON: the sliders' values where it has come to, poses, mass
  /// matrix, D, ellipsoid. Where M is singular "error" says which joint, and what needs its inverse is left out. Throws
  /// ArgumentError on wrong values or frame, and if loops cannot be closed at these values.
  std::string state_json(const ViewRequest& request);
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
