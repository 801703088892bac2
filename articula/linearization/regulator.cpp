#include "articula/linearization/regulator.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>

#include "articula/error.hpp"

namespace articula {

namespace {
using Matrix = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix read(const char* function, const char* name, std::span<const double> x, int rows, int columns) {
  if (x.size() != static_cast<std::size_t>(rows) * columns)
    throw ArgumentError(
        fmt::format("{}: {} has {} numbers, expected {} x {}", function, name, x.size(), rows, columns));
  const Matrix m = Eigen::Map<const Rows>(x.data(), rows, columns);
  if (!m.allFinite())
    throw ArgumentError(fmt::format("{}: {} has numbers that are not finite", function, name));
  return m;
}
std::vector<double> write(const Matrix& m) {
  std::vector<double> out(m.size());
  Eigen::Map<Rows>(out.data(), m.rows(), m.cols()) = m;
  return out;
}
std::vector<std::complex<double>> eigenvalues_of(const Matrix& A) {
  const Eigen::VectorXcd e = Eigen::EigenSolver<Matrix>(A, false).eigenvalues();
  return {e.begin(), e.end()};
}
Matrix symmetric_part(const Matrix& m) { return (m + m.transpose()) / 2; }

/// The Cholesky factor of R, which must be positive definite.
Eigen::LLT<Matrix> factor_of(const char* function, const Matrix& R) {
  Eigen::LLT<Matrix> factor(symmetric_part(R));
  if (factor.info() != Eigen::Success)
    throw ArgumentError(fmt::format("{}: R is not positive definite", function));
  return factor;
}

/// A basis of the invariant subspace of H's eigenvalues with negative real part: a complex Schur form,
/// reordered by Givens rotations of neighbours.
Eigen::MatrixXcd stable_subspace(const Matrix& H, int& count) {
  Eigen::ComplexSchur<Eigen::MatrixXcd> schur(H.cast<std::complex<double>>());
  Eigen::MatrixXcd T = schur.matrixT(), U = schur.matrixU();
  const Eigen::Index n = H.rows();
  count = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (T(i, i).real() >= 0) continue;
    for (Eigen::Index k = i; k > count; --k) {
      Eigen::JacobiRotation<std::complex<double>> G;
      G.makeGivens(T(k - 1, k), T(k, k) - T(k - 1, k - 1));
      T.applyOnTheLeft(k - 1, k, G.adjoint());
      T.applyOnTheRight(k - 1, k, G);
      U.applyOnTheRight(k - 1, k, G);
      T(k, k - 1) = 0;
    }
    ++count;
  }
  return U.leftCols(count);
}

/// X with F* X + X F = -C, by the Schur form of F (Bartels and Stewart), all complex.
Matrix lyapunov(const Matrix& F, const Matrix& C) {
  Eigen::ComplexSchur<Eigen::MatrixXcd> schur(F.cast<std::complex<double>>());
  const Eigen::MatrixXcd &T = schur.matrixT(), &U = schur.matrixU();
  Eigen::MatrixXcd X = -(U.adjoint() * C.cast<std::complex<double>>() * U);
  const Eigen::Index n = F.rows();
  for (Eigen::Index j = 0; j < n; ++j) {  // T* X + X T = right-hand side, column by column
    for (Eigen::Index k = 0; k < j; ++k) X.col(j) -= X.col(k) * T(k, j);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index k = 0; k < i; ++k) X(i, j) -= std::conj(T(k, i)) * X(k, j);
      X(i, j) /= std::conj(T(i, i)) + T(j, j);
    }
  }
  return symmetric_part((U * X * U.adjoint()).real());
}
}  // namespace

std::vector<std::complex<double>> eigenvalues(std::span<const double> A, int n) {
  return eigenvalues_of(read("eigenvalues", "A", A, n, n));
}

