// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp; and once more,
// by varied_kernels.cpp, for states whose masses differ.
#include "articula/kernels/body_axes_forward_text.hpp"
#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/lanes.hpp"
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/kernels/tables.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace articula::ARTICULA_ISA {

/// The first `count` lanes alone, 1 to all of them; nothing is read or written behind them.
template <class T>
ARTICULA_INLINE Lanes<T> load_first(const T* p, int count) {
  using P = Lanes<T>;
  if (count == lanes_of<T>) return P::load(p);
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8)
    return P(typename P::Lanes(_mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << count) - 1), p)));
  else
    return P(typename P::Lanes(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << count) - 1), p)));
#else
  T some[lanes_of<T>] = {};
  for (int i = 0; i < count; ++i) some[i] = p[i];
  return P::load(some);
#endif
}
template <class T>
ARTICULA_INLINE void store_first(const Lanes<T>& x, T* p, int count) {
  if (count == lanes_of<T>) return x.store(p);
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8)
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1 << count) - 1), __m512d(x.x));
  else
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1 << count) - 1), __m512(x.x));
#else
  for (int i = 0; i < count; ++i) p[i] = x[i];
#endif
}

/// Fetches lines that results will be written to: from memory to the second cache a few at a time, since the
/// processor drops more; from there to the first cache when a line `near` bytes before it has been written.
struct FetchAhead {
  Ahead ahead;
  ARTICULA_INLINE void operator()(int lines) {
    if (ahead.lines <= 0) return;
    if (ahead.few) return fetch();
    for (int i = 0; i < lines; ++i) fetch();
  }
  ARTICULA_INLINE void fetch() {
    --ahead.lines;
    for (std::uintptr_t& at : ahead.at) {
      __builtin_prefetch(reinterpret_cast<const void*>(at), 1, 2);
      at += ahead.step;
    }
  }
  ARTICULA_INLINE void wrote(const void* p) const {
    __builtin_prefetch(static_cast<const char*>(p) + ahead.near, 1, 3);
  }
};

template <class T, Constants constants>
struct Batched {
  static constexpr int lanes = lanes_of<T>;
  using P = Pack<T, lanes, constants>;
  using Row = Pack<T, lanes>;

  ARTICULA_INLINE static const P* in(const T* x) { return reinterpret_cast<const P*>(x); }
  ARTICULA_INLINE static P* out(T* x) { return reinterpret_cast<P*>(x); }
  /// Constants of the model: numbers, or lanes of them.
  ARTICULA_INLINE static const Real<P>* model(const T* x) { return reinterpret_cast<const Real<P>*>(x); }
  ARTICULA_INLINE static decltype(auto) in(const Tree<T>& t) {
    if constexpr (constants == Constants::shared) {
      return (t);
    } else {
      Tree<P> w;
      w.bodies = t.bodies, w.nq = t.nq, w.nv = t.nv, w.index = t.index, w.has_armature = t.has_armature;
      w.suits_body_axes = t.suits_body_axes, w.steps_inboard = t.steps_inboard;
      w.v_end = t.v_end, w.angle = t.angle;
      w.first_column = t.first_column, w.alone = t.alone, w.alone_count = t.alone_count;
      w.constants = model(t.constants), w.pitch = model(t.pitch);
      w.armature = model(t.armature), w.offset = model(t.offset);
      w.gravity = {P(t.gravity.x), P(t.gravity.y), P(t.gravity.z)};
      return w;
    }
  }
  template <template <class> class Memory>
  ARTICULA_INLINE static Memory<P> in(const Memory<T>& m) {
    return retyped<P>(m);
  }

