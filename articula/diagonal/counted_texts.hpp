// The kernels run with counting numbers: memory for all of them, and the list of what can be counted.
#pragma once

#include <memory>
#include <vector>

#include "articula/kernels/diagonal_memory.hpp"
#include "articula/kernels/memory.hpp"
#include "articula/model/model.hpp"
#include "articula/spatial/counted.hpp"

namespace articula::counting {

/// A model with everything that its kernels need, as counting numbers.
struct Bench {
  explicit Bench(const Model& model);
  Counted* give(std::size_t count);
  int nv() const { return tree.nv; }

  const Model& model;
  Tree<double> tree;
  KernelMemory<Counted> m;
  DiagonalMemory<Counted> d;
  Counted *q, *v, *a, *tau, *dq, *dv, *da;  // the state and a perturbation
  Counted *out, *matrix[5] = {};            // results: a vector, and nv x nv matrices
  std::shared_ptr<void> more;               // what a group of entries keeps

 private:
  std::vector<std::vector<Counted>> memory_;
};

struct Entry {
  const char *name, *what;
  /// Steps that are needed before, and not counted.
  void (*before)(Bench&);
  void (*run)(Bench&);
};
std::vector<Entry> dynamics_entries();
std::vector<Entry> linearization_entries();
/// The parts of `normalized` and `unnormalized`, as DIAG Table 2 has rows for them.
std::vector<Entry> diagonal_stages();

}  // namespace articula::counting
