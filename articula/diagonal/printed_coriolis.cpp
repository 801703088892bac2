// DIAG's own recursion of C(th, nu), compiled for any machine: it is there to be compared with, not to be fast.
#define ARTICULA_ISA diagonal_baseline
#include "articula/kernels/printed_coriolis_text.hpp"

#include <fmt/format.h>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

void DiagonalizedDynamics::coriolis_nu_printed(In<double> nu, Out<double> C, Wrenches<double> wrenches) {
  const char* const function = "coriolis_nu_printed";
  check_pair(function, nu.size(), "nu", C.size());
  if (tree().nv != tree().bodies)
    throw ArgumentError(
        fmt::format("{}: DIAG's recursion is for joints with one freedom; model '{}' has others", function,
                    model_.name()));
  const double* const forces = check_wrenches(function, wrenches);
  std::copy(nu.begin(), nu.end(), d_.xi);
  kernel_set().diagonal->solve_root_star(tree(), d_, d_.xi);
  kernel_set().diagonal->xi_to_rates(tree(), d_, d_.xi, d_.theta_dot);
  diagonal_baseline::coriolis_of_nu_printed<double>(tree(), d_.theta_dot, forces, d_, C.data());
}

}  // namespace articula
