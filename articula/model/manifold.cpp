#include "articula/model/manifold.hpp"

#include <algorithm>
#include <cmath>

#include "articula/model/joint_kinds.hpp"
#include "articula/model/manifold_text.hpp"
#include "articula/model/model.hpp"
#include "articula/spatial/rigid_motion.hpp"
#include "articula/spatial/step_dual.hpp"

namespace articula {

using namespace manifold_text;

template void Manifold::integrate(const double*, const double*, double*) const;
template void Manifold::integrate(const StepDual*, const StepDual*, StepDual*) const;
template void Manifold::chart_rate_to_fourth_order(const double*, const double*, double*) const;
template void Manifold::chart_rate_to_fourth_order(const StepDual*, const StepDual*, StepDual*) const;
template void Manifold::cayley(const double*, const double*, double*, double*) const;
template void Manifold::cayley(const StepDual*, const StepDual*, StepDual*, StepDual*) const;

void Manifold::add(Kind kind, int count) {
  if (kind == Kind::flat && !pieces_.empty() && pieces_.back().kind == Kind::flat)
    pieces_.back().count += count;
  else if (count > 0)
    pieces_.push_back({kind, nq_, nv_, count});
  const int quaternion = kind == Kind::rotation || kind == Kind::motion;
  nq_ += count + quaternion, nv_ += count;
}

Manifold::Manifold(const Model& model) {
  for (const Joint& joint : model.joints()) {
    if (joint.mimics >= 0) continue;
    const Chart chart = chart_of(joint.kind);
    add(chart == Chart::rotation ? Kind::rotation
        : chart == Chart::motion ? Kind::motion
        : chart == Chart::plane  ? Kind::plane
                                 : Kind::flat,
        joint.nv);
  }
}

Manifold Manifold::flat(int n) {
  Manifold out;
  out.add(Kind::flat, n);
  return out;
}

Manifold& Manifold::append(const Manifold& other) {
  const std::vector<Piece> pieces = other.pieces_;  // it may be this one
  for (const Piece& p : pieces) add(p.kind, p.count);
  return *this;
}

void Manifold::chart_rate(const double* u, const double* w, double* out) const {
  for (const Piece& p : pieces_) {
    const double *up = u + p.v, *wp = w + p.v;
    double* const o = out + p.v;
    switch (p.kind) {
      case Kind::flat:
        std::copy_n(wp, p.count, o);
        break;
      case Kind::rotation:
        put(right_jacobian_inverse(vec(up)) * vec(wp), o);
        break;
      case Kind::motion: {
        // Jr = [[A, 0], [B, A]]
        const Mat3<double> A_inverse = right_jacobian_inverse(vec(up));
        const TwistMap J = right_jacobian(Spatial<double>{vec(up), vec(up + 3)});
        const Vec3<double> turn = A_inverse * vec(wp);
        put(A_inverse * (vec(wp + 3) - J.B * turn), o + 3);
        put(turn, o);
        break;
      }
      case Kind::plane: {
        const std::array<double, 9> J = right_jacobian(PlanarMotion{up[0], up[1], up[2]});
        const double a = wp[0], x = wp[1] - J[3] * a, y = wp[2] - J[6] * a, d = J[4] * J[8] - J[5] * J[7];
        o[0] = a, o[1] = (J[8] * x - J[5] * y) / d, o[2] = (J[4] * y - J[7] * x) / d;
      }
    }
  }
}

double Manifold::largest_turn(const double* u) const {
  double out = 0;
  for (const Piece& p : pieces_)
    if (p.kind == Kind::plane)
      out = std::max(out, std::abs(u[p.v]));
    else if (p.kind != Kind::flat)
      out = std::max(out, std::hypot(u[p.v], u[p.v + 1], u[p.v + 2]));
  return out;
}

void Manifold::coordinate_rates(const double* q, const double* w, double* q_dot) const {
  for (const Piece& p : pieces_) {
    const double *qp = q + p.q, *wp = w + p.v;
    double* const o = q_dot + p.q;
    if (p.kind == Kind::flat) {
      std::copy_n(wp, p.count, o);
    } else if (p.kind == Kind::plane) {
      const double s = std::sin(qp[0]), c = std::cos(qp[0]);
      o[0] = wp[0], o[1] = c * wp[1] - s * wp[2], o[2] = s * wp[1] + c * wp[2];
    } else {
      const Quaternion<double> r{qp[0], qp[1], qp[2], qp[3]};
      const Quaternion<double> d = r * Quaternion<double>{wp[0] / 2, wp[1] / 2, wp[2] / 2, 0};
      o[0] = d.x, o[1] = d.y, o[2] = d.z, o[3] = d.w;
      if (p.kind == Kind::motion) put(rotation(normalized(r)) * vec(wp + 3), o + 4);
    }
  }
}

void Manifold::velocities_of(const double* q, const double* q_dot, double* w) const {
  for (const Piece& p : pieces_) {
    const double *qp = q + p.q, *dp = q_dot + p.q;
    double* const o = w + p.v;
    if (p.kind == Kind::flat) {
      std::copy_n(dp, p.count, o);
    } else if (p.kind == Kind::plane) {
      const double s = std::sin(qp[0]), c = std::cos(qp[0]);
      o[0] = dp[0], o[1] = c * dp[1] + s * dp[2], o[2] = c * dp[2] - s * dp[1];
    } else {
      const Quaternion<double> r{qp[0], qp[1], qp[2], qp[3]};
      const Quaternion<double> turn = conjugate(r) * Quaternion<double>{dp[0], dp[1], dp[2], dp[3]};
      o[0] = 2 * turn.x, o[1] = 2 * turn.y, o[2] = 2 * turn.z;
      if (p.kind == Kind::motion) put(star_times(rotation(r), vec(dp + 4)), o + 3);
    }
  }
}

void Manifold::normalise(double* q) const {
  for (const Piece& p : pieces_)
    if (p.kind == Kind::rotation || p.kind == Kind::motion) {
      double* const r = q + p.q;
      const Quaternion<double> n = normalized(Quaternion<double>{r[0], r[1], r[2], r[3]});
      r[0] = n.x, r[1] = n.y, r[2] = n.z, r[3] = n.w;
    }
}

void Manifold::scales(const double* q, double* scale) const {
  for (const Piece& p : pieces_)
    if (p.kind == Kind::flat) {
      for (int i = 0; i < p.count; ++i) scale[p.v + i] = std::abs(q[p.q + i]);
    } else {
      const int shift = p.kind == Kind::motion ? 4 : p.kind == Kind::plane ? 1 : 0;
      const int turns = p.kind == Kind::plane ? 1 : 3;
      double size = 1;
      for (int i = shift; shift && i < p.count + (p.kind == Kind::motion); ++i)
        size = std::max(size, std::abs(q[p.q + i]));
      for (int i = 0; i < p.count; ++i) scale[p.v + i] = i < turns ? 1 : size;
    }
}

}  // namespace articula
