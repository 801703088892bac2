// Compiled once for each instruction set: the algorithms that are structs (listed_texts.hpp).
#include "articula/kernels/lanes.hpp"
#include "articula/kernels/listed_texts.hpp"

namespace articula::ARTICULA_ISA {

/// The same text with a state in each lane.
template <class A, class T>
void in_lanes(const Tree<T>& tree, const KernelCall<T>& call, const KernelMemory<T>& m) {
  KernelCall<Lanes<T>> c;
  for (int i = 0; i < argument_count; ++i) c.in[i] = packs(call.in[i]);
  for (int i = 0; i < 8; ++i) c.out[i] = packs(call.out[i]);
  c.frame = call.frame;
  c.axes = call.axes;
  A::template run<Lanes<T>>(tree, c, packs(m));
}

template <class... A>
std::span<const ListedKernel> kernels_of(List<A...>) {
  static constexpr ListedKernel all[] = {{A::name, A::meaning, A::uses, A::parts, A::frames,
                                          A::template run<double>, A::template run<float>,
                                          in_lanes<A, double>, in_lanes<A, float>}...};
  return all;
}

std::span<const ListedKernel> listed_kernels() { return kernels_of(Listed{}); }

}  // namespace articula::ARTICULA_ISA
