// What a program costs: its steps on counting numbers.
#define ARTICULA_ISA operators_baseline
#include <fmt/format.h>

#include <deque>

#include "articula/operators/machine.hpp"
#include "articula/spatial/counted.hpp"

namespace articula::operators {

namespace {
/// The state's numbers, as numbers that count.
struct CountedMemory : MachineMemory<Counted> {
  explicit CountedMemory(const Tree<double>& tree, const MachineMemory<double>& given)
      : MachineMemory<Counted>{} {
    const KernelMemory<double>& from = given.m;
    const int slots = tree.slots(), nv = tree.nv;
    Counted* const x = room(static_cast<std::size_t>(slots) * body::count);
    for (int k = 0; k < slots; ++k)
      for (int c = 0; c < body::count; ++c)
        x[static_cast<std::size_t>(k) * body::count + c] = slot(from.x, k, int(body::count))[block * c];
    m.x = x;
    m.side = room(6 * slots);
    m.K = copy(from.K, 6 * nv);
    m.D = copy(from.D, 6 * nv);
    m.inv_D = copy(from.inv_D, 6 * nv);
    m.lambda = room(6 * slots);
    m.nu = room(nv);
    P = copy(given.P, 21 * slots);
    G = copy(given.G, 6 * nv);
    R = copy(given.R, 10 * slots);
    Omega = copy(given.Omega, 21 * slots);
    H_dot = copy(given.H_dot, 6 * nv);
    M_ring = copy(given.M_ring, 18 * slots);
    P_ring = copy(given.P_ring, 18 * slots);
    G_ring = copy(given.G_ring, 6 * nv);
    R_ring = copy(given.R_ring, 18 * slots);
    J_ring = copy(given.J_ring, 18 * slots);
    H_ddot = copy(given.H_ddot, 6 * nv);
    H_f = copy(given.H_f, 6 * nv);
  }

 private:
  Counted* room(std::size_t n) { return arrays_.emplace_back(n).data(); }
  Counted* copy(const double* from, std::size_t n) { return arrays_.emplace_back(from, from + n).data(); }
  std::deque<std::vector<Counted>> arrays_;
};
}  // namespace

std::vector<Operations> Program::counts() {
  using S = Counted;
  state_.require(needs_);
  const Tree<double>& tree = state_.tree();
  const CountedMemory memory(tree, Machine<double>::memory_of(state_));
  const std::size_t longest = std::max({rows_, columns_, 6 * tree.slots(), tree.nv, 6});
  std::vector<S> own(memory_.size()), others(longest);
  const auto buffer = [&](int b) -> S* {
    return outside_[b] == -1 ? own.data() + offsets_[b] : others.data();
  };
  const Machine<S> machine{*this, tree, memory};
  std::vector<Operations> out;
  for (const Instruction& i : instructions_) {
    Counted::tally() = {};
    if (i.kind == Instruction::Kind::sweep) {
      const Sweep<S> s = machine.sweep(memory, i, buffer);
      if (s.outward)
        isa::sweep_outward(tree, memory.m, s);
      else
        isa::sweep_inward(tree, memory.m, s);
    } else if (i.kind == Instruction::Kind::local) {
      machine.local(i, buffer(i.source), buffer(i.target));
    } else {
      machine.combine(i, buffer);
    }
    const Tally& tally = Counted::tally();
    out.push_back({tally.multiplications + tally.divisions, tally.additions});
  }
  return out;
}

Operations Program::count() {
  Operations sum;
  for (const Operations& o : counts()) {
    sum.multiplications += o.multiplications;
    sum.additions += o.additions;
  }
  return sum;
}

int Program::sweeps() const {
  return static_cast<int>(std::count_if(instructions_.begin(), instructions_.end(),
                                        [](const auto& i) { return i.kind == Instruction::Kind::sweep; }));
}

std::string Program::explain() {
  const std::vector<Operations> costs = this->counts();
  std::string text = to_string(*expression_) + '\n';
  Operations sum;
  for (std::size_t n = 0; n < instructions_.size(); ++n) {
    const Instruction& i = instructions_[n];
    const char* what = i.kind == Instruction::Kind::sweep
                           ? (i.outward ? "sweep, base to tip" : "sweep, tip to base")
                       : i.kind == Instruction::Kind::local ? "each body by itself"
                                                            : "addition";
    text += fmt::format("  {}. {:<20} {:<44} {:>8} multiplications {:>8} additions\n", n + 1, what, i.text,
                        costs[n].multiplications, costs[n].additions);
    sum.multiplications += costs[n].multiplications;
    sum.additions += costs[n].additions;
  }
  text += fmt::format("{} sweep{} over {} bodies, {} multiplications, {} additions\n", sweeps(),
                      sweeps() == 1 ? "" : "s", state_.bodies(), sum.multiplications, sum.additions);
  return text;
}

}  // namespace articula::operators
