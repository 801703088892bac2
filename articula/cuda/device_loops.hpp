// Forward dynamics of large trees in programs that know the model: limbs that are serial chains of revolute joints go
// through loops, all by the same instructions, limb after limb and in each body after body; the trunk that they hang on is
// unrolled. A program of all bodies would not fit the instruction cache, nor its numbers the registers (docs/gpu.md); here
// one body's do, and what goes through memory is counted: 15 numbers of a body until its limb has been swept inward, in
// shared memory, whose room the next limb takes, and up to 13 until the last sweep.
#pragma once

#include "articula/cuda/device_limbs.hpp"

namespace articula::device {

#if ARTICULA_LOOPS
/// f(tree, memory) with one body of a limb, as the tree of one body that the kernels' texts take it for: all in registers.
template <class F>
ARTICULA_INLINE void with_one(int k, F&& f) {
  const BodyIndex index{.inboard = 1,
                        .kind = HingeKind::revolute,
                        .handover = Handover::carry,
                        .alignment = Alignment::any,
                        .twist = Alignment::twist,
                        .v_end = 1};
  const Number pitch = 0, armature = looped_bodies[k].armature;
  Number x[body::count], K[6], nu, constants[block * constant::count];
#pragma unroll
  for (int i = 0; i < constant::count; ++i) constants[block * i] = looped_constants[constant::count * k + i];
  Tree<Number> tree;
  tree.bodies = 1, tree.index = &index, tree.pitch = &pitch, tree.armature = &armature;
  tree.constants = constants;
  Memory m;
  m.x = x, m.K = K, m.nu = &nu;
  f(tree, m);
}
/// What limbs take from a body that they hang on, and give to it.
struct Hub {
  Number motion[18], sum[side_count], lambda[6];
};
inline constexpr int until_inward = 15, until_outward = 13;

struct LimbLoops {
  const Context& x;
  Hub* hubs;
  Number* kept;  // until_outward numbers of each body

  /// f(number of the body, kept number): its joint's axis and l, which many joints have zero; K and D^-1 e.
  template <class F>
  ARTICULA_INLINE void placed(const Memory& one, int k, F&& f) const {
    Number* const to = kept + until_outward * k;
#pragma unroll
    for (int i = 0; i < 3; ++i) f(one.x[body::R + 3 * i + 2], to[i]);
    if (looped_bodies[k].l_is_zero) {
#pragma unroll
      for (int i = 0; i < 3; ++i) one.x[body::l + i] = 0;
    } else {
#pragma unroll
      for (int i = 0; i < 3; ++i) f(one.x[body::l + i], to[3 + i]);
    }
  }
  template <class F>
  ARTICULA_INLINE void gained(const Memory& one, int k, F&& f) const {
    Number* const to = kept + until_outward * k + 6;
#pragma unroll
    for (int i = 0; i < 6; ++i) f(one.K[i], to[i]);
    f(*one.nu, to[6]);
  }
  template <class F>
  ARTICULA_INLINE static void loaded(const Memory& one, Number* to, F&& f) {
#pragma unroll
    for (int i = 0; i < until_inward; ++i) f(one.x[body::J + i], to[warp * i]);
  }
  struct Put {
    ARTICULA_INLINE void operator()(const Number& here, Number& there) const { there = here; }
  };
  struct Take {
    ARTICULA_INLINE void operator()(Number& here, const Number& there) const { here = there; }
  };
  ARTICULA_INLINE Number taken(Argument argument, int i) const {
    return x.taken[static_cast<int>(argument)][i];
  }

