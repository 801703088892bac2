#include "articula/model/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "articula/model/joint_kinds.hpp"
#include "articula/spatial/rigid_motion.hpp"

namespace articula {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Beyond it the logarithm of a planar motion loses more than two digits, and at whole turns it does not
/// exist.
constexpr double largest_planar_angle = 6;

void check(const Model& model, const char* function, const char* argument, std::size_t size,
           std::size_t expected) {
  if (size == expected) return;
  throw ArgumentError(fmt::format("{}: {} has {} numbers, model '{}' needs {}", function, argument, size,
                                  model.name(), expected));
}

// The coordinates of one joint, read and written in the caller's number type; all arithmetic is in double.
template <class S>
Quaternion<double> read_quaternion(const S* q) {
  return {double(q[0]), double(q[1]), double(q[2]), double(q[3])};
}
template <class S>
Vec3<double> read_vector(const S* p) {
  return {double(p[0]), double(p[1]), double(p[2])};
}
template <class S>
PlanarMotion read_planar(const S* p) {
  return {double(p[0]), double(p[1]), double(p[2])};
}
template <class S>
void write(const Quaternion<double>& q, S* out) {
  out[0] = S(q.x), out[1] = S(q.y), out[2] = S(q.z), out[3] = S(q.w);
}
template <class S>
void write(const Vec3<double>& a, S* out) {
  out[0] = S(a.x), out[1] = S(a.y), out[2] = S(a.z);
}
template <class S>
void write(const PlanarMotion& a, S* out) {
  out[0] = S(a.angle), out[1] = S(a.x), out[2] = S(a.y);
}

/// f(hinge type, index of its first coordinate, of its first velocity) for each hinge of the joints that have
/// coordinates of their own.
template <class F>
void for_each_hinge(const Model& model, F&& f) {
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    int q = joint.q_index, v = joint.v_index;
    for (const HingeKind kind : hinges_of(joint.kind))
      visit(kind, [&](auto hinge) {
        f(hinge, q, v, joint);
        q += hinge.nq, v += hinge.nv;
      });
  }
}

template <class J, class S, class D>
void integrate_hinge(J, const S* q, const D* dv, S* out) {
  if constexpr (J::chart == Chart::rotation) {
    write(normalized(read_quaternion(q) * exp_quaternion(read_vector(dv))), out);
  } else if constexpr (J::chart == Chart::motion) {
    const auto turn = read_quaternion(q);
    const RigidMotion step = exp_motion({read_vector(dv), read_vector(dv + 3)});
    write(read_vector(q + 4) + rotation(turn) * step.shift, out + 4);
    write(normalized(turn * step.turn), out);
  } else if constexpr (J::chart == Chart::plane) {
    write(read_planar(q) * exp_planar(read_planar(dv)), out);
  } else {
    for (int i = 0; i < J::nv; ++i) out[i] = S(q[i] + dv[i]);
  }
}

template <class J, class S, class D>
void difference_hinge(J, const S* q0, const S* q1, D* out) {
  if constexpr (J::chart == Chart::rotation) {
    write(log_quaternion(conjugate(read_quaternion(q0)) * read_quaternion(q1)), out);
  } else if constexpr (J::chart == Chart::motion) {
    const auto turn = read_quaternion(q0);
    const Vec3<double> shift = star_times(rotation(turn), read_vector(q1 + 4) - read_vector(q0 + 4));
    const Spatial<double> twist = log_motion({conjugate(turn) * read_quaternion(q1), shift});
    write(twist.w, out);
    write(twist.v, out + 3);
  } else if constexpr (J::chart == Chart::plane) {
    const PlanarMotion a = read_planar(q0), b = read_planar(q1);
    const PlanarMotion turned = PlanarMotion{-a.angle, 0, 0} * PlanarMotion{b.angle, b.x - a.x, b.y - a.y};
    const double angle =
        std::abs(turned.angle) > largest_planar_angle ? std::remainder(turned.angle, 2 * pi) : turned.angle;
    write(log_planar({angle, turned.x, turned.y}), out);
  } else {
    for (int i = 0; i < J::nv; ++i) out[i] = D(q1[i]) - D(q0[i]);
  }
}

