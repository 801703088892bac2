// An expression bound to a state: compiled once into sweeps over the bodies, then run without allocation.
#pragma once

#include <initializer_list>

#include "articula/kernels/sweep.hpp"
#include "articula/operators/expression.hpp"
#include "articula/operators/operator_state.hpp"

namespace articula::operators {

/// One step of a program. Numbers are buffers; -1: absent.
struct Instruction {
  enum class Kind : unsigned char { sweep, local, combine };
  Kind kind = Kind::combine;
  int target = -1;
  int size = 0;        // of the target
  std::string text{};  // the products it stands for

  // local: target = symbol * source (or its adjoint)
  Symbol symbol = Symbol::H;
  bool starred = false;
  int source = -1;
  int frames = -1;  // which set of frames, for B

  // combine: target = sum of factor * buffer
  std::vector<std::pair<double, int>> terms{};

  // sweep: as Sweep, with buffers for pointers
  bool outward = false, psi = false;
  int plain = -1, more = -1, rigid_times = -1, symmetric_times = -1, K_times = -1, H_times = -1, tap = -1,
      tap_add = -1;
  bool rigid_is_R = false, symmetric_is_Omega = false, tap_solve = false;
  double plain_factor = 1, more_factor = 1, rigid_factor = 1, symmetric_factor = 1, K_factor = 1,
         H_factor = 1, tap_factor = 1, tap_add_factor = 1;
};

struct Operations {
  long multiplications = 0, additions = 0;
};

/// Bound to a state that must outlive it. One per thread.
class Program {
 public:
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(OperatorState& state, const NodePtr& expression);
  template <Operator X>
  Program(OperatorState& state, const X& expression) : Program(state, node_of(expression)) {}

  int rows() const { return rows_; }
  /// Of an operator; 1 for a vector.
  int columns() const { return columns_; }
  /// How many numbers input i needs; 0: it is not used.
  int input_size(int i) const { return i < static_cast<int>(input_sizes_.size()) ? input_sizes_[i] : 0; }
  int inputs() const { return static_cast<int>(input_sizes_.size()); }

  /// out = expression * x at the state's last update. x and out may be the same. No allocation.
  void apply(In<double> x, Out<double> out) { apply(x, {}, out); }
  /// out = expression, a vector made of the inputs.
  void evaluate(std::span<const std::span<const double>> inputs, Out<double> out) { apply({}, inputs, out); }
  void evaluate(std::initializer_list<std::span<const double>> inputs, Out<double> out) {
    apply({}, {inputs.begin(), inputs.size()}, out);
  }
  void apply(In<double> x, std::span<const std::span<const double>> inputs, Out<double> out);

  /// The matrix, column by column: for tests and printing.
  Dense dense();
  /// The steps that apply() runs: direction of each sweep, what is folded into it, multiplications and
  /// additions as executed at this state's model (setting the operators up apart).
  std::string explain();
  Operations count();
  int sweeps() const;

 private:
  friend struct Compiler;
  template <class S>
  friend struct Machine;
  struct FrameAt {
    int body;
    Vec3<double> point;  // in the body's own axes, from O_k
  };
  /// A pointer of a resolved sweep that is outside: the argument, an input or a vector of the state.
  struct Patch {
    const double** place;
    int outside;
  };
  void resolve();
  /// Of each instruction, on copies of the state's numbers.
  std::vector<Operations> counts();
  const double* outside(int from, In<double> x, std::span<const std::span<const double>> inputs) const;
  [[noreturn]] void refuse(In<double> x, std::span<const std::span<const double>> inputs,
                           Out<double> out) const;

  OperatorState& state_;
  NodePtr expression_;
  std::vector<Sweep<double>> resolved_;  // by instruction
  std::vector<Patch> patches_;
  std::vector<Instruction> instructions_;
  std::vector<std::vector<FrameAt>> frame_sets_;
  std::vector<std::size_t> offsets_;  // of buffers in memory_; others are outside, see below
  std::vector<int> outside_;          // per buffer: -1 own; 0 the argument; 1 + i: input i; -2 - known
  AlignedArray<double> memory_;
  std::vector<int> input_sizes_;
  std::size_t memory_size_ = 0;
  int rows_ = 0, columns_ = 1, result_ = -1;
  bool columns_is_one_ = false;  // a vector: nothing to be applied to
  unsigned needs_ = 0;
};

/// expression * x, in one call: for use outside loops.
template <Operator X>
std::vector<double> apply(OperatorState& state, const X& expression, In<double> x) {
  Program program(state, expression);
  std::vector<double> out(program.rows());
  program.apply(x, out);
  return out;
}
template <Operator X>
std::vector<double> evaluate(OperatorState& state, const X& expression,
                             std::initializer_list<std::span<const double>> inputs = {}) {
  Program program(state, expression);
  std::vector<double> out(program.rows());
  program.evaluate(inputs, out);
  return out;
}
template <Operator X>
Dense dense(OperatorState& state, const X& expression) {
  return Program(state, expression).dense();
}
template <Operator X>
std::string explain(OperatorState& state, const X& expression) {
  return Program(state, expression).explain();
}

}  // namespace articula::operators
