// Constraints that close chains: what a relative motion of two frames, or of joints, must not do.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

/// A frame fixed somewhere in the mechanism.
struct Attachment {
  int frame = -1;    // index in Model::frames(); -1: the world
  Pose placement{};  // in that frame's axes
};

/// What a one-sided contact can carry. The normal is the z axis of attachment a, from the surface into body
/// b: the force of a on b along it must not pull.
struct ContactLimits {
  double friction = 0;           // tangential force at most friction times normal force
  double torsional_radius = 0;   // metres; moment about the normal at most friction * this * normal force
  Vec3<double> normal{0, 0, 1};  // in a's axes
};

struct Constraint {
  enum class Kind {
    frames,        // some of the six motions of b relative to a are zero
    distance,      // a rod: the origins of a and b are `length` apart
    coupler,       // a gear: the sum of terms in joint coordinates is `length`
    rolling_ball,  // a ball of radius `length` at b's origin rolls, without slipping, on the x-y plane of a
    rolling_disc,  // likewise a thin disc about b's z axis
  };
  std::string name;
  Kind kind = Kind::frames;
  Attachment a{}, b{};
  /// Of `frames`: rotation about x, y, z and translation along x, y, z of a's axes, which a carries. One
  /// rotation fixed alone has no position of its own (a soft finger can be turned to any attitude): it is
  /// held in velocity only.
  std::array<bool, 6> fixed{};
  double length = 0;
  struct Term {
    int joint;  // with one freedom
    double coefficient;
    std::array<double, 3> higher{};  // of q^2, q^3, q^4
  };
  std::vector<Term> terms{};
  std::optional<ContactLimits> limits{};

  int rows() const;
  /// Whether every row has a position to be held to, not a velocity alone (rolling, one rotation).
  bool is_of_position() const;
};

// The usual ones. `axis` is in a's axes; a's placement is turned so that its z axis lies along it, and b's
// with it.
Constraint weld(std::string name, const Attachment& a, const Attachment& b);
/// Turns about the z axes of a and b only.
Constraint hinge(std::string name, const Attachment& a, const Attachment& b);
/// Turns about, and slides along, z only.
Constraint cylinder(std::string name, const Attachment& a, const Attachment& b);
/// Slides along z only.
Constraint slider(std::string name, const Attachment& a, const Attachment& b);
/// Origins coincide.
Constraint ball(std::string name, const Attachment& a, const Attachment& b);
Constraint rod(std::string name, const Attachment& a, const Attachment& b, double length);
Constraint coupler(std::string name, std::vector<Constraint::Term> terms, double offset = 0);
Constraint rolling_ball(std::string name, const Attachment& plane, const Attachment& center, double radius);
Constraint rolling_disc(std::string name, const Attachment& plane, const Attachment& center, double radius);

/// The grasps of JPL88 Appendix A: how much a contact lets the object turn about the tip.
enum class Grasp {
  rigid,        // not at all
  hinge,        // about one axis: an edge
  soft_finger,  // about axes in the tangent plane: no spin about the normal
  point,        // about any: a point with friction
};
/// A grasp with the contact point at the tip's origin; `axis` is the hinge's axis or the soft finger's
/// normal, in the tip's axes. Where it meets the object is for attach() to say.
Constraint grasp(std::string name, Grasp kind, int tip_frame, int object_frame,
                 const Vec3<double>& axis = {0, 0, 1});

/// Places b on its frame where a is at q: the grasp is made here.
void attach(const Model& model, Constraint& constraint, std::span<const double> q);

/// "rotation about x", "translation along z", "distance", ... of a row of a constraint.
std::string name_of_row(const Constraint& constraint, int row);

}  // namespace articula