template <class S>
void integrate_all(const Model& model, std::span<const S> q, std::span<const S> dv, std::span<S> out) {
  check(model, "integrate", "q", q.size(), model.nq());
  check(model, "integrate", "dv", dv.size(), model.nv());
  check(model, "integrate", "out", out.size(), model.nq());
  for_each_hinge(model, [&](auto hinge, int at, int v, const Joint&) {
    integrate_hinge(hinge, q.data() + at, dv.data() + v, out.data() + at);
  });
}

template <class S>
void difference_all(const Model& model, std::span<const S> q0, std::span<const S> q1, std::span<S> out) {
  check(model, "difference", "q0", q0.size(), model.nq());
  check(model, "difference", "q1", q1.size(), model.nq());
  check(model, "difference", "out", out.size(), model.nv());
  for_each_hinge(model, [&](auto hinge, int at, int v, const Joint&) {
    difference_hinge(hinge, q0.data() + at, q1.data() + at, out.data() + v);
  });
}

template <class S>
void interpolate_all(const Model& model, std::span<const S> q0, std::span<const S> q1, double t,
                     std::span<S> out) {
  check(model, "interpolate", "q0", q0.size(), model.nq());
  check(model, "interpolate", "q1", q1.size(), model.nq());
  check(model, "interpolate", "out", out.size(), model.nq());
  for_each_hinge(model, [&](auto hinge, int at, int, const Joint&) {
    double step[max_freedoms];
    difference_hinge(hinge, q0.data() + at, q1.data() + at, step);
    for (int i = 0; i < hinge.nv; ++i) step[i] *= t;
    integrate_hinge(hinge, q0.data() + at, step, out.data() + at);
  });
}

template <class S>
void neutral_all(const Model& model, std::span<S> out) {
  check(model, "neutral", "out", out.size(), model.nq());
  std::fill(out.begin(), out.end(), S(0));
  for_each_hinge(model, [&](auto hinge, int at, int, const Joint&) {
    if (hinge.quaternion) out[at + 3] = 1;
  });
}

template <class S>
void normalise_all(const Model& model, std::span<S> q, double within) {
  check(model, "normalise", "q", q.size(), model.nq());
  for_each_hinge(model, [&](auto hinge, int at, int, const Joint& joint) {
    if (!hinge.quaternion) return;
    S* const p = q.data() + at;
    const auto turn = read_quaternion(p);
    const double length = std::hypot(std::hypot(turn.x, turn.y), std::hypot(turn.z, turn.w));
    if (!(std::abs(length - 1) <= within))
      throw ArgumentError(
          fmt::format("the quaternion of joint '{}' (q[{}] to q[{}]) has length {}, expected 1 within {}",
                      joint.name, at, at + 3, length, within));
    write(Quaternion<double>{turn.x / length, turn.y / length, turn.z / length, turn.w / length}, p);
  });
}

template <class S>
void coordinate_rates_all(const Model& model, std::span<const S> q, std::span<const S> v,
                          std::span<S> q_dot) {
  check(model, "coordinate_rates", "q", q.size(), model.nq());
  check(model, "coordinate_rates", "v", v.size(), model.nv());
  check(model, "coordinate_rates", "q_dot", q_dot.size(), model.nq());
  for_each_hinge(model, [&](auto hinge, int at, int first, const Joint&) {
    constexpr Chart chart = decltype(hinge)::chart;
    const S *const x = q.data() + at, *const u = v.data() + first;
    S* const out = q_dot.data() + at;
    if constexpr (chart == Chart::rotation || chart == Chart::motion) {
      const auto turn = read_quaternion(x);
      const auto w = read_vector(u) * 0.5;  // dq/dt = q (w, 0) / 2
      if constexpr (chart == Chart::motion) write(rotation(turn) * read_vector(u + 3), out + 4);
      write(turn * Quaternion<double>{w.x, w.y, w.z, 0}, out);
    } else if constexpr (chart == Chart::plane) {
      write(PlanarMotion{double(x[0]), 0, 0} * PlanarMotion{0, double(u[1]), double(u[2])}, out);
      out[0] = u[0];
    } else {
      std::copy_n(u, hinge.nv, out);
    }
  });
}

