// Forward dynamics of programs that know the model, limb by limb: each body's outward step is followed by the inward
// steps of all bodies that then have nothing outboard left, so that a thread holds the bodies of one limb at a time. Of
// those before it only what the last sweep needs lives on: the joint's axis, l, K and D^-1 e.
#pragma once

#include "articula/cuda/device_columns.hpp"
#include "articula/cuda/device_sides.hpp"

namespace articula::device {

#ifdef ARTICULA_SPECIALISED
/// A serial chain is one limb, of which the plain sweeps keep less (docs/gpu.md).
constexpr bool branched() {
  for (int k = 2; k <= bodies; ++k)
    if (tree_index[k].inboard != k - 1) return true;
  return false;
}
inline constexpr bool limb_by_limb = !has_mimics && !varied && (sides > 1 || ARTICULA_LOOPS || branched());

/// What a thread knows of the bodies on its side, and where it finds their numbers.
struct OneSide {
  Number constants[padded(bodies + 1) * constant::count], armature[nv], pitch[bodies + 1];
  int side;
#if ARTICULA_SIDES > 1
  /// Called when body k's turn comes: what is known earlier would take registers.
  template <int k>
  ARTICULA_INLINE void know() {
    constexpr int v_end = k < bodies ? tree_index[k + 1].v : nv, all = padded(bodies + 1) * constant::count,
                  first = k / block * (block * constant::count) + k % block;
#pragma unroll
    for (int i = 0; i < constant::count; ++i)
      constants[first + block * i] = of_side(side, side_constants, all, first + block * i);
#pragma unroll
    for (int i = tree_index[k].v; i < v_end; ++i) armature[i] = of_side(side, side_armature, nv, i);
    pitch[k] = of_side(side, side_pitch, bodies + 1, k);
  }
  ARTICULA_INLINE Number offset(int k) const { return of_side(side, side_offset, bodies + 1, k); }
  ARTICULA_INLINE int own_q(int i) const { return of_side(side, side_q, nq, i); }
  ARTICULA_INLINE int own_v(int i) const { return of_side(side, side_v, nv, i); }
  /// Whether this thread gives the results of body k.
  ARTICULA_INLINE bool gives(int k) const { return sided[k] || side == 0; }
  /// Adds up what limbs that are alike hand to their inboard body.
  template <int k>
  ARTICULA_INLINE static void join(Articulated<Number>& at) {
    if constexpr (sided[k] && !sided[tree_index[k].inboard] && tree_index[k].inboard != 0) sum_over_sides(at);
  }
#else
  template <int k>
  ARTICULA_INLINE void know() {}
  ARTICULA_INLINE Number offset(int k) const { return tree_offset[k]; }
  ARTICULA_INLINE int own_q(int i) const { return i; }
  ARTICULA_INLINE int own_v(int i) const { return i; }
  ARTICULA_INLINE bool gives(int) const { return true; }
  template <int k>
  ARTICULA_INLINE static void join(Articulated<Number>&) {}
#endif
};

/// need(argument, first, count): called before numbers of q, v or tau are read; done(k, first, count): accelerations of body k known.
template <class Need, class Done>
struct LimbByLimb {
  const Tree<Number>& tree;
  const Memory& m;
  const Number *q, *v, *tau, *wrenches;
  const Need& need;
  const Done& done;
  OneSide& own;

