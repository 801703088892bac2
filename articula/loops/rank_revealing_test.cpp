// Rows that depend on others, of any sizes.
#include "articula/loops/rank_revealing.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace articula {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(RankRevealing, SmallRowsBesideLargeOnesThatTheyFollowFrom) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  // A hinge's second rotation, just not parallel any more, is a billionth of the first one: so it was in the gripper
  // of a PR2, whose least-norm forces came out as the root of a negative number.
  for (const double small : {1e-3, 1e-6, 2e-9}) {
    const int size = 12, rank = 4;
    Matrix J(size, rank);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < rank; ++j) J(i, j) = normal(random);
    J.row(0) = small * J.row(5);
    J.row(1) = small * J.row(6);
    J.row(7) = J.row(5) + J.row(6);
    J.row(8) = J.row(5) - 2 * J.row(6);
    Matrix A = J * J.transpose();
    RankRevealing work(size);
    EXPECT_EQ(work.factor(A.data(), size, size, 1e-11), rank);
    // Consistent right sides: the solution of least norm is the pseudoinverse's.
    const Eigen::VectorXd x0 = Eigen::VectorXd::NullaryExpr(rank, [&] { return normal(random); });
    Eigen::VectorXd right = J * x0;
    const Eigen::VectorXd expected = J * (J.transpose() * J).ldlt().solve(x0);
    work.solve(right.data());
    EXPECT_LT((right - expected).norm(), 1e-9 * expected.norm()) << small;
  }
}

}  // namespace
}  // namespace articula