double uniform(std::mt19937_64& engine) { return double(engine() >> 11) * 0x1p-53; }  // [0, 1)
double uniform(std::mt19937_64& engine, double lower, double upper) {
  const double u = uniform(engine);
  return lower * (1 - u) + upper * u;
}

/// Uniform over all orientations: Shoemake, Graphics Gems III (1992), "Uniform random rotations".
Quaternion<double> random_quaternion(std::mt19937_64& engine) {
  const double u = uniform(engine), a = 2 * pi * uniform(engine), b = 2 * pi * uniform(engine);
  const double s = std::sqrt(1 - u), c = std::sqrt(u);
  return {s * std::sin(a), s * std::cos(a), c * std::sin(b), c * std::cos(b)};
}

using Range = JointRange;
/// One-sided limits get a range as wide as none would.
Range filled(const Range& limits, double reach) {
  const bool below = std::isfinite(limits.lower), above = std::isfinite(limits.upper);
  if (below && above) return limits;
  if (below) return {limits.lower, std::max(reach, limits.lower + 2 * reach)};
  if (above) return {std::min(-reach, limits.upper - 2 * reach), limits.upper};
  return {-reach, reach};
}

/// J, nv x nv, from a 6x6 [[A, 0], [B, A]], or its first 3x3 block.
struct BlockWriter {
  double* J;
  std::size_t nv;
  void put(int row, int column, double x) { J[std::size_t(row) * nv + column] = x; }
  void put(int row, int column, const Mat3<double>& m) {
    const double p[] = {m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz};
    for (int i = 0; i < 9; ++i) put(row + i / 3, column + i % 3, p[i]);
  }
  void put(int at, const std::array<double, 9>& m) {
    for (int i = 0; i < 9; ++i) put(at + i / 3, at + i % 3, m[i]);
  }
  void put(int at, const TwistMap& m) {
    put(at, at, m.A);
    put(at + 3, at, m.B);
    put(at + 3, at + 3, m.A);
  }
};

/// `of` gives the block of a twist: of a free joint (Spatial), a planar one (PlanarMotion), or a rotation
/// (the A of a Spatial without v).
template <class F>
void derivative_of_integrate(const char* function, const Model& model, std::span<const double> dv,
                             std::span<double> J, F&& of) {
  const std::size_t nv = model.nv();
  check(model, function, "dv", dv.size(), nv);
  check(model, function, "J", J.size(), nv * nv);
  std::fill(J.begin(), J.end(), 0.0);
  BlockWriter out{J.data(), nv};
  for_each_hinge(model, [&](auto hinge, int, int at, const Joint&) {
    constexpr Chart chart = decltype(hinge)::chart;
    const double* const x = dv.data() + at;
    if constexpr (chart == Chart::rotation)
      out.put(at, at, of(Spatial<double>{read_vector(x), {0, 0, 0}}).A);
    else if constexpr (chart == Chart::motion)
      out.put(at, of(Spatial<double>{read_vector(x), read_vector(x + 3)}));
    else if constexpr (chart == Chart::plane)
      out.put(at, of(read_planar(x)));
    else
      for (int i = 0; i < hinge.nv; ++i) out.put(at + i, at + i, 1);
  });
}

}  // namespace

