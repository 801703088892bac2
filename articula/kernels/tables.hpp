// Everything that is compiled once per instruction set: tables of function pointers, and which set is in use.
//
// Each *_kernels.cpp of this folder fills one table, in its namespace ARTICULA_ISA; set_kernels.cpp gathers
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "articula/kernels/diagonal_memory.hpp"
#include "articula/kernels/frame_motion.hpp"
#include "articula/kernels/integrator.hpp"
#include "articula/kernels/linearization_memory.hpp"
#include "articula/kernels/listed.hpp"
#include "articula/kernels/loop_memory.hpp"
#include "articula/kernels/sweep.hpp"
#include "articula/kernels/task_memory.hpp"
#include "articula/model/manifold.hpp"
#include "articula/spatial/dual.hpp"

namespace articula {

// --- Dynamics of one state.
template <class S>
struct KernelTable {
  void (*inverse_dynamics)(const Tree<S>&, const S* q, const S* v, const S* a, const S* wrenches,
                           const KernelMemory<S>&, S* tau);
  S(*forward_dynamics)
  (const Tree<S>&, const S* q, const S* v, const S* tau, const S* wrenches, const KernelMemory<S>&, S* a);
  void (*mass_matrix)(const Tree<S>&, const S* q, const KernelMemory<S>&, S* M);
  void (*composite_inertias)(const Tree<S>&, const S* q, const KernelMemory<S>&);
  S (*factor)(const Tree<S>&, const S* q, const KernelMemory<S>&);
  void (*solve)(const Tree<S>&, const KernelMemory<S>&, const S* T, S* x);
  void (*invert)(const Tree<S>&, const KernelMemory<S>&, S* inverse);
  void (*velocities)(const Tree<S>&, const S* q, const S* v, const KernelMemory<S>&);
  void (*kinematics)(const Tree<S>&, const S* q, const S* v, const S* a, const KernelMemory<S>&);
  Totals<S> (*totals)(const Tree<S>&, const KernelMemory<S>&, bool moving);
  void (*pose_at)(const Tree<S>&, const S* q, const FrameOnBody<S>&, const PathMemory<S>&, S* pose);
  void (*jacobian_at)(const Tree<S>&, const S* q, const FrameOnBody<S>&, Axes, const PathMemory<S>&, S* J);
  S (*solve_directly)(const Tree<S>&, const S* q, const S* T, const KernelMemory<S>&, S* x);
};

// --- Sweeps of the operator algebra, FD1 to FD4, the Coriolis matrix.
template <class S>
struct SweepKernels {
  void (*sweep)(const Tree<S>&, const KernelMemory<S>&, const Sweep<S>&);
  void (*omegas)(const Tree<S>&, const KernelMemory<S>&, S* Omega);
  void (*solve_columns)(const Tree<S>&, const KernelMemory<S>&, const S* T, int columns, S* X);
};

struct OperatorKernels {
  using NamedForward = double (*)(const Tree<double>&, const double* q, const double* v, const double* T,
                                  const double* wrenches, const KernelMemory<double>&,
                                  const NamedMemory<double>&, double* a);
  NamedForward fd[4];
  void (*coriolis_matrix)(const Tree<double>&, const double* q, const double* v, const KernelMemory<double>&,
                          const CoriolisMemory<double>&, double* C);

