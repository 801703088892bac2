// What acts on a simulated mechanism, as Python says it; calls of Python and Ctrl-C from code without the interpreter's
// lock.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "articula/simulation/simulator.hpp"
#include "articula/simulation/task_control.hpp"
#include "numbers.hpp"

namespace articula::python {

/// One of `controllers=`, as articula/motion.py has listed it: (kind, function, period, kp, kd, times, reference,
/// gravity); of decoupled_rates kp are the gains, reference nu, and gravity says that nothing else is compensated; of
/// operational_space and tasks (kind, function, period, levels, posture, its stiffness and damping, sweeps). Nothing of
/// Python is touched once it is read, but the function when it is called.
struct ControllerSpec {
  enum class Kind {
    function,
    pd,
    computed_torque,
    gravity_compensation,
    decoupled_rates,
    operational_space,
    tasks,
  } kind;
  nanobind::handle function;  // the caller keeps it
  double period = 0;          // 0: asked at every evaluation
  std::vector<double> kp, kd, times, reference;
  bool gravity = false;
  struct Task {
    std::string frame, axes;
    std::array<bool, 6> rows{};
    std::vector<double> position, rotation;  // empty: where the frame is at the start
    std::string euler;                       // empty: none
    std::vector<double> angles;
    MotionGains gains{};
    std::vector<ControlledTask::Push> pushes{};
  };
  std::vector<std::vector<Task>> levels;
  std::vector<double> posture;  // empty: the start
  double posture_stiffness = 0, posture_damping = 2;
  int sweeps = 4;
};

struct Acting {
  bool damping = false, friction = false;
  enum class Limits { none, stiff, events } limits = Limits::none;
  double restitution = 0;
  std::vector<ControllerSpec> controllers;

  Acting(const Model& model, bool damping, bool friction, const std::string& limits, double restitution,
         nanobind::list controllers);
  bool only_damping() const { return !friction && limits == Limits::none && controllers.empty(); }
};

/// Seconds above zero, and no more steps (or rows) than anyone could wait for.
void check_times(const char* function, double duration, double step, const char* name = "step",
                 double most = 1e11);

/// The elements of one simulator.
class Elements {
 public:
  /// q: where the motion begins, the reference of controllers that have none.
  void add(Simulator& simulator, const Acting& acting, std::span<const double> q);

 private:
  void add(Simulator& simulator, std::unique_ptr<ForceElement> element) {
    simulator.add(*element);
    all_.push_back(std::move(element));
  }
  std::vector<std::unique_ptr<ForceElement>> all_;
};
std::unique_ptr<ForceElement> make_controller(const ControllerSpec& spec, const Model& model,
                                              std::span<const double> q);

/// Looks on at every evaluation, and adds nothing: some times a second Ctrl-C is heard and progress told. Waits for the
/// interpreter's lock then.
class Heartbeat : public ForceElement {
 public:
  /// progress: None, or a function of the part that is done. Borrowed.
  Heartbeat(nanobind::handle progress, double duration) : progress_(progress), duration_(duration) {}
  void add_forces(double t, In<double>, In<double>, Out<double>) override { at(t); }
  void at(double t);

 private:
  using Clock = std::chrono::steady_clock;
  nanobind::handle progress_;
  double duration_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace articula::python