  /// See sweep_one_by_one. Arguments are read one body ahead.
  ARTICULA_INLINE void move(const LimbLoop& limb, Number* load) const {
    Moving<Number> at;
    const Number* const from = hubs[limb.hub].motion;
    at.R = gather<1, Mat3<Number>>(from), at.w = gather<1, Vec3<Number>>(from + 9);
    at.alpha_w = gather<1, Vec3<Number>>(from + 12), at.alpha_v = gather<1, Vec3<Number>>(from + 15);
    at.A = acceleration_gradient(at.w, at.alpha_w);
    Number next_q = taken(Argument::q, looped_bodies[limb.first].q),
           next_v = taken(Argument::v, looped_bodies[limb.first].v);
#pragma unroll 1
    for (int k = limb.first; k < limb.end; ++k, load += warp * until_inward) {
      const Number angle = next_q + looped_bodies[k].offset, rate = next_v;
      const int ahead = k + 1 < limb.end ? k + 1 : k;
      next_q = taken(Argument::q, looped_bodies[ahead].q),
      next_v = taken(Argument::v, looped_bodies[ahead].v);
      with_one(
          k, [&](const Tree<Number>& tree, const Memory& one) __attribute__((always_inline)) {
            const Mat3<Number> X = joint_axes<Number>(tree.constants, false, sincos(angle));
            Vec3<Number> l = joint_origin<Number>(tree.constants);
            move_body<Upto::accelerations>(tree, 0, &rate, static_cast<const Number*>(nullptr), X, l, at);
            write(one.x + body::l, l), write(one.x + body::R, at.R);
            NewtonEuler<true>::moved(tree, 0, at, one.x);
            placed(one, k, Put{}), loaded(one, load, Put{});
          });
    }
  }
  /// See articulate.
  ARTICULA_INLINE void pass(const LimbLoop& limb, Number* load, Number& smallest) const {
    Articulated<Number> at{};
    Number next_tau = taken(Argument::tau, looped_bodies[limb.end - 1].v);
#pragma unroll 1
    for (int k = limb.end - 1; k >= limb.first; --k) {
      const Number tau = next_tau;
      next_tau = taken(Argument::tau, looped_bodies[k > limb.first ? k - 1 : k].v);
      with_one(
          k, [&](const Tree<Number>& tree, const Memory& one) __attribute__((always_inline)) {
            placed(one, k, Take{}), loaded(one, load + warp * until_inward * (k - limb.first), Take{});
            at.P += Inertia<Number>{tree.constants[block * constant::m], read<Vec3>(one.x + body::mp),
                                    read<Sym3>(one.x + body::J)};
            at.p += read<Spatial>(one.x + body::f);
            smallest = smaller(smallest, pass_joint<Revolute, true, false>(tree, one, &tau, 0, at));
            gained(one, k, Put{});
          });
    }
    Number both[side_count], *const sum = hubs[limb.hub].sum;
    scatter<1>(at.P, both), scatter<1>(at.p, both + 21);
#pragma unroll
    for (int i = 0; i < side_count; ++i) sum[i] += both[i];
  }
  ARTICULA_INLINE void inward(Number& smallest) const {
    ARTICULA_SHARED Number loads[warp * until_inward * longest_loop];  // of the warp that a block is
    Number* const load = loads + threadIdx.x;
#pragma unroll 1
    for (int n = 0; n < loop_count; ++n) {
      const LimbLoop limb = limb_loops[n];
      move(limb, load);
      pass(limb, load, smallest);
    }
  }
  /// See smooth.
  ARTICULA_INLINE void outward(Number bad) const {
#pragma unroll 1
    for (int n = 0; n < loop_count; ++n) {
      const LimbLoop limb = limb_loops[n];
      Spatial<Number> lam = gather<1, Spatial<Number>>(hubs[limb.hub].lambda);
#pragma unroll 1
      for (int k = limb.first; k < limb.end; ++k)
        with_one(
            k, [&](const Tree<Number>& tree, const Memory& one) __attribute__((always_inline)) {
              placed(one, k, Take{}), gained(one, k, Take{});
              Number a;
              lam = smooth_body<Revolute>(tree, one, 0, lam, &a);
              x.given[0](looped_bodies[k].v, a + bad);
            });
    }
  }
};

ARTICULA_INLINE Number accelerate_by_loops(const Context& x, const Memory& m) {
  Number q[nq], v[nv], tau[nv], a[nv], bad = 0, smallest(1e30), kept[until_outward * (bodies + 1)];
  Hub hubs[loop_hubs];
  const auto need = [&](Argument argument, int first, int count) __attribute__((always_inline)) {
    Number* const to = argument == Argument::q ? q : argument == Argument::v ? v : tau;
#pragma unroll
    for (int i = first; i < first + count; ++i) to[i] = x.taken[static_cast<int>(argument)][i];
  };
  const auto done = [&](int, int first, int count) __attribute__((always_inline)) {
#pragma unroll
    for (int i = first; i < first + count; ++i) x.given[0](i, a[i] + bad);
  };
  OneSide own;
  const LimbByLimb<decltype(need), decltype(done)> trunk{x.tree, m, q, v, tau, nullptr, need, done, own};
  const LimbLoops limbs{x, hubs, kept};
  Moving<Number> at = world_motion<Number>(x.tree);
  const auto moved = [&](auto k) __attribute__((always_inline)) {
    if constexpr (hub[k.value] >= 0) {
      Hub& h = hubs[hub[k.value]];
      scatter<1>(at.R, h.motion), scatter<1>(at.w, h.motion + 9);
      scatter<1>(at.alpha_w, h.motion + 12), scatter<1>(at.alpha_v, h.motion + 15);
#pragma unroll
      for (int i = 0; i < side_count; ++i) h.sum[i] = 0;
#pragma unroll
      for (int i = 0; i < 6; ++i) h.lambda[i] = 0;
    }
  };
  Number* const world = slot(m.x, 0, int(body::count));
  write(world + body::R, at.R);
  write_motion<Upto::accelerations>(world, at);
  moved(std::integral_constant<int, 0>{});
  for_each_index<bodies>([&](auto i) __attribute__((always_inline)) {
    constexpr int k = i.value + 1;
    if constexpr (!looped[k]) {
      trunk.template move<k>(at);
      moved(std::integral_constant<int, k>{});
    }
  });
  limbs.inward(smallest);
  Articulated<Number> sum[bodies + 1];
  for_each_index<bodies + 1>([&](auto k) __attribute__((always_inline)) {
    Number from[side_count];
#pragma unroll
    for (int i = 0; i < side_count; ++i) {
      if constexpr (hub[k.value] >= 0)
        from[i] = hubs[hub[k.value]].sum[i];
      else
        from[i] = 0;
    }
    if constexpr (!looped[k.value])
      sum[k.value].P = gather<1, ArticulatedInertia<Number>>(from),
      sum[k.value].p = gather<1, Spatial<Number>>(from + 21);
  });
  for_each_index<bodies>([&](auto i) __attribute__((always_inline)) {
    constexpr int k = bodies - i.value;
    if constexpr (!looped[k]) trunk.template pass<k, false>(sum, smallest);
  });
  if (!(smallest > 0)) bad = Number(__builtin_nan(""));
  Spatial<Number> lam{};
  for_each_index<bodies>([&](auto i) __attribute__((always_inline)) {
    constexpr int k = i.value + 1;
    if constexpr (!looped[k]) {
      trunk.template smooth<k>(lam, a);
      if constexpr (hub[k] >= 0) scatter<1>(lam, hubs[hub[k]].lambda);
    }
  });
  limbs.outward(bad);
  return smallest;
}
#else
Number accelerate_by_loops(const Context& x, const Memory& m);
#endif

}  // namespace articula::device