int controllability_rank(std::span<const double> A, std::span<const double> B, int n, int m,
                         double tolerance) {
  constexpr const char* name = "controllability_rank";
  Matrix a = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const double a_size = a.norm();
  double small = tolerance * b.norm();
  int rank = 0;
  while (a.rows() > 0) {
    const Eigen::JacobiSVD<Matrix> svd(b, Eigen::ComputeFullU);
    const Eigen::Index r = (svd.singularValues().array() > small).count();
    rank += static_cast<int>(r);
    if (r == 0) break;
    // What b reaches goes first; the rest is driven through it.
    const Matrix turned = svd.matrixU().transpose() * a * svd.matrixU();
    const Eigen::Index rest = a.rows() - r;
    b = turned.bottomLeftCorner(rest, r);
    a = turned.bottomRightCorner(rest, rest);
    small = tolerance * a_size;
  }
  return rank;
}

Regulator regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                    std::span<const double> R, int n, int m) {
  constexpr const char* name = "regulator";
  const Matrix a = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const Matrix q = symmetric_part(read(name, "Q", Q, n, n));
  const auto r = factor_of(name, read(name, "R", R, m, m));
  const Matrix G = b * r.solve(b.transpose());
  Matrix H(2 * n, 2 * n);
  H << a, -G, -q, -a.transpose();
  int stable = 0;
  const Eigen::MatrixXcd U = stable_subspace(H, stable);
  const auto fail = [&](const char* why) {
    throw SingularError(
        fmt::format("{}: the Riccati equation has no stabilising solution: {}; see "
                    "controllability_rank, and whether Q sees every mode that does not decay",
                    name, why));
  };
  if (stable != n) fail("the Hamiltonian has eigenvalues on the imaginary axis");
  const Eigen::PartialPivLU<Eigen::MatrixXcd> top(U.topRows(n));
  if (!(top.rcond() > 1e-14)) fail("its stable subspace is not a graph");
  Matrix P = symmetric_part((U.bottomRows(n) * top.inverse()).real());
  Matrix K = r.solve(b.transpose() * P);
  // One step of Newton's method (Kleinman): P solves F* P + P F = -(Q + K* R K) for F = A - B K.
  const auto cost = [&](const Matrix& k) -> Matrix {
    return q + k.transpose() * r.reconstructedMatrix() * k;
  };
  P = lyapunov(a - b * K, cost(K));
  K = r.solve(b.transpose() * P);
  Regulator out{write(K), write(P), eigenvalues_of(a - b * K), 0};
  for (const auto& pole : out.poles)
    if (!(pole.real() < 0)) fail("a mode does not decay");
  const Matrix residual = a.transpose() * P + P * a - P * G * P + q;
  out.residual = residual.norm() / (2 * (P * a).norm() + (P * G * P).norm() + q.norm());
  return out;
}

Regulator discrete_regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                             std::span<const double> R, int n, int m) {
  constexpr const char* name = "discrete_regulator";
  const Matrix a0 = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const Matrix q = symmetric_part(read(name, "Q", Q, n, n)), r0 = symmetric_part(read(name, "R", R, m, m));
  const auto r = factor_of(name, r0);
  Matrix a = a0, G = b * r.solve(b.transpose()), P = q;
  for (int i = 0; i < 60; ++i) {
    const Eigen::PartialPivLU<Matrix> W(Matrix::Identity(n, n) + G * P);
    const Matrix Wa = W.solve(a), WG = W.solve(G);
    const Matrix P_more = a.transpose() * P * Wa;
    G = symmetric_part(G + a * WG * a.transpose());
    P = symmetric_part(P + P_more);
    a = (a * Wa).eval();
    if (!P.allFinite()) break;
    if (P_more.norm() <= 1e-16 * P.norm()) break;
  }
  const Matrix K = (r0 + b.transpose() * P * b).ldlt().solve(b.transpose() * P * a0);
  if (!K.allFinite())
    throw SingularError(fmt::format("{}: the doubling iteration diverges; see controllability_rank", name));
  Regulator out{write(K), write(P), eigenvalues_of(a0 - b * K), 0};
  for (const auto& pole : out.poles)
    if (!(std::abs(pole) < 1))
      throw SingularError(
          fmt::format("{}: no gain stabilises this system (a pole at {} + {} i); see "
                      "controllability_rank",
                      name, pole.real(), pole.imag()));
  const Matrix residual = a0.transpose() * P * (a0 - b * K) - P + q;
  out.residual = residual.norm() / (2 * P.norm() + q.norm());
  return out;
}

}  // namespace articula
