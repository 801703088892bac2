// Counted: a number that counts what is done with it. The kernels' text, run with it, gives the exact number
// of multiplications, additions, divisions, square roots and sine-cosine pairs of an algorithm on a model.
//
// Subtractions count as additions, changes of sign do not count, nor do comparisons (`smaller` keeps the
// least pivot; `<` would be a branch that depends on data, and has a tally of its own).
//
// Two ways of counting. Plainly, every operation in the text counts: that is what the compiled kernels
// execute. With Counted::folding() on, operations with numbers known when the model is built count only as
// far as they are needed: x * 0, x * 1, x + 0 and arithmetic between known numbers are free. That is the
// convention of DIAG section 6 ("the zero elements are propagated as zeros"), in which a robot with parallel
// or perpendicular axes costs less.
#pragma once

#include "articula/spatial/sincos.hpp"

namespace articula {

struct Tally {
  long multiplications = 0, additions = 0, divisions = 0, square_roots = 0, sines_cosines = 0, branches = 0;
  bool operator==(const Tally&) const = default;
};

struct Counted {
  /// What is known of the number before any state is: nothing, or its value.
  enum class Known : unsigned char { nothing, number, zero, one, minus_one };
  double value;
  Known known;

  Counted() = default;
  /// A constant of the text or of the model.
  constexpr Counted(double x)
      : value(x),
        known(x == 0    ? Known::zero
              : x == 1  ? Known::one
              : x == -1 ? Known::minus_one
                        : Known::number) {}
  /// A number of the state.
  static constexpr Counted variable(double x) {
    Counted c(x);
    c.known = Known::nothing;
    return c;
  }

  /// What this thread has counted.
  static Tally& tally() noexcept;
  static long& multiplications() noexcept { return tally().multiplications; }
  static long& additions() noexcept { return tally().additions; }
  static bool& folding() noexcept;
  bool is(Known k) const noexcept { return known == k; }
};

// Not inlined: the kernels' texts are, and a count in each of their operations would be too much for a
// compiler.
Counted operator-(const Counted& a) noexcept;
Counted operator+(const Counted& a, const Counted& b) noexcept;
Counted operator-(const Counted& a, const Counted& b) noexcept;
Counted operator*(const Counted& a, const Counted& b) noexcept;
Counted operator/(const Counted& a, const Counted& b) noexcept;
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
bool operator<(const Counted& a, const Counted& b) noexcept;
bool operator>(const Counted& a, const Counted& b) noexcept;

Counted reciprocal(const Counted& a) noexcept;
Counted square_root(const Counted& a) noexcept;
Counted smaller(const Counted& a, const Counted& b) noexcept;
SinCos<Counted> sincos(const Counted& angle) noexcept;

template <>
struct RealOf<Counted> {
  using type = double;
};

}  // namespace articula
