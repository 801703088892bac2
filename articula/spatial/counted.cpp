#include "articula/spatial/counted.hpp"

#include <cmath>

namespace articula {

using Known = Counted::Known;

Tally& Counted::tally() noexcept {
  static thread_local Tally counts;
  return counts;
}
bool& Counted::folding() noexcept {
  static thread_local bool on = false;
  return on;
}

namespace {
/// x, counted in `tally` unless folding and a and b are known.
Counted result(const Counted& a, const Counted& b, double x, long& tally) {
  if (Counted::folding() && !a.is(Known::nothing) && !b.is(Known::nothing)) return x;
  ++tally;
  return Counted::variable(x);
}
}  // namespace

Counted operator-(const Counted& a) noexcept {
  return a.is(Known::nothing) ? Counted::variable(-a.value) : Counted(-a.value);
}
Counted operator+(const Counted& a, const Counted& b) noexcept {
  if (Counted::folding() && a.is(Known::zero)) return b;
  if (Counted::folding() && b.is(Known::zero)) return a;
  return result(a, b, a.value + b.value, Counted::tally().additions);
}
Counted operator-(const Counted& a, const Counted& b) noexcept { return a + -b; }
Counted operator*(const Counted& a, const Counted& b) noexcept {
  if (Counted::folding()) {
    if (a.is(Known::zero) || b.is(Known::zero)) return 0.0;
    if (a.is(Known::one)) return b;
    if (b.is(Known::one)) return a;
    if (a.is(Known::minus_one)) return -b;
    if (b.is(Known::minus_one)) return -a;
  }
  return result(a, b, a.value * b.value, Counted::tally().multiplications);
}
Counted operator/(const Counted& a, const Counted& b) noexcept {
  return result(a, b, a.value / b.value, Counted::tally().divisions);
}
bool operator<(const Counted& a, const Counted& b) noexcept {
  ++Counted::tally().branches;
  return a.value < b.value;
}
bool operator>(const Counted& a, const Counted& b) noexcept { return b < a; }
Counted reciprocal(const Counted& a) noexcept {
  return result(a, a, 1 / a.value, Counted::tally().divisions);
}
Counted square_root(const Counted& a) noexcept {
  return result(a, a, std::sqrt(a.value), Counted::tally().square_roots);
}
Counted smaller(const Counted& a, const Counted& b) noexcept { return b.value < a.value ? b : a; }
SinCos<Counted> sincos(const Counted& angle) noexcept {
  const SinCos<double> t = sincos(angle.value);
  if (Counted::folding() && !angle.is(Known::nothing)) return {t.sin, t.cos};
  ++Counted::tally().sines_cosines;
  return {Counted::variable(t.sin), Counted::variable(t.cos)};
}

}  // namespace articula
