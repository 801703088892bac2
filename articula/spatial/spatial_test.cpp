// The small types against the dense 6x6 matrices that they stand for.
#include "articula/spatial/spatial.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "articula/spatial/inertia.hpp"
#include "articula/spatial/pack.hpp"
#include "articula/spatial/small_factor.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

Vector3 dense(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
Vector6 dense(const Spatial<double>& a) {
  Vector6 x;
  x << dense(a.w), dense(a.v);
  return x;
}
Matrix3 dense(const Mat3<double>& m) {
  Matrix3 x;
  x << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return x;
}
Matrix3 dense(const Sym3<double>& m) { return dense(full(m)); }
Matrix3 dense_tilde(const Vec3<double>& a) {
  Matrix3 m;
  m << 0, -a.z, a.y, a.z, 0, -a.x, -a.y, a.x, 0;
  return m;
}
Matrix6 blocks(const Matrix3& a, const Matrix3& b, const Matrix3& c, const Matrix3& d) {
  Matrix6 m;
  m << a, b, c, d;
  return m;
}
Matrix6 dense(const Phi<double>& phi) {
  return blocks(Matrix3::Identity(), dense_tilde(phi.l), Matrix3::Zero(), Matrix3::Identity());
}
Matrix6 dense(const Inertia<double>& M) {
  return blocks(dense(M.J), dense_tilde(M.mp), -dense_tilde(M.mp), M.m * Matrix3::Identity());
}
Matrix6 dense(const ArticulatedInertia<double>& P) {
  return blocks(dense(P.J), dense(P.B), dense(P.B).transpose(), dense(P.C));
}

Spatial<double> random_spatial(Rng& rng) {
  const Vec3<double> w = rng.vector(), v = rng.vector();
  return {w, v};
}
Mat3<double> random_matrix(Rng& rng) {
  Mat3<double> m;
  for (double* x = &m.xx; x <= &m.zz; ++x) *x = rng.uniform();
  return m;
}
Sym3<double> random_symmetric(Rng& rng) { return symmetric(random_matrix(rng)); }
Inertia<double> random_inertia(Rng& rng) { return {rng.uniform(0, 2), rng.vector(), random_symmetric(rng)}; }
ArticulatedInertia<double> random_articulated(Rng& rng) {
  return {random_symmetric(rng), random_matrix(rng), random_symmetric(rng)};
}

template <class A, class B>
void expect_near(const A& a, const B& b) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-14);
}

template <class F>
void repeat(F&& f) {
  Rng rng(11);
  for (int i = 0; i < 200; ++i) f(rng);
}

TEST(Spatial, VectorsAndMatrices) {
  repeat([](Rng& rng) {
    const Vec3<double> a = rng.vector(), b = rng.vector();
    const Mat3<double> A = random_matrix(rng), B = random_matrix(rng);
    const Sym3<double> C = random_symmetric(rng);
    const double angle = rng.uniform(-3, 3);
    expect_near(dense(cross(a, b)), dense(a).cross(dense(b)));
    EXPECT_NEAR(dot(a, b), dense(a).dot(dense(b)), 1e-15);
    expect_near(dense(A * b), dense(A) * dense(b));
    expect_near(dense(star_times(A, b)), dense(A).transpose() * dense(b));
    expect_near(dense(A * B), dense(A) * dense(B));
    expect_near(dense(star(A)), dense(A).transpose());
    expect_near(dense(A + B - B), dense(A));
    expect_near(dense(tilde(a)), dense_tilde(a));
    expect_near(dense(cross(a, A)), dense_tilde(a) * dense(A));
    expect_near(dense(C * b), dense(C) * dense(b));
    expect_near(dense(C * A), dense(C) * dense(A));
    expect_near(dense(plus_diagonal(C, 2.0)), dense(C) + 2 * Matrix3::Identity());
    expect_near(dense(symmetric_product(a, b)),
                dense(a) * dense(b).transpose() + dense(b) * dense(a).transpose());
    expect_near(dense(minus_tilde_tilde(a, b)),
                -(dense_tilde(a) * dense_tilde(b) + dense_tilde(b) * dense_tilde(a)));
    expect_near(dense(turned_about_z(A, SinCos<double>{std::sin(angle), std::cos(angle)})),
                dense(A) * Eigen::AngleAxisd(angle, Vector3::UnitZ()).matrix());
  });
}

TEST(Spatial, Phi) {
  repeat([](Rng& rng) {
    const Phi<double> phi{rng.vector()}, psi{rng.vector()};
    const Spatial<double> x = random_spatial(rng), y = random_spatial(rng);
    expect_near(dense(phi * x), dense(phi) * dense(x));
    expect_near(dense(star(phi) * x), dense(phi).transpose() * dense(x));
    EXPECT_NEAR(dot(phi * x, y), dot(x, star(phi) * y), 1e-14);
    // phi(a, c) = phi(a, b) phi(b, c)
    expect_near(dense(Phi<double>{phi.l + psi.l}), dense(phi) * dense(psi));
    expect_near(dense(Phi<double>{phi.l + psi.l} * x), dense(phi * (psi * x)));
    // crossing motions and forces are dual
    EXPECT_NEAR(dot(cross_motion(x, y), phi * x), -dot(y, cross_force(x, phi * x)), 1e-13);
    Matrix6 S = blocks(dense_tilde(x.w), Matrix3::Zero(), dense_tilde(x.v), dense_tilde(x.w));
    expect_near(dense(cross_motion(x, y)), S * dense(y));
    expect_near(dense(cross_force(x, y)), -S.transpose() * dense(y));
    // LIN (1.6): S*[X] X = 0, S*[X] Y = -S*[Y] X, and Q[X] Y = -S[Y] X
    expect_near(dense(cross_motion(x, y)), -dense(cross_motion(y, x)));
    const Matrix6 Q = blocks(dense_tilde(x.w), dense_tilde(x.v), dense_tilde(x.v), Matrix3::Zero());
    expect_near(Q * dense(y), -dense(cross_force(y, x)));
  });
}

