// Algorithms that are described and computed by one struct each (jacobian_rate_text.hpp, say), and entered in one list
// (listed_texts.hpp): the call for one state, the batch, the GPU, the command line, Python and everything else that goes
// over articula/algorithms have them from there.
#pragma once

#include <span>

#include "articula/kernels/description.hpp"
#include "articula/kernels/frame_motion.hpp"

namespace articula {

/// What a listed algorithm is given. q, v, a, dq, dv, da and weights are in full coordinates (mimic joints as joints of
/// their own); tau and dtau are the model's own, of nv velocities less those of mimic joints.
template <class S>
struct KernelCall {
  const S* in[argument_count] = {};
  const S* wrenches = nullptr;  // (moment, force) of each body; null: none
  S* out[8] = {};
  FrameOnBody<Real<S>> frame{};
  Axes axes = Axes::world;
  ARTICULA_INLINE const S* operator[](Argument argument) const { return in[static_cast<int>(argument)]; }
};
constexpr bool is_joint_force(Argument argument) {
  return argument == Argument::tau || argument == Argument::dtau;
}

/// How results come to models with mimic joints. added: the text knows none, and rows and columns of a mimic joint are
/// added to those of the joint that it follows, as forces and Jacobians are. tied: the text itself gives them in the
/// model's own velocities (Tree::source), as accelerations have to be.
enum class Mimics : unsigned char { added, tied };
/// A text's arrays: those that it says, and for mimic joints that it ties room for the mass matrix (tied_text.hpp).
constexpr MemoryNeeds needs_with_mimics(const MemoryNeeds& needs, Mimics mimics) {
  return mimics == Mimics::tied ? needs | MemoryNeeds{.side = true, .composite = true, .matrices = true}
                                : needs;
}

/// What a listed text says beside name, meaning, uses, parts and run(tree, call, memory); a text has what differs anew.
/// run returns the smallest pivot: where it is not positive, or not a number, some joint has nothing to move.
struct ListedText {
  static constexpr FramesNeeded frames = FramesNeeded::none;
  static constexpr MemoryNeeds needs{.motion = true};
  static constexpr bool external_forces = false;  // KernelCall::wrenches act
  static constexpr bool of_inertias = true;       // results depend on masses or armature
  static constexpr Mimics mimics = Mimics::added;
};

/// A listed algorithm as one instruction set has it, computed in numbers of kind T.
template <class T>
struct ListedIn {
  using One = T (*)(const Tree<T>&, const KernelCall<T>&, const KernelMemory<T>&);
  using Many = void (*)(const Tree<T>&, const KernelCall<T>&, const KernelMemory<T>&, T* smallest);
  One one;
  Many many;    // a state in each lane; smallest: of each
  Many varied;  // and each with masses of its own; null where they do not matter
};
struct ListedKernel {
  const char *name, *meaning;
  std::span<const Argument> uses;
  std::span<const Part> parts;
  FramesNeeded frames;
  MemoryNeeds needs;
  bool external_forces, of_inertias;
  Mimics mimics;
  ListedIn<double> in_double;
  ListedIn<float> in_float;

  template <class T>
  const ListedIn<T>& in() const {
    if constexpr (sizeof(T) == sizeof(double))
      return in_double;
    else
      return in_float;
  }
};

}  // namespace articula