  /// See sweep_one_by_one.
  template <int k>
  ARTICULA_INLINE void move(Moving<Number>& at) const {
    constexpr BodyIndex b = tree_index[k];
    constexpr int q_end = k < bodies ? tree_index[k + 1].q : nq,
                  v_end = k < bodies ? tree_index[k + 1].v : nv;
    own.template know<k>();
    need(Argument::q, b.q, q_end - b.q), need(Argument::v, b.v, v_end - b.v);
    const Number* const c = tree.constants_of(k);
    Number* const xk = slot(m.x, k, int(body::count));
    SinCos<Number> turn{0, 1};
    if constexpr (tree_angle[k] >= 0) turn = sincos(q[tree_angle[k]] + own.offset(k));
    Mat3<Number> X = joint_axes<Number>(c, b.alignment != Alignment::any, turn);
    Vec3<Number> l = joint_origin<Number>(c);
    if constexpr (b.kind != HingeKind::revolute) place_special(tree, k, q, X, l);
    if constexpr (b.inboard != k - 1)
      read_motion<Upto::accelerations>(slot(m.x, b.inboard, int(body::count)), at);
    move_body<Upto::accelerations>(tree, k, v, static_cast<const Number*>(nullptr), X, l, at);
    write(xk + body::l, l);
    write(xk + body::R, at.R);
    if constexpr (b.has_sides) write_motion<Upto::accelerations>(xk, at);
    NewtonEuler<true>::moved(tree, k, at, xk);
    if (has_wrenches)
      for (int i = 0; i < 6; ++i) xk[body::f + i] -= wrenches[6 * (k - 1) + i];
  }
  /// See articulate.
  template <int k, bool first_child = tree_index[k].inboard == k - 1>
  ARTICULA_INLINE void pass(Articulated<Number>* sum, Number& smallest) const {
    constexpr BodyIndex b = tree_index[k];
    constexpr int v_end = k < bodies ? tree_index[k + 1].v : nv;
    constexpr bool tip = k == bodies || tree_index[k + 1].inboard != k;
    need(Argument::tau, b.v, v_end - b.v);
    const Number* const xk = slot(m.x, k, int(body::count));
    const Inertia<Number> M{tree.constants_of(k)[block * constant::m], read<Vec3>(xk + body::mp),
                            read<Sym3>(xk + body::J)};
    Articulated<Number> at;
    if constexpr (tip) {
      at.P = articulated(M), at.p = read<Spatial>(xk + body::f);
    } else {
      at.P = sum[k].P, at.p = sum[k].p;
      at.P += M, at.p += read<Spatial>(xk + body::f);
    }
    visit(
        b.kind, [&](auto j) __attribute__((always_inline)) {
          smallest = smaller(smallest, pass_joint<decltype(j), true, false>(tree, m, tau, k, at));
        });
    own.template join<k>(at);
    if constexpr (first_child)
      sum[b.inboard] = at;
    else if constexpr (b.inboard != 0)
      sum[b.inboard].P += at.P, sum[b.inboard].p += at.p;
  }
  template <int k, int stop>
  ARTICULA_INLINE void pass_up_to(Articulated<Number>* sum, Number& smallest) const {
    if constexpr (k != stop) {
      pass<k>(sum, smallest);
      pass_up_to<tree_index[k].inboard, stop>(sum, smallest);
    }
  }
  /// Everything up to D^-1 e of all joints. Returns the smallest pivot.
  ARTICULA_INLINE Number inward() const {
    Number smallest(1e30);
    Articulated<Number> sum[bodies + 1];
    Moving<Number> at = world_motion<Number>(tree);
    Number* const world = slot(m.x, 0, int(body::count));
    write(world + body::R, at.R);
    write_motion<Upto::accelerations>(world, at);
    for_each_index<bodies>([&](auto i) __attribute__((always_inline)) {
      constexpr int k = i.value + 1;
      move<k>(at);
      pass_up_to < k, k<bodies ? tree_index[k < bodies ? k + 1 : k].inboard : 0>(sum, smallest);
    });
    return smallest;
  }
  /// See smooth.
  template <int k>
  ARTICULA_INLINE void smooth(Spatial<Number>& lam, Number* a) const {
    constexpr BodyIndex b = tree_index[k];
    if constexpr (b.inboard != k - 1) lam = gather<1, Spatial<Number>>(m.lambda + 6 * b.inboard);
    visit(
        b.kind, [&](auto j)
                    __attribute__((always_inline)) { lam = smooth_body<decltype(j)>(tree, m, k, lam, a); });
    if constexpr (b.has_sides) scatter<1>(lam, m.lambda + 6 * k);
    done(k, b.v, (k < bodies ? tree_index[k + 1].v : nv) - b.v);
  }
  ARTICULA_INLINE void outward(Number* a) const {
    Spatial<Number> lam{};
    for_each_index<bodies>([&](auto i) __attribute__((always_inline)) { smooth<i.value + 1>(lam, a); });
  }
};
/// Arguments are read when a body needs them, and results given as soon as they are known.
ARTICULA_INLINE Number accelerate_limb_by_limb(const Context& x, const Memory& m) {
  Number q[nq], v[nv], tau[nv], a[nv], bad = 0;
  OneSide own;
  own.side = side_of_thread();
  Tree<Number> tree = x.tree;
  if constexpr (sides > 1)
    tree.constants = own.constants, tree.armature = own.armature, tree.pitch = own.pitch;
  const auto need = [&](Argument argument, int first, int count) __attribute__((always_inline)) {
    Number* const to = argument == Argument::q ? q : argument == Argument::v ? v : tau;
#pragma unroll
    for (int i = first; i < first + count; ++i)
      to[i] = x.taken[static_cast<int>(argument)][argument == Argument::q ? own.own_q(i) : own.own_v(i)];
  };
  const auto done = [&](int k, int first, int count) __attribute__((always_inline)) {
    if (!own.gives(k)) return;
#pragma unroll
    for (int i = first; i < first + count; ++i) x.given[0](own.own_v(i), a[i] + bad);
  };
  const LimbByLimb<decltype(need), decltype(done)> limbs{tree, m, q, v, tau, x.wrenches, need, done, own};
  const Number smallest = limbs.inward();
  if (!(smallest > 0)) bad = Number(__builtin_nan(""));
  bad = over_sides(bad);
  limbs.outward(a);
  return smallest;
}
#else
inline constexpr bool limb_by_limb = false;
Number accelerate_limb_by_limb(const Context& x, const Memory& m);
#endif

}  // namespace articula::device
