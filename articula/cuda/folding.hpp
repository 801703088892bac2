// Limbs that are alike, such as a robot's left and right arm: one program for both, a thread for each. The model that
// such a program knows has one of them, its numbers differing from side to side.
#pragma once

#include <array>
#include <vector>

#include "articula/model/model.hpp"

namespace articula::cuda {

/// A model as the threads that share a state see it. Without limbs that are alike: the model itself.
struct Folding {
  int sides = 1;  // threads that share a state
  std::vector<std::array<int, 4>>
      slot;  // by body of the folded model, first one the world: its slot on each side
  /// Whether the body is one of several that are alike.
  bool sided(std::size_t k) const { return sides > 1 && slot[k][0] != slot[k][1]; }
};

/// The folding for so many threads to a state; sides is 1 where the model has no limbs for them.
Folding fold(const Model& model, int sides);

/// A limb that a loop goes through (device_loops.hpp): bodies first .. end - 1, each on the one before, all by revolute
/// joints, the last one a tip; the first one on body `on`.
struct LimbLoop {
  int first, end, on;
};
std::vector<LimbLoop> limb_loops(const Model& model);
/// Whether it has such limbs, and the longest fits a multiprocessor's memory.
bool can_loop(const Model& model);

/// The folded model with one side's numbers.
template <class S>
class FoldedTree {
 public:
  FoldedTree(const Model& model, const Folding& folding, int side);
  const Tree<S>& tree() const { return tree_; }
  /// Where the model has the coordinates and velocities of this side.
  std::vector<int> own_q, own_v;

 private:
  std::vector<BodyIndex> index_;
  std::vector<S> constants_, pitch_, armature_, offset_;
  std::vector<int> v_end_, angle_;
  Tree<S> tree_;
};

}  // namespace articula::cuda
