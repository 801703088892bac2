// SUNDIALS' CVODE for stiff systems: backward differentiation formulas of orders 1 to 5, Newton's iteration
// with a dense Jacobian by differences.
//
// Quaternions are integrated as four numbers, whose direction is what counts; they come out at unit length.
#pragma once

#include <memory>

#include "articula/simulation/dormand_prince.hpp"  // Tolerances

namespace articula {

class Cvode {
 public:
  explicit Cvode(const Manifold& manifold, const Tolerances& tolerances = {});
  ~Cvode();
  Cvode(Cvode&&) noexcept;
  Cvode& operator=(Cvode&&) noexcept;

  /// From t to `end` exactly, beginning anew (order 1): nothing is remembered from an earlier call, so equal
  /// states give equal results. Throws what the system throws, or IntegrationError; the state is then as
  /// before. `project` is called at the end.
  void advance(const System<double>& system, double t, double end, Out<double> q, Out<double> v);

  long steps() const;
  long evaluations() const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace articula
