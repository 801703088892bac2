// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/tables.hpp"

#include "articula/kernels/cholesky_text.hpp"
#include "articula/kernels/fixed_step_text.hpp"
#include "articula/kernels/lanes.hpp"
#include "articula/model/manifold_text.hpp"
#include "articula/spatial/slots.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct RolloutKernels {
  static constexpr int lanes = lanes_of<T>;
  using P = Pack<T, lanes>;

  /// What the steps' text moves. Velocities are the joints' own.
  struct Motion {
    const Manifold::Pieces& pieces;
    const LaneAcceleration<T>& of;
    long nv;
    ARTICULA_INLINE void acceleration(double, const P* q, const P* v, P* a) const {
      of.call(of.self, reinterpret_cast<const T*>(q), reinterpret_cast<const T*>(v), reinterpret_cast<T*>(a));
    }
    ARTICULA_INLINE void velocities(double, const P*, const P* x, P* v) const {
      for (long i = 0; i < nv; ++i) v[i] = x[i];
    }
    ARTICULA_INLINE void integrate(const P* q, const P* u, P* out) const {
      manifold_text::integrate(pieces, q, u, out);
    }
    ARTICULA_INLINE void chart_rate(const P* u, const P* w, P* out) const {
      manifold_text::chart_rate_to_fourth_order(pieces, u, w, out);
    }
  };

  static void step(Integrator integrator, const Manifold::Pieces& pieces, double h, long nq, long nv,
                   const LaneAcceleration<T>& acceleration, T* q_lanes, T* v_lanes, T* memory_lanes,
                   T* finite) {
    P *q = reinterpret_cast<P*>(q_lanes), *v = reinterpret_cast<P*>(v_lanes),
      *memory = reinterpret_cast<P*>(memory_lanes);
    const Motion motion{pieces, acceleration, nv};
    fixed_step_text::step(integrator, motion, 0, h, nv, q, v, memory);
    P sum(T(0));
    for (long i = 0; i < nq; ++i) sum = sum + q[i] * T(0);
    for (long i = 0; i < nv; ++i) sum = sum + v[i] * T(0);
    sum.store(finite);
  }

  static void damped(long nv, const T* tau, const T* damping, const T* v, T* out) {
    for (long i = 0; i < nv; ++i) {
      const P force = tau ? P::load(tau + i * lanes) : P(T(0));
      (force - P::load(v + i * lanes) * damping[i]).store(out + i * lanes);
    }
  }

  static void factor(long n, T* matrix, T* smallest) {
    cholesky_factor(n, reinterpret_cast<P*>(matrix)).store(smallest);
  }
  static void solve(long n, const T* factor, long columns, T* x) {
    cholesky_solve(n, reinterpret_cast<const P*>(factor), columns, reinterpret_cast<P*>(x));
  }
};

template <class T>
constexpr RolloutTable<T> rollout_table{RolloutKernels<T>::step, RolloutKernels<T>::damped,
                                        RolloutKernels<T>::factor, RolloutKernels<T>::solve};

const RolloutTable<double>& rollout_in_double() { return rollout_table<double>; }
const RolloutTable<float>& rollout_in_float() { return rollout_table<float>; }

}  // namespace articula::ARTICULA_ISA
