// Kinematics: poses, velocities, accelerations and Jacobians of named frames; energies, centre of mass,
// momentum.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "articula/dynamics/workspace.hpp"
#include "articula/kernels/frame_motion.hpp"

namespace articula {

template <class S>
struct FramePose {
  Mat3<S> rotation;
  Vec3<S> position;
};

/// How many bodies there are between the world and the frame that has most.
template <class R>
int longest_path(const Tree<R>& tree) {
  std::vector<int> length(tree.slots());
  int longest = 0;
  for (int k = 1; k < tree.slots(); ++k)
    longest = std::max(longest, length[k] = length[tree.index[k].inboard] + 1);
  return longest;
}
/// Owns the arrays of PathMemory, for any frame of a model. S may be a pack of states.
template <class S>
class PathRoom {
 public:
  PathRoom() = default;
  explicit PathRoom(int longest)
      : slots_(1 + longest + block),
        in_registers_((longest + block - 1) / block * block),
        numbers_(2 * in_registers_ + path_numbers * static_cast<std::size_t>(longest)) {}
  PathMemory<S> memory() {
    S* const x = numbers_.data();
    return {slots_.data(), slots_.data() + 1, x, x + in_registers_, x + 2 * in_registers_};
  }

 private:
  std::vector<int> slots_;
  std::size_t in_registers_ = 0;
  AlignedArray<S> numbers_;
};

/// Memory and results of kinematics: update once at a state, then ask for any frame.
template <class S = double>
class Kinematics : public Workspace<S> {
 public:
  explicit Kinematics(const Model& model);

  /// Poses only; poses and velocities; and accelerations.
  void update(In<S> q);
  void update(In<S> q, In<S> v);
  void update(In<S> q, In<S> v, In<S> a);
  /// The last with joint accelerations zero: acceleration(frame) is then d/dt(J) v.
  void update_drift(In<S> q, In<S> v);

  /// Frames by index (Model::frame(name)).
  FramePose<S> pose(int frame) const;
  Spatial<S> velocity(int frame, Axes axes = Axes::world) const;
  /// d/dt of velocity(frame, axes): for world axes, of the frame origin's velocity. Gravity is not included.
  /// After update(q, v) it is that of update_drift, which is then made up for.
  Spatial<S> acceleration(int frame, Axes axes = Axes::world) const;
  /// 6 x nv, row by row: velocity(frame, axes) = J v.
  void jacobian(int frame, Out<S> J, Axes axes = Axes::world) const;

  /// One frame at q, without an update: only the bodies between the world and the frame are placed, which is
  /// faster where few frames are asked for. What the last update left stays as it is.
  FramePose<S> pose(int frame, In<S> q);
  void jacobian(int frame, In<S> q, Out<S> J, Axes axes = Axes::world);

  /// Energies, mass, centre of mass and momentum at the last update. Rotors (armature) count in the kinetic
  /// energy.
  Totals<S> totals();

 private:
  const FrameOnBody<S>& on_body(int frame) const;
  PlacedFrame<S> place(int frame) const;
  void move(std::span<const S> q, std::span<const S> v);
  void accelerate(const S* full_a) const;
  void require(bool available, const char* what) const;
  mutable int level_ = 0;  // 1: poses, 2: and velocities, 3: and accelerations
  S rotor_energy_ = 0;
  std::vector<FrameOnBody<S>> frames_;
  AlignedArray<S> state_;  // full q and v of the last update
  PathRoom<S> path_;
  AlignedArray<S> full_J_;  // only with mimic joints
};

/// A frame of the model as kernels take it. Throws ArgumentError if there is none of that number.
template <class S = double>
FrameOnBody<S> frame_on_body(const Model& model, int frame);

/// World pose of a frame; velocity of its origin; 6 x nv Jacobian: one call each, for use outside loops.
FramePose<double> pose(const Model& model, In<double> q, std::string_view frame);
Spatial<double> frame_velocity(const Model& model, In<double> q, In<double> v, std::string_view frame);
std::vector<double> jacobian(const Model& model, In<double> q, std::string_view frame,
                             Axes axes = Axes::world);
Totals<double> totals(const Model& model, In<double> q, In<double> v);

extern template class Kinematics<double>;
extern template class Kinematics<float>;

}  // namespace articula