  /// Numbers are transposed in squares of lanes x lanes; the last square of a row overlaps the one before it.
  /// Where a state has fewer numbers than a register has lanes, whole registers are moved all the same: they
  /// reach into the next state, whose numbers are stored later. Only the last state is masked, since masks
  /// take twice as long.
  ARTICULA_INLINE static long square_at(long j, long n) {
    return j + lanes <= n || n < lanes ? j : n - lanes;
  }
  static void gather(const T* states, long n, long stride, int used, T* to) {
    if (used == lanes && n >= lanes) {  // nothing to mask
      for (long j = 0; j < n; j += lanes) {
        const long i = square_at(j, n);
        Row square[lanes];
#pragma GCC unroll 16
        for (int s = 0; s < lanes; ++s) square[s] = Row::load(states + s * stride + i);
        transpose(square);
#pragma GCC unroll 16
        for (int c = 0; c < lanes; ++c) square[c].store(to + (i + c) * lanes);
      }
      return;
    }
    for (long j = 0; j < n; j += lanes) {
      const long i = square_at(j, n);
      const int count = n - i < lanes ? int(n - i) : lanes;
      Row square[lanes];
      if (used == lanes && stride + n - i >= lanes) {
#pragma GCC unroll 16
        for (int s = 0; s < lanes - 1; ++s) square[s] = Row::load(states + s * stride + i);
        square[lanes - 1] = load_first(states + (lanes - 1) * stride + i, count);
      } else {
#pragma GCC unroll 16
        for (int s = 0; s < lanes; ++s)
          square[s] = load_first(states + (s < used ? s : used - 1) * stride + i, count);
      }
      transpose(square);
#pragma GCC unroll 16
      for (int c = 0; c < lanes; ++c)
        if (c < count) square[c].store(to + (i + c) * lanes);
    }
  }
  static void scatter(const T* from, long n, long stride, int used, T* states) {
    constexpr long ahead = 512 / sizeof(T);  // from the second cache to the first: an eighth faster
    const bool fetch = n > 2 * ahead;
    if (used == lanes && n >= lanes && !fetch) {
      for (long j = 0; j < n; j += lanes) {
        const long i = square_at(j, n);
        Row square[lanes];
#pragma GCC unroll 16
        for (int c = 0; c < lanes; ++c) square[c] = Row::load(from + (i + c) * lanes);
        transpose(square);
#pragma GCC unroll 16
        for (int s = 0; s < lanes; ++s) square[s].store(states + s * stride + i);
      }
      return;
    }
    for (long j = 0; j < n; j += lanes) {
      const long i = square_at(j, n);
      const int count = n - i < lanes ? int(n - i) : lanes;
      Row square[lanes];
#pragma GCC unroll 16
      for (int c = 0; c < lanes; ++c) square[c] = Row::load(from + (i + (c < count ? c : 0)) * lanes);
      transpose(square);
      if (used == lanes && (count == lanes || (stride == n && 2 * n >= lanes))) {
#pragma GCC unroll 16
        for (int s = 0; s < lanes - 1; ++s) square[s].store(states + s * stride + i);
        store_first(square[lanes - 1], states + (lanes - 1) * stride + i, count);
        if (fetch) {
#pragma GCC unroll 16
          for (int s = 0; s < lanes; ++s) __builtin_prefetch(states + s * stride + i + ahead, 1, 3);
        }
      } else {
#pragma GCC unroll 16
        for (int s = 0; s < lanes; ++s)
          if (s < used) store_first(square[s], states + s * stride + i, count);
      }
    }
  }
  static void gather_columns(const T* states, long n, long stride, int used, T* to) {
    for (long i = 0; i < n; ++i) {
      load_first(states + i * stride, used).store(to + i * lanes);
      for (int s = used; s < lanes; ++s) to[i * lanes + s] = states[i * stride + used - 1];
    }
  }
  static void scatter_columns(const T* from, long n, long stride, int used, T* states) {
    for (long i = 0; i < n; ++i) store_first(Row::load(from + i * lanes), states + i * stride, used);
  }

