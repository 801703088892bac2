// The kernel of a device program: one thread per state loads the state's vectors, computes, and stores results; where
// some joint has nothing to move results are NaN, and the state's number is left for the caller.
#pragma once

#include "articula/cuda/device_linearizations.hpp"
#include "articula/cuda/device_operational_space.hpp"
#include "articula/cuda/device_rollout.hpp"

namespace articula::device {

/// f(vectors) with those that the algorithm uses, loaded.
template <bool full>
constexpr ArraySizes input_sizes() {
  ArraySizes s;
  for (int i = 0; i < argument_count; ++i)
    s.at[s.count++] = !uses[i] || (full && is_joint_force(Argument(i))) ? 0
                      : i == 0                                          ? (full ? nq : own_nq)
                                                                        : (full ? nv : own_nv);
  return s;
}
template <class A, class F>
ARTICULA_INLINE void with_inputs(const Arguments& a, long state, F&& f) {
  Number* in[argument_count];
  with_arrays<input_sizes<false>()>(
      in, [&]() __attribute__((always_inline)) {
        for_each_index<argument_count>([&](auto i) __attribute__((always_inline)) {
          if constexpr (uses[i.value] && !A::takes)
            load<i.value == 0 ? own_nq : own_nv>(a.in[i.value], state, a.count, in[i.value]);
        });
        f(in);
      });
}
/// f(vectors) with mimic joints filled in.
template <class A, class F>
ARTICULA_INLINE void with_full_inputs(Number* const* in, F&& f) {
  if constexpr (!has_mimics || !A::full) {
    f(in);
  } else {
    Number* full[argument_count];
    with_arrays<input_sizes<true>()>(
        full, [&]() __attribute__((always_inline)) {
          for_each_index<argument_count>([&](auto i) __attribute__((always_inline)) {
            if constexpr (is_joint_force(Argument(i.value)))
              full[i.value] = in[i.value];
            else if constexpr (uses[i.value] && i.value == 0)
              expand_coordinates(in[i.value], full[i.value]);
            else if constexpr (uses[i.value])
              expand(in[i.value], full[i.value]);
          });
          f(static_cast<Number* const*>(full));
        });
  }
}

/// How many numbers a result has before mimic joints are added up.
template <class A>
constexpr int computed_size(const PartOfResult& p) {
  if (!A::adds || !has_mimics || p.kind == Kept::as_it_is) return p.size;
  return p.kind == Kept::matrix ? nv * nv : p.size / own_nv * nv;
}
template <class A>
constexpr ArraySizes output_sizes() {
  ArraySizes s;
  for (int i = 0; i < part_count; ++i) s.at[s.count++] = A::gives ? 0 : computed_size<A>(parts[i]);
  return s;
}
template <class A, int i>
ARTICULA_INLINE void store(const Arguments& a, long state, bool singular, const Number* computed) {
  constexpr PartOfResult p = parts[i];
  if (!a.out[i]) return;
  const Numbers<Number> to(a.out[i], p.size, state, a.count);
  const Number nan = Number(__builtin_nan(""));
  if constexpr (computed_size<A>(p) == p.size && (!has_mimics || !A::adds || p.kind == Kept::as_it_is)) {
    ARTICULA_EACH_BODY
    for (int c = 0; c < p.size; ++c) to[c] = singular ? nan : computed[c];
  } else {
    Number own[p.size];
    if constexpr (p.kind == Kept::matrix)
      reduce_matrix(computed, own);
    else if constexpr (p.kind == Kept::rows)
      reduce_rows(p.size / own_nv, computed, own);
    else
      reduce(p.size / own_nv, computed, own);
    for (int c = 0; c < p.size; ++c) to[c] = singular ? nan : own[c];
  }
}

template <class A>
ARTICULA_INLINE void compute(const Arguments& a, long state) {
  with_inputs<A>(
      a, state, [&](Number* const* own) __attribute__((always_inline)) {
        with_full_inputs<A>(
            own, [&](Number* const* in) __attribute__((always_inline)) {
              with_tree(
                  a, state,
                  [&](const Tree<Number>& tree, const Number* outboard_mass) __attribute__((always_inline)) {
                    with_kernel_memory<A::needs>(
                        tree, [&](const Memory& m) __attribute__((always_inline)) {
                          Context x{tree};
                          // No loop: what a loop indexes stays in memory, and with it all that the context points to.
                          for_each_index<argument_count>([&](auto i) __attribute__((always_inline)) {
                            x.in[i.value] = in[i.value];
                          });
                          x.outboard_mass = outboard_mass;
                          Number wrenches[has_wrenches ? 6 * bodies : 1];
                          if constexpr (has_wrenches) {
                            load<6 * bodies>(a.wrenches, state, a.count, wrenches);
                            x.wrenches = wrenches;
                          }
                          if constexpr (A::takes)
                            for_each_index<argument_count>([&](auto i) __attribute__((always_inline)) {
                              const Numbers<const Number> from(a.in[i.value], i.value == 0 ? own_nq : own_nv,
                                                               state, a.count);
                              x.taken[i.value] = {from.at, from.step};
                            });
                          if constexpr (A::gives)
                            for_each_index<part_count>([&](auto i) __attribute__((always_inline)) {
                              if (!a.out[i.value]) return;
                              const Numbers<Number> to(a.out[i.value], parts[i.value].size, state, a.count);
                              x.given[i.value] = {to.at, to.step};
                            });
                          with_arrays<output_sizes<A>()>(
                              x.out, [&]() __attribute__((always_inline)) {
                                const Number smallest = A::run(x, m);
                                const bool singular = !(smallest > 0);
                                if (singular)
                                  atomicMin(a.failed, static_cast<unsigned long long>(a.first + state));
                                if constexpr (!A::gives)
                                  for_each_index<part_count>([&](auto i) __attribute__((always_inline)) {
                                    store<A, i.value>(a, state, singular, x.out[i.value]);
                                  });
                              });
                        });
                  });
            });
      });
}

}  // namespace articula::device

ARTICULA_KERNEL void __launch_bounds__(ARTICULA_BOUNDS) articula_kernel(articula::device::Arguments a) {
  const long thread = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long state = articula::device::state_of(thread);
  if (state >= a.count) return;
#ifdef ARTICULA_ROLLOUT
  articula::device::roll_out(a, state);
#else
  articula::device::compute<articula::device::algorithm::ARTICULA_ALGORITHM>(a, state);
#endif
}
#ifndef __CUDACC_RTC__
ARTICULA_KERNEL int articula_stand_in_sides = articula::device::sides;
/// All threads of one side; those of others run beside it.
ARTICULA_KERNEL void articula_stand_in(const articula::device::Arguments* a, unsigned blocks,
                                       unsigned threads, int side) {
  blockDim.x = threads;
  articula::device::turn_of_exchange = 0;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
      if (articula::device::side_of_thread() == side) articula_kernel(*a);
}
#endif
