// How the kernels' arrays come to be: every memory struct of this folder has one list of its arrays, `plan`, which says
// how many numbers each has and when it is needed. Allocation, and the same arrays with another kind of number, derive
// from it and from the struct's fields.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "articula/spatial/aligned.hpp"
#include "articula/spatial/scalar.hpp"

namespace articula {

/// Hands out all arrays of a memory struct from one block, each on a cache line of its own. m.plan(give, arguments ..)
/// calls give(pointer, count, wanted) for every array; it is run twice, to add up and to hand out.
template <class S, template <class> class Memory, class... Arguments>
AlignedArray<S> make_arrays(Memory<S>& m, const Arguments&... arguments) {
  AlignedArray<S> memory;
  std::size_t used = 0;
  const auto give = [&](S*& pointer, std::size_t count, bool wanted = true) {
    if (!wanted) return;
    if (memory.size()) pointer = memory.data() + used;
    used += (count + 15) / 16 * 16;
  };
  m.plan(give, arguments...);
  memory = AlignedArray<S>(used + 16);
  used = 0;
  m.plan(give, arguments...);
  return memory;
}

/// The same arrays, taken for numbers of another kind: lanes for the packs that they are, or the other way round.
template <class To, template <class> class Memory, class From>
ARTICULA_INLINE Memory<To> retyped(const Memory<From>& m) {
  static_assert(sizeof(Memory<To>) == sizeof(Memory<From>) && std::is_trivially_copyable_v<Memory<From>>);
  return std::bit_cast<Memory<To>>(m);
}

}  // namespace articula
