// From an expression to sweeps. Three steps:
//
// 1. inv() is carried out by the algebra's rules, which leaves products of operators that can be applied (inverses.hpp).
// 2. The expression, applied to a vector, becomes a graph of vectors: operator times vector, or a sum of vectors. Equal
//    vectors are one node (vector_graph.cpp).
// 3. Each phi or psi in the graph becomes one sweep, with the operators around it folded in (sweeps_text.hpp); what is
//    left over is a local step (compile.cpp).
#pragma once

#include "articula/operators/inverses.hpp"
#include "articula/operators/program.hpp"

namespace articula::operators {

struct Compiler {
  struct Vector {
    enum class Kind : unsigned char { argument, input, known, times, sum } kind;
    Space space;
    Symbol symbol{};
    bool starred = false;
    int source = -1;  // of times; index of input or known
    int frames = -1;  // of B, or how many frames a frame vector has
    std::vector<std::pair<double, int>> terms{};
    // for step 3
    int uses = 0;
    bool folded = false;  // made by another node's sweep, or never made at all
  };

  Program& program;
  const Model& model;
  Inverter inverter;
  std::vector<Vector> graph{};
  std::vector<int> frame_counts{};  // by node: of frame vectors
  std::vector<int> buffer_of{};
  explicit Compiler(Program& p) : program(p), model(p.state_.model()), inverter(model) {}
  int add(Vector v, int frame_count = 0);
  /// A vector whose space is not known takes that of its place.
  void settle(int v, Space space, int frame_count, const std::string& where);
  void note_input(int index, Space space, int frame_count);
  int frame_set(const std::vector<std::string>& names);
  int linear(std::vector<std::pair<double, int>> terms, Space space, int frame_count);
  /// One symbol times v; a factor in front of v moves out.
  int times(Symbol symbol, bool starred, int v, int frames = -1);
  int rename(int v, Space) { return v; }  // without mimic joints both joint spaces are one
  /// n applied to v (n a vector: v is ignored).
  int apply(const NodePtr& n, bool starred, int v);

  // --- sweeps
  bool is(int v, Symbol symbol, bool starred) const;
  bool is_sweep(int v) const;
  void count_uses(int result);
  std::vector<int> users_of(int v) const;
  /// Puts the terms of the sweep's argument into its places.
  void fold_arguments(Instruction& s, int argument, std::string& text);
  /// H z or K* z, with the sum and the D^-1 that follow it, if nothing else needs what lies between.
  void fold_tap(Instruction& s, int v, std::string& text);
  int buffer(int v);
  void emit_combine(int v);
  void emit_local(int v);
  void emit_sweep(int v);
  static unsigned needs_of(Symbol symbol);
  void compile(const NodePtr& n);
  /// Which arguments will be folded into a sweep, before anything is emitted.
  void mark_folds();
};

}  // namespace articula::operators
