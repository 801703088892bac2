// Manifold's functions of any number type: double, float, Dual, Pack. Always inlined, as scalar.hpp says.
#pragma once

#include "articula/model/manifold.hpp"
#include "articula/spatial/dual.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {

namespace manifold_text {

template <class S>
ARTICULA_INLINE Vec3<S> vec(const S* p) {
  return {p[0], p[1], p[2]};
}
template <class S>
ARTICULA_INLINE void put(const Vec3<S>& a, S* out) {
  out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

template <class Mask>
ARTICULA_INLINE bool every_lane(const Mask& mask) {
  constexpr int N = sizeof(Mask) / sizeof(mask[0]);
  using Long = typename LanesOf<long long, N>::type;
  if constexpr (sizeof(Mask) == sizeof(Long))
    return all<N>(mask);
  else
    return all<N>(__builtin_convertvector(mask, Long));
}
/// small() where x < limit, else large(). Packs make both if lanes differ, and each lane takes its own: what
/// a lane gets does not depend on its neighbours.
template <class S, class Small, class Large>
ARTICULA_INLINE auto where_less(const S& x, double limit, const Small& small, const Large& large) {
  return x < S(limit) ? small() : large();
}
template <class T, int N, Constants C, class Small, class Large>
ARTICULA_INLINE auto where_less(const Pack<T, N, C>& x, double limit, const Small& small,
                                const Large& large) {
  const auto less = x.x < Pack<T, N, C>(T(limit)).x;
  auto out = small();
  if (__builtin_expect(!every_lane(less), 0)) {
    const auto other = large();
    unsigned i = 0;
    for (auto& term : out.terms) term.x = less ? term.x : other.terms[i].x, ++i;
  }
  return out;
}

/// sin(x/2)/x, cos(x/2), (1 - cos x)/x^2 and (x - sin x)/x^3 of x = |w|. Series in x^2 where x is small: the
/// root has no derivative at zero.
template <class S>
struct TurnTerms {
  struct Three {
    S terms[3];  // half_sinc, half_cos, c
  };
  ARTICULA_INLINE explicit TurnTerms(const Vec3<S>& w) {
    const S x2 = dot(w, w);
    const Three t = where_less(
        x2, 0.25,
        [&]() __attribute__((always_inline)) {
          const S y = x2 * 0.25;
          return Three{
              {(1.0 - y / 6.0 * (1.0 - y / 20.0 * (1.0 - y / 42.0 * (1.0 - y / 72.0 * (1.0 - y / 110.0))))) *
                   0.5,
               1.0 - y / 2.0 * (1.0 - y / 12.0 * (1.0 - y / 30.0 * (1.0 - y / 56.0 * (1.0 - y / 90.0)))),
               (1.0 -
                x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0 * (1.0 - x2 / 110.0 * (1.0 - x2 / 156.0))))) /
                   6.0}};
        },
        [&]() __attribute__((always_inline)) {
          const S x = square_root(x2);
          const SinCos<S> half = sincos(x * 0.5);
          return Three{{half.sin / x, half.cos, (x - half.sin * half.cos * 2.0) / (x2 * x)}};
        });
    half_sinc = t.terms[0], half_cos = t.terms[1], c = t.terms[2];
    b = half_sinc * half_sinc * 2.0;
  }
  ARTICULA_INLINE Quaternion<S> quaternion(const Vec3<S>& w) const {
    return {w.x * half_sinc, w.y * half_sinc, w.z * half_sinc, half_cos};
  }
  S half_sinc, half_cos, b, c;
};

template <class S>
ARTICULA_INLINE void turn(const S* q, const Quaternion<S>& by, S* out) {
  const Quaternion<S> r = normalized(Quaternion<S>{q[0], q[1], q[2], q[3]} * by);
  out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

/// The angle with this sine and cosine, of any common size.
inline double angle_of(double sine, double cosine) { return std::atan2(sine, cosine); }
template <class T, class D>
Dual<T, D> angle_of(const Dual<T, D>& sine, const Dual<T, D>& cosine) {
  return {angle_of(sine.x, cosine.x),
          (cosine.x * sine.d - sine.x * cosine.d) / (sine.x * sine.x + cosine.x * cosine.x)};
}

}  // namespace manifold_text

