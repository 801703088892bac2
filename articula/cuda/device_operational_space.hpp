// Operational space of frames at one state (articula/kernels/task_text.hpp), as OperationalSpaceBatch::terms has it in
// lanes, with the inverse that knows which directions are lost (articula/task_space/rank.hpp).
#pragma once

#include "articula/cuda/device_thread.hpp"
#include "articula/kernels/sweeps_text.hpp"
#include "articula/kernels/task_text.hpp"

namespace articula::device {

/// Eigenvalues and vectors (as columns of V) of a symmetric matrix, which is destroyed: Jacobi's rotations.
inline void symmetric_eigen(int n, double* A, double* V) {
  for (int i = 0; i < n * n; ++i) V[i] = i % (n + 1) == 0;
  for (int turn = 0; turn < 30; ++turn) {
    double off = 0, all = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) (i == j ? all : off) += A[i * n + j] * A[i * n + j];
    if (!(off > 1e-34 * (all + off))) return;
    for (int p = 0; p < n; ++p)
      for (int r = p + 1; r < n; ++r) {
        if (A[p * n + r] == 0) continue;
        const double theta = (A[r * n + r] - A[p * n + p]) / (2 * A[p * n + r]);
        const double t =
            (theta < 0 ? -1 : 1) / ((theta < 0 ? -theta : theta) + __builtin_sqrt(theta * theta + 1));
        const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
        for (int i = 0; i < n; ++i) {
          const double x = A[i * n + p], y = A[i * n + r];
          A[i * n + p] = c * x - s * y, A[i * n + r] = s * x + c * y;
        }
        for (int i = 0; i < n; ++i) {
          const double x = A[p * n + i], y = A[r * n + i];
          A[p * n + i] = c * x - s * y, A[r * n + i] = s * x + c * y;
        }
        for (int i = 0; i < n; ++i) {
          const double x = V[i * n + p], y = V[i * n + r];
          V[i * n + p] = c * x - s * y, V[i * n + r] = s * x + c * y;
        }
      }
  }
}

/// Lambda, and how many directions it has: RankSolve with its default options.
template <int n>
inline int invert_with_rank(const Number* Omega, Number* Lambda) {
  Number scratch[n * n];
  const Number pivot = n == 6 ? invert_small<6>(Omega, Lambda) : invert_any(n, Omega, scratch, Lambda);
  constexpr double tolerance = sizeof(Number) == sizeof(double) ? 1e-12 : 1e-6;
  Number trace = 0, inverse_trace = 0;
  for (int i = 0; i < n; ++i) trace += Omega[(n + 1) * i], inverse_trace += Lambda[(n + 1) * i];
  const double needed = tolerance * trace;
  if (!(trace - trace == 0) || (pivot > 0 && inverse_trace * needed < 1)) return n;
  double A[n * n], V[n * n];
  if (pivot > 0) {  // a closer look: no eigenvalue is below 1 / the Frobenius norm of the inverse
    double squares = 0;
    for (int i = 0; i < n * n; ++i) squares += double(Lambda[i]) * double(Lambda[i]);
    if (squares * needed * needed < 1) return n;
  }
  for (int i = 0; i < n * n; ++i) A[i] = Omega[i], Lambda[i] = 0;
  symmetric_eigen(n, A, V);
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = A[(n + 1) * i] > largest ? A[(n + 1) * i] : largest;
  int rank = 0;
  for (int i = 0; i < n; ++i) {
    const double x = A[(n + 1) * i];
    if (!(x > tolerance * largest)) continue;
    ++rank;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) Lambda[r * n + c] += Number(V[r * n + i] * V[c * n + i] / x);
  }
  return rank;
}

namespace algorithm {

struct operational_space : InFullCoordinates {
  static constexpr MemoryNeeds needs{.side = true, .factor = true, .keep_D = true, .solve = true};
  ARTICULA_INLINE static Number run(const Context& x, const Memory& m) {
    constexpr int F = frame_count > 0 ? frame_count : 1, n = 6 * F, s = segment_count, e = task_rows;
    Number offset[3 * F], zeros[nv], r[3 * F], P_root[15 * (bodies + 1)], rows_e[task_lanes * e],
        rows_n[task_lanes * e], T[task_block * s], Om[task_block * s], at_a[task_lanes * s],
        at_g[task_lanes * s], to[task_block * F * s], blocks[F == 1 ? 1 : task_block * F * F], f[6 * s];
    fill(zeros, nv, 0);
    for (int i = 0; i < F; ++i) scatter<1>(frames[i].p, offset + 3 * i);
    TaskMemory<Number> t{};
    t.k = m, t.frames = F, t.segments = s, t.segment = task_segments, t.path = task_path,
    t.meeting = task_meeting;
    t.offset = offset, t.zeros = zeros, t.r = r, t.P_root = P_root, t.e = rows_e, t.n = rows_n, t.T = T,
    t.Omega = Om;
    t.a = at_a, t.g = at_g, t.to = to, t.blocks = F == 1 ? Om : blocks, t.f = f;

    Number smallest = update_tasks<Number>(x.tree, x[Argument::q], x[Argument::v], t);
    Number *const omega = x.out[0], *const lambda = x.out[1], *const coriolis = x.out[2],
                  *const gravity = x.out[3], *const jacobian_bar = x.out[4];
    Number c[n], g[n], sum = 0;
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j)
        omega[i * n + j] = omega[j * n + i] =
            t.blocks[task_block * (i / 6 * F + j / 6) + task_lanes * (i % 6) + j % 6];
    const Vec3<Number> up = -x.tree.gravity;
    for (int i = 0; i < F; ++i) {
      scatter<1>(frame_gravity<Number>(t, i, up), g + 6 * i);
      const Spatial<Number> b = frame_bias<Number>(t, i);
      const auto along = gather<1, Spatial<Number>>(t.a + task_lanes * i);
      scatter<1>(Spatial<Number>{-along.w - b.w, -along.v - b.v}, c + 6 * i);
    }
    for (int i = 0; i < n; ++i) sum += c[i] + g[i] + omega[(n + 1) * i];
    if (!(sum - sum == 0)) smallest = 0;  // a speed or configuration that is not finite shows in one of these
    x.out[5][0] = Number(invert_with_rank<n>(omega, lambda));
    for (int i = 0; i < n; ++i) {
      Number by_c = 0, by_g = 0;
      for (int j = 0; j < n; ++j) by_c += lambda[i * n + j] * c[j], by_g += lambda[i * n + j] * g[j];
      coriolis[i] = by_c, gravity[i] = by_g;
    }
    for (int i = 0; i < n; ++i) {  // M^-1 J* of each column of Lambda
      Number column[nv];
      spread_tasks<Number>(x.tree, t, lambda + i * n, m.nu);
      Sweep<Number> out;
      out.outward = out.psi = true;
      out.H_times = out.tap_add = m.nu;
      out.tap = column;
      out.tap_factor = Number(-1);
      sweep_outward<Number>(x.tree, m, out);
      for (int j = 0; j < nv; ++j) jacobian_bar[j * n + i] = column[j];
    }
    return smallest;
  }
};

}  // namespace algorithm
}  // namespace articula::device
