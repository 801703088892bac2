// What a model is made from: links, joints and frames as a user or a file states them. Every reader produces
// a ModelSpec, every writer takes one; Model's constructor makes a Model of it.
#pragma once

#include <array>
#include <limits>
#include <memory>
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
  free,
  translational
};
inline constexpr int joint_kinds = static_cast<int>(JointKind::translational) + 1;
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

/// One number for each freedom of a joint, in the order of its velocities. Made from one number, it is that
/// for all of them; x[i] = .. then sets a single one.
class PerFreedom {
 public:
  static constexpr int most = 6;
  PerFreedom(double all = 0) : all_(all) {}  // not explicit: .damping = 0.1
  PerFreedom(const PerFreedom& other);
  PerFreedom(PerFreedom&&) noexcept = default;
  PerFreedom& operator=(PerFreedom other) noexcept;
  ~PerFreedom() = default;

  double operator[](int freedom) const { return each_ ? (*each_)[std::size_t(freedom)] : all_; }
  double& operator[](int freedom);
  /// Are the first `freedoms` the same number?
  bool is_one_number(int freedoms) const;
  bool operator==(const PerFreedom& other) const;

 private:
  double all_;
  std::unique_ptr<std::array<double, most>> each_;  // only if they differ: models may have a million joints
};

struct JointLimits {
  PerFreedom lower = -std::numeric_limits<double>::infinity();
  PerFreedom upper = std::numeric_limits<double>::infinity();
  PerFreedom velocity = std::numeric_limits<double>::infinity();
  PerFreedom effort = std::numeric_limits<double>::infinity();
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
      1, 0, 0};  // in joint axes; of a planar joint: the plane's normal; of one with several: the first
  Vec3<double> second_axis{0, 1, 0};  // of kinds with two or three; of a universal joint fixed in the child
  double pitch = 0;                   // helical only: metres per radian
  JointLimits limits{};
  PerFreedom damping = 0;   // kept and reported, as are friction and the spring: see docs/models.md
  PerFreedom friction = 0;  // dry
  PerFreedom armature = 0;  // rotor inertia as seen at the joint
  PerFreedom stiffness = 0;
  PerFreedom spring_reference = 0;  // where the spring is at rest
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

/// A motor: its force times gear[i] acts on freedom i of the joint. Kept for who asks; no algorithm reads it.
struct ActuatorSpec {
  std::string name;
  std::string joint;
  PerFreedom gear = 1;
  double lower = -std::numeric_limits<double>::infinity();  // of its force
  double upper = std::numeric_limits<double>::infinity();
  std::string where{};
};

/// A joint beyond the tree, which closes a loop between two links (or `world`): the frames on them meet but
/// for what a joint of this kind leaves free. fixed: a weld; spherical: their origins meet.
struct LoopSpec {
  std::string name;
  JointKind kind = JointKind::fixed;
  std::string first, second;               // links
  Pose first_placement, second_placement;  // of the frames, in the links' axes
  Vec3<double> axis{1, 0, 0};              // in the first frame, for kinds that have one
  std::string where{};
};

/// q(joint) = the sum of coefficients[i] q(source)^i, which a mimic says with two numbers, and of what further joints
/// add, as a constraint: a tendon runs over several.
struct CouplingSpec {
  struct Term {
    std::string joint;
    double coefficient;
  };
  std::string name;
  std::string joint, source;
  std::vector<double> coefficients;
  std::string where{};
  std::vector<Term> further{};
};

enum class Base { fixed, free };

struct ModelSpec {
  std::string name = "model";
  std::vector<LinkSpec> links;
  std::vector<JointSpec> joints;
  std::vector<FrameSpec> frames;
  // What files say beyond the tree; a Model is built without it.
  std::vector<ActuatorSpec> actuators{};
  std::vector<LoopSpec> loops{};
  std::vector<CouplingSpec> couplings{};

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