namespace manifold_text {

using Kind = Manifold::Kind;

template <class S>
ARTICULA_INLINE void integrate(const Manifold::Pieces& pieces, const S* q, const S* u, S* out) {
  for (const Manifold::Piece& p : pieces) {
    const S *qp = q + p.q, *up = u + p.v;
    S* const o = out + p.q;
    switch (p.kind) {
      case Kind::flat:
        for (int i = 0; i < p.count; ++i) o[i] = qp[i] + up[i];
        break;
      case Kind::rotation: {
        const Vec3<S> w = vec(up);
        turn(qp, TurnTerms<S>(w).quaternion(w), o);
        break;
      }
      case Kind::motion: {
        const Vec3<S> w = vec(up), v = vec(up + 3), wv = cross(w, v);
        const TurnTerms<S> t(w);
        const Vec3<S> shift = v + wv * t.b + cross(w, wv) * t.c;  // Jl(w) v
        const Mat3<S> R = rotation(Quaternion<S>{qp[0], qp[1], qp[2], qp[3]});
        put(vec(qp + 4) + R * shift, o + 4);
        turn(qp, t.quaternion(w), o);
        break;
      }
      case Kind::plane: {
        const TurnTerms<S> t(Vec3<S>{S(0), S(0), up[0]});
        const S sine = 1.0 - t.c * up[0] * up[0], versine = t.b * up[0];  // sin(a)/a, (1 - cos a)/a
        const S x = sine * up[1] - versine * up[2], y = versine * up[1] + sine * up[2];
        const SinCos<S> a = sincos(qp[0]);
        const S angle = qp[0] + up[0];
        o[1] = qp[1] + a.cos * x - a.sin * y;
        o[2] = qp[2] + a.sin * x + a.cos * y;
        o[0] = angle;
      }
    }
  }
}

template <class S>
ARTICULA_INLINE void chart_rate_to_fourth_order(const Manifold::Pieces& pieces, const S* u, const S* w,
                                                S* out) {
  for (const Manifold::Piece& p : pieces) {
    const S *up = u + p.v, *wp = w + p.v;
    S* const o = out + p.v;
    switch (p.kind) {
      case Kind::flat:
        for (int i = 0; i < p.count; ++i) o[i] = wp[i];
        break;
      case Kind::rotation: {
        const Vec3<S> a = vec(up), b = vec(wp), ab = cross(a, b);
        put(b + ab * 0.5 + cross(a, ab) * (1 / 12.), o);
        break;
      }
      case Kind::motion: {
        const Spatial<S> a{vec(up), vec(up + 3)}, b{vec(wp), vec(wp + 3)}, ab = cross_motion(a, b);
        const Spatial<S> rate = b + ab * 0.5 + cross_motion(a, ab) * (1 / 12.);
        put(rate.w, o), put(rate.v, o + 3);
        break;
      }
      case Kind::plane: {
        const S a = up[0], b = wp[0];
        const S x = up[2] * b - a * wp[2], y = a * wp[1] - up[1] * b;  // [u, w]; its turn is zero
        const S vx = wp[1] + x * 0.5 - a * y * (1 / 12.), vy = wp[2] + y * 0.5 + a * x * (1 / 12.);
        o[0] = b, o[1] = vx, o[2] = vy;
      }
    }
  }
}

}  // namespace manifold_text

template <class S>
void Manifold::integrate(const S* q, const S* u, S* out) const {
  manifold_text::integrate(pieces(), q, u, out);
}
template <class S>
void Manifold::chart_rate_to_fourth_order(const S* u, const S* w, S* out) const {
  manifold_text::chart_rate_to_fourth_order(pieces(), u, w, out);
}

template <class S>
void Manifold::cayley(const S* q, const S* u, S* middle, S* end) const {
  using namespace manifold_text;
  const S O(0);
  for (const Piece& p : pieces_) {
    const S *qp = q + p.q, *up = u + p.v;
    S *m = middle + p.q, *e = end + p.q;
    if (p.kind == Kind::flat) {
      for (int i = 0; i < p.count; ++i) m[i] = qp[i] + 0.5 * up[i], e[i] = qp[i] + up[i];
      continue;
    }
    // cay6 = (Id - ad/2)^-1 (Id + ad/2): the turn has quaternion (w/2, 1)/s, the shift is (v + w x v/2)/s^2,
    // s^2 = 1 + |w|^2/4. The half of it: half the turn Q, and (Id + Q)^-1 = (Id - tan(angle/2) axis~)/2 of
    // the shift.
    const bool plane = p.kind == Kind::plane, shifts = p.kind != Kind::rotation;
    const Vec3<S> w = plane ? Vec3<S>{O, O, up[0]} : vec(up);
    const Vec3<S> v = plane ? Vec3<S>{up[1], up[2], O} : shifts ? vec(up + 3) : Vec3<S>{O, O, O};
    const S s2 = 1.0 + dot(w, w) / 4.0, s = square_root(s2);
    const Quaternion<S> whole{w.x / 2.0 / s, w.y / 2.0 / s, w.z / 2.0 / s, reciprocal(s)};
    const S n = reciprocal(square_root(2.0 + 2.0 * whole.w));
    const Quaternion<S> half{whole.x * n, whole.y * n, whole.z * n, (1.0 + whole.w) * n};
    const Vec3<S> shift = (v + cross(w, v) * 0.5) * reciprocal(s2);
    const Vec3<S> tangent = Vec3<S>{half.x, half.y, half.z} * reciprocal(half.w);
    const Vec3<S> half_shift = (shift - cross(tangent, shift)) * 0.5;
    if (plane) {
      const S half_turn = 2.0 * angle_of(half.z, half.w);
      const SinCos<S> a = sincos(qp[0]);
      const auto put_moved = [&](const S& turn, const Vec3<S>& by, S* out) {
        out[0] = qp[0] + turn;
        out[1] = qp[1] + (a.cos * by.x - a.sin * by.y);
        out[2] = qp[2] + (a.sin * by.x + a.cos * by.y);
      };
      put_moved(half_turn, half_shift, m);
      put_moved(2.0 * half_turn, shift, e);
      continue;
    }
    if (shifts) {
      const Mat3<S> R = rotation(Quaternion<S>{qp[0], qp[1], qp[2], qp[3]});
      const Vec3<S> at = vec(qp + 4);
      put(at + R * half_shift, m + 4);
      put(at + R * shift, e + 4);
    }
    turn(qp, half, m);
    turn(qp, whole, e);
  }
}

}  // namespace articula
