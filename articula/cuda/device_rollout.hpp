// Steps and rollouts: a thread takes one trajectory from beginning to end, as articula/batch/rollout.cpp has it in lanes.
#pragma once

#include "articula/cuda/device_thread.hpp"
#include "articula/kernels/fixed_step_text.hpp"
#include "articula/model/manifold_text.hpp"

namespace articula::device {

/// f(q, u, out) in double, which the manifold's text is written for.
template <int n_out, class F>
ARTICULA_INLINE void in_double(int n, const Number* q, const Number* u, Number* out, F&& f) {
  if constexpr (sizeof(Number) == sizeof(double)) {
    f(q, u, out);
  } else {
    double x[n_out], y[own_nv], z[n_out];
    for (int i = 0; i < n; ++i) x[i] = q[i];
    for (int i = 0; i < own_nv; ++i) y[i] = u[i];
    f(static_cast<const double*>(x), static_cast<const double*>(y), static_cast<double*>(z));
    for (int i = 0; i < n; ++i) out[i] = Number(z[i]);
  }
}

/// See fixed_step_text.hpp.
struct DeviceMotion {
  const Tree<Number>& tree;
  const Memory& m;
  const Number* tau;
  bool damped;
  Number& smallest;
  ARTICULA_INLINE void acceleration(double, const Number* q, const Number* v, Number* a) const {
    Number force[own_nv];
    for (int i = 0; i < own_nv; ++i) force[i] = damped ? tau[i] - v[i] * damping_of_steps[i] : tau[i];
    const Number pivot = accelerate(tree, q, v, force, nullptr, m, a);
    if (!(pivot > 0)) smallest = pivot;
  }
  ARTICULA_INLINE void velocities(double, const Number*, const Number* x, Number* v) const {
    for (int i = 0; i < own_nv; ++i) v[i] = x[i];
  }
  ARTICULA_INLINE void integrate(const Number* q, const Number* u, Number* out) const {
    if constexpr (flat_manifold) {
      for (int i = 0; i < own_nq; ++i) out[i] = q[i] + u[i];
    } else {
      in_double<own_nq>(
          own_nq, q, u, out, [](const double* x, const double* y, double* z) __attribute__((always_inline)) {
            manifold_text::integrate(manifold_pieces(), x, y, z);
          });
    }
  }
  ARTICULA_INLINE void chart_rate(const Number* u, const Number* w, Number* out) const {
    if constexpr (flat_manifold) {
      for (int i = 0; i < own_nv; ++i) out[i] = w[i];
    } else {
      in_double<own_nv>(
          own_nv, u, w, out, [](const double* x, const double* y, double* z) __attribute__((always_inline)) {
            manifold_text::chart_rate_to_fourth_order(manifold_pieces(), x, y, z);
          });
    }
  }
};

/// A trajectory that becomes singular or not finite is NaN from there on.
ARTICULA_INLINE void roll_out(const Arguments& a, long state) {
  Number q[own_nq], v[own_nv], tau[own_nv], memory[fixed_step_text::memory_of(own_nq, own_nv)];
  load<own_nq>(a.in[static_cast<int>(Argument::q)], state, a.count, q);
  load<own_nv>(a.in[static_cast<int>(Argument::v)], state, a.count, v);
  const Number* const forces = a.in[static_cast<int>(Argument::tau)];
  fill(tau, own_nv, 0);
  if (forces && !a.forces_each_step) load<own_nv>(forces, state, a.count, tau);
  const long times = a.steps / a.every;
  with_tree(
      a, state, [&](const Tree<Number>& tree, const Number*) __attribute__((always_inline)) {
        with_kernel_memory<accelerating>(
            tree, [&](const Memory& m) __attribute__((always_inline)) {
              Number smallest = 1, fastest = 0;
              const DeviceMotion motion{tree, m, tau, a.damping != 0, smallest};
              bool stopped = false;
              long until_given = a.every, time = 0;
              for (long k = 0; k < a.steps; ++k) {
                if (!stopped) {
                  if (forces && a.forces_each_step) {
                    const Numbers<const Number> x(forces, a.steps * own_nv, state, a.count);
                    for (int i = 0; i < own_nv; ++i) tau[i] = x[k * own_nv + i];
                  }
                  fixed_step_text::step(integrator, motion, 0, a.step, long(own_nv), q, v, memory);
                  Number finite(0);
                  for (int i = 0; i < own_nq; ++i) finite += q[i] * Number(0);
                  for (int i = 0; i < own_nv; ++i) finite += v[i] * Number(0);
                  if (!(smallest > 0) || finite != Number(0)) {
                    stopped = true;
                    atomicMin(a.failed,
                              (static_cast<unsigned long long>(a.first + state) << cuda::step_bits) |
                                  static_cast<unsigned long long>(
                                      k + 1 < (1L << cuda::step_bits) ? k + 1 : (1L << cuda::step_bits) - 1));
                    for (Number& x : q) x = Number(__builtin_nan(""));
                    for (Number& x : v) x = Number(__builtin_nan(""));
                    fastest = Number(__builtin_nan(""));
                  }
                  if (has_speeds && !stopped)
                    for (const Number x : v) {
                      const Number speed = x < Number(0) ? -x : x;
                      if (speed > fastest) fastest = speed;
                    }
                }
                if (--until_given) continue;
                until_given = a.every;
                if (a.out[0]) {
                  const Numbers<Number> to(a.out[0], times * own_nq, state, a.count);
                  for (int i = 0; i < own_nq; ++i) to[time * own_nq + i] = q[i];
                }
                if (a.out[1]) {
                  const Numbers<Number> to(a.out[1], times * own_nv, state, a.count);
                  for (int i = 0; i < own_nv; ++i) to[time * own_nv + i] = v[i];
                }
                ++time;
              }
              if constexpr (has_speeds) Numbers<Number>(a.out[2], 1, state, a.count)[0] = fastest;
            });
      });
}

}  // namespace articula::device
