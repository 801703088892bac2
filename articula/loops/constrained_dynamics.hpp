// Dynamics of closed chains: a model with constraints between its frames and joints (docs/closed_chains.md).
//
// One code path for every kind of loop: arms that hold an object (a free body of the model), feet on the
// ground, four-bars, platforms. RCCFD2 of JPL88 (Part II) in general form, O(n) and a solve with Omega = J
// M^-1 J*.
#pragma once

#include <limits>

#include "articula/dynamics/workspace.hpp"
#include "articula/kernels/loop_memory.hpp"
#include "articula/loops/constraint.hpp"
#include "articula/loops/rank_revealing.hpp"

namespace articula {

struct ConstrainedOptions {
  /// Rows of Omega whose pivot falls below this part of their diagonal depend on the others.
  double rank_tolerance = 1e-11;
  /// Baumgarte's stabilisation, off by default: errors of position and velocity decay like an oscillator with
  /// this frequency (1/s) and damping ratio.
  double baumgarte_frequency = 0, baumgarte_damping = 1;
  /// project(): constraints hold when no row is further off than this (metres, radians).
  double position_tolerance = 1e-12;
  int projection_steps = 20;
};

/// How far constraints are from holding, and which is the worst.
struct ConstraintDrift {
  double position = 0, velocity = 0;             // largest |row|
  int worst_position = -1, worst_velocity = -1;  // constraints; -1: nothing is off
};
struct Projection {
  int steps = 0;
  bool converged = false;
  ConstraintDrift before, after;
};

/// A one-sided contact as the last acceleration() leaves it: the paper asks a simulation to keep verifying
/// that it is neither broken nor slipping.
struct ContactState {
  double normal_force = 0, tangential_force = 0, torsion = 0;
  bool pulls = false, slips = false;
  bool holds() const { return !pulls && !slips; }
};
/// Memory for one model and its constraints; one per thread. Calls allocate nothing unless said.
class ConstrainedDynamics : public Workspace<double> {
 public:
  /// Throws ArgumentError, naming the constraint, for frames or joints that do not exist, constraints without
  /// rows, lengths that are not positive, equal names.
  ConstrainedDynamics(const Model& model, std::vector<Constraint> constraints,
                      const ConstrainedOptions& options = {});
  ConstrainedDynamics(const ConstrainedDynamics&) = delete;
  ConstrainedDynamics& operator=(const ConstrainedDynamics&) = delete;

  const std::vector<Constraint>& constraints() const { return constraints_; }
  const ConstrainedOptions& options() const { return options_; }
  /// Throws ArgumentError that lists the names.
  int constraint(std::string_view name) const;
  /// Of all constraints, and where those of one begin. Rows of constraints that are released stay in their
  /// place, with multiplier zero.
  int rows() const { return all_rows_; }
  int row_of(int constraint) const { return row_of_[constraint]; }

  /// Grasps are made and released: all are active at first.
  void set_active(int constraint, bool active);
  bool active(int constraint) const { return active_[constraint]; }
  /// Places b on its frame where a is at q, then activates: see attach(). Allocates.
  void grasp_here(int constraint, In<double> q);

  /// Accelerations wanted of the rows, rows() of them; zero at first. A constraint then drives what it holds.
  void set_targets(In<double> targets);
  std::span<const double> targets() const { return targets_; }

  void acceleration(In<double> q, In<double> v, In<double> tau, Out<double> a,
                    Wrenches<double> wrenches = {});

  // --- after acceleration(), impulse() or project()
  /// Multipliers of the rows: forces (N, N m) after acceleration(), impulses after impulse().
  std::span<const double> multipliers() const { return multipliers_; }
  /// What a constraint puts on its body b: (moment, force), world axes, at the origin of attachment b. Body a
  /// feels the opposite.
  Spatial<double> force(int constraint) const;
  /// Whether a constraint with limits would have to pull, or would slip.
  ContactState contact_state(int constraint) const;
  /// The rank of Omega, and how many rows it has.
  int rank() const { return rank_; }
  int active_rows() const;
  bool redundant() const { return rank_ < loop_.rows; }
  /// Which rows follow from which, in words; empty at full rank. Allocates.
  std::vector<std::string> dependences() const;
  /// The largest |J a + bias| of the last acceleration(), computed afresh.
  double residual(In<double> q, In<double> v, In<double> a);

