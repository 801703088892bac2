#include "articula/spatial/dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace articula::dense {
namespace {

Matrix random_matrix(int rows, int columns, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Matrix out(rows, columns);
  for (double& x : out.numbers()) x = normal(engine);
  return out;
}
double off(const View& a, const View& b) { return largest(a - b); }

TEST(Dense, ProductsOfTransposesAndBlocks) {
  // Small ones and large ones take different ways.
  for (const int n : {1, 3, 6, 40}) {
    const Matrix a = random_matrix(n, n + 2), b = random_matrix(n, 2 * n, 2);
    Matrix expected(n + 2, 2 * n);
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < 2 * n; ++j)
        for (int k = 0; k < n; ++k) expected(i, j) += a(k, i) * b(k, j);
    EXPECT_LT(off(star(a) * b, expected), 1e-13 * n);
    EXPECT_LT(off(star(star(b) * a), expected), 1e-13 * n);
    EXPECT_LT(off(star(a.block(0, 1, n, 2)) * b, expected.block(1, 0, 2, 2 * n)), 1e-13 * n);
    Matrix sum = expected;
    Part(sum).block(1, 0, 2, 2 * n).subtract_product(star(a.block(0, 1, n, 2)), b);
    EXPECT_LT(largest(sum.block(1, 0, 2, 2 * n)), 1e-13 * n);
    EXPECT_EQ(off(sum.block(0, 0, 1, 2 * n), expected.block(0, 0, 1, 2 * n)), 0);
  }
  EXPECT_EQ(largest(Matrix(3, 0) * Matrix(0, 2)), 0);
}

TEST(Dense, Factorizations) {
  for (const int n : {0, 1, 5, 50}) {
    const Matrix a = random_matrix(n, n), b = random_matrix(n, 3, 2), one = Matrix::identity(n);
    const Matrix positive = a * star(a) + one;
    const Cholesky factor(positive);
    EXPECT_TRUE(factor.positive());
    EXPECT_LT(off(factor.L() * star(factor.L()), positive), 1e-11);
    EXPECT_LT(off(positive * factor.solve(b), b), 1e-11);
    EXPECT_LT(off(factor.L() * inverse_of_lower(factor.L()), one), 1e-11);
    const LU lu(a);
    EXPECT_LT(off(a * lu.solve(b), b), 1e-10);
    EXPECT_LT(off(lu.inverse() * a, one), 1e-10);
  }
  Matrix indefinite = Matrix::identity(2);
  indefinite(0, 1) = indefinite(1, 0) = 2;
  EXPECT_FALSE(Cholesky(indefinite).positive());
}

TEST(Dense, RankKernelAndLeastNorm) {
  const Matrix a = random_matrix(7, 3) * random_matrix(3, 5, 2), b = random_matrix(7, 1, 3);
  const PivotedQR qr(a);
  EXPECT_EQ(qr.rank(), 3);
  EXPECT_LT(off(star(qr.Q) * qr.Q, Matrix::identity(7)), 1e-14);
  EXPECT_LT(largest(star(qr.Q.block(0, 3, 7, 4)) * a), 1e-13);
  const Matrix N = kernel(a, 1e-10);
  ASSERT_EQ(N.columns(), 2);
  EXPECT_LT(largest(a * N), 1e-13);
  EXPECT_LT(off(star(N) * N, Matrix::identity(2)), 1e-14);
  EXPECT_EQ(kernel(Matrix(0, 4), 1e-10).columns(), 4);
  EXPECT_EQ(kernel(random_matrix(5, 2), 1e-10).columns(), 0);
  const Matrix x = least_norm_solution(a, b);
  EXPECT_LT(largest(star(a) * (a * x - b)), 1e-12);  // the least error
  EXPECT_LT(largest(star(N) * x), 1e-13);            // the least norm
}

TEST(Dense, Eigenvalues) {
  Matrix turn(2, 2);
  turn(0, 1) = -2, turn(1, 0) = 2;
  auto values = eigenvalues(turn);
  std::sort(values.begin(), values.end(), [](auto x, auto y) { return x.imag() < y.imag(); });
  EXPECT_NEAR(std::abs(values[0] - std::complex<double>(0, -2)), 0, 1e-14);
  EXPECT_NEAR(std::abs(values[1] - std::complex<double>(0, 2)), 0, 1e-14);

  const Matrix a = symmetric_part(random_matrix(8, 8));
  const SymmetricEigen eigen(a);
  EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end()));
  for (int i = 0; i < 8; ++i) {
    const View v = eigen.vectors.block(0, i, 8, 1);
    EXPECT_LT(off(a * v, eigen.values[i] * v), 1e-14 * 8);
  }
  EXPECT_LT(off(star(eigen.vectors) * eigen.vectors, Matrix::identity(8)), 1e-14);

  // A small eigenvalue beside a large one comes out to its last digits: 1e-20 - (0.5e-10)^2.
  Matrix graded(2, 2);
  graded(0, 0) = 1, graded(1, 1) = 1e-20, graded(0, 1) = graded(1, 0) = 0.5e-10;
  EXPECT_NEAR(SymmetricEigen(graded).values[0] / 0.75e-20, 1, 1e-14);

  const Sym3<double> J{3, 2, 1, 0.1, -0.2, 0.3};
  const PrincipalAxes principal(J);
  const Mat3<double> R = principal.rotation();
  EXPECT_GT(dot(cross(column_x(R), column_y(R)), column_z(R)), 1 - 1e-14);
  for (int i = 0; i < 3; ++i)
    EXPECT_LT(largest(column(J * principal.axes[i] - principal.axes[i] * principal.values[i])), 1e-14);
}

TEST(Dense, NotANumberIsLargest) {
  Matrix a(2, 2);
  a(0, 1) = std::nan("");
  a(1, 1) = 3;
  EXPECT_TRUE(std::isnan(largest(a)));
  EXPECT_FALSE(finite(a));
}

}  // namespace
}  // namespace articula::dense
