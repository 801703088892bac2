#include "articula/linearization/regulator.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

using dense::Matrix, dense::View;

namespace {

View read(const char* function, const char* name, std::span<const double> x, int rows, int columns) {
  if (x.size() != static_cast<std::size_t>(rows) * columns)
    throw ArgumentError(
        fmt::format("{}: {} has {} numbers, expected {} x {}", function, name, x.size(), rows, columns));
  const View m = dense::view(x, rows, columns);
  if (!finite(m)) throw ArgumentError(fmt::format("{}: {} has numbers that are not finite", function, name));
  return m;
}
std::vector<double> write(const Matrix& m) { return {m.numbers().begin(), m.numbers().end()}; }

/// The Cholesky factor of R, which must be positive definite.
dense::Cholesky factor_of(const char* function, const Matrix& R) {
  dense::Cholesky factor(R);
  if (!factor.positive()) throw ArgumentError(fmt::format("{}: R is not positive definite", function));
  return factor;
}

/// P = H + A* P (Id + G P)^-1 A by doubling: each round squares what is left of A.
Matrix doubled(Matrix A, Matrix G, Matrix H) {
  for (int i = 0; i < 60; ++i) {
    const dense::LU W(Matrix::identity(A.rows()) + G * H);
    const Matrix WA = W.solve(A), more = star(A) * H * WA;
    G = symmetric_part(G + A * W.solve(G) * star(A));
    H = symmetric_part(H + more);
    A = A * WA;
    if (!finite(H) || norm(more) <= 1e-17 * norm(H)) break;
  }
  return H;
}

/// The stabilising solution of A* P + P A - P G P + H = 0: the Cayley transform with gamma > 0 makes of it an
/// equation in discrete time with the same solution.
Matrix continuous_riccati(const View& A, const Matrix& G, const Matrix& H) {
  const Matrix one = Matrix::identity(A.rows);
  // Greater than every eigenvalue of the Hamiltonian, so that nothing here is singular.
  const double gamma = 1.1 * (norm(A) + std::sqrt(norm(G) * norm(H))) + 1e-300;
  const Matrix shifted = A - gamma * one;
  const dense::LU S(shifted);
  const Matrix SG = S.solve(G), HS = H * S.inverse();  // S^-1 G, H S^-1
  const dense::LU W(star(shifted) + HS * G);
  const Matrix inverse = W.inverse();
  return doubled(one + 2 * gamma * star(inverse), symmetric_part(2 * gamma * SG * inverse),
                 symmetric_part(2 * gamma * W.solve(HS)));
}
}  // namespace

std::vector<std::complex<double>> eigenvalues(std::span<const double> A, int n) {
  return dense::eigenvalues(read("eigenvalues", "A", A, n, n));
}

int controllability_rank(std::span<const double> A, std::span<const double> B, int n, int m,
                         double tolerance) {
  constexpr const char* name = "controllability_rank";
  Matrix a = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const double a_size = norm(a);
  double small = tolerance * norm(b);
  int rank = 0;
  while (a.rows() > 0) {
    const dense::PivotedQR qr(b);
    const int r = qr.rank(small), rest = a.rows() - r;
    rank += r;
    if (r == 0) break;
    // What b reaches goes first; the rest is driven through it.
    const Matrix turned = star(qr.Q) * a * qr.Q;
    b = turned.block(r, 0, rest, r);
    a = turned.block(r, r, rest, rest);
    small = tolerance * a_size;
  }
  return rank;
}

Regulator regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                    std::span<const double> R, int n, int m) {
  constexpr const char* name = "regulator";
  const View a = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const Matrix q = symmetric_part(read(name, "Q", Q, n, n));
  const dense::Cholesky r = factor_of(name, symmetric_part(read(name, "R", R, m, m)));
  const Matrix G = b * r.solve(star(b));
  const Matrix P = continuous_riccati(a, G, q), K = r.solve(star(b) * P);
  const char* const hint = "see controllability_rank, and whether Q sees every mode that does not decay";
  if (!finite(K))
    throw SingularError(fmt::format("{}: the Riccati equation has no stabilising solution; {}", name, hint));
  Regulator out{write(K), write(P), dense::eigenvalues(a - b * K), 0};
  for (const auto& pole : out.poles)
    if (!(pole.real() < 0))
      throw SingularError(fmt::format("{}: no gain stabilises this system (a pole at {} {:+} i); {}", name,
                                      pole.real(), pole.imag(), hint));
  const Matrix residual = star(a) * P + P * a - P * G * P + q;
  out.residual = norm(residual) / (2 * norm(P * a) + norm(P * G * P) + norm(q));
  return out;
}

Regulator discrete_regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                             std::span<const double> R, int n, int m) {
  constexpr const char* name = "discrete_regulator";
  const View a = read(name, "A", A, n, n), b = read(name, "B", B, n, m);
  const Matrix q = symmetric_part(read(name, "Q", Q, n, n)), r = symmetric_part(read(name, "R", R, m, m));
  const Matrix P = doubled(a, b * factor_of(name, r).solve(star(b)), q), bP = star(b) * P;
  const Matrix K = dense::LU(r + bP * b).solve(bP * a);
  if (!finite(K))
    throw SingularError(fmt::format("{}: the doubling iteration diverges; see controllability_rank", name));
  Regulator out{write(K), write(P), dense::eigenvalues(a - b * K), 0};
  for (const auto& pole : out.poles)
    if (!(std::abs(pole) < 1))
      throw SingularError(
          fmt::format("{}: no gain stabilises this system (a pole at {} + {} i); see "
                      "controllability_rank",
                      name, pole.real(), pole.imag()));
  const Matrix residual = star(a) * P * (a - b * K) - P + q;
  out.residual = norm(residual) / (2 * norm(P) + norm(q));
  return out;
}

}  // namespace articula
