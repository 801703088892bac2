// What the linearizations' workspaces share: their kernels' arrays, damping, and perturbations in full
// coordinates.
#pragma once

#include <vector>

#include "articula/dynamics/workspace.hpp"
#include "articula/kernels/linearization_memory.hpp"

namespace articula {

/// How da/dq, da/dv and da/dtau are made: from the linearized inverse dynamics and M^-1 (LIN Algorithms 3 and
/// 4), or directly (5 and 6). All give the same numbers; automatic takes what is faster. For study: numerical is
/// Algorithm 4 with a numerical inverse of M, printed is Algorithm 6 as the paper prints it.
enum class Method { automatic, direct, conventional, numerical, printed };
inline constexpr const char* method_names[] = {"automatic", "direct", "conventional", "numerical", "printed"};

template <class S>
struct LinearizationOptions {
  Wrenches<S> wrenches{};  // external forces, as everywhere: world axes, at each body's joint origin
  HeldIn held = HeldIn::world_axes;  // which of their components stay when the bodies move
  /// The force of a body held in world axes acts at its joint origin, unless this says otherwise: r F* of
  /// each body, r from the joint origin to where F acts, world axes (a sum of them, if several forces make up
  /// the body's).
  std::span<const Mat3<S>> levers{};
  bool damping = false;               // tau includes the joints' damping times v
  Method method = Method::automatic;  // of the linearized forward dynamics
};

/// Which bodies make up limbs whose columns other rows of Algorithm 6 have from their carrier (packs of
/// states only), and which bodies carry others than the next.
struct Limbs {
  template <class S>
  explicit Limbs(const Tree<S>& tree);
  std::vector<int> carrier;  // by slot, numbered; -1
  int carriers = 0;
  std::vector<Limb> limbs;
  std::vector<int> begin;  // by velocity: the first of its limb; 0: none
};

template <class S>
class LinearizationWorkspace : public Workspace<S> {
 protected:
  LinearizationWorkspace(const Model& model, const MemoryNeeds& memory, const LinearizationNeeds& needs);

  /// Checks and takes the options of a call.
  ExternalForces<S> external(const char* function, const LinearizationOptions<S>& options);
  void check_square(const char* function, const char* argument, std::size_t size) const;
  /// Perturbations in full coordinates: the argument itself, or expanded into memory of this workspace, three
  /// of them.
  const S* full_velocity(int which, std::span<const S> x);
  /// out = Gamma* x.
  void reduce(const S* full, std::span<S> out) const;
  /// Gamma* X Gamma.
  void reduce_matrix(const S* full, std::span<S> out) const;

  LinearizationMemory<S> lin_;

 private:
  AlignedArray<S> arrays_, mass_, damping_, expanded_;
  Limbs limbs_;
  std::vector<ColumnIndex> index_;
  std::vector<unsigned char> bits_;
  std::vector<int> block_rows_, block_begin_;
};

extern template class LinearizationWorkspace<double>;
extern template class LinearizationWorkspace<float>;

}  // namespace articula
