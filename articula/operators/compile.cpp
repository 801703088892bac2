#include <fmt/format.h>

#include <algorithm>

#include "articula/operators/compiler.hpp"

namespace articula::operators {

bool Compiler::is(int v, Symbol symbol, bool starred) const {
  return graph[v].kind == Vector::Kind::times && graph[v].symbol == symbol && graph[v].starred == starred;
}

bool Compiler::is_sweep(int v) const {
  return graph[v].kind == Vector::Kind::times &&
         (graph[v].symbol == Symbol::phi || graph[v].symbol == Symbol::psi);
}

void Compiler::count_uses(int result) {
  std::vector<bool> seen(graph.size());
  std::vector<int> stack{result};
  graph[result].uses++;
  while (!stack.empty()) {
    const int v = stack.back();
    stack.pop_back();
    if (seen[v]) continue;
    seen[v] = true;
    const auto use = [&](int x) {
      graph[x].uses++;
      stack.push_back(x);
    };
    if (graph[v].kind == Vector::Kind::times) use(graph[v].source);
    for (const auto& t : graph[v].terms) use(t.second);
  }
}

std::vector<int> Compiler::users_of(int v) const {
  std::vector<int> users;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph[i].uses == 0) continue;
    if (graph[i].kind == Vector::Kind::times && graph[i].source == v) users.push_back(static_cast<int>(i));
    for (const auto& t : graph[i].terms)
      if (t.second == v) users.push_back(static_cast<int>(i));
  }
  return users;
}

void Compiler::fold_arguments(Instruction& s, int argument, std::string& text) {
  std::vector<std::pair<double, int>> terms{{1, argument}};
  if (graph[argument].kind == Vector::Kind::sum && graph[argument].uses == 1) {
    terms = graph[argument].terms;
    graph[argument].folded = true;
  }
  std::vector<std::pair<double, int>> left_over;
  std::string names;
  for (const auto& term : terms) {
    const double factor = term.first;
    const int v = term.second;
    Vector& x = graph[v];
    const bool once = x.uses == 1 && x.kind == Vector::Kind::times;
    const auto take = [&](int& place, double& place_factor) {
      place = x.source;
      place_factor = factor;
      x.folded = true;
      names += std::string(names.empty() ? "" : " + ") + (x.starred ? "star(" : "") + name_of(x.symbol) +
               (x.starred ? ")" : "") + "*..";
    };
    if (once && is(v, Symbol::K, false) && !s.outward && s.K_times < 0)
      take(s.K_times, s.K_factor);
    else if (once && is(v, Symbol::H_full, true) && s.H_times < 0)
      take(s.H_times, s.H_factor);
    else if (once && (is(v, Symbol::M, false) || is(v, Symbol::R, false)) && s.rigid_times < 0) {
      s.rigid_is_R = x.symbol == Symbol::R;
      take(s.rigid_times, s.rigid_factor);
    } else if (once && (is(v, Symbol::P, false) || is(v, Symbol::Omega, false)) && s.symmetric_times < 0) {
      s.symmetric_is_Omega = x.symbol == Symbol::Omega;
      take(s.symmetric_times, s.symmetric_factor);
    } else {
      left_over.emplace_back(factor, v);
    }
  }
  for (std::size_t i = 0; i < left_over.size(); ++i) names += names.empty() ? ".." : " + ..";
  if (left_over.size() > 2) {  // more vectors than places: their sum first
    Vector v{.kind = Vector::Kind::sum, .space = Space::body, .terms = left_over};
    v.uses = 1;
    graph.push_back(std::move(v));
    frame_counts.push_back(0);
    buffer_of.push_back(-1);
    left_over = {{1, static_cast<int>(graph.size()) - 1}};
    emit_combine(left_over[0].second);
  }
  if (!left_over.empty()) {
    s.plain = left_over[0].second;
    s.plain_factor = left_over[0].first;
  }
  if (left_over.size() > 1) {
    s.more = left_over[1].second;
    s.more_factor = left_over[1].first;
  }
  text += terms.size() > 1 ? "*(" + names + ")" : "*" + names;
}

