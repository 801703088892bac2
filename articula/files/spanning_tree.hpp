// A tree over the links of a file that says joints in any order and direction: which joints carry links, which of them
// are turned around for it, and which close loops.
#pragma once

#include <vector>

namespace articula {

struct TreeEdge {
  int parent, child;        // -1: the world
  bool must_carry = false;  // taken before others: it cannot close a loop
};
enum class EdgeRole : unsigned char { carries, turned, loop };

struct SpanningTree {
  std::vector<EdgeRole> roles;  // by edge
  std::vector<bool> is_root;    // by link: nothing carries it
  int first_root = -1;          // of the tree that holds the link `first`; -1: it hangs from the world
};

/// Each link is carried by the first joint that names it as a child, as far as that makes no cycle. Of the joints that
/// are left, those that join two trees carry one of them, turned around where need be; the others close loops. The
/// world, and the tree of the link `first`, keep their roots.
SpanningTree spanning_tree(int links, const std::vector<TreeEdge>& edges, int first);

}  // namespace articula
