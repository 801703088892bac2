// Linear systems dx/dt = A x + B u and x_next = A x + B u: poles, controllability, and the linear quadratic
// regulator.
//
// Matrices are row by row: A is n x n, B is n x m. Set-up code: these allocate.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace articula {

std::vector<std::complex<double>> eigenvalues(std::span<const double> A, int n);

/// The dimension of what u can reach, by the staircase of orthogonal reductions (Van Dooren 1981): the powers
/// of A are never formed. `tolerance` is relative to the norms of A and B.
int controllability_rank(std::span<const double> A, std::span<const double> B, int n, int m,
                         double tolerance = 1e-10);

struct Regulator {
  std::vector<double> K;                    // m x n: u = -K x
  std::vector<double> P;                    // n x n: the cost to go is x* P x
  std::vector<std::complex<double>> poles;  // of A - B K
  double residual;                          // of the Riccati equation, relative to P's terms
};
/// Minimises the integral of x* Q x + u* R u. The Riccati equation is solved by structure-preserving doubling
/// (Chu, Fan and Lin 2005): a Cayley transform takes it to discrete time, then each round squares the error.
/// Throws SingularError where no solution exists: some mode that does not decay is out of u's reach, or out
/// of Q's sight.
Regulator regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                    std::span<const double> R, int n, int m);
/// Minimises the sum of x* Q x + u* R u over steps, by the same doubling (Chu, Fan, Lin and Wang 2004).
Regulator discrete_regulator(std::span<const double> A, std::span<const double> B, std::span<const double> Q,
                             std::span<const double> R, int n, int m);

}  // namespace articula
