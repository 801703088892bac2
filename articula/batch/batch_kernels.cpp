// Compiled once for each instruction set (CMakeLists.txt), like dynamics/dynamics_kernels.cpp.
#include "articula/batch/kernels.hpp"
#include "articula/batch/lanes.hpp"
#include "articula/dynamics/inverse_dynamics_text.hpp"
#include "articula/dynamics/kinematics_text.hpp"
#include "articula/dynamics/mass_matrix_text.hpp"
#include "articula/linearization/linearized_forward_text.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct Batched {
  using P = Pack<T, lanes>;

  ARTICULA_INLINE static const P* in(const T* x) { return reinterpret_cast<const P*>(x); }
  ARTICULA_INLINE static P* out(T* x) { return reinterpret_cast<P*>(x); }
  ARTICULA_INLINE static KernelMemory<P> in(const KernelMemory<T>& m) { return packs(m); }
  ARTICULA_INLINE static LinearizationMemory<P> in(const LinearizationMemory<T>& m) {
    LinearizationMemory<P> w;
    w.k = in(m.k);
    w.y = out(m.y), w.columns = out(m.columns), w.side = out(m.side), w.own = out(m.own), w.row = out(m.row);
    w.direct = out(m.direct), w.t = out(m.t), w.result = out(m.result);
    w.index = m.index, w.block_rows = m.block_rows, w.block_begin = m.block_begin;
    w.mass = m.mass, w.damping = m.damping;
    return w;
  }

  static void gather(const T* states, long n, int used, T* to) {
    const T* row[lanes];
    for (int s = 0; s < lanes; ++s) row[s] = states + (s < used ? s : used - 1) * n;
    long i = 0;
    for (; i + lanes <= n; i += lanes) {
      P square[lanes];
      for (int s = 0; s < lanes; ++s) square[s] = P::load(row[s] + i);
      transpose(square);
      for (int s = 0; s < lanes; ++s) square[s].store(to + (i + s) * lanes);
    }
    for (; i < n; ++i)
      for (int s = 0; s < lanes; ++s) to[i * lanes + s] = row[s][i];
  }
  static void scatter(const T* from, long n, int used, T* states) {
    long i = 0;
    for (; i + lanes <= n; i += lanes) {
      P square[lanes];
      for (int s = 0; s < lanes; ++s) square[s] = P::load(from + (i + s) * lanes);
      transpose(square);
      for (int s = 0; s < used; ++s) square[s].store(states + s * n + i);
    }
    for (; i < n; ++i)
      for (int s = 0; s < used; ++s) states[s * n + i] = from[i * lanes + s];
  }

  static void gather_columns(const T* first, long distance, long n, int used, T* to) {
    if (used == lanes) {
      for (long i = 0; i < n; ++i) P::load(first + i * distance).store(to + i * lanes);
      return;
    }
    for (long i = 0; i < n; ++i)
      for (int s = 0; s < lanes; ++s) to[i * lanes + s] = first[i * distance + (s < used ? s : used - 1)];
  }
  static void scatter_columns(const T* from, long distance, long n, int used, T* first) {
    if (used == lanes) {
      for (long i = 0; i < n; ++i) P::load(from + i * lanes).store(first + i * distance);
      return;
    }
    for (long i = 0; i < n; ++i)
      for (int s = 0; s < used; ++s) first[i * distance + s] = from[i * lanes + s];
  }

  static void inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* wrenches,
                      const KernelMemory<T>& m, T* tau) {
    inverse_dynamics<P>(tree, in(q), in(v), in(a), in(wrenches), in(m), out(tau));
  }
  static void forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* wrenches,
                      const KernelMemory<T>& m, T* a, T* smallest) {
    forward_dynamics<P>(tree, in(q), in(v), in(tau), in(wrenches), in(m), out(a)).store(smallest);
  }
  static void matrix(const Tree<T>& tree, const T* q, const KernelMemory<T>& m, T* M) {
    mass_matrix<P>(tree, in(q), in(m), out(M));
  }
  static void inverse_matrix(const Tree<T>& tree, const T* q, const KernelMemory<T>& m, T* M, T* smallest) {
    factor_mass_matrix<P>(tree, in(q), in(m)).store(smallest);
    invert_mass_matrix<P>(tree, in(m), out(M));
  }
  static void move(const Tree<T>& tree, const T* q, const T* v, const T* a, const KernelMemory<T>& m) {
    kinematics<P>(tree, in(q), in(v), in(a), in(m));
  }
  static void energies(const Tree<T>& tree, const KernelMemory<T>& m, T* kinetic, T* potential) {
    const Totals<P> t = totals<P>(tree, in(m), true);
    t.kinetic.store(kinetic);
    t.potential.store(potential);
  }
  static void lin_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a,
                          const LinearizationMemory<T>& m, T* dq, T* dv, T* da) {
    linearized_inverse<P>(tree, in(q), in(v), in(a), {}, in(m), out(da), out(dq), out(dv));
  }
  static void lin_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau,
                          const LinearizationMemory<T>& m, T* a, T* dq, T* dv, T* dtau, T* smallest) {
    factored_forward<P>(tree, in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    direct_forward<P>(tree, in(v), in(a), {}, in(m), out(dq), out(dv), out(dtau));
  }
  static void perturb_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* dq,
                              const T* dv, const T* da, const LinearizationMemory<T>& m, T* dtau) {
    perturbed_inverse<P>(tree, in(q), in(v), in(a), in(dq), in(dv), in(da), {}, in(m), out(dtau));
  }
  static void perturb_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* dq,
                              const T* dv, const T* dtau, const LinearizationMemory<T>& m, T* a, T* right,
                              T* da, T* smallest) {
    factored_forward<P>(tree, in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    perturbed_forward<P>(tree, in(v), in(a), in(dq), in(dv), in(dtau), {}, in(m), out(right), out(da));
  }
  static void gradient_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* weights,
                               const LinearizationMemory<T>& m, T* by_q, T* by_v, T* by_a) {
    inverse_adjoint<P>(tree, in(q), in(v), in(a), in(weights), false, {}, in(m), out(by_q), out(by_v),
                       out(by_a));
  }
  /// w . da = (M^-1 w) . (dtau - what dq and dv need): a solve, then the adjoint of the inverse dynamics.
  static void gradient_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* weights,
                               const LinearizationMemory<T>& m, T* a, T* scratch, T* by_q, T* by_v, T* by_tau,
                               T* smallest) {
    factored_forward<P>(tree, in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    solve_mass_matrix<P>(tree, in(m.k), in(weights), out(by_tau));
    inverse_adjoint<P>(tree, in(q), in(v), in(a), in(by_tau), true, {}, in(m), out(by_q), out(by_v),
                       out(scratch));
    for (int i = 0; i < tree.nv; ++i) {
      out(by_q)[i] = -out(by_q)[i];
      out(by_v)[i] = -out(by_v)[i];
    }
  }
};

template <class T>
constexpr BatchTable<T> batch_table{lanes,
                                    Batched<T>::gather,
                                    Batched<T>::scatter,
                                    Batched<T>::inverse,
                                    Batched<T>::forward,
                                    Batched<T>::matrix,
                                    Batched<T>::inverse_matrix,
                                    Batched<T>::move,
                                    Batched<T>::energies,
                                    Batched<T>::lin_inverse,
                                    Batched<T>::lin_forward,
                                    Batched<T>::perturb_inverse,
                                    Batched<T>::perturb_forward,
                                    Batched<T>::gradient_inverse,
                                    Batched<T>::gradient_forward,
                                    Batched<T>::gather_columns,
                                    Batched<T>::scatter_columns};

const BatchTable<double>& batch_in_double() { return batch_table<double>; }
const BatchTable<float>& batch_in_float() { return batch_table<float>; }

}  // namespace articula::ARTICULA_ISA
