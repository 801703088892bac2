#include "articula/cuda/folding.hpp"

#include "articula/cuda/arguments.hpp"

namespace articula::cuda {

namespace {

int end_of_subtree(const Tree<double>& tree, int k) {
  int end = k + 1;
  while (end < tree.slots() && tree.index[end].v < tree.index[k].v_end) ++end;
  return end;
}
/// Whether the same program serves the subtrees of a and b.
bool alike(const Tree<double>& tree, int a, int b) {
  const int size = end_of_subtree(tree, a) - a;
  if (end_of_subtree(tree, b) - b != size) return false;
  for (int i = 0; i < size; ++i) {
    const BodyIndex &x = tree.index[a + i], &y = tree.index[b + i];
    if (x.kind != y.kind) return false;
    if (i > 0 && x.inboard - a != y.inboard - b) return false;
  }
  return tree.index[a].inboard == tree.index[b].inboard;
}

}  // namespace

Folding fold(const Model& model, int sides) {
  const Tree<double>& tree = model.tree<double>();
  Folding folding{sides, {{0, 0, 0, 0}}};
  std::vector<bool> folded(tree.slots());  // away: another's limb stands for it
  bool any = false;
  for (int k = 1; k < tree.slots(); ++k) {
    if (folded[k]) continue;
    std::array<int, 4> same{k, k, k, k};
    int found = 1;
    for (int other = end_of_subtree(tree, k); other < tree.slots() && found < sides; ++other)
      if (!folded[other] && alike(tree, k, other)) same[found++] = other;
    if (found < sides) {  // a body that every thread has
      folding.slot.push_back({k, k, k, k});
      continue;
    }
    any = true;
    const int size = end_of_subtree(tree, k) - k;
    for (int i = 0; i < size; ++i) {
      std::array<int, 4> at{};
      for (int side = 0; side < sides; ++side) {
        at[side] = same[side] + i;
        if (side > 0) folded[at[side]] = true;
      }
      folding.slot.push_back(at);
    }
    k += size - 1;
  }
  if (sides == 1 || !any) folding.sides = 1;
  return folding;
}

std::vector<LimbLoop> limb_loops(const Model& model) {
  const Tree<double>& tree = model.tree<double>();
  std::vector<LimbLoop> limbs;
  for (int end = tree.slots(); end > 1;) {  // bodies are numbered depth first: the one before `end` is a tip
    int first = end;
    while (first > 1 && tree.index[first - 1].kind == HingeKind::revolute &&
           (first == end || tree.index[first].inboard == first - 1) && !tree.index[first - 1].has_sides)
      --first;
    if (first < end) limbs.push_back({first, end, tree.index[first].inboard});
    for (end = first < end ? first : end - 1; end > 1 && tree.index[end - 1].has_carry; --end) {
    }
  }
  return limbs;
}
bool can_loop(const Model& model) {
  constexpr int shared_bytes = 48 << 10, numbers_of_body = 15;
  const std::vector<LimbLoop> limbs = limb_loops(model);
  int longest = 0;
  for (const LimbLoop& limb : limbs) longest = std::max(longest, limb.end - limb.first);
  return !limbs.empty() &&
         longest * numbers_of_body * warp * static_cast<int>(sizeof(double)) <= shared_bytes;
}

template <class S>
FoldedTree<S>::FoldedTree(const Model& model, const Folding& folding, int side) : tree_(model.tree<S>()) {
  const Tree<S>& whole = model.tree<S>();
  const int slots = static_cast<int>(folding.slot.size()), padded = (slots + block - 1) / block * block;
  constants_.resize(static_cast<std::size_t>(padded) * constant::count);
  offset_.resize(padded), angle_.resize(padded, -1);
  std::vector<int> here(whole.slots());  // the folded model's slot
  for (int k = 0; k < slots; ++k) {
    const int from = folding.slot[k][side];
    here[from] = k;
    BodyIndex b = whole.index[from];
    const int q_end = from + 1 < whole.slots() ? whole.index[from + 1].q : whole.nq,
              v_end = from + 1 < whole.slots() ? whole.index[from + 1].v : whole.nv;
    b.inboard = here[b.inboard];
    b.has_carry = b.has_sides = false;
    for (int other = 0; other < folding.sides; ++other) {
      const BodyIndex& its = whole.index[folding.slot[k][other]];
      if (its.alignment != b.alignment) b.alignment = Alignment::any;
      if (its.twist != b.twist) b.twist = its.twist == Alignment::any ? Alignment::any : Alignment::twist;
      b.has_l |= its.has_l;
    }
    if (k > 0) {
      BodyIndex& inboard = index_[b.inboard];
      (b.inboard == k - 1 ? inboard.has_carry : inboard.has_sides) = true;
    }
    const int q = static_cast<int>(own_q.size()), v = static_cast<int>(own_v.size());
    if (whole.angle[from] >= 0) angle_[k] = q + whole.angle[from] - b.q;
    for (int i = k > 0 ? b.q : q_end; i < q_end; ++i) own_q.push_back(i);
    for (int i = k > 0 ? b.v : v_end; i < v_end; ++i) {
      own_v.push_back(i);
      armature_.push_back(whole.armature[i]);
    }
    b.q = q, b.v = v;
    index_.push_back(b);
    for (int i = 0; i < constant::count; ++i)
      constants_[k / block * (block * constant::count) + k % block + block * i] =
          whole.constants_of(from)[block * i];
    pitch_.push_back(whole.pitch[from]), offset_[k] = whole.offset[from];
  }
  v_end_.resize(own_v.size());
  tree_.bodies = slots - 1, tree_.nq = static_cast<int>(own_q.size());
  tree_.nv = static_cast<int>(own_v.size());
  tree_.index = index_.data(), tree_.constants = constants_.data(), tree_.pitch = pitch_.data();
  tree_.armature = armature_.data(), tree_.v_end = v_end_.data(), tree_.angle = angle_.data();
  tree_.offset = offset_.data();
}
template class FoldedTree<double>;
template class FoldedTree<float>;

}  // namespace articula::cuda
