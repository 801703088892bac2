#include "articula/files/spanning_tree.hpp"

#include <numeric>

namespace articula {

namespace {

/// Links, and the world as one more.
class TreeBuilder {
 public:
  TreeBuilder(int links, const std::vector<TreeEdge>& edges, int first)
      : edges_(edges),
        world_(links),
        first_(first < 0 ? links : first),
        group_(std::size_t(links) + 1),
        carrier_(group_.size(), -1) {
    std::iota(group_.begin(), group_.end(), 0);
    out_.roles.assign(edges.size(), EdgeRole::loop);
  }

  SpanningTree build() {
    for (const bool must : {true, false}) {
      for (std::size_t e = 0; e < edges_.size(); ++e)
        if (edges_[e].must_carry == must) carry(int(e));
      for (std::size_t e = 0; e < edges_.size(); ++e)
        if (edges_[e].must_carry == must && out_.roles[e] == EdgeRole::loop) connect(int(e));
    }
    out_.is_root.resize(std::size_t(world_));
    for (int k = 0; k < world_; ++k) out_.is_root[std::size_t(k)] = carrier_[std::size_t(k)] < 0;
    int root = first_;
    while (root != world_ && carrier_[std::size_t(root)] >= 0) root = inboard(root);
    out_.first_root = root == world_ ? -1 : root;
    return std::move(out_);
  }

 private:
  int node(int link) const { return link < 0 ? world_ : link; }
  int group(int k) {
    while (group_[std::size_t(k)] != k)
      k = group_[std::size_t(k)] = group_[std::size_t(group_[std::size_t(k)])];
    return k;
  }
  int inboard(int k) const {
    const std::size_t e = std::size_t(carrier_[std::size_t(k)]);
    return node(out_.roles[e] == EdgeRole::turned ? edges_[e].child : edges_[e].parent);
  }

  void carry(int e) {
    const int parent = node(edges_[std::size_t(e)].parent), child = node(edges_[std::size_t(e)].child);
    if (child == world_ || carrier_[std::size_t(child)] >= 0 || group(parent) == group(child)) return;
    carrier_[std::size_t(child)] = e;
    out_.roles[std::size_t(e)] = EdgeRole::carries;
    group_[std::size_t(group(child))] = group(parent);
  }

  void connect(int e) {
    const int parent = node(edges_[std::size_t(e)].parent), child = node(edges_[std::size_t(e)].child);
    if (group(parent) == group(child)) return;
    const int stays[] = {group(world_), group(first_)};
    // The child's tree comes under the parent's, unless the child's is one to stay and the parent's is not.
    const auto rank = [&](int k) { return group(k) == stays[0] ? 2 : group(k) == stays[1] ? 1 : 0; };
    const bool turned = rank(child) > rank(parent);
    make_root(turned ? parent : child);
    carrier_[std::size_t(turned ? parent : child)] = e;
    out_.roles[std::size_t(e)] = turned ? EdgeRole::turned : EdgeRole::carries;
    group_[std::size_t(group(child))] = group(parent);
  }

  /// Turns the joints between a link and the root of its tree around.
  void make_root(int k) {
    int carrier = -1;
    while (true) {
      const int own = carrier_[std::size_t(k)];
      const int next = own < 0 ? -1 : inboard(k);
      carrier_[std::size_t(k)] = carrier;
      if (own < 0) return;
      EdgeRole& role = out_.roles[std::size_t(own)];
      role = role == EdgeRole::turned ? EdgeRole::carries : EdgeRole::turned;
      carrier = own;
      k = next;
    }
  }

  const std::vector<TreeEdge>& edges_;
  int world_, first_;
  std::vector<int> group_;    // a forest of union and find
  std::vector<int> carrier_;  // by link: the edge that carries it
  SpanningTree out_;
};

}  // namespace

SpanningTree spanning_tree(int links, const std::vector<TreeEdge>& edges, int first) {
  return TreeBuilder(links, edges, first).build();
}

}  // namespace articula
