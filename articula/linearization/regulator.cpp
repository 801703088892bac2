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

/// P = H + A* P (Id + G P)^-1 A by doubling: each round squares what is left of A. A and G are used up.
Matrix doubled(Matrix A, Matrix G, Matrix H) {
  const Eigen::Index n = A.rows();
  for (int i = 0; i < 60; ++i) {
    const Eigen::PartialPivLU<Matrix> W(Matrix::Identity(n, n) + G * H);
    const Matrix WA = W.solve(A), more = A.transpose() * H * WA;
    G = symmetric_part(G + A * W.solve(G) * A.transpose());
    H = symmetric_part(H + more);
    A = (A * WA).eval();
    if (!H.allFinite() || more.norm() <= 1e-17 * H.norm()) break;
  }
  return H;
}

/// The stabilising solution of A* P + P A - P G P + H = 0: the Cayley transform with gamma > 0 makes of it an
/// equation in discrete time with the same solution.
Matrix continuous_riccati(const Matrix& A, const Matrix& G, const Matrix& H) {
  const Eigen::Index n = A.rows();
  // Greater than every eigenvalue of the Hamiltonian, so that nothing here is singular.
  const double gamma = 1.1 * (A.norm() + std::sqrt(G.norm() * H.norm())) + 1e-300;
  const Matrix shifted = A - gamma * Matrix::Identity(n, n);
  const Eigen::PartialPivLU<Matrix> S(shifted);
  const Matrix SG = S.solve(G), HS = H * S.inverse();  // S^-1 G, H S^-1
  const Eigen::PartialPivLU<Matrix> W(shifted.transpose() + HS * G);
  return doubled(Matrix::Identity(n, n) + 2 * gamma * W.inverse().transpose(),
                 symmetric_part(2 * gamma * SG * W.inverse()), symmetric_part(2 * gamma * W.solve(HS)));
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
  const Matrix P = continuous_riccati(a, G, q), K = r.solve(b.transpose() * P);
  const char* const hint = "see controllability_rank, and whether Q sees every mode that does not decay";
  if (!K.allFinite())
    throw SingularError(fmt::format("{}: the Riccati equation has no stabilising solution; {}", name, hint));
  Regulator out{write(K), write(P), eigenvalues_of(a - b * K), 0};
  for (const auto& pole : out.poles)
    if (!(pole.real() < 0))
      throw SingularError(fmt::format("{}: no gain stabilises this system (a pole at {} {:+} i); {}", name,
                                      pole.real(), pole.imag(), hint));
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
  const Matrix P = doubled(a0, b * r.solve(b.transpose()), q);
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