  /// v_out = v + M^-1 J* (impulses): the velocity that fits the constraints and is nearest to v in the metric
  /// of the mass matrix, as a sudden grasp leaves it. restitution: part of the rows' velocity that comes
  /// back. v_out may be v.
  void impulse(In<double> q, In<double> v, Out<double> v_out, double restitution = 0);
  /// change = M^-1 J* Omega^+ rates: the least one, in the same metric, that gives the rows these velocities.
  void velocity_change(In<double> q, In<double> rates, Out<double> change);
  /// Moves q onto the constraints (Gauss-Newton in the same metric), and v with impulse(). In place.
  Projection project(Out<double> q, Out<double> v);
  ConstraintDrift drift(In<double> q, In<double> v);

  /// Rows x nv, row by row: velocities of the rows = J v; and d/dt(J) v. Inactive rows are zero.
  void jacobian(In<double> q, Out<double> J);
  void bias(In<double> q, In<double> v, Out<double> bias);
  /// Errors of position, a row each; rows held in velocity only are zero.
  void position_errors(In<double> q, Out<double> errors);
  /// Omega, rows() x rows(), at the last q.
  void omega(Out<double> matrix) const;

 private:
  friend class LinearizedConstrained;
  /// acceleration() and impulse(); keep: also leave what a linearization needs of M's factor.
  using Keep = const LinearizationMemory<double>*;
  void accelerate(In<double> q, In<double> v, In<double> tau, Out<double> a, Wrenches<double> wrenches,
                  Keep keep);
  void push(In<double> q, In<double> v, Out<double> v_out, double restitution, Keep keep);
  void build_groups();
  void add_coupler(const Constraint& c);
  void add_term(const Joint& joint, double coefficient, const std::array<double, 3>& higher = {});
  void bend(const double* q, const double* v);
  void place_ends(const Constraint& c, RowGroup& g) const;
  void build_paths();
  void build_pairs();
  void make_memory();
  void number_rows();
  GroupEnd place(const Attachment& attachment, const std::string& name) const;
  void factor_at(const char* function, const double* q, Keep keep = nullptr);
  void solve_rows(double* x);
  double rounding_of_omega() const;
  void push_rows();
  void own_errors(const double* full_q, double* out) const;
  void spread(const double* active, std::span<double> all) const;
  ConstraintDrift worst(const double* position, const double* velocity) const;
  void take_own(const double* full, Out<double> own) const;

  std::vector<Constraint> constraints_;
  ConstrainedOptions options_;
  std::vector<bool> active_;
  std::vector<int> row_of_, full_rows_;  // of each group
  int all_rows_ = 0, rank_ = 0;
  bool motion_ = false, deficient_ = false, driven_ = false;
  double reach_ = 0;              // the longest lever from a joint to the next, or to an end of a constraint
  bool curved_ = false;           // a coupling is not a straight line
  std::vector<RowGroup> groups_;  // the constraints', then one for each mimic joint
  std::vector<PathStep> steps_;
  std::vector<JointTermAt> terms_;
  std::vector<GroupPair> pairs_;
  std::vector<SharedVelocity> shared_;
  std::vector<int> group_end_, row_begin_, row_end_;
  LoopMemory loop_;
  AlignedArray<double> arrays_;
  double *lambda_ = nullptr, *errors_ = nullptr, *rates_ = nullptr, *full_ = nullptr, *full_J_ = nullptr,
         *right_ = nullptr;
  std::vector<double> multipliers_, step_, targets_;
  std::vector<int> own_;  // full velocity of each of the model's own
  RankRevealing revealing_{0};
};

/// The acceleration that tau and external forces cause in the closed chain.
inline void constrained_dynamics(ConstrainedDynamics& work, In<double> q, In<double> v, In<double> tau,
                                 Out<double> a, Wrenches<double> wrenches = {}) {
  work.acceleration(q, v, tau, a, wrenches);
}

}  // namespace articula