void Compiler::fold_tap(Instruction& s, int v, std::string& text) {
  for (const int t : users_of(v)) {
    if (!(s.outward ? is(t, Symbol::K, true) : is(t, Symbol::H_full, false)) || graph[t].folded) continue;
    int made = t;
    graph[t].folded = true;
    graph[v].uses--;
    text = std::string(s.outward ? "star(K)" : "H") + "*" + text;
    const auto single_user = [&](int x) {
      return graph[x].uses == 1 && users_of(x).size() == 1 ? users_of(x)[0] : -1;
    };
    if (const int sum = single_user(made); sum >= 0 && graph[sum].kind == Vector::Kind::sum) {
      const auto& terms = graph[sum].terms;
      const int other = terms.size() == 2 ? (terms[0].second == made ? 1 : 0) : -1;
      const bool ready = other >= 0 && (terms[other].second < v || buffer_of[terms[other].second] >= 0 ||
                                        graph[terms[other].second].kind == Vector::Kind::input ||
                                        graph[terms[other].second].kind == Vector::Kind::argument);
      if (terms.size() == 1 || ready) {
        s.tap_factor = terms.size() == 1 ? terms[0].first : terms[1 - other].first;
        if (other >= 0) {
          s.tap_add = terms[other].second;
          s.tap_add_factor = terms[other].first;
          text = "(.. + " + text + ")";
        }
        graph[sum].folded = true;
        made = sum;
      }
    }
    if (const int solve = single_user(made); solve >= 0 && is(solve, Symbol::inv_D, false)) {
      graph[solve].folded = true;
      s.tap_solve = true;
      made = solve;
      text = "inv(D)*" + text;
    }
    s.tap = made;
    return;
  }
}

int Compiler::buffer(int v) {
  if (v < 0) return -1;
  if (buffer_of[v] >= 0) return buffer_of[v];
  const Vector& x = graph[v];
  int outside = -1;
  if (x.kind == Vector::Kind::argument) outside = 0;
  if (x.kind == Vector::Kind::input) outside = 1 + x.source;
  if (x.kind == Vector::Kind::known) outside = -2 - x.source;
  const std::size_t size =
      outside == -1 ? (program.state_.size_of(x.space, frame_counts[v]) + 7u) / 8 * 8 : 0;
  program.offsets_.push_back(program.memory_size_);
  program.memory_size_ += size;
  program.outside_.push_back(outside);
  return buffer_of[v] = static_cast<int>(program.offsets_.size()) - 1;
}

void Compiler::emit_combine(int v) {
  Instruction c{.kind = Instruction::Kind::combine};
  for (const auto& [factor, x] : graph[v].terms) c.terms.emplace_back(factor, buffer(x));
  c.target = buffer(v);
  c.size = program.state_.size_of(graph[v].space, frame_counts[v]);
  c.text = fmt::format("sum of {} {} vectors", c.terms.size(), name_of(graph[v].space));
  program.instructions_.push_back(std::move(c));
}

void Compiler::emit_local(int v) {
  const Vector& x = graph[v];
  Instruction l{.kind = Instruction::Kind::local};
  l.symbol = x.symbol;
  l.starred = x.starred;
  l.frames = x.frames;
  l.source = buffer(x.source);
  l.target = buffer(v);
  l.size = program.state_.size_of(x.space, frame_counts[v]);
  l.text = std::string(x.starred ? "star(" : "") + name_of(x.symbol) + (x.starred ? ")" : "") + " * ..";
  program.instructions_.push_back(std::move(l));
}

void Compiler::emit_sweep(int v) {
  Instruction s{.kind = Instruction::Kind::sweep};
  s.outward = graph[v].starred;
  s.psi = graph[v].symbol == Symbol::psi;
  std::string text = std::string(s.outward ? "star(" : "") + (s.psi ? "psi" : "phi") + (s.outward ? ")" : "");
  fold_arguments(s, graph[v].source, text);
  fold_tap(s, v, text);
  for (int* place :
       {&s.plain, &s.more, &s.rigid_times, &s.symmetric_times, &s.K_times, &s.H_times, &s.tap_add})
    *place = buffer(*place);
  s.target = graph[v].uses > 0 ? buffer(v) : -1;
  s.tap = buffer(s.tap);
  s.text = std::move(text);
  if (s.psi || s.K_times >= 0 || (s.outward && s.tap >= 0) || s.tap_solve)
    program.needs_ |= OperatorState::factor;
  if (s.symmetric_times >= 0 && !s.symmetric_is_Omega) program.needs_ |= OperatorState::inertias;
  if (s.symmetric_times >= 0 && s.symmetric_is_Omega) program.needs_ |= OperatorState::omegas;
  if (s.rigid_times >= 0 && s.rigid_is_R) program.needs_ |= OperatorState::composites;
  program.instructions_.push_back(std::move(s));
}

