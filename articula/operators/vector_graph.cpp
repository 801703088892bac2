#include <fmt/format.h>

#include <algorithm>

#include "articula/operators/compiler.hpp"

namespace articula::operators {

int Compiler::add(Vector v, int frame_count) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Vector& w = graph[i];
    if (w.kind == v.kind && w.symbol == v.symbol && w.starred == v.starred && w.source == v.source &&
        w.frames == v.frames && w.terms == v.terms && v.kind != Vector::Kind::argument)
      return static_cast<int>(i);
  }
  graph.push_back(std::move(v));
  frame_counts.push_back(frame_count);
  return static_cast<int>(graph.size()) - 1;
}

void Compiler::settle(int v, Space space, int frame_count, const std::string& where) {
  Vector& x = graph[v];
  if (x.space == Space::any) {
    x.space = space;
    frame_counts[v] = frame_count;
    if (x.kind == Vector::Kind::input) note_input(x.source, space, frame_count);
    for (const auto& t : std::vector(x.terms)) settle(t.second, space, frame_count, where);
    return;
  }
  const bool joints_differ = model.has_mimics() && x.space != space;
  if (!fits(x.space, space) || joints_differ)
    throw ArgumentError(fmt::format(
        "{}: a {} vector is needed where there is a {} vector{}", where, name_of(space), name_of(x.space),
        joints_differ && fits(x.space, space) ? ": with mimic joints D, G, K act on one coordinate a "
                                                "hinge; use H_full (H = star(Gamma)*H_full)"
                                              : ""));
  if (space == Space::frame && frame_count != frame_counts[v])
    throw ArgumentError(
        fmt::format("{}: {} frames are needed where there are {}", where, frame_count, frame_counts[v]));
}

void Compiler::note_input(int index, Space space, int frame_count) {
  auto& sizes = program.input_sizes_;
  if (static_cast<int>(sizes.size()) <= index) sizes.resize(index + 1);
  sizes[index] = program.state_.size_of(space, frame_count);
}

int Compiler::frame_set(const std::vector<std::string>& names) {
  std::vector<Program::FrameAt> set;
  for (const auto& name : names) {
    const articula::Frame& f = model.frames()[model.frame(name)];
    set.push_back({f.body, f.body < 0 ? f.placement.p : model.bodies()[f.body].link_axes * f.placement.p});
  }
  program.frame_sets_.push_back(std::move(set));
  return static_cast<int>(program.frame_sets_.size()) - 1;
}

int Compiler::linear(std::vector<std::pair<double, int>> terms, Space space, int frame_count) {
  std::vector<std::pair<double, int>> flat;
  const auto put = [&](double factor, int v) {
    for (auto& t : flat) {
      if (t.second != v) continue;
      t.first += factor;
      return;
    }
    flat.emplace_back(factor, v);
  };
  for (const auto& [factor, v] : terms) {
    if (graph[v].kind == Vector::Kind::sum)
      for (const auto& t : graph[v].terms) put(factor * t.first, t.second);
    else
      put(factor, v);
  }
  std::erase_if(flat, [](const auto& t) { return t.first == 0; });
  if (flat.size() == 1 && flat[0].first == 1) return flat[0].second;
  std::sort(flat.begin(), flat.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return add({.kind = Vector::Kind::sum, .space = space, .terms = std::move(flat)}, frame_count);
}

int Compiler::times(Symbol symbol, bool starred, int v, int frames) {
  const Space from = starred ? to_of(symbol) : from_of(symbol),
              to = starred ? from_of(symbol) : to_of(symbol);
  const int set = frames < 0 ? 0 : static_cast<int>(program.frame_sets_[frames].size());
  settle(v, from, set,
         std::string(starred ? "star(" : "") + name_of(symbol) + (starred ? ")" : "") + " * ...");
  if (graph[v].kind == Vector::Kind::sum && graph[v].terms.size() <= 1) {
    if (graph[v].terms.empty()) return add({.kind = Vector::Kind::sum, .space = to}, set);
    const auto [factor, inner] = graph[v].terms[0];
    return linear({{factor, times(symbol, starred, inner, frames)}}, to, set);
  }
  using enum Symbol;
  switch (symbol) {
    case H:
      if (starred)
        return times(H_full, true, model.has_mimics() ? times(Gamma, false, v) : rename(v, Space::hinge));
      if (!model.has_mimics()) return times(H_full, false, v);
      return times(Gamma, true, times(H_full, false, v));
    case tau:
      return starred ? times(H_full, true, times(G, true, v)) : times(G, false, times(H_full, false, v));
    case tau_bar:
      return linear({{1, v}, {-1, times(tau, starred, v)}}, to, 0);
    case E_psi:
      return starred
                 ? linear({{1, times(E_phi, true, v)}, {-1, times(H_full, true, times(K, true, v))}}, to, 0)
                 : linear({{1, times(E_phi, false, v)}, {-1, times(K, false, times(H_full, false, v))}}, to,
                          0);
    default:
      if (symmetric(symbol) || symbol == inv_D || symbol == inv_mass || symbol == inv_bare_mass)
        starred = false;
      return add({.kind = Vector::Kind::times,
                  .space = model.has_mimics() || to != Space::hinge ? to : Space::joint,
                  .symbol = symbol,
                  .starred = starred,
                  .source = v,
                  .frames = frames},
                 set);
  }
}

int Compiler::apply(const NodePtr& n, bool starred, int v) {
  switch (n->kind) {
    case Node::Kind::identity:
      return v;
    case Node::Kind::symbol:
      return times(n->symbol, starred, v, n->symbol == Symbol::B ? frame_set(n->frames) : -1);
    case Node::Kind::known:
      program.needs_ |=
          n->known == Known::base_acceleration ? 0u : static_cast<unsigned>(OperatorState::bias);
      return add({.kind = Vector::Kind::known, .space = n->to, .source = static_cast<int>(n->known)});
    case Node::Kind::input: {
      const int x = add({.kind = Vector::Kind::input, .space = n->to, .source = n->input});
      if (n->to != Space::any) note_input(n->input, n->to, 0);
      return x;
    }
    case Node::Kind::product:
      return starred ? apply(n->right, true, apply(n->left, true, v))
                     : apply(n->left, false, apply(n->right, false, v));
    case Node::Kind::sum: {
      const int a = apply(n->left, starred, v), b = apply(n->right, starred, v);
      const std::string where = to_string(*n);
      if (graph[a].space == Space::any)
        settle(a, graph[b].space, frame_counts[b], where);
      else
        settle(b, graph[a].space, frame_counts[a], where);
      return linear({{1, a}, {1, b}}, graph[a].space, frame_counts[a]);
    }
    case Node::Kind::scale: {
      const int a = apply(n->left, starred, v);
      return linear({{n->factor, a}}, graph[a].space, frame_counts[a]);
    }
    case Node::Kind::star:
      return apply(n->left, !starred, v);
    case Node::Kind::inverse:
      return apply(inverter.invert(n->left), starred, v);
  }
  return v;
}

}  // namespace articula::operators
