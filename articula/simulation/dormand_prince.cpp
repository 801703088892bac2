#include "articula/simulation/dormand_prince.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/simulation/check_state.hpp"

namespace articula {

namespace {

constexpr int stages = 7;
constexpr double c[stages] = {0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1};
constexpr double A[stages][6] = {
    {},
    {1 / 5.},
    {3 / 40., 9 / 40.},
    {44 / 45., -56 / 15., 32 / 9.},
    {19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729.},
    {9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656.},
    {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84.},
};
/// Difference of the two formulas' weights.
constexpr double E[stages] = {71 / 57600.,      0,         -71 / 16695., 71 / 1920.,
                              -17253 / 339200., 22 / 525., -1 / 40.};
/// Weights of the continuous extension.
constexpr double interpolation[stages] = {-12715105075 / 11282082432.,  0,
                                          87487479700 / 32700410799.,   -10690763975 / 1880347072.,
                                          701980252875 / 199316789632., -1453857185 / 822651844.,
                                          69997945 / 29380423.};
/// A chart must not be left: the exponential is one-to-one below pi.
constexpr double largest_turn = 3;

}  // namespace

DormandPrince::DormandPrince(const Manifold& manifold, const Tolerances& tolerances)
    : tolerances_(tolerances), nv_(manifold.nv()), nq_(manifold.nq()), memory_(stages * 2 * nv_) {
  if (!(tolerances.relative > 0) || !(tolerances.absolute > 0) || !std::isfinite(tolerances.relative) ||
      !std::isfinite(tolerances.absolute))
    throw ArgumentError(
        fmt::format("DormandPrince: tolerances {} (relative) and {} (absolute); expected "
                    "positive numbers",
                    tolerances.relative, tolerances.absolute));
  for (auto* x : {&q0_, &q1_, &q_}) x->resize(nq_);
  for (auto* x : {&x1_, &v1_, &x_, &u_}) x->resize(nv_);
  for (auto* x : {&error_, &scale_}) x->resize(2 * nv_);
  for (auto& x : dense_) x.resize(2 * nv_);
}

/// At q0 (+) u; u = null: at q0 itself, the chart's centre.
void DormandPrince::slope(const System<double>& system, double t, int stage, const double* u,
                          const double* x) {
  double* const rate = k(stage);
  const Manifold& space = system.manifold;
  if (u)
    space.integrate(q0_.data(), u, q_.data());
  else
    std::copy(q0_.begin(), q0_.end(), q_.begin());
  system.acceleration(t, q_, {x, nv_}, {rate + nv_, nv_});
  system.velocities(t, q_, {x, nv_}, {rate, nv_});
  ++evaluations_;
  if (stage == stages - 1) std::copy_n(rate, nv_, v1_.begin());
  if (u) space.chart_rate(u, rate, rate);
}

double DormandPrince::error_of(const double* x0, const double* x1) const {
  double sum = 0;
  for (std::size_t i = 0; i < 2 * nv_; ++i) {
    const double size = i < nv_ ? scale_[i] : std::max(std::abs(x0[i - nv_]), std::abs(x1[i - nv_]));
    const double e = error_[i] / (tolerances_.absolute + tolerances_.relative * size);
    sum += e * e;
  }
  return nv_ ? std::sqrt(sum / double(2 * nv_)) : 0;
}

/// Hairer, Norsett, Wanner I, II.4: a step of Euler's tells how fast the slope changes.
double DormandPrince::first_step(const System<double>& system, double t, double end, In<double> v) {
  double d0 = 0, d1 = 0, d2 = 0;
  const double* const k0 = k(0);
  const auto size_of = [&](std::size_t i) {
    return tolerances_.absolute + tolerances_.relative * (i < nv_ ? scale_[i] : std::abs(v[i - nv_]));
  };
  for (std::size_t i = 0; i < 2 * nv_; ++i) {
    const double s = size_of(i), y = i < nv_ ? scale_[i] : v[i - nv_];
    d0 += y * y / (s * s), d1 += k0[i] * k0[i] / (s * s);
  }
  double h = d0 < 1e-10 || d1 < 1e-10 ? 1e-6 : 0.01 * std::sqrt(d0 / d1);
  h = std::min({h, end - t, largest_step});
  for (std::size_t i = 0; i < nv_; ++i) u_[i] = h * k0[i], x_[i] = v[i] + h * k0[nv_ + i];
  const double turn = system.manifold.largest_turn(u_.data());
  if (turn > 1) return h / turn;
  slope(system, t + h, 1, u_.data(), x_.data());
  for (std::size_t i = 0; i < 2 * nv_; ++i) {
    const double s = size_of(i), change = (k(1)[i] - k0[i]) / h;
    d2 += change * change / (s * s);
  }
  const double n = 2 * double(nv_), most = std::max(std::sqrt(d1 / n), std::sqrt(d2 / n));
  const double by_slope = most <= 1e-15 ? std::max(1e-6, h * 1e-3) : std::pow(0.01 / most, 0.2);
  return std::min({100 * h, by_slope, largest_step});
}

/// The stages of a step of h from v. Its error in units of the tolerance; infinite where it cannot be used.
double DormandPrince::attempt(const System<double>& system, double t, double h, In<double> v) {
  for (int stage = 1; stage < stages; ++stage) {
    for (std::size_t i = 0; i < nv_; ++i) {
      double du = 0, dx = 0;
      for (int j = 0; j < stage; ++j) du += A[stage][j] * k(j)[i], dx += A[stage][j] * k(j)[nv_ + i];
      u_[i] = h * du, x_[i] = v[i] + h * dx;
    }
    if (!(system.manifold.largest_turn(u_.data()) < largest_turn))
      return std::numeric_limits<double>::infinity();
    slope(system, t + c[stage] * h, stage, u_.data(), x_.data());
  }
  for (std::size_t i = 0; i < 2 * nv_; ++i) {
    double sum = 0;
    for (int j = 0; j < stages; ++j) sum += E[j] * k(j)[i];
    error_[i] = h * sum;
  }
  const double e = error_of(v.data(), x_.data());
  return std::isfinite(e) ? e : std::numeric_limits<double>::infinity();
}

/// The attempted step's continuous extension, and its end as the new state.
void DormandPrince::accept(const System<double>& system, double h, Out<double> q, Out<double> v) {
  for (std::size_t i = 0; i < 2 * nv_; ++i) {
    const double change = i < nv_ ? u_[i] : x_[i - nv_] - v[i - nv_];
    const double bend = h * k(0)[i] - change;
    dense_[0][i] = i < nv_ ? 0 : v[i - nv_];
    dense_[1][i] = change;
    dense_[2][i] = bend;
    dense_[3][i] = change - h * k(6)[i] - bend;
    double sum = 0;
    for (int j = 0; j < stages; ++j) sum += interpolation[j] * k(j)[i];
    dense_[4][i] = h * sum;
  }
  ++steps_;
  std::copy(q_.begin(), q_.end(), q.begin());  // where the last slope was taken
  std::copy(x_.begin(), x_.end(), v.begin());
  fresh_ = true;
  if (system.project) {
    system.project(t1_, q, v);
    fresh_ = std::equal(q.begin(), q.end(), q_.begin()) && std::equal(v.begin(), v.end(), x_.begin());
  }
  std::copy(q.begin(), q.end(), q1_.begin());
  std::copy(v.begin(), v.end(), x1_.begin());
}

double DormandPrince::step(const System<double>& system, double t, double end, Out<double> q, Out<double> v) {
  const Manifold& space = system.manifold;
  check_state("DormandPrince::step", space, nv_, q.size(), v.size());
  if (!(end > t)) return t;
  fresh_ = fresh_ && t == t1_ && manifold_ == &space && std::equal(q.begin(), q.end(), q1_.begin()) &&
           std::equal(v.begin(), v.end(), x1_.begin());
  std::copy(q.begin(), q.end(), q0_.begin());
  if (fresh_) {  // the last slope is the next one's first, in the new chart
    std::copy_n(k(6) + nv_, nv_, k(0) + nv_);
    std::copy(v1_.begin(), v1_.end(), k(0));
  } else {
    slope(system, t, 0, nullptr, v.data());
    last_error_ = 1e-4;
  }
  fresh_ = false;
  manifold_ = &space;
  space.scales(q.data(), scale_.data());
  double wanted = h_ > 0 ? h_ : first_step(system, t, end, v);
  bool was_rejected = false;
  for (;;) {
    const double left = end - t;
    double h = std::min(wanted, largest_step);
    const bool last = h >= left * (1 - 1e-10);
    if (last)
      h = left;
    else if (h > left / 2)
      h = left / 2;  // two equal steps rather than a tiny last one
    if (!(h > 0) || t + h == t)
      throw IntegrationError(fmt::format(
          "DormandPrince::step: the step at t = {} would be {} s; the system is stiff there or has no "
          "solution beyond (cvode is for stiff systems)",
          t, h));
    const double e = attempt(system, t, h, v);
    if (e <= 1) {
      const double factor =
          std::clamp(0.9 * std::pow(std::max(e, 1e-10), -0.17) * std::pow(last_error_, 0.04), 0.2,
                     was_rejected ? 1.0 : 10.0);
      // A step cut short by `end` says nothing against the length that was wanted.
      h_ = h < wanted && factor >= 1 ? std::max(wanted, h * factor) : h * factor;
      last_error_ = std::max(e, 1e-4);
      t0_ = t, t1_ = last ? end : t + h;
      accept(system, h, q, v);
      return t1_;
    }
    ++rejected_;
    was_rejected = true;
    wanted = std::isfinite(e) ? h * std::max(0.2, 0.9 * std::pow(e, -0.2)) : h / 4;
  }
}

void DormandPrince::advance(const System<double>& system, double t, double end, Out<double> q,
                            Out<double> v) {
  restart();
  while (t < end) t = step(system, t, end, q, v);
}

void DormandPrince::at(double t, Out<double> q, Out<double> v) const {
  if (!manifold_) throw ArgumentError("DormandPrince::at: no step has been made");
  check_state("DormandPrince::at", *manifold_, nv_, q.size(), v.size());
  if (!(t >= t0_ && t <= t1_))
    throw ArgumentError(
        fmt::format("DormandPrince::at: t = {} is outside the last step, {} to {}", t, t0_, t1_));
  const double s = (t - t0_) / (t1_ - t0_), r = 1 - s;
  // v holds u for a moment: both have nv numbers.
  const auto value = [&](std::size_t i) {
    return dense_[0][i] + s * (dense_[1][i] + r * (dense_[2][i] + s * (dense_[3][i] + r * dense_[4][i])));
  };
  for (std::size_t i = 0; i < nv_; ++i) v[i] = value(i);
  manifold_->integrate(q0_.data(), v.data(), q.data());
  for (std::size_t i = 0; i < nv_; ++i) v[i] = value(nv_ + i);
}

std::optional<FoundEvent> find_event(const DormandPrince& integrator, std::span<const Event> events,
                                     Out<double> q, Out<double> v, double precision, int samples) {
  const double begin = integrator.step_begin(), end = integrator.step_end();
  const auto time = [&](int i) { return i == samples ? end : begin + (end - begin) * i / samples; };
  std::optional<FoundEvent> first;
  for (int e = 0; e < static_cast<int>(events.size()); ++e) {
    const auto value = [&](double t) {
      integrator.at(t, q, v);
      return events[e].function(t, q, v);
    };
    double a = begin, fa = value(a);
    for (int i = 1; i <= samples && (!first || a < first->time); ++i) {
      double b = time(i), fb = value(b);
      // A step that begins on the zero has been here before: the passage is from a side, not from zero.
      const bool rises = fa < 0 && fb >= 0, falls = fa > 0 && fb <= 0;
      if ((rises && events[e].direction >= 0) || (falls && events[e].direction <= 0)) {
        // Regula falsi (Illinois), kept from crawling by bisection: b stays behind the zero.
        double lo = a, hi = b, flo = fa, fhi = fb;
        for (int side = 0, n = 0; hi - lo > precision && n < 200; ++n) {
          double m = n % 4 == 3 ? (lo + hi) / 2 : lo + (hi - lo) * (flo / (flo - fhi));
          m = std::clamp(m, lo + precision / 4, hi - precision / 4);
          const double fm = value(m);
          if ((fm < 0) == (fa < 0) && fm != 0) {
            lo = m, flo = fm;
            if (side == -1) fhi /= 2;
            side = -1;
          } else {
            hi = m, fhi = fm;
            if (side == 1) flo /= 2;
            side = 1;
          }
          if (m == lo && m == hi) break;
        }
        if (!first || hi < first->time) first = FoundEvent{e, hi};
        break;
      }
      a = b, fa = fb;
    }
  }
  if (first) integrator.at(first->time, q, v);
  return first;
}

}  // namespace articula
