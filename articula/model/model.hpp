// Model: a mechanism ready for computation. Immutable, cheap to copy, shareable between threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/error.hpp"
#include "articula/model/spec.hpp"
#include "articula/model/tree.hpp"

namespace articula {

struct BuildOptions {
  Base base = Base::fixed;  // how the root link meets the world
  Vec3<double> gravity{0, 0, -9.81};
  bool turn_axes = true;  // bodies' internal axes follow the next joint: fewer operations, the same results
};

/// A moving joint. A mimic joint shares its source's indices and has nq = nv = 0 of its own.
struct Joint {
  std::string name;
  JointKind kind;
  int q_index, nq;
  int v_index, nv;
  int body;    // the (last) body that it moves
  int mimics;  // index of the joint that it follows, or -1
  double multiplier = 1, offset = 0;
  Vec3<double> axis;  // unit length, joint axes
  double pitch;
  JointLimits limits;
  PerFreedom damping, friction, armature, stiffness, spring_reference;
};

/// A moving body: a link with all that is welded to it. Bodies are numbered base to tip, depth first in file
/// order.
struct Body {
  std::string name;
  int inboard;  // body, or -1: the world
  int joint;
  MassProperties mass;     // welded links included, in link axes at the link's origin (the joint origin O_k)
  Mat3<double> link_axes;  // link axes in the body's internal axes
};

/// A named frame: every link is one, and so are those added by name.
struct Frame {
  std::string name;
  int body;        // -1: the world
  Pose placement;  // in the body's link axes
};

class Model {
 public:
  /// Throws ModelError on the first error that find_problems would list.
  explicit Model(const ModelSpec& spec, const BuildOptions& options = {});

  const std::string& name() const;
  int nq() const;
  int nv() const;
  int body_count() const;
  double mass() const;  // of the moving bodies
  Vec3<double> gravity() const;
  Base base() const;

  const std::vector<Joint>& joints() const;
  const std::vector<Body>& bodies() const;
  const std::vector<Frame>& frames() const;
  /// Throws ArgumentError that lists near names.
  int frame(std::string_view name) const;
  int joint(std::string_view name) const;

  /// What the model was built from, and everything suspicious that was found then.
  const ModelSpec& spec() const;
  const std::vector<Finding>& warnings() const;

  /// Velocities that nothing resists in any configuration: all mass outboard lies on the joint's axis, or
  /// there is none. Calls that divide by D (forward dynamics, the mass matrix' inverse) throw SingularError
  /// with the joint's name if there is one; kinematics, inverse dynamics and the mass matrix work.
  const std::vector<int>& massless_velocities() const;

  /// A copy with another gravity vector.
  Model with_gravity(const Vec3<double>& gravity) const;

  // --- for the kernels -------------------------------------------------------------------------------
  template <class R>
  const Tree<R>& tree() const;

  /// Full coordinates give every hinge its own; mimic joints make them more than the model's own.
  bool has_mimics() const;
  /// For full velocity i: v_full = multiplier * v[source] (q_full the same, plus offset).
  struct FullVelocity {
    int source;
    double multiplier, offset;
  };
  std::span<const FullVelocity> full_velocities() const;
  /// For full coordinate i: (source, multiplier, offset).
  std::span<const FullVelocity> full_coordinates() const;

  /// The first full velocity of a joint.
  int full_velocity_of(const Joint& joint) const;

  struct Data;

 private:
  explicit Model(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

/// Everything wrong or suspicious in a specification; a Model can be built if there is no error among it.
std::vector<Finding> find_problems(const ModelSpec& spec, Base base = Base::fixed);
/// ModelError with the first error among them, and how many more there are; nothing if there is none.
void throw_first_error(const std::vector<Finding>& findings);

}  // namespace articula
