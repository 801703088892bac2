// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/tables.hpp"

#include "articula/kernels/fixed_step_text.hpp"
#include "articula/kernels/isa.hpp"
#include "articula/model/manifold_text.hpp"
#include "articula/spatial/slots.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct RolloutKernels {
  static constexpr int lanes = native_bytes / 8;  // as in lanes.hpp
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
    P* const L = reinterpret_cast<P*>(matrix);
    P least(T(1e30));
    for (long j = 0; j < n; ++j) {
      for (long i = j; i < n; ++i) {
        P sum = L[i * n + j];
        for (long c = 0; c < j; ++c) sum = sum - L[i * n + c] * L[j * n + c];
        if (i == j) {
          least = smaller(least, sum);
          L[i * n + j] = reciprocal(square_root(sum));
        } else {
          L[i * n + j] = sum * L[j * n + j];
        }
      }
    }
    least.store(smallest);
  }
  static void solve(long n, const T* factor, long columns, T* x_lanes) {
    const P* const L = reinterpret_cast<const P*>(factor);
    P* const x = reinterpret_cast<P*>(x_lanes);
    for (long i = 0; i < n; ++i)
      for (long k = 0; k < columns; ++k) {
        P sum = x[i * columns + k];
        for (long c = 0; c < i; ++c) sum = sum - L[i * n + c] * x[c * columns + k];
        x[i * columns + k] = sum * L[i * n + i];
      }
    for (long i = n - 1; i >= 0; --i)
      for (long k = 0; k < columns; ++k) {
        P sum = x[i * columns + k];
        for (long c = i + 1; c < n; ++c) sum = sum - L[c * n + i] * x[c * columns + k];
        x[i * columns + k] = sum * L[i * n + i];
      }
  }
};

template <class T>
constexpr RolloutTable<T> rollout_table{RolloutKernels<T>::step, RolloutKernels<T>::damped,
                                        RolloutKernels<T>::factor, RolloutKernels<T>::solve};

const RolloutTable<double>& rollout_in_double() { return rollout_table<double>; }
const RolloutTable<float>& rollout_in_float() { return rollout_table<float>; }

}  // namespace articula::ARTICULA_ISA
