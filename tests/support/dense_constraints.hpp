// Constraints the obvious way, in long double: rows of J and d/dt(J) v from the frames of DenseDynamics, and
// the full KKT system.
#pragma once

#include <Eigen/Dense>

#include "articula/loops/constraint.hpp"
#include "tests/support/dense_dynamics.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

struct DenseRows {
  LongMatrix J;
  LongVector bias;
};
inline Long3 to_long(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
inline Long33 to_long(const Mat3<double>& m) {
  Long33 R;
  R << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return R;
}

struct DenseEnd {
  Long33 R;
  Long3 p, w, v, alpha, A;
  LongMatrix Jw, Jv;
};
inline DenseEnd dense_end(const DenseDynamics& dense, const Model& model, const Attachment& at) {
  DenseEnd e;
  if (at.frame < 0) {
    e.R.setIdentity();
    e.p = e.w = e.v = e.alpha = e.A = Long3::Zero();
    e.Jw = e.Jv = LongMatrix::Zero(3, dense.nv);
  } else {
    const DenseFrame f = dense.frame(model.frames()[at.frame].name);
    e.R = f.R;
    e.p = f.p;
    e.w = f.velocity.head<3>();
    e.v = f.velocity.tail<3>();
    e.alpha = f.acceleration.head<3>();
    e.A = f.acceleration.tail<3>();
    e.Jw = f.jacobian.topRows(3);
    e.Jv = f.jacobian.bottomRows(3);
  }
  const Long3 r = e.R * to_long(at.placement.p);
  e.p += r;
  e.v += e.w.cross(r);
  e.A += e.alpha.cross(r) + e.w.cross(e.w.cross(r));
  for (Eigen::Index c = 0; c < e.Jw.cols(); ++c) e.Jv.col(c) += Long3(e.Jw.col(c)).cross(r);
  e.R = (e.R * to_long(at.placement.R)).eval();
  return e;
}

/// dense.update(q, v) must have been called with joint accelerations zero.
inline DenseRows dense_rows(const DenseDynamics& dense, const Model& model,
                            std::span<const Constraint> constraints) {
  int rows = 0;
  for (const Constraint& c : constraints) rows += c.rows();
  DenseRows out{LongMatrix::Zero(rows, dense.nv), LongVector::Zero(rows)};
  int row = 0;
  for (const Constraint& c : constraints) {
    if (c.kind == Constraint::Kind::coupler) {
      for (const auto& term : c.terms) {
        const Joint& joint = model.joints()[term.joint];
        out.J(row, joint.v_index) += term.coefficient * joint.multiplier;
      }
      ++row;
      continue;
    }
    const DenseEnd a = dense_end(dense, model, c.a), b = dense_end(dense, model, c.b);
    const Long3 r = b.p - a.p;
    if (c.kind == Constraint::Kind::distance) {
      const Long3 n = r / r.norm(), u = b.v - a.v, n_dot = (u - n * n.dot(u)) / r.norm();
      out.J.row(row) = n.transpose() * (b.Jv - a.Jv);
      out.bias[row++] = n.dot(b.A - a.A) + n_dot.dot(u);
      continue;
    }
    for (int i = 0; i < 6; ++i) {
      if (!c.fixed[i]) continue;
      const Long3 n = a.R.col(i % 3), n_dot = a.w.cross(n);
      if (i < 3) {
        out.J.row(row) = n.transpose() * (b.Jw - a.Jw);
        out.bias[row] = n.dot(b.alpha - a.alpha) + n_dot.dot(b.w - a.w);
      } else {  // d/dt of n.r is n.(v_b - v_a) + n_dot.r, and once more
        const Long3 u = b.v - a.v, n_ddot = a.alpha.cross(n) + a.w.cross(n_dot);
        out.J.row(row) = n.transpose() * (b.Jv - a.Jv);
        for (Eigen::Index col = 0; col < a.Jw.cols(); ++col)
          out.J(row, col) += Long3(a.Jw.col(col)).cross(n).dot(r);
        out.bias[row] = n.dot(b.A - a.A) + 2 * n_dot.dot(u) + n_ddot.dot(r);
      }
      ++row;
    }
  }
  return out;
}

struct DenseSolution {
  LongVector a, lambda;
};
/// [M, -J*; J, 0] (a, lambda) = (force, -bias), by complete pivoting.
inline DenseSolution dense_kkt(const DenseDynamics& dense, const DenseRows& rows, const LongVector& force) {
  const Eigen::Index n = dense.nv, m = rows.J.rows();
  LongMatrix K = LongMatrix::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = dense.mass_matrix;
  K.topRightCorner(n, m) = -rows.J.transpose();
  K.bottomLeftCorner(m, n) = rows.J;
  LongVector right(n + m);
  right << force, -rows.bias;
  const LongVector x = K.fullPivLu().solve(right);
  return {x.head(n), x.tail(m)};
}

}  // namespace articula::testing
