#include "articula/batch/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "articula/error.hpp"

namespace articula {

namespace {

constexpr int bits = 52;

/// splitmix64's last step: a number without pattern for each triple.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + a * 0xd1342543de82ef95u + b * 0xa0761d6478bd642fu + 1;
  for (int i = 0; i < 2; ++i) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
  }
  return z;
}

/// Whether x^s + .. + 1, its coefficients as bits, is primitive over GF(2): x goes through all 2^s - 1 powers.
bool is_primitive(unsigned polynomial) {
  const int degree = int(std::bit_width(polynomial)) - 1;
  const unsigned all = (1u << degree) - 1;
  unsigned power = 1;
  for (unsigned i = 1; i <= all; ++i) {
    power <<= 1;
    if (power >> degree) power ^= polynomial;
    if (power == 1) return i == all;
  }
  return false;
}

/// Directions of a Sobol sequence (Bratley and Fox 1988): an axis for each primitive polynomial. The first numbers of an
/// axis may be any odd ones that fit; these are drawn, the same every time.
std::vector<std::uint64_t> sobol_directions(std::size_t axes) {
  std::vector<std::uint64_t> out;
  unsigned polynomial = 2;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::uint64_t m[bits] = {};
    int degree = 0;
    if (axis == 0) {
      std::ranges::fill(m, 1);
    } else {
      do ++polynomial;
      while (polynomial % 2 == 0 || !is_primitive(polynomial));
      degree = int(std::bit_width(polynomial)) - 1;
      for (int i = 0; i < degree; ++i)
        m[i] = (mixed(17, axis, std::uint64_t(i)) % (std::uint64_t{1} << i)) * 2 + 1;
      for (int i = degree; i < bits; ++i) {
        m[i] = m[i - degree] ^ (m[i - degree] << degree);
        for (int k = 1; k < degree; ++k)
          if (polynomial >> (degree - k) & 1) m[i] ^= m[i - k] << k;
      }
    }
    for (int i = 0; i < bits; ++i) out.push_back(m[i] << (bits - 1 - i));
  }
  return out;
}

}  // namespace

Design::Kind Design::kind_named(std::string_view name) {
  if (name == "grid") return Kind::grid;
  if (name == "latin_hypercube") return Kind::latin_hypercube;
  if (name == "sobol") return Kind::sobol;
  throw ArgumentError(fmt::format("design '{}' is not known; known: grid, latin_hypercube, sobol", name));
}

Design::Design(Kind kind, std::vector<Axis> axes, std::uint64_t points, std::uint64_t seed)
    : kind_(kind), axes_(std::move(axes)), points_(points), seed_(seed) {
  if (axes_.empty()) throw ArgumentError("a design needs at least one axis");
  for (const Axis& axis : axes_) {
    if (!std::isfinite(axis.least) || !std::isfinite(axis.largest) || axis.largest < axis.least ||
        !std::ranges::all_of(axis.values, [](double x) { return std::isfinite(x); }))
      throw ArgumentError("an axis of a design: expected finite numbers, the largest not below the least");
  }
  constexpr std::uint64_t most = 1'000'000'000'000;
  if (kind == Kind::grid) {
    if (points != 0) throw ArgumentError("a grid has all its points; their number is not given");
    points_ = 1;
    for (const Axis& axis : axes_) {
      if (axis.values.empty()) throw ArgumentError("an axis of a grid needs values");
      if (axis.values.size() > most / points_) throw ArgumentError("a grid of more than 1e12 points");
      points_ *= axis.values.size();
    }
  }
  if (points_ == 0 || points_ > most) throw ArgumentError("a design needs 1 to 1e12 points");
  // As many as the first tables of Joe and Kuo (2003); more take long to find.
  if (kind == Kind::sobol && axes_.size() > 1111) throw ArgumentError("a Sobol design has at most 1111 axes");
  if (kind == Kind::sobol) directions_ = sobol_directions(axes_.size());
}

/// A permutation of all numbers below points_: four rounds of a Feistel network on as many bits as are needed, again
/// and again until the result is below.
std::uint64_t Design::permuted(std::uint64_t number, std::size_t axis) const {
  const int half = std::max(1, (int(std::bit_width(points_ - 1)) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = number >> half, right = number & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mixed(seed_, axis * 4 + round, right) & mask);
      left = right, right = next;
    }
    number = left << half | right;
  } while (number >= points_);
  return number;
}

double Design::share(std::uint64_t number, std::size_t axis) const {
  if (kind_ == Kind::latin_hypercube) {
    const double within = double(mixed(seed_, ~std::uint64_t(axis), number) >> 11) * 0x1p-53;
    return std::min((double(permuted(number, axis)) + within) / double(points_), 1 - 0x1p-53);
  }
  std::uint64_t x = mixed(seed_, axis, 0) >> (64 - bits);
  for (std::uint64_t rest = number, i = 0; rest && i < bits; rest >>= 1, ++i)
    if (rest & 1) x ^= directions_[axis * bits + i];
  return double(x) * 0x1p-52;
}

void Design::point(std::uint64_t number, std::span<double> out) const {
  for (std::size_t k = axes_.size(); k-- > 0;) {
    const Axis& axis = axes_[k];
    const std::size_t count = axis.values.size();
    if (kind_ == Kind::grid) {
      out[k] = axis.values[number % count];
      number /= count;
    } else if (count > 0) {
      out[k] = axis.values[std::min(count - 1, std::size_t(share(number, k) * double(count)))];
    } else {
      out[k] = axis.least + (axis.largest - axis.least) * share(number, k);
    }
  }
}

}  // namespace articula
