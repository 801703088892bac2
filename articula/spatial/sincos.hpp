// sincos for every scalar. The packed one is the same arithmetic in each lane, within 0.9 ulp of the true
// value (1.1 ulp at the few angles above 10^5 that are nearest to multiples of pi/2: 2e-31 absolute).
//
// Range reduction by pi/2 in three parts (exact differences for |x| < 2^20 pi/2), then the minimax polynomials
// of fdlibm on [-pi/4, pi/4] with the tail of the reduced argument carried along. Lanes that are larger or not
// finite go through libm.
#pragma once

#include "articula/spatial/pack.hpp"

namespace articula {

ARTICULA_INLINE SinCos<double> sincos(double x) { return {__builtin_sin(x), __builtin_cos(x)}; }
ARTICULA_INLINE SinCos<float> sincos(float x) { return {__builtin_sinf(x), __builtin_cosf(x)}; }

/// Sine and cosine of the angle from those of its distance to the nearest quarter turn. `quadrant` counts them
/// in its low bits. Clears those lanes of `near` where that is not so.
template <class P>
ARTICULA_INLINE SinCos<P> from_quadrant(const P& angle, typename P::Lanes quadrant, typename P::Lanes s,
                                        typename P::Lanes c, typename P::Mask& near) {
  using V = typename P::Lanes;
  using I = typename P::Mask;
  const I q = (I)quadrant;
  const I odd = (q & 1) != 0;  // where sine and cosine change places
  const I sign = (I{} + 1) << 63;
  const V sine = odd ? c : s, cosine = odd ? s : c;
  near &= (angle.x < 1.6e6) & (angle.x > -1.6e6);
  return {P((V)((I)sine ^ ((q << 62) & sign))), P((V)((I)cosine ^ (((q + 1) << 62) & sign)))};
}
/// Without libm: clears those lanes of `near` where the result is not one.
template <int N, Constants C>
ARTICULA_INLINE SinCos<Pack<double, N, C>> sincos_near(const Pack<double, N, C>& angle,
                                                       typename Pack<double, N, C>::Mask& near) {
  using V = typename Pack<double, N, C>::Lanes;
  const V x = angle.x;
  const V shifter = (V{} + 0x1.8p52);
  const V quadrant = x * 6.36619772367581382433e-01 + shifter;
  const V n = quadrant - shifter;
#ifdef __FMA__
  // x - n pi/2 with pi/2 in parts of 53, 33 and 53 bits: the first difference and n2 are exact.
  const V t = x - n * 1.5707963267948966e+00;
  const V n2 = n * 0x1.1a62633100000p-54;
  const V r = t - n2;
  const V y = ((t - r) - n2) - n * 3.5215598651832e-27;
#else
  const V t = x - n * 1.57079632673412561417e+00;
  const V n2 = n * 6.07710050630396597660e-11;
  const V r0 = t - n2;
  const V tail = ((t - r0) - n2) - n * 2.02226624879595063154e-21;
  const V r = r0 + tail;
  const V y = (r0 - r) + tail;
#endif
  const V z = r * r, z2 = z * z;

  // Sums of pairs, which need not wait for each other.
  const V ps =
      (8.33333333332248946124e-03 + z * -1.98412698298579493134e-04) +
      z2 * ((2.75573137070700676789e-06 + z * -2.50507602534068634195e-08) + z2 * 1.58969099521155010221e-10);
  const V s = r + (y + (z * r) * (-1.66666666666666324348e-01 + z * ps));
  const V pc = (4.16666666666666019037e-02 + z * -1.38888888888741095749e-03) +
               z2 * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07) +
                     z2 * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const V hz = 0.5 * z;
  const V w = 1.0 - hz;
  const V c = w + (((1.0 - w) - hz) + (z2 * pc - r * y));
  return from_quadrant(angle, quadrant, s, c, near);
}
/// The same to the precision of a float, 2^-34: half the terms, and pi/2 in two parts.
template <int N, Constants C>
ARTICULA_INLINE SinCos<Pack<double, N, C>> sincos_near_for_float(const Pack<double, N, C>& angle,
                                                                 typename Pack<double, N, C>::Mask& near) {
  using V = typename Pack<double, N, C>::Lanes;
  const V shifter = (V{} + 0x1.8p52);
  const V quadrant = angle.x * 6.36619772367581382433e-01 + shifter;
  const V n = quadrant - shifter;
  const V r = (angle.x - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
  const V z = r * r;
  const V s = r + (r * z) * (-0.166666666416265235595 +
                             z * (0.0083333293858894631756 +
                                  z * (-0.000198393348360966317347 + z * 0.0000027183114939898219064)));
  const V c = 1.0 + z * (-0.499999997251031003120 +
                         z * (0.0416666233237390631894 +
                              z * (-0.00138867637746099294692 + z * 0.0000243904487962774090654)));
  return from_quadrant(angle, quadrant, s, c, near);
}
template <int N, Constants C>
ARTICULA_INLINE SinCos<Pack<double, N, C>> sincos(const Pack<double, N, C>& angle) {
  typename Pack<double, N, C>::Mask near = ~typename Pack<double, N, C>::Mask{};
  SinCos<Pack<double, N, C>> result = sincos_near(angle, near);
  if (__builtin_expect(!all<N>(near), 0)) {
    for (int i = 0; i < N; ++i) {
      if (near[i]) continue;
      result.sin.x[i] = __builtin_sin(angle[i]);
      result.cos.x[i] = __builtin_cos(angle[i]);
    }
  }
  return result;
}

/// Floats through double: the reduction is then exact enough for any float angle below 1.6e6.
template <int N, Constants C>
ARTICULA_INLINE Pack<double, N> widened(const Pack<float, N, C>& x) {
  return Pack<double, N>(__builtin_convertvector(x.x, typename Pack<double, N>::Lanes));
}
template <class P, int N>
ARTICULA_INLINE SinCos<P> narrowed(const SinCos<Pack<double, N>>& t) {
  using F = typename P::Lanes;
  return {P(__builtin_convertvector(t.sin.x, F)), P(__builtin_convertvector(t.cos.x, F))};
}
template <int N, Constants C>
ARTICULA_INLINE SinCos<Pack<float, N, C>> sincos(const Pack<float, N, C>& angle) {
  typename Pack<double, N>::Mask near = ~typename Pack<double, N>::Mask{};
  const auto result = narrowed<Pack<float, N, C>>(sincos_near_for_float(widened(angle), near));
  if (__builtin_expect(!all<N>(near), 0)) return narrowed<Pack<float, N, C>>(sincos(widened(angle)));
  return result;
}

/// For loops over many angles: results without libm's calls in the loop, which cost registers however rarely
/// they are made, and in the end whether all of them hold.
template <class S>
struct ManySines {
  ARTICULA_INLINE SinCos<S> operator()(const S& angle) { return sincos(angle); }
  ARTICULA_INLINE bool hold() const { return true; }
};
template <class T, int N, Constants C>
struct ManySines<Pack<T, N, C>> {
  typename Pack<double, N>::Mask near = ~typename Pack<double, N>::Mask{};
  ARTICULA_INLINE SinCos<Pack<T, N, C>> operator()(const Pack<T, N, C>& angle) {
    if constexpr (sizeof(T) == sizeof(double))
      return sincos_near(angle, near);
    else
      return narrowed<Pack<T, N, C>>(sincos_near_for_float(widened(angle), near));
  }
  ARTICULA_INLINE bool hold() const { return all<N>(near); }
};

}  // namespace articula
