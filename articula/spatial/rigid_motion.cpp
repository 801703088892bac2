#include "articula/spatial/rigid_motion.hpp"

#include <cmath>

#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

/// Jl = Id + b w~ + c w~ w~ at x = |w|, and how b and c change: b1 = b'(x) / x, c1 = c'(x) / x.
struct Coefficients {
  double b, c, b1, c1;
};
Coefficients coefficients(double x) {
  const double x2 = x * x;
  if (x > 1) {
    const double s = std::sin(x), half = std::sin(x / 2), versine = 2 * half * half;
    return {versine / x2, (x - s) / (x2 * x), (x * s - 2 * versine) / (x2 * x2),
            (x * versine - 3 * (x - s)) / (x2 * x2 * x)};
  }
  // b = sum (-x^2)^k / (2k + 2)!, c = sum (-x^2)^k / (2k + 3)!: below 1 ulp after ten terms.
  Coefficients out{0, 0, 0, 0};
  double term = 0.5, next_power_over_x2 = -1;  // term: x^2k / (2k + 2)! without its power
  double power = 1;
  for (int k = 0; k < 10; ++k) {
    const double over = term / (2 * k + 3);
    out.b += power * term;
    out.c += power * over;
    if (k > 0) {
      out.b1 += 2 * k * next_power_over_x2 * term;
      out.c1 += 2 * k * next_power_over_x2 * over;
      next_power_over_x2 *= -x2;
    }
    power *= -x2;
    term /= (2 * k + 3) * (2 * k + 4);
  }
  return out;
}

Mat3<double> scaled(const Mat3<double>& m, double s) {
  return from_columns(column_x(m) * s, column_y(m) * s, column_z(m) * s);
}
/// a b*
Mat3<double> outer(const Vec3<double>& a, const Vec3<double>& b) {
  return from_columns(a * b.x, a * b.y, a * b.z);
}

/// d/dw of Jl(w) v
Mat3<double> derivative_of_left_jacobian(const Vec3<double>& w, const Vec3<double>& v) {
  const Coefficients k = coefficients(norm(w));
  const Vec3<double> wv = cross(w, v), wwv = cross(w, wv);
  return outer(wv * k.b1 + wwv * k.c1, w) - scaled(tilde(v), k.b) -
         scaled(tilde(wv) + tilde(w) * tilde(v), k.c);
}

/// sin(x)/x and (1 - cos x)/x
struct Sinc {
  double sine, versine;
};
Sinc sinc(double x) {
  if (std::abs(x) < 1e-4) return {1 - x * x / 6, x / 2 * (1 - x * x / 12)};
  const double half = std::sin(x / 2);
  return {std::sin(x) / x, 2 * half * half / x};
}

}  // namespace

RigidMotion exp_motion(const Spatial<double>& twist) {
  // The left Jacobian is the transpose of the right one.
  return {exp_quaternion(twist.w), star_times(right_jacobian(twist.w), twist.v)};
}

Spatial<double> log_motion(const RigidMotion& motion) {
  const Vec3<double> w = log_quaternion(motion.turn);
  return {w, star_times(right_jacobian_inverse(w), motion.shift)};
}

TwistMap adjoint_of_inverse_exp(const Spatial<double>& twist) {
  const RigidMotion m = exp_motion(twist);
  const Mat3<double> R_star = star(rotation(m.turn));
  return {R_star, scaled(R_star * tilde(m.shift), -1)};
}

TwistMap right_jacobian(const Spatial<double>& twist) {
  // The shift is Jl(w) v; seen in the axes reached, R* d(Jl v), and R* Jl = Jr.
  const Mat3<double> R_star = star(rotation(exp_quaternion(twist.w)));
  return {right_jacobian(twist.w), R_star * derivative_of_left_jacobian(twist.w, twist.v)};
}

PlanarMotion exp_planar(const PlanarMotion& t) {
  const Sinc k = sinc(t.angle);
  return {t.angle, k.sine * t.x - k.versine * t.y, k.versine * t.x + k.sine * t.y};
}

PlanarMotion log_planar(const PlanarMotion& m) {
  // The inverse of [[s, -c], [c, s]] is [[h cot h, h], [-h, h cot h]] with h = angle / 2.
  const double h = m.angle / 2, cotangent = std::abs(h) < 1e-4 ? 1 - h * h / 3 : h / std::tan(h);
  return {m.angle, cotangent * m.x + h * m.y, cotangent * m.y - h * m.x};
}

PlanarMotion operator*(const PlanarMotion& a, const PlanarMotion& b) {
  const double s = std::sin(a.angle), c = std::cos(a.angle);
  return {a.angle + b.angle, a.x + c * b.x - s * b.y, a.y + s * b.x + c * b.y};
}

std::array<double, 9> adjoint_of_inverse_exp(const PlanarMotion& twist) {
  const PlanarMotion m = exp_planar(twist);
  const double s = std::sin(m.angle), c = std::cos(m.angle);
  // R* (v + w (-y, x))
  return {1, 0, 0, s * m.x - c * m.y, c, s, c * m.x + s * m.y, -s, c};
}

std::array<double, 9> right_jacobian(const PlanarMotion& t) {
  const double s = std::sin(t.angle), c = std::cos(t.angle);
  const Sinc k = sinc(t.angle);
  const Coefficients space = coefficients(std::abs(t.angle));
  // sin(a)/a = 1 - c a^2 and (1 - cos a)/a = b a, with the space coefficients b and c; their derivatives by
  // a:
  const double a = t.angle, sine1 = -(2 * space.c + space.c1 * a * a) * a,
               versine1 = space.b + space.b1 * a * a;
  const double dx = sine1 * t.x - versine1 * t.y, dy = versine1 * t.x + sine1 * t.y;
  return {1, 0, 0, c * dx + s * dy, k.sine, k.versine, c * dy - s * dx, -k.versine, k.sine};
}

}  // namespace articula
