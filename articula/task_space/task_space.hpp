// Operational space of a set of tasks (OSC; docs/operational_space.md): the task coordinates y with y' = J v
// move by
//
//   Lambda y'' + c + g = F,   tau = J* F        Omega = J M^-1 J*,  Lambda = Omega^-1
//   c = Lambda (J M^-1 C v - J' v),   g = Lambda J M^-1 G
//
// Everything in O(n), without M and M^-1: three sweeps give Omega, c and g of one frame; several frames meet
// at their closest common ancestors. Make a TaskSpace once for a model and its tasks, update it at each
// state, then ask. Nothing allocates after that, unless said. Any tree, joint kind and base; models with
// mimic joints go through dense Jacobians (O(n) per row).
#pragma once

#include <memory>
#include <string>

#include "articula/dynamics/kinematics.hpp"
#include "articula/task_space/layout.hpp"
#include "articula/task_space/rank.hpp"
#include "articula/task_space/task.hpp"

namespace articula {

/// What is lost of a set of tasks, for people.
struct RankReport {
  int rank, rows;
  std::vector<double> inverse_inertias;  // the eigenvalues of Omega, ascending
  struct Lost {
    double inverse_inertia;
    double share;                   // 1: lost; less: partly damped
    std::vector<double> direction;  // unit, in the tasks' rows
    std::string words;
  };
  std::vector<Lost> lost;
  std::string words;  // all of it in one text
};

class TaskSpace : public Workspace<double> {
 public:
  /// Throws ArgumentError for a task that check_task refuses, or options that are not finite.
  TaskSpace(const Model& model, std::span<const Task> tasks, const SingularityOptions& options = {});
  TaskSpace(const Model& model, const Task& task, const SingularityOptions& options = {});
  ~TaskSpace();
  TaskSpace(TaskSpace&&) noexcept;
  TaskSpace& operator=(TaskSpace&&) noexcept;

  int rows() const { return rows_; }
  int task_count() const { return static_cast<int>(tasks_.size()); }
  const Task& task(int i) const { return tasks_[check_index(i)].task; }
  /// Rows first_row(i) .. first_row(i) + task(i).rows.size() - 1 are those of task i.
  int first_row(int i) const { return tasks_[check_index(i)].first_row; }
  const SingularityOptions& options() const { return options_; }

  /// Sets the state; without v: at rest. SingularError names a joint that nothing resists.
  void update(In<double> q);
  void update(In<double> q, In<double> v);

  // --- at the last update; matrices row by row -------------------------------------------------------
  void omega(Out<double> matrix) const;  // rows x rows
  void lambda(Out<double> matrix);       // its inverse as SingularityOptions say
  void coriolis(Out<double> c);
  void gravity(Out<double> g);
  void velocity(Out<double> y) const;                // y' = J v
  void bias_acceleration(Out<double> jdot_v) const;  // J' v
  /// y'' with no joint forces: -Omega (c + g).
  void free_acceleration(Out<double> y) const;
  void jacobian(Out<double> J);         // rows x nv
  void jacobian_bar(Out<double> Jbar);  // nv x rows: M^-1 J* Lambda, the dynamically consistent inverse
  void null_space(Out<double> N);  // nv x nv: Id - J* Jbar*, for joint forces; its adjoint is for velocities
  /// How many independent directions the tasks have; the treatment of lost ones.
  int rank();
  /// True if no direction is lost or damped.
  bool exact();
  /// Allocates.
  RankReport rank_report();

  // --- the same applied to vectors, no matrix formed. x and y must not overlap -----------------------
  void times_omega(In<double> F, Out<double> y) const;
  void times_lambda(In<double> y, Out<double> F);
  void times_jacobian(In<double> v, Out<double> y);
  void times_jacobian_star(In<double> F, Out<double> tau);
  void times_jacobian_bar(In<double> y, Out<double> v);
  void times_jacobian_bar_star(In<double> tau, Out<double> F);
  void project_forces(In<double> tau, Out<double> out);    // (Id - J* Jbar*) tau: does not move the tasks
  void project_velocities(In<double> v, Out<double> out);  // (Id - Jbar J) v
  /// J M^-1 tau: the task acceleration that joint forces cause.
  void acceleration_of(In<double> tau, Out<double> y);
  /// F = Lambda u + c + g: the task force for which y'' = u (OSC 4), tau = J* F.
  void motion_force(In<double> u, Out<double> F);

  // --- of the whole model, at the last update --------------------------------------------------------
  void gravity_forces(Out<double> tau);            // G
  void bias_forces(Out<double> tau);               // C v + G
  void times_mass(In<double> a, Out<double> tau);  // M a

  // --- frames of tasks -------------------------------------------------------------------------------
  FramePose<double> pose(int task) const;
  Spatial<double> frame_velocity(int task) const;  // world axes, at the frame's origin
  /// y'' of a task whose frame accelerates by `a` = d/dt (w, v), world axes.
  void rows_of_acceleration(int task, const Spatial<double>& a, Out<double> y) const;
  /// The rows of a task in world axes, rows x 6.
  std::span<const double> world_rows(int task) const;

 private:
  struct Placed {
    Task task;
    int first_row;
    int frame;           // among the distinct frames
    bool whole = false;  // all six rows, one after the other, world axes
    int axes_slot = 0;   // body of the axes, and their orientation in it
    Mat3<double> axes{};
  };
  struct DenseRoute;  // models with mimic joints

  int check_index(int task) const;
  void place_tasks(std::span<const Task> tasks);
  void make_memory();
  void state(const char* function, std::span<const double> q, const double* v);
  void finish(bool moving);
  void turn_rows();
  void reduce_omega();
  RankSolve& solved();
  void require_update(const char* function) const;
  void check_sizes(const char* function, std::size_t x, std::size_t x_size, std::size_t y,
                   std::size_t y_size) const;
  Mat3<double> body_axes(int slot) const;
  // between rows and the distinct frames' (rotation, translation), six each
  void to_rows(const double* frames, double* rows) const;
  void from_rows(const double* rows, double* frames) const;
  void frames_of_velocity(const double* v, double* frames) const;
  void forces_of_frames(const double* F, double* tau);
  void frames_of_forces(const double* tau, double* frames);
  void rates_of_frames(const double* F, double* v);

  SingularityOptions options_;
  std::vector<Placed> tasks_;
  std::vector<FrameOnBody<double>> frames_;
  int rows_ = 0;
  bool updated_ = false, moving_ = false, solved_ = false;
  std::unique_ptr<TaskLayout> layout_;
  AlignedArray<double> extra_;
  TaskMemory<double> t_;
  RankSolve solve_;
  std::vector<double> row_in_world_;        // rows x 6
  std::vector<double> Omega_;               // rows x rows
  std::vector<double> coriolis_, gravity_;  // Omega c, Omega g
  std::vector<double> bias_, velocity_;     // J' v, J v
  std::vector<double> frame_velocity_;      // 6 per frame
  mutable std::vector<double> frame_vector_, row_vector_, joint_vector_;
  std::vector<double> body_vector_;  // 6 per slot
  std::unique_ptr<DenseRoute> dense_;
};

}  // namespace articula