unsigned Compiler::needs_of(Symbol symbol) {
  switch (symbol) {
    case Symbol::P:
      return OperatorState::inertias;
    case Symbol::D:
    case Symbol::inv_D:
    case Symbol::root_D:
    case Symbol::inv_root_D:
    case Symbol::K:
      return OperatorState::factor;
    case Symbol::G:
    case Symbol::L:
      return OperatorState::factor | OperatorState::gains;
    case Symbol::R:
      return OperatorState::composites;
    case Symbol::Omega:
      return OperatorState::factor | OperatorState::omegas;
    case Symbol::H_dot:
    case Symbol::M_ring:
    case Symbol::R_ring:
      return OperatorState::rates;
    case Symbol::P_ring:
    case Symbol::G_ring:
    case Symbol::K_ring:
    case Symbol::J_ring:
      return OperatorState::rings;
    case Symbol::H_ddot:
    case Symbol::H_f:
      return OperatorState::second_rates;
    case Symbol::inv_mass:
      return OperatorState::factor | OperatorState::mimic_factor;
    case Symbol::inv_bare_mass:
      return OperatorState::bare_factor;
    default:
      return 0;
  }
}

void Compiler::compile(const NodePtr& n) {
  const Node& expression = *n;
  int argument = -1;
  program.columns_is_one_ = expression.from == Space::one;
  if (expression.from != Space::one) {
    if (expression.from == Space::any)
      throw ArgumentError(fmt::format("{}: an identity alone has no size", to_string(expression)));
    argument = add({.kind = Vector::Kind::argument, .space = Space::any});
  }
  const int result = apply(n, false, argument);
  if (argument >= 0) {
    if (graph[argument].space == Space::any) graph[argument].space = expression.from;
    if (graph[argument].space == Space::frame && frame_counts[argument] == 0)
      throw ArgumentError(fmt::format("{}: which frames is not known", to_string(expression)));
  }
  // An input that met no operator: as many numbers as the result has.
  Space space = graph[result].space;
  if (space == Space::any)
    throw ArgumentError(
        fmt::format("{}: nothing here says which space the vector is in", to_string(expression)));
  program.rows_ = program.state_.size_of(space, frame_counts[result]);
  if (argument >= 0) program.columns_ = program.state_.size_of(graph[argument].space, frame_counts[argument]);
  buffer_of.assign(graph.size(), -1);
  count_uses(result);
  const int nodes = static_cast<int>(graph.size());
  // Fused nodes are decided by their consumers, which come later: sweeps first look at their arguments.
  mark_folds();
  for (int v = 0; v < nodes; ++v) {
    if (graph[v].uses == 0 || graph[v].folded) continue;
    if (graph[v].kind == Vector::Kind::sum)
      emit_combine(v);
    else if (is_sweep(v))
      emit_sweep(v);
    else if (graph[v].kind == Vector::Kind::times) {
      program.needs_ |= needs_of(graph[v].symbol);
      emit_local(v);
    }
  }
  program.result_ = buffer(result);
  program.memory_ = AlignedArray<double>(program.memory_size_ + 8);
  program.resolve();
}

void Compiler::mark_folds() {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (graph[v].uses == 0 || !is_sweep(static_cast<int>(v))) continue;
    const bool outward = graph[v].starred;
    const int argument = graph[v].source;
    std::vector<int> terms{argument};
    if (graph[argument].kind == Vector::Kind::sum && graph[argument].uses == 1) {
      graph[argument].folded = true;
      terms.clear();
      for (const auto& t : graph[argument].terms) terms.push_back(t.second);
    }
    bool K = false, H = false, rigid = false, symmetric_one = false;
    for (const int t : terms) {
      if (graph[t].uses != 1 || graph[t].kind != Vector::Kind::times) continue;
      const auto take = [&](bool& taken) {
        if (!taken) graph[t].folded = true;
        taken = true;
      };
      if (is(t, Symbol::K, false) && !outward)
        take(K);
      else if (is(t, Symbol::H_full, true))
        take(H);
      else if (is(t, Symbol::M, false) || is(t, Symbol::R, false))
        take(rigid);
      else if (is(t, Symbol::P, false) || is(t, Symbol::Omega, false))
        take(symmetric_one);
    }
  }
}

Program::Program(OperatorState& state, const NodePtr& expression) : state_(state), expression_(expression) {
  if (!expression) throw ArgumentError("operators: an empty expression");
  Compiler(*this).compile(expression);
}

}  // namespace articula::operators