  /// Poses, inertias in x; with v also angular velocities, and the bias terms a and b.
  void (*place)(const Tree<double>&, const double* q, const double* v, const KernelMemory<double>&, double* a,
                double* b);
  /// K, D and P (21 per slot; null: not kept) from x. Returns the smallest pivot of D.
  double (*articulate)(const Tree<double>&, const KernelMemory<double>&, double* P);
  void (*gains)(const Tree<double>&, const KernelMemory<double>&, const double* P, double* G);
  void (*composites)(const Tree<double>&, const KernelMemory<double>&, double* R);
};

// --- Linearizations of one state.
template <class S>
struct LinearizationTable {
  using T = Tree<S>;
  using M = LinearizationMemory<S>;
  using E = ExternalForces<S>;
  void (*perturbed_inverse)(const T&, const S* q, const S* v, const S* a, const S* dq, const S* dv,
                            const S* da, const E&, const M&, S* dtau);
  S (*factored_forward)(const T&, const S* q, const S* v, const S* tau, const S* wrenches, const M&, S* a);
  void (*perturbed_forward)(const T&, const S* v, const S* a, const S* dq, const S* dv, const S* dtau,
                            const E&, const M&, S* right, S* da);
  void (*inverse_adjoint)(const T&, const S* q, const S* v, const S* a, const S* weights, bool placed,
                          const E&, const M&, S* by_q, S* by_v, S* by_a);
  void (*linearized_inverse)(const T&, const S* q, const S* v, const S* a, const E&, const M&, S* mass_matrix,
                             S* dq, S* dv);
  void (*direct_forward)(const T&, const S* v, const S* a, const E&, const M&, S* dq, S* dv, S* dtau);
  void (*conventional_forward)(const T&, const S* v, const S* a, const E&, const M&, S* by_q, S* by_v, S* dq,
                               S* dv, S* dtau);
};
/// Algorithm 1 with dual numbers.
struct SecondOrderTable {
  using D = Dual<double>;
  void (*perturbed_inverse)(const Tree<double>&, const D* q, const D* v, const D* a, const D* dq, const D* dv,
                            const D* da, const ExternalForces<D>&, const LinearizationMemory<D>&, D* dtau);
};

// --- Closed chains.
struct LoopKernels {
  using T = Tree<double>;
  using M = KernelMemory<double>;
  double (*start)(const T&, const double* q, const double* v, const double* tau, const double* wrenches,
                  const M&, bool motion);
  void (*move)(const T&, const double* v, const M&);
  void (*rows)(const T&, const M&, const LoopMemory&, bool moving);
  void (*omega)(const T&, const M&, const LoopMemory&, bool moving);
  void (*open_accelerations)(const T&, const M&, const LoopMemory&, double* out);
  bool (*factor)(const LoopMemory&, double tolerance, const double* right, double* x);
  void (*solve)(const LoopMemory&, double* x);
  void (*correct)(const T&, const M&, const LoopMemory&, const double* lambda, double* out);
  void (*jacobian)(const T&, const M&, const LoopMemory&, double* J);
  void (*row_velocities)(const M&, const LoopMemory&, const double* v, double* out);
  void (*residual)(const T&, const double* q, const double* v, const double* a, const double* wrenches,
                   const double* lambda, const M&, const LoopMemory&, double* forces, double* rows);

