// Sine, cosine and reciprocal for programs of devices: the compiler's own have much code for large angles and denormal
// numbers at every call, which in programs with all bodies unrolled was a sixth of the whole, and more than instruction
// caches hold (docs/gpu.md).
//
// The angle less n times pi/2, in parts, by operations that round once; polynomials on [-pi/4, pi/4] of the degree that
// one unit in the last place takes.
#pragma once

namespace articula::device {

ARTICULA_ALWAYS_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ARTICULA_ALWAYS_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
/// The polynomial with these coefficients, highest power first.
template <class S, class... More>
ARTICULA_ALWAYS_INLINE S polynomial(S z, S highest, More... more) {
  S sum = highest;
  ((sum = fused(sum, z, more)), ...);
  return sum;
}
/// From those of the angle less `turn` quarters.
template <class S>
ARTICULA_ALWAYS_INLINE void turn_back(int turn, S sine, S cosine, S* s, S* c) {
  const S a = turn & 1 ? cosine : sine, b = turn & 1 ? sine : cosine;
  *s = turn & 2 ? -a : a;
  *c = (turn + 1) & 2 ? -b : b;
}

/// Angles beyond 6e6, where neighbouring floats are half a radian apart, lose turns first. That is a loop, which also
/// keeps the compiler from mixing the work of all bodies: it would run out of registers.
ARTICULA_ALWAYS_INLINE void sine_cosine(float x, float* s, float* c) {
#pragma unroll 1
  while (x > 6e6f || x < -6e6f) {
    const float turns = __builtin_rintf(x * 0.159154943f);
    x = fused(turns, 1.74845553e-07f, fused(turns, -6.28318548f, x));
  }
  constexpr float shifter = 12582912.0f;  // brings whole numbers into the lowest bits
  const float quadrant = fused(x, 0.636619747f, shifter), n = quadrant - shifter;
  float r = fused(n, -1.57079601f, x);
  r = fused(n, -3.13916473e-07f, r);
  r = fused(n, -5.39030253e-15f, r);
  const float z = r * r;
  const float sine = fused(polynomial(z, -1.95152959e-4f, 8.33216087e-3f, -1.66666546e-1f), z * r, r);
  const float cosine = polynomial(z, 2.44331571e-5f, -1.38873162e-3f, 4.16666456e-2f, -0.5f, 1.0f);
  turn_back(__builtin_bit_cast(int, quadrant), sine, cosine, s, c);
}

/// No branches. Beyond 3e15, where neighbouring doubles are half a radian apart, angles are taken for whole quarters.
ARTICULA_ALWAYS_INLINE void sine_cosine(double x, double* s, double* c) {
#if ARTICULA_OWN_SINE
  constexpr double shifter = 6755399441055744.0;
  const double quadrant = fused(x, 0.63661977236758138, shifter), n = quadrant - shifter;
  double r = fused(n, -1.5707963267948966, x);
  r = fused(n, -6.123233995736766e-17, r);
  r = r > 1 || r < -1 ? 0 : r;
  const double z = r * r;
  const double sine =
      fused(polynomial(z, 1.58969099521155010e-10, -2.50507602534068634e-08, 2.75573137070700677e-06,
                       -1.98412698298579493e-04, 8.33333333332248946e-03, -1.66666666666666324e-01),
            z * r, r);
  const double cosine =
      polynomial(z, -1.13596475577881948e-11, 2.08757232129817483e-09, -2.75573143513906633e-07,
                 2.48015872894767294e-05, -1.38888888888741096e-03, 4.16666666666666019e-02, -0.5, 1.0);
  turn_back(static_cast<int>(__builtin_bit_cast(long long, quadrant)), sine, cosine, s, c);
#else
  ARTICULA_SINE_COSINE(x, s, c);
#endif
}

/// 1 / x within one unit in the last place, from the processor's 20 bits by two of Newton's steps. NaN for what is zero
/// or denormal.
ARTICULA_ALWAYS_INLINE double inverse_of(double x) {
#ifdef __CUDACC_RTC__
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fused(r, fused(-x, r, 1.0), r);
  return fused(r, fused(-x, r, 1.0), r);
#else
  return 1.0 / x;
#endif
}

}  // namespace articula::device
