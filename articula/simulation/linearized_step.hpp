// The exact derivative of one step of an explicit integrator, by dual numbers.
#pragma once

#include <memory>

#include "articula/dynamics/workspace.hpp"

namespace articula {

enum class ExplicitMethod { euler, symplectic_euler, rk4 };

/// Memory for one model; one per thread. ArgumentError for models with mimic joints, whose kernels have no
/// text for dual numbers.
class LinearizedStep {
 public:
  LinearizedStep(const Model& model, ExplicitMethod method);
  ~LinearizedStep();
  LinearizedStep(LinearizedStep&&) noexcept;

  /// (dq, dv) after a step of h with tau held = A (dq, dv) + B dtau: A is 2 nv x 2 nv and B is 2 nv x nv, row
  /// by row, dq along the tangent spaces. q_next and v_next take the step's result. 3 nv + 1 steps with dual
  /// numbers; nothing is allocated.
  void compute(In<double> q, In<double> v, In<double> tau, double h, Out<double> A, Out<double> B,
               Out<double> q_next, Out<double> v_next);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace articula