void integrate(const Model& model, std::span<const double> q, std::span<const double> dv,
               std::span<double> out) {
  integrate_all(model, q, dv, out);
}
void integrate(const Model& model, std::span<const float> q, std::span<const float> dv,
               std::span<float> out) {
  integrate_all(model, q, dv, out);
}
void difference(const Model& model, std::span<const double> q0, std::span<const double> q1,
                std::span<double> out) {
  difference_all(model, q0, q1, out);
}
void difference(const Model& model, std::span<const float> q0, std::span<const float> q1,
                std::span<float> out) {
  difference_all(model, q0, q1, out);
}
void interpolate(const Model& model, std::span<const double> q0, std::span<const double> q1, double t,
                 std::span<double> out) {
  interpolate_all(model, q0, q1, t, out);
}
void interpolate(const Model& model, std::span<const float> q0, std::span<const float> q1, double t,
                 std::span<float> out) {
  interpolate_all(model, q0, q1, t, out);
}

void neutral(const Model& model, std::span<double> out) { neutral_all(model, out); }
void neutral(const Model& model, std::span<float> out) { neutral_all(model, out); }
std::vector<double> neutral(const Model& model) {
  std::vector<double> q(model.nq());
  neutral(model, q);
  return q;
}

std::vector<JointRange> narrowed_limits(const Model& model) {
  std::vector<JointRange> out;
  if (!model.has_mimics()) return out;
  for (const Joint& joint : model.joints()) out.push_back({joint.limits.lower[0], joint.limits.upper[0]});
  for (const Joint& joint : model.joints()) {
    if (joint.mimics < 0 || joint.multiplier == 0) continue;
    double lower = (joint.limits.lower[0] - joint.offset) / joint.multiplier;
    double upper = (joint.limits.upper[0] - joint.offset) / joint.multiplier;
    if (lower > upper) std::swap(lower, upper);
    Range& source = out[joint.mimics];
    const Range both{std::max(source.lower, lower), std::min(source.upper, upper)};
    if (both.lower <= both.upper) source = both;  // contradictory limits: the joint's own stand
  }
  return out;
}

void random(const Model& model, std::mt19937_64& engine, std::span<double> out) {
  check(model, "random", "out", out.size(), model.nq());
  const std::vector<Range> narrowed = narrowed_limits(model);
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    if (joint.mimics >= 0) continue;
    const auto limits_of = [&](int freedom) {
      return narrowed.empty() || freedom > 0 ? Range{joint.limits.lower[freedom], joint.limits.upper[freedom]}
                                             : narrowed[j];
    };
    int at = joint.q_index, freedom = 0;
    for (const HingeKind kind : hinges_of(joint.kind))
      visit(kind, [&](auto hinge) {
        const int first = hinge.quaternion ? 4 : 0;
        if (hinge.quaternion) write(random_quaternion(engine), out.data() + at);
        for (int i = first; i < hinge.nq; ++i) {
          const bool adds = hinge.chart == Chart::adds;
          const Range free{-infinity, infinity};
          const Range range = filled(adds ? limits_of(freedom + i) : free, i == hinge.angle ? pi : 1);
          out[at + i] = uniform(engine, range.lower, range.upper);
        }
        at += hinge.nq, freedom += hinge.nv;
      });
  }
}
std::vector<double> random(const Model& model, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> q(model.nq());
  random(model, engine, q);
  return q;
}

void normalise(const Model& model, std::span<double> q, double within) { normalise_all(model, q, within); }
void normalise(const Model& model, std::span<float> q, double within) { normalise_all(model, q, within); }

void integrate_dq(const Model& model, std::span<const double> dv, std::span<double> J) {
  derivative_of_integrate("integrate_dq", model, dv, J,
                          [](const auto& twist) { return adjoint_of_inverse_exp(twist); });
}
void integrate_dv(const Model& model, std::span<const double> dv, std::span<double> J) {
  derivative_of_integrate("integrate_dv", model, dv, J,
                          [](const auto& twist) { return right_jacobian(twist); });
}

void coordinate_rates(const Model& model, std::span<const double> q, std::span<const double> v,
                      std::span<double> q_dot) {
  coordinate_rates_all(model, q, v, q_dot);
}
void coordinate_rates(const Model& model, std::span<const float> q, std::span<const float> v,
                      std::span<float> q_dot) {
  coordinate_rates_all(model, q, v, q_dot);
}

}  // namespace articula
