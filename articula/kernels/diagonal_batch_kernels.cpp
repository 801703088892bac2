// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/tables.hpp"

#include "articula/kernels/diagonal_text.hpp"
#include "articula/kernels/lanes.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct DiagonalLanes {
  using P = Lanes<T>;
  using Model = Tree<T>;
  using M = DiagonalMemory<T>;

  static void factor(const Model& tree, const T* q, const M& m, T* smallest) {
    diagonal_factor<P>(tree, packs(q), packs(m)).store(smallest);
    factor_roots<P>(tree, packs(m));
  }
  using InPlace = void (*)(const Model&, const DiagonalMemory<P>&, P*);
  template <InPlace f>
  static void in_place(const Model& tree, const M& m, T* x) {
    f(tree, packs(m), packs(x));
  }
  using Map = void (*)(const Model&, const DiagonalMemory<P>&, const P*, P*);
  template <Map f>
  static void map(const Model& tree, const M& m, const T* from, T* to) {
    f(tree, packs(m), packs(from), packs(to));
  }
  static void of_xi(const Model& tree, const T* theta_dot, const T* xi, const T* wrenches, const M& m, T* C) {
    coriolis_of_xi<P>(tree, packs(theta_dot), packs(xi), packs(wrenches), packs(m), packs(C));
  }
  static void of_nu(const Model& tree, const T* xi, const M& m, T* C) {
    coriolis_of_nu<P>(tree, packs(xi), packs(m), packs(C));
  }
  template <bool normalized>
  static void motion(const Model& tree, const T* q, const T* x, const T* tau, const T* wrenches, const M& m,
                     T* rate, T* smallest) {
    diagonal_motion<normalized, P>(tree, packs(q), packs(x), packs(tau), packs(wrenches), packs(m),
                                   packs(rate))
        .store(smallest);
  }
};

template <class T>
constexpr DiagonalTable<T> table_in() {
  using L = DiagonalLanes<T>;
  using P = Lanes<T>;
  return {L::factor,
          L::template in_place<times_root<P>>,
          L::template in_place<times_root_star<P>>,
          L::template in_place<solve_root<P>>,
          L::template in_place<solve_root_star<P>>,
          L::template map<rates_and_xi<true, P>>,
          L::template map<rates_and_xi<false, P>>,
          L::template map<forces_and_kappa<true, P>>,
          L::template map<forces_and_kappa<false, P>>,
          L::of_xi,
          L::of_nu,
          L::template motion<true>,
          L::template motion<false>};
}

const DiagonalTable<double>& diagonal_in_double() {
  static constexpr DiagonalTable<double> table = table_in<double>();
  return table;
}
const DiagonalTable<float>& diagonal_in_float() {
  static constexpr DiagonalTable<float> table = table_in<float>();
  return table;
}

}  // namespace articula::ARTICULA_ISA
