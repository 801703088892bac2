// Sine and cosine of floats for programs of devices: the compiler's own has much code for large angles at every call, which
// in programs with all bodies unrolled was a sixth of the whole, and more than instruction caches hold (docs/gpu.md).
//
// The angle less n times pi/2, in three parts, by operations that round once; polynomials on [-pi/4, pi/4] of the degree
// that one unit in the last place takes. Angles beyond 6e6, where neighbouring floats are half a radian apart, lose turns
// first. That is a loop, which also keeps the compiler from mixing the work of all bodies: it would run out of registers.
#pragma once

namespace articula::device {

/// The polynomial with these coefficients, highest power first.
template <class... More>
ARTICULA_ALWAYS_INLINE float polynomial(float z, float highest, More... more) {
  float sum = highest;
  ((sum = __builtin_fmaf(sum, z, more)), ...);
  return sum;
}

ARTICULA_ALWAYS_INLINE void sine_cosine(float x, float* s, float* c) {
#pragma unroll 1
  while (x > 6e6f || x < -6e6f) {
    const float turns = __builtin_rintf(x * 0.159154943f);
    x = __builtin_fmaf(turns, 1.74845553e-07f, __builtin_fmaf(turns, -6.28318548f, x));
  }
  constexpr float shifter = 12582912.0f;  // brings whole numbers into the lowest bits
  const float quadrant = __builtin_fmaf(x, 0.636619747f, shifter), n = quadrant - shifter;
  float r = __builtin_fmaf(n, -1.57079601f, x);
  r = __builtin_fmaf(n, -3.13916473e-07f, r);
  r = __builtin_fmaf(n, -5.39030253e-15f, r);
  const float z = r * r;
  const float sine =
      __builtin_fmaf(polynomial(z, -1.95152959e-4f, 8.33216087e-3f, -1.66666546e-1f), z * r, r);
  const float cosine = polynomial(z, 2.44331571e-5f, -1.38873162e-3f, 4.16666456e-2f, -0.5f, 1.0f);
  const int turn = __builtin_bit_cast(int, quadrant);
  const float a = turn & 1 ? cosine : sine, b = turn & 1 ? sine : cosine;
  *s = turn & 2 ? -a : a;
  *c = (turn + 1) & 2 ? -b : b;
}
ARTICULA_ALWAYS_INLINE void sine_cosine(double x, double* s, double* c) { ARTICULA_SINE_COSINE(x, s, c); }

}  // namespace articula::device
