// What a model is made from: links, joints and frames as a user or a file states them. Every reader produces
// a ModelSpec, every writer takes one, and a Model is made from one (model.hpp).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/spatial/rotation.hpp"

namespace articula {

enum class JointKind : unsigned char {
  fixed,
  revolute,
  continuous,
  prismatic,
  helical,
  cylindrical,
  universal,
  planar,
  spherical,
  free
};
std::string_view name_of(JointKind kind);
/// Coordinates and velocities of a kind (free: 7 and 6).
int nq_of(JointKind kind);
int nv_of(JointKind kind);

/// Mass, mass centre in link axes from the link's origin, and inertia about the mass centre in link axes.
struct MassProperties {
  double mass = 0;
  Vec3<double> center_of_mass{0, 0, 0};
  Sym3<double> inertia{0, 0, 0, 0, 0, 0};  // xx yy zz xy xz yz
};

struct LinkSpec {
  std::string name;
  MassProperties mass{};
  std::string where{};  // "file:line", for messages
};

struct JointLimits {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double velocity = std::numeric_limits<double>::infinity();
  double effort = std::numeric_limits<double>::infinity();
};

/// q = multiplier * q(joint) + offset.
struct Mimic {
  std::string joint;
  double multiplier = 1;
  double offset = 0;
};

/// Parent name that stands for the world, unless a link has that name.
inline constexpr std::string_view world = "world";

struct JointSpec {
  std::string name;
  JointKind kind = JointKind::revolute;
  std::string parent;
  std::string child;
  Pose placement{};  // joint frame at zero = child link frame, in the parent link's axes
  Vec3<double> axis{
      1, 0, 0};  // in joint axes; of a planar joint: the plane's normal; of a universal one: the first
  Vec3<double> second_axis{0, 1, 0};  // universal only: fixed in the child
  double pitch = 0;                   // helical only: metres per radian
  JointLimits limits{};
  double damping = 0;   // kept and reported; see docs/models.md
  double friction = 0;  // likewise
  double armature = 0;  // rotor inertia as seen at the joint, one number for all its freedoms
  std::optional<Mimic> mimic{};
  std::string where{};
};

/// A named pose on a link, beside the frames that links are.
struct FrameSpec {
  std::string name;
  std::string link;
  Pose placement{};
  std::string where{};
};

enum class Base { fixed, free };

struct ModelSpec {
  std::string name = "model";
  std::vector<LinkSpec> links;
  std::vector<JointSpec> joints;
  std::vector<FrameSpec> frames;

  LinkSpec& add_link(LinkSpec link);
  JointSpec& add_joint(JointSpec joint);
  FrameSpec& add_frame(FrameSpec frame);
};

/// Something wrong (error: no model can be built), suspicious (warning) or merely passed over (note) in a
/// specification.
struct Finding {
  enum class Severity { note, warning, error } severity;
  std::string where;    // "file:line" or empty
  std::string message;  // what is there, what was expected, what to do
};
/// "arm.urdf:12: error: ..."
std::string describe(const Finding& finding);

}  // namespace articula