  static void inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* wrenches,
                      const KernelMemory<T>& m, T* tau) {
    inverse_dynamics<P>(in(tree), in(q), in(v), in(a), in(wrenches), in(m), out(tau));
  }
  static void forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* wrenches,
                      const KernelMemory<T>& m, T* a, T* smallest) {
    forward_dynamics<P>(in(tree), in(q), in(v), in(tau), in(wrenches), in(m), out(a)).store(smallest);
  }
  static void matrix(const Tree<T>& tree, const T* q, const KernelMemory<T>& m, T* M) {
    mass_matrix<P>(in(tree), in(q), in(m), out(M));
  }
  static void inverse_matrix(const Tree<T>& tree, const T* q, const KernelMemory<T>& m, T* M, T* smallest) {
    factor_mass_matrix<P>(in(tree), in(q), in(m)).store(smallest);
    invert_mass_matrix<P>(in(tree), in(m), out(M));
  }
  static void place(const Tree<T>& tree, const T* q, const T* v, const KernelMemory<T>& m) {
    velocities<P>(in(tree), in(q), in(v), in(m));
  }
  static void move(const Tree<T>& tree, const T* q, const T* v, const T* a, const KernelMemory<T>& m) {
    kinematics<P>(in(tree), in(q), in(v), in(a), in(m));
  }
  static void energies(const Tree<T>& tree, const KernelMemory<T>& m, T* kinetic, T* potential) {
    const Totals<P> t = totals<P>(in(tree), in(m), kinetic != nullptr);
    if (kinetic) t.kinetic.store(kinetic);
    t.potential.store(potential);
  }
  static void lin_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a,
                          const LinearizationMemory<T>& m, T* dq, T* dv, T* da, const Ahead& ahead) {
    const LinearizationMemory<P> memory = in(m);
    place_bodies<P>(in(tree), in(q), memory.k.x);
    inverse_matrices<P>(in(tree), in(v), in(a), {}, memory, out(da), out(dq), out(dv), FetchAhead{ahead});
  }
  static void lin_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau,
                          const LinearizationMemory<T>& m, T* a, T* dq, T* dv, T* dtau, T* smallest,
                          const Ahead& ahead) {
    factored_forward<P>(in(tree), in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    direct_forward<P>(in(tree), in(v), in(a), {}, in(m), out(dq), out(dv), out(dtau), FetchAhead{ahead});
  }
  static void perturb_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* dq,
                              const T* dv, const T* da, const LinearizationMemory<T>& m, T* dtau) {
    perturbed_inverse<P>(in(tree), in(q), in(v), in(a), in(dq), in(dv), in(da), {}, in(m), out(dtau));
  }
  static void perturb_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* dq,
                              const T* dv, const T* dtau, const LinearizationMemory<T>& m, T* a, T* right,
                              T* da, T* smallest) {
    factored_forward<P>(in(tree), in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    perturbed_forward<P>(in(tree), in(v), in(a), in(dq), in(dv), in(dtau), {}, in(m), out(right), out(da));
  }
  static void gradient_inverse(const Tree<T>& tree, const T* q, const T* v, const T* a, const T* weights,
                               const LinearizationMemory<T>& m, T* by_q, T* by_v, T* by_a) {
    inverse_adjoint<P>(in(tree), in(q), in(v), in(a), in(weights), false, {}, in(m), out(by_q), out(by_v),
                       out(by_a));
  }
  static void spread_inertias(const T* from, int bodies, T* to) {
    constexpr int count = constant::count - constant::mp;
    for (int k = 1; k <= bodies; ++k, from += count * lanes) {
      P* const c = out(to) + (k / block * block) * constant::count + k % block;
      for (int i = 0; i < count; ++i) c[block * (constant::mp + i)] = in(from)[i];
    }
  }
  /// w . da = (M^-1 w) . (dtau - what dq and dv need): a solve, then the adjoint of the inverse dynamics.
  static void gradient_forward(const Tree<T>& tree, const T* q, const T* v, const T* tau, const T* weights,
                               const LinearizationMemory<T>& m, T* a, T* scratch, T* by_q, T* by_v, T* by_tau,
                               T* smallest) {
    factored_forward<P>(in(tree), in(q), in(v), in(tau), nullptr, in(m), out(a)).store(smallest);
    solve_mass_matrix<P>(in(tree), in(m.k), in(weights), out(by_tau));
    inverse_adjoint<P>(in(tree), in(q), in(v), in(a), in(by_tau), true, {}, in(m), out(by_q), out(by_v),
                       out(scratch));
    for (int i = 0; i < tree.nv; ++i) {
      out(by_q)[i] = -out(by_q)[i];
      out(by_v)[i] = -out(by_v)[i];
    }
  }
};

template <class T, Constants constants>
constexpr BatchTable<T> batch_table{lanes_of<T>,
                                    Batched<T, constants>::gather,
                                    Batched<T, constants>::scatter,
                                    Batched<T, constants>::gather_columns,
                                    Batched<T, constants>::scatter_columns,
                                    Batched<T, constants>::inverse,
                                    Batched<T, constants>::forward,
                                    Batched<T, constants>::matrix,
                                    Batched<T, constants>::inverse_matrix,
                                    Batched<T, constants>::place,
                                    Batched<T, constants>::move,
                                    Batched<T, constants>::energies,
                                    Batched<T, constants>::lin_inverse,
                                    Batched<T, constants>::lin_forward,
                                    Batched<T, constants>::perturb_inverse,
                                    Batched<T, constants>::perturb_forward,
                                    Batched<T, constants>::gradient_inverse,
                                    Batched<T, constants>::gradient_forward,
                                    Batched<T, constants>::spread_inertias};

#ifdef ARTICULA_VARIED_KERNELS
const BatchTable<double>& varied_in_double() { return batch_table<double, Constants::varied>; }
const BatchTable<float>& varied_in_float() { return batch_table<float, Constants::varied>; }
#else
const BatchTable<double>& batch_in_double() { return batch_table<double, Constants::shared>; }
const BatchTable<float>& batch_in_float() { return batch_table<float, Constants::shared>; }
#endif

}  // namespace articula::ARTICULA_ISA
