// Second derivatives along two directions, in O(n): how the perturbations of Algorithms 1 and 5 themselves
// change.
//
// first = (dq, dv, da or dtau) is the direction of the first derivative, its components held while the state
// moves along `second`: q (+) t dq, v + t dv, a + t da. With equal directions this is the second derivative
// along that way. On joints whose motions do not commute (spherical, free, planar) the order of the two
// matters.
#pragma once

#include "articula/linearization/linearized_forward.hpp"
#include "articula/spatial/dual.hpp"

namespace articula {

/// A direction in the space of (q, v, a) or (q, v, tau): nv numbers each.
struct Direction {
  std::span<const double> dq, dv, last;  // last: da, or dtau
};

/// Memory for one model; one per thread.
class SecondOrder : public Workspace<double> {
 public:
  explicit SecondOrder(const Model& model);
  void inverse(In<double> q, In<double> v, In<double> a, const Direction& first, const Direction& second,
               Out<double> ddtau, const LinearizationOptions<double>& options);
  void forward(In<double> q, In<double> v, In<double> tau, const Direction& first, const Direction& second,
               Out<double> dda, const LinearizationOptions<double>& options);

 private:
  using D = Dual<double>;
  void check_direction(const char* function, const Direction& direction) const;
  void lift(D* to, In<double> x, In<double> d) const;
  LinearizedForward<double> forward_;
  LinearizationMemory<D> lin_;
  AlignedArray<D> arrays_, x_, vectors_, wrenches_, levers_;
  std::vector<double> q_dot_, a_, first_a_, second_a_, right_, zeros_;
};

/// The derivative along `second` of perturbed_inverse(q, v, a; first).
inline void twice_perturbed_inverse(SecondOrder& work, In<double> q, In<double> v, In<double> a,
                                    const Direction& first, const Direction& second, Out<double> ddtau,
                                    const LinearizationOptions<double>& options = {}) {
  work.inverse(q, v, a, first, second, ddtau, options);
}
/// The derivative along `second` of perturbed_forward(q, v, tau; first).
inline void twice_perturbed_forward(SecondOrder& work, In<double> q, In<double> v, In<double> tau,
                                    const Direction& first, const Direction& second, Out<double> dda,
                                    const LinearizationOptions<double>& options = {}) {
  work.forward(q, v, tau, first, second, dda, options);
}

}  // namespace articula
