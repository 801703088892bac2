// Counted: a number that counts what is done with it. The kernels' text, run with it, gives the exact number
// of multiplications, additions, divisions, square roots and sine-cosine pairs of an algorithm on a model.
//
// Subtractions count as additions, changes of sign do not count, nor do comparisons (`smaller` keeps the
// least pivot;
// `<` would be a branch that depends on data, and has a tally of its own).
//
// Two ways of counting. Plainly, every operation in the text counts: that is what the compiled kernels
// execute. With Counted::folding() on, operations with numbers known when the model is built count only as
// far as they are needed: x * 0, x * 1, x + 0 and arithmetic between known numbers are free. That is the
// convention of DIAG section 6 ("the zero elements are propagated as zeros"), in which a robot with parallel
// or perpendicular axes costs less.
#pragma once

#include <utility>

#include "articula/spatial/sincos.hpp"

namespace articula {

struct Tally {
  long multiplications = 0, additions = 0, divisions = 0, square_roots = 0, sines_cosines = 0, branches = 0;
  bool operator==(const Tally&) const = default;
};

struct Counted {
  /// What is known of the number before any state is: nothing, or its value.
  enum class Known : unsigned char { nothing, number, zero, one, minus_one };
  double value = 0;
  Known known = Known::nothing;

  constexpr Counted() = default;
  /// A constant of the text or of the model.
  constexpr Counted(double x)
      : value(x),
        known(x == 0    ? Known::zero
              : x == 1  ? Known::one
              : x == -1 ? Known::minus_one
                        : Known::number) {}
  /// A number of the state.
  static constexpr Counted variable(double x) {
    Counted c;
    c.value = x;
    return c;
  }

  static Tally& tally() {
    static thread_local Tally counts;
    return counts;
  }
  static long& multiplications() { return tally().multiplications; }
  static long& additions() { return tally().additions; }
  static bool& folding() {
    static thread_local bool on = false;
    return on;
  }
  bool is(Known k) const { return known == k; }
};

namespace counted {
inline bool both_known(const Counted& a, const Counted& b) {
  return !a.is(Counted::Known::nothing) && !b.is(Counted::Known::nothing);
}
/// x, counted by `tally` unless a and b are known.
inline Counted result(const Counted& a, const Counted& b, double x, long& tally) {
  if (Counted::folding() && both_known(a, b)) return x;
  ++tally;
  return Counted::variable(x);
}
}  // namespace counted

inline Counted operator-(const Counted& a) {
  return a.is(Counted::Known::nothing) ? Counted::variable(-a.value) : Counted(-a.value);
}
inline Counted operator+(const Counted& a, const Counted& b) {
  if (Counted::folding() && a.is(Counted::Known::zero)) return b;
  if (Counted::folding() && b.is(Counted::Known::zero)) return a;
  return counted::result(a, b, a.value + b.value, Counted::tally().additions);
}
inline Counted operator-(const Counted& a, const Counted& b) { return a + -b; }
inline Counted operator*(const Counted& a, const Counted& b) {
  if (Counted::folding())
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      if (x.is(Counted::Known::zero)) return x;
      if (x.is(Counted::Known::one)) return y;
      if (x.is(Counted::Known::minus_one)) return -y;
    }
  return counted::result(a, b, a.value * b.value, Counted::tally().multiplications);
}
inline Counted operator/(const Counted& a, const Counted& b) {
  return counted::result(a, b, a.value / b.value, Counted::tally().divisions);
}
template <class B>
Counted& operator+=(Counted& a, const B& b) {
  return a = a + b;
}
template <class B>
Counted& operator-=(Counted& a, const B& b) {
  return a = a - b;
}
template <class B>
Counted& operator*=(Counted& a, const B& b) {
  return a = a * b;
}
inline bool operator<(const Counted& a, const Counted& b) {
  ++Counted::tally().branches;
  return a.value < b.value;
}
inline bool operator>(const Counted& a, const Counted& b) { return b < a; }

inline Counted reciprocal(const Counted& a) { return Counted(1) / a; }
inline Counted square_root(const Counted& a) {
  return counted::result(a, a, __builtin_sqrt(a.value), Counted::tally().square_roots);
}
inline Counted smaller(const Counted& a, const Counted& b) { return b.value < a.value ? b : a; }
inline SinCos<Counted> sincos(const Counted& angle) {
  const SinCos<double> t = sincos(angle.value);
  if (Counted::folding() && !angle.is(Counted::Known::nothing)) return {t.sin, t.cos};
  ++Counted::tally().sines_cosines;
  return {Counted::variable(t.sin), Counted::variable(t.cos)};
}

template <>
struct RealOf<Counted> {
  using type = double;
};

}  // namespace articula
