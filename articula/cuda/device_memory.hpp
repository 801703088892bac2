// A thread's arrays: every memory struct's own plan (articula/kernels/arrays.hpp), with one local array for each entry,
// so that those whose indices are all known when the program is compiled become registers.
#pragma once

#include "articula/kernels/coriolis_text.hpp"
#include "articula/kernels/diagonal_memory.hpp"
#include "articula/kernels/linearization_memory.hpp"

namespace articula::device {

struct ArraySizes {
  int count = 0;
  std::size_t at[32] = {};
};
/// plan's `give` that writes down sizes.
template <class S>
struct WriteSizes {
  ArraySizes& sizes;
  constexpr void operator()(S*&, std::size_t size, bool wanted = true) const {
    sizes.at[sizes.count++] = wanted ? size : 0;
  }
};
/// plan's `give` that hands out arrays in the same order.
template <class S>
struct HandOut {
  S* const* next;
  ARTICULA_INLINE void operator()(S*& pointer, std::size_t, bool = true) { pointer = *next++; }
};
template <class S, template <class> class Memory, class... Arguments>
constexpr ArraySizes sizes_of(const Tree<Real<S>>& tree, const Arguments&... arguments) {
  ArraySizes sizes;
  Memory<S> m{};
  m.plan(WriteSizes<S>{sizes}, tree, arguments...);
  return sizes;
}

/// f() with pointers to local arrays of these sizes.
template <ArraySizes sizes, int i = 0, class S, class F>
ARTICULA_INLINE void with_arrays(S** pointers, F&& f) {
  if constexpr (i == sizes.count) {
    f();
  } else if constexpr (sizes.at[i] == 0) {
    pointers[i] = nullptr;
    with_arrays<sizes, i + 1>(pointers, f);
  } else {
    S here[sizes.at[i]];
#ifdef ARTICULA_POISON
    for (S& x : here) x = S(__builtin_nan(""));
#endif
    pointers[i] = here;
    with_arrays<sizes, i + 1>(pointers, f);
  }
}
/// f(memory) with arrays of that memory struct.
template <ArraySizes sizes, template <class> class Memory, class S, class F, class... Arguments>
ARTICULA_INLINE void with_memory(const Tree<Real<S>>& tree, F&& f, const Arguments&... arguments) {
  S* pointers[sizes.count + 1];
  with_arrays<sizes>(
      pointers, [&]() __attribute__((always_inline)) {
        Memory<S> m{};
        m.plan(HandOut<S>{pointers}, tree, arguments...);
        f(m);
      });
}

}  // namespace articula::device
