// Compiled once for each instruction set: the algorithms that are structs (listed_texts.hpp).
#include "articula/kernels/lanes.hpp"
#include "articula/kernels/listed_texts.hpp"

namespace articula::ARTICULA_ISA {

/// The same text with a state in each lane of packs P.
template <class A, class P, class T>
void in_lanes(const Tree<T>& tree, const KernelCall<T>& call, const KernelMemory<T>& m, T* smallest) {
  KernelCall<P> c;
  for (int i = 0; i < argument_count; ++i) c.in[i] = reinterpret_cast<const P*>(call.in[i]);
  for (int i = 0; i < 8; ++i) c.out[i] = reinterpret_cast<P*>(call.out[i]);
  c.wrenches = reinterpret_cast<const P*>(call.wrenches);
  const FrameOnBody<T>& f = call.frame;
  c.frame = {f.slot,
             {f.R.xx, f.R.xy, f.R.xz, f.R.yx, f.R.yy, f.R.yz, f.R.zx, f.R.zy, f.R.zz},
             {f.p.x, f.p.y, f.p.z}};
  c.axes = call.axes;
  A::template run<P>(tree_of_packs<P>(tree), c, retyped<P>(m)).store(smallest);
}

template <class A, class T>
constexpr ListedIn<T> listed_in() {
  using Varied = Pack<T, lanes_of<T>, Constants::varied>;
  ListedIn<T> in{A::template run<T>, in_lanes<A, Lanes<T>, T>, nullptr};
  if constexpr (A::of_inertias) in.varied = in_lanes<A, Varied, T>;
  return in;
}

template <class... A>
std::span<const ListedKernel> kernels_of(List<A...>) {
  static constexpr ListedKernel all[] = {{A::name, A::meaning, A::uses, A::parts, A::frames, A::needs,
                                          A::external_forces, A::of_inertias, A::mimics,
                                          listed_in<A, double>(), listed_in<A, float>()}...};
  return all;
}

std::span<const ListedKernel> listed_kernels() { return kernels_of(Listed{}); }

}  // namespace articula::ARTICULA_ISA