TEST(Spatial, Inertia) {
  repeat([](Rng& rng) {
    const Inertia<double> M = random_inertia(rng), N = random_inertia(rng);
    const Phi<double> phi{rng.vector()};
    const Spatial<double> x = random_spatial(rng);
    expect_near(dense(M * x), dense(M) * dense(x));
    expect_near(dense(M + N), dense(M) + dense(N));
    expect_near(dense(shifted(phi, M)), dense(phi) * dense(M) * dense(phi).transpose());
  });
}

TEST(Spatial, ArticulatedInertia) {
  repeat([](Rng& rng) {
    const ArticulatedInertia<double> P = random_articulated(rng), Q = random_articulated(rng);
    const Inertia<double> M = random_inertia(rng);
    const Phi<double> phi{rng.vector()};
    const Spatial<double> x = random_spatial(rng);
    expect_near(dense(P * x), dense(P) * dense(x));
    expect_near(dense(articulated(M)), dense(M));
    ArticulatedInertia<double> sum = P;
    sum += Q;
    sum += M;
    expect_near(dense(sum), dense(P) + dense(Q) + dense(M));
    expect_near(dense(shifted(phi, P)), dense(phi) * dense(P) * dense(phi).transpose());
    ArticulatedInertia<double> less = P;
    subtract_rank_one(less, x * 0.7, x);
    expect_near(dense(less), dense(P) - 0.7 * dense(x) * dense(x).transpose());
  });
}

/// The same text on packs: each lane as if alone.
TEST(Spatial, PacksAreLanes) {
  using P4 = Pack<double, 4>;
  Rng rng(4);
  double a[3][4], b[3][4];
  for (auto* m : {&a, &b})
    for (auto& row : *m)
      for (double& x : row) x = rng.uniform();
  const Vec3<P4> A{P4::load(a[0]), P4::load(a[1]), P4::load(a[2])},
      B{P4::load(b[0]), P4::load(b[1]), P4::load(b[2])};
  const auto C = cross(A, B) * 2.0 + -A;
  const auto D = dot(A, B) / (dot(A, A) + 1.0);
  const auto root = square_root(dot(A, A)), inverse = reciprocal(dot(A, A)), least = smaller(A.x, B.x);
  for (int i = 0; i < 4; ++i) {
    const Vec3<double> u{a[0][i], a[1][i], a[2][i]}, v{b[0][i], b[1][i], b[2][i]};
    const Vec3<double> w = cross(u, v) * 2.0 + -u;
    EXPECT_NEAR(C.x[i], w.x, 1e-15);
    EXPECT_NEAR(C.y[i], w.y, 1e-15);
    EXPECT_NEAR(C.z[i], w.z, 1e-15);
    EXPECT_NEAR(D[i], dot(u, v) / (dot(u, u) + 1), 1e-15);
    EXPECT_NEAR(root[i], std::sqrt(dot(u, u)), 1e-15);
    EXPECT_NEAR(inverse[i] * dot(u, u), 1, 1e-15);
    EXPECT_EQ(least[i], std::min(u.x, v.x));
  }
  EXPECT_EQ(P4(3.0)[2], 3);
}

template <int N>
void check_factor() {
  using Matrix = Eigen::Matrix<double, N, N>;
  Rng rng(20 + N);
  for (int n = 0; n < 100; ++n) {
    Matrix A;
    for (int i = 0; i < N * N; ++i) A(i) = rng.uniform();
    const Matrix D = A * A.transpose() + 0.1 * Matrix::Identity();
    double lower[N][N] = {};
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) lower[i][j] = D(i, j);
    SmallFactor<double, N> factor;
    const double smallest = factor.factor(lower);
    EXPECT_GT(smallest, 0);
    double x[N];
    Eigen::Matrix<double, N, 1> b;
    for (int i = 0; i < N; ++i) b[i] = x[i] = rng.uniform();
    factor.solve(x);
    const Eigen::Matrix<double, N, 1> solution = D.llt().solve(b);
    expect_near(Eigen::Map<Eigen::Matrix<double, N, 1>>(x) * 1e-2, solution * 1e-2);
    EXPECT_NEAR(smallest, D.ldlt().vectorD().minCoeff(), D.maxCoeff());

    Spatial<double> U[N], out[N];
    Eigen::Matrix<double, 6, N> Ud, got;
    for (int i = 0; i < N; ++i) Ud.col(i) = dense(U[i] = random_spatial(rng));
    solve_columns(factor, U, out);
    for (int i = 0; i < N; ++i) got.col(i) = dense(out[i]);
    expect_near(got * 1e-2, (Ud * D.inverse() * 1e-2).eval());
  }
  // singular and indefinite: not positive
  double zero[N][N] = {}, indefinite[N][N] = {};
  SmallFactor<double, N> factor;
  EXPECT_FALSE(factor.factor(zero) > 0);
  for (int i = 0; i < N; ++i) indefinite[i][i] = i == N - 1 ? -1 : 1;
  EXPECT_LT(factor.factor(indefinite), 0);
}
TEST(Spatial, SmallFactor) {
  check_factor<2>();
  check_factor<3>();
  check_factor<6>();
}

}  // namespace
}  // namespace articula::testing