  // --- linearized: linearized_constrained_text.hpp
  using L = LinearizationMemory<double>;
  using D = LoopDerivativeMemory<double>;
  /// start, or with v null only the factor, keeping P too.
  double (*start_keeping)(const T&, const double* q, const double* v, const double* tau,
                          const double* wrenches, const L&, bool motion);
  void (*gather_carried)(const T&, const LoopMemory&, const double* lambda, const D&);
  void (*differentiate)(const T&, const L&, const LoopMemory&, const double* q, const double* v,
                        const double* a, const double* lambda, const LoopAtRest&, const D&);
  void (*solve_derivatives)(const LoopMemory&, const D&);
  void (*finish_derivatives)(const T&, const LoopMemory&, const D&);
};

// --- Operational space of one state.
struct TaskKernels {
  using T = Tree<double>;
  using M = TaskMemory<double>;
  double (*update)(const T&, const double* q, const double* v, const M&);
  void (*gather)(const T&, const M&, const double* nu, double* out);
  void (*spread)(const T&, const M&, const double* F, double* nu);
  void (*forces)(const T&, const M&, const double* F, double* tau);
  void (*velocities)(const T&, const M&, const double* v, double* out);
  /// C v of the last update with v.
  void (*coriolis_forces)(const T&, const KernelMemory<double>&, double* tau);
  double (*invert_up_to_six)(int n, const double* A, double* inverse);
};

// --- Diagonalized dynamics of one state.
struct DiagonalKernels {
  using T = Tree<double>;
  using M = DiagonalMemory<double>;
  double (*factor)(const T&, const double* q, const M&);  // with the roots of D
  // in place
  void (*times_root)(const T&, const M&, double* x);
  void (*times_root_star)(const T&, const M&, double* x);
  void (*solve_root)(const T&, const M&, double* x);
  void (*solve_root_star)(const T&, const M&, double* x);
  // also leave V
  void (*rates_to_xi)(const T&, const M&, const double* theta_dot, double* xi);
  void (*xi_to_rates)(const T&, const M&, const double* xi, double* theta_dot);
  void (*forces_to_kappa)(const T&, const M&, const double* tau, double* kappa);
  void (*kappa_to_forces)(const T&, const M&, const double* kappa, double* tau);
  // after one of those that leave V
  void (*coriolis_of_xi)(const T&, const double* theta_dot, const double* xi, const double* wrenches,
                         const M&, double* C);
  void (*coriolis_of_nu)(const T&, const double* xi, const M&, double* C);  // in place of coriolis_of_xi's C
  double (*nu_dot)(const T&, const double* q, const double* nu, const double* tau, const double* wrenches,
                   const M&, double* nu_dot);
  double (*xi_dot)(const T&, const double* q, const double* xi, const double* tau, const double* wrenches,
                   const M&, double* xi_dot);
};

// --- Many states: the texts of one state with a SIMD register as the number, one state per lane. Arrays are
// those of one state with every number widened to `lanes` neighbouring ones.
/// The most lanes of any instruction set: arrays are made for so many.
template <class T>
inline constexpr int most_lanes = 64 / int(sizeof(T));

/// Where results will be written, so that the cache lines can be fetched before: `lines` lines in each of
/// three arrays, `step` bytes apart, from at[i] on. near: how many bytes ahead of the number just written a
/// line is brought from the second cache to the first.
struct Ahead {
  std::uintptr_t at[3] = {};
  std::uintptr_t step = 0, near = 0;
  long lines = 0;
  bool few = false;  // there are few lines: one at a time is enough
};

template <class T>
struct BatchTable {
  int lanes;
  /// Between numbers state by state (n each, `stride` from one state to the next, `used` states) and lanes.
  /// Lanes beyond get the last state.
  void (*gather)(const T* states, long n, long stride, int used, T* lanes);
  void (*scatter)(const T* lanes, long n, long stride, int used, T* states);
  /// gather and scatter for Layout::columns: number i of all states together, `stride` numbers before i + 1.
  void (*gather_columns)(const T* states, long n, long stride, int used, T* lanes);
  void (*scatter_columns)(const T* lanes, long n, long stride, int used, T* states);
  using M = KernelMemory<T>;
  using L = LinearizationMemory<T>;
  using Model = Tree<T>;
  void (*inverse_dynamics)(const Model&, const T* q, const T* v, const T* a, const T* wrenches, const M&,
                           T* tau);
  /// smallest: the smallest pivot of each state's D.
  void (*forward_dynamics)(const Model&, const T* q, const T* v, const T* tau, const T* wrenches, const M&,
                           T* a, T* smallest);
  void (*mass_matrix)(const Model&, const T* q, const M&, T* matrix);
  void (*inverse_mass_matrix)(const Model&, const T* q, const M&, T* matrix, T* smallest);
  void (*velocities)(const Model&, const T* q, const T* v, const M&);
  void (*kinematics)(const Model&, const T* q, const T* v, const T* a, const M&);
  /// After either; kinetic: null where it did not get velocities.
  void (*energies)(const Model&, const M&, T* kinetic, T* potential);
  void (*linearized_inverse)(const Model&, const T* q, const T* v, const T* a, const L&, T* dq, T* dv, T* da,
                             const Ahead&);
  void (*linearized_forward)(const Model&, const T* q, const T* v, const T* tau, const L&, T* a, T* dq, T* dv,
                             T* dtau, T* smallest, const Ahead&);
  void (*perturbed_inverse)(const Model&, const T* q, const T* v, const T* a, const T* dq, const T* dv,
                            const T* da, const L&, T* dtau);
  void (*perturbed_forward)(const Model&, const T* q, const T* v, const T* tau, const T* dq, const T* dv,
                            const T* dtau, const L&, T* a, T* right, T* da, T* smallest);
  void (*inverse_gradient)(const Model&, const T* q, const T* v, const T* a, const T* weights, const L&,
                           T* by_q, T* by_v, T* by_a);
  void (*forward_gradient)(const Model&, const T* q, const T* v, const T* tau, const T* weights, const L&,
                           T* a, T* scratch, T* by_q, T* by_v, T* by_tau, T* smallest);
  /// Constants from constant::mp on, body by body, to where a tree of lanes has them.
  void (*spread_inertias)(const T* inertias, int bodies, T* constants);
};

// --- Kinematics and the Coriolis matrix of many states.
template <class T>
struct MotionTable {
  using M = KernelMemory<T>;
  using Model = Tree<T>;
  using F = FrameOnBody<T>;
  // one frame
  void (*pose_at)(const Model&, const T* q, const F&, const PathMemory<T>&, T* pose);  // as `pose`
  void (*jacobian_at)(const Model&, const T* q, const F&, Axes, const PathMemory<T>&,
                      T* J);  // 6 x nv, full coordinates
  // after BatchTable::kinematics
  void (*pose)(const M&, const F&, T* pose);  // rotation row by row, then position: 12
  void (*velocity)(const M&, const F&, Axes, T* out);
  void (*acceleration)(const M&, const F&, Axes, T* out);
  /// Centre of mass (3) and momentum about it (6).
  void (*totals)(const Model&, const M&, bool moving, T* center, T* momentum);
  /// 6 x nv, full coordinates.
  void (*centroidal_map)(const Model&, const T* q, const M&, T* map);
  void (*coriolis_matrix)(const Model&, const T* q, const T* v, const M&, const CoriolisMemory<T>&, T* C);
};

// --- Diagonalized dynamics of many states: see DiagonalKernels for what each does.
template <class T>
struct DiagonalTable {
  using Model = Tree<T>;
  using M = DiagonalMemory<T>;
  void (*factor)(const Model&, const T* q, const M&, T* smallest);
  void (*times_root)(const Model&, const M&, T* x);
  void (*times_root_star)(const Model&, const M&, T* x);
  void (*solve_root)(const Model&, const M&, T* x);
  void (*solve_root_star)(const Model&, const M&, T* x);
  void (*rates_to_xi)(const Model&, const M&, const T* theta_dot, T* xi);
  void (*xi_to_rates)(const Model&, const M&, const T* xi, T* theta_dot);
  void (*forces_to_kappa)(const Model&, const M&, const T* tau, T* kappa);
  void (*kappa_to_forces)(const Model&, const M&, const T* kappa, T* tau);
  void (*coriolis_of_xi)(const Model&, const T* theta_dot, const T* xi, const T* wrenches, const M&, T* C);
  void (*coriolis_of_nu)(const Model&, const T* xi, const M&, T* C);
  void (*nu_dot)(const Model&, const T* q, const T* nu, const T* tau, const T* wrenches, const M&, T* rate,
                 T* smallest);
  void (*xi_dot)(const Model&, const T* q, const T* xi, const T* tau, const T* wrenches, const M&, T* rate,
                 T* smallest);
};

// --- Operational space of many states.
template <class T>
struct TaskTable {
  using Model = Tree<T>;
  using M = TaskMemory<T>;
  /// Sweeps at a state; v null: at rest.
  void (*update)(const Model&, const T* q, const T* v, const M&, T* smallest);
  /// Omega of all frames, stacked; Omega g; and for v not null J v, J' v and Omega c.
  void (*terms)(const Model&, const T* v, const M&, T* omega, T* gravity, T* velocity, T* bias, T* coriolis);
  void (*forces)(const Model&, const M&, const T* F, T* tau);  // J* F
  void (*rates)(const Model&, const M&, const T* F, T* v);     // M^-1 J* F
  /// n x n; pivots: the smallest of each lane. Where it is not positive the inverse has no meaning.
  void (*invert)(int n, const T* A, T* scratch, T* inverse, T* pivots);
  void (*times)(int n, const T* A, const T* x, T* y);
};

// --- Steps of integrators, for states in lanes moved by accelerations that a borrowed function gives; and
// linear solves in lanes, for mechanisms with mimic joints.
/// a of states in lanes; `self` is whose it is.
template <class T>
struct LaneAcceleration {
  void* self;
  void (*call)(void* self, const T* q, const T* v, T* a);
};

template <class T>
struct RolloutTable {
  /// One step of h, of an explicit integrator. memory: fixed_step_text::memory_of() lanes. `finite` gets a number for each lane: not a number where the
  /// state is not finite any more.
  void (*step)(Integrator integrator, const Manifold::Pieces& pieces, double h, long nq, long nv,
               const LaneAcceleration<T>& acceleration, T* q, T* v, T* memory, T* finite);
  /// tau - damping v.
  void (*damped)(long nv, const T* tau, const T* damping, const T* v, T* out);
  /// The Cholesky factor of n x n, row by row, in place of the lower triangle; the reciprocals of its
  /// diagonal on the diagonal. smallest: pivot of each lane.
  void (*factor)(long n, T* matrix, T* smallest);
  /// Of `columns` right-hand sides, row by row: x = matrix^-1 x.
  void (*solve)(long n, const T* factor, long columns, T* x);
};

// --- the sets
/// The tables of one instruction set, in numbers of kind T.
template <class T>
struct KernelsIn {
  const KernelTable<T>* dynamics;
  const SweepKernels<T>* sweeps;
  const LinearizationTable<T>* linearization;
  const BatchTable<T>*batch,
      *varied;  // varied: masses and inertias of each state its own, constants in lanes
  const MotionTable<T>* motion;
  const DiagonalTable<T>* diagonal;
  const TaskTable<T>* tasks;
  const RolloutTable<T>* rollout;
};
struct KernelSet {
  const char* name;
  KernelsIn<double> in_double;
  KernelsIn<float> in_float;
  const OperatorKernels* operators;
  const SecondOrderTable* second_order;
  const LoopKernels* loops;
  const TaskKernels* tasks;
  const DiagonalKernels* diagonal;
  std::span<const ListedKernel> listed;

  template <class T>
  const KernelsIn<T>& in() const {
    if constexpr (sizeof(T) == sizeof(double))
      return in_double;
    else
      return in_float;
  }
};

/// Null until it is first asked for.
extern std::atomic<const KernelSet*> kernel_set_in_use;
const KernelSet& choose_kernel_set();
/// The set in use: the best of this machine, or what ARTICULA_ISA in the environment or use_instruction_set
/// asks for.
inline const KernelSet& kernel_set() {
  const KernelSet* const set = kernel_set_in_use.load(std::memory_order_acquire);
  return set ? *set : choose_kernel_set();
}

template <class T>
const KernelTable<T>& kernels() {
  return *kernel_set().in<T>().dynamics;
}

}  // namespace articula
