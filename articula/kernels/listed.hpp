// Algorithms that are described and computed by one struct each (jacobian_rate_text.hpp, say), and entered in one list
// (listed_kernels.cpp): the call for one state, the batch, the command line and everything that goes over
// articula/algorithms have them from there.
#pragma once

#include <span>

#include "articula/kernels/description.hpp"
#include "articula/kernels/frame_motion.hpp"

namespace articula {

/// What a listed algorithm is given, in full coordinates (mimic joints as joints of their own).
template <class S>
struct KernelCall {
  const S* in[argument_count] = {};
  S* out[8] = {};
  FrameOnBody<Real<S>> frame{};
  Axes axes = Axes::world;
  ARTICULA_INLINE const S* operator[](Argument argument) const { return in[static_cast<int>(argument)]; }
};

/// A listed algorithm as one instruction set has it. Memory is that of kinematics (MemoryNeeds::motion).
struct ListedKernel {
  const char *name, *meaning;
  std::span<const Argument> uses;
  std::span<const Part> parts;
  FramesNeeded frames;
  void (*one_in_double)(const Tree<double>&, const KernelCall<double>&, const KernelMemory<double>&);
  void (*one_in_float)(const Tree<float>&, const KernelCall<float>&, const KernelMemory<float>&);
  void (*many_in_double)(const Tree<double>&, const KernelCall<double>&, const KernelMemory<double>&);
  void (*many_in_float)(const Tree<float>&, const KernelCall<float>&, const KernelMemory<float>&);

  template <class S>
  auto one() const {
    if constexpr (sizeof(S) == sizeof(double))
      return one_in_double;
    else
      return one_in_float;
  }
  template <class S>
  auto many() const {
    if constexpr (sizeof(S) == sizeof(double))
      return many_in_double;
    else
      return many_in_float;
  }
};

}  // namespace articula
