// The table of compiled kernels: one for each instruction set and scalar, chosen once at run time.
#pragma once

#include "articula/dynamics/frame_motion.hpp"

namespace articula {

template <class S>
struct KernelTable {
  const char* name;
  void (*inverse_dynamics)(const Tree<S>&, const S* q, const S* v, const S* a, const S* wrenches,
                           const KernelMemory<S>&, S* tau);
  S(*forward_dynamics)
  (const Tree<S>&, const S* q, const S* v, const S* tau, const S* wrenches, const KernelMemory<S>&, S* a);
  void (*mass_matrix)(const Tree<S>&, const S* q, const KernelMemory<S>&, S* M);
  void (*composite_inertias)(const Tree<S>&, const S* q, const KernelMemory<S>&);
  S (*factor)(const Tree<S>&, const S* q, const KernelMemory<S>&);
  void (*solve)(const Tree<S>&, const KernelMemory<S>&, const S* T, S* x);
  void (*invert)(const Tree<S>&, const KernelMemory<S>&, S* inverse);
  void (*kinematics)(const Tree<S>&, const S* q, const S* v, const S* a, const KernelMemory<S>&);
  Totals<S> (*totals)(const Tree<S>&, const KernelMemory<S>&, bool moving);
  void (*pose_at)(const Tree<S>&, const S* q, const FrameOnBody<S>&, const PathMemory<S>&, S* pose);
  void (*jacobian_at)(const Tree<S>&, const S* q, const FrameOnBody<S>&, Axes, const PathMemory<S>&, S* J);
};

/// The table in use: the best instruction set of this machine, or what ARTICULA_ISA in the environment (v2,
/// v3, v4) or use_instruction_set asks for.
template <class S>
const KernelTable<S>& kernels();

}  // namespace articula
