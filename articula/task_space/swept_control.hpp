// Operational-space control of one frame in four, three or two sweeps over the bodies (OSC 5): the fewer, the more
// of what a tick uses is of the tick before.
//
//   SweptControl control(model, "hand", 2);                           once
//   control.torques(q, v, target, gains, posture, tau);               every tick, no allocation
//
//   4   everything of now: what TaskController gives
//   3   a and b (the terms in products of velocities), and what the posture needs, of the tick before
//   2   F too: the frame feels a command one tick later
//
// With h between ticks the torques are wrong by terms of order h; they are exact where the state is that of the tick
// before. The first tick takes all four sweeps.
#pragma once

#include <memory>
#include <string_view>

#include "articula/task_space/control.hpp"

namespace articula {

/// Joint accelerations stiffness (wanted - q) - damping v in what freedom the frame leaves.
struct PostureGains {
  In<double> wanted;
  double stiffness = 0, damping = 2;
};

class SweptControl {
 public:
  /// ArgumentError for an unknown frame, mimic joints, or sweeps other than 2, 3 and 4.
  SweptControl(const Model& model, std::string_view frame, int sweeps = 2,
               const SingularityOptions& options = {.damp = true});
  ~SweptControl();
  SweptControl(SweptControl&&) noexcept;
  SweptControl& operator=(SweptControl&&) noexcept;

  /// One tick. SingularError names a joint that nothing resists.
  void torques(In<double> q, In<double> v, const MotionTarget& target, const MotionGains& gains,
               const PostureGains& posture, Out<double> tau);
  /// Forgets the tick before: the next one takes four sweeps.
  void reset();
  /// How many sweeps the last tick took.
  int last_sweeps() const;

 private:
  struct Sweeps;
  std::unique_ptr<Sweeps> sweeps_;
};

}  // namespace articula
