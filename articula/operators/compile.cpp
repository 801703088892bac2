// From an expression to sweeps. Three steps:
//
// 1. inv() is carried out by the algebra's rules, which leaves products of operators that can be applied.
// 2. The expression, applied to a vector, becomes a graph of vectors: operator times vector, or a sum of
//    vectors. Equal vectors are one node.
// 3. Each phi or psi in the graph becomes one sweep, with the operators around it folded in
//    (sweeps_text.hpp); what is left over is a local step.
#include <fmt/format.h>

#include <algorithm>

#include "articula/operators/program.hpp"

namespace articula::operators {

namespace {

// --- 1. inverses -------------------------------------------------------------------------------------
/// A factor of a product: a symbol, a sum or an inverse, or its adjoint.
struct Factor {
  NodePtr node;
  bool starred;
};
struct Product {
  double factor = 1;
  std::vector<Factor> factors{};
};

void flatten(const NodePtr& n, bool starred, Product& out) {
  switch (n->kind) {
    case Node::Kind::identity:
      return;
    case Node::Kind::product:
      flatten(starred ? n->right : n->left, starred, out);
      flatten(starred ? n->left : n->right, starred, out);
      return;
    case Node::Kind::scale:
      out.factor *= n->factor;
      flatten(n->left, starred, out);
      return;
    case Node::Kind::star:
      flatten(n->left, !starred, out);
      return;
    default:
      out.factors.push_back({n, starred});
  }
}
/// The terms of a sum, each a product.
void terms_of(const NodePtr& n, bool starred, double factor, std::vector<Product>& out) {
  if (n->kind == Node::Kind::sum) {
    terms_of(n->left, starred, factor, out);
    terms_of(n->right, starred, factor, out);
  } else if (n->kind == Node::Kind::scale) {
    terms_of(n->left, starred, factor * n->factor, out);
  } else if (n->kind == Node::Kind::star) {
    terms_of(n->left, !starred, factor, out);
  } else {
    Product p;
    p.factor = factor;
    flatten(n, starred, p);
    if (p.factors.size() == 1 && p.factors[0].node->kind == Node::Kind::sum)
      terms_of(p.factors[0].node, p.factors[0].starred, p.factor, out);
    else
      out.push_back(std::move(p));
  }
}

struct Pattern {
  Symbol symbol;
  bool starred = false;
};
constexpr bool symmetric(Symbol s) {
  return s == Symbol::M || s == Symbol::P || s == Symbol::D || s == Symbol::R || s == Symbol::Omega ||
         s == Symbol::rotor;
}

class Inverter {
 public:
  explicit Inverter(const Model& model) : mimics_(model.has_mimics()) {
    const Tree<double>& tree = model.tree<double>();
    for (int i = 0; i < tree.nv; ++i) has_rotors_ |= tree.armature[i] != 0;
  }

  /// The inverse of n as a node without Kind::inverse.
  NodePtr invert(const NodePtr& n) const {
    Product p;
    flatten(n, false, p);
    if (p.factor == 0) refuse(n);
    NodePtr result;
    const auto put_left = [&](const NodePtr& x) { result = result ? product(x, result) : x; };
    for (std::size_t i = 0; i < p.factors.size();) {
      if (matches(p, i, mass_with(Symbol::H)) || matches(p, i, mass_with(Symbol::H_full))) {
        put_left(inverse_mass(p.factors[i].node->symbol, false));
        i += 5;
      } else {
        put_left(invert_factor(p.factors[i], n));
        ++i;
      }
    }
    if (!result) result = make_identity();
    return p.factor == 1 ? result : scale(1 / p.factor, result);
  }

 private:
  static std::vector<Pattern> mass_with(Symbol H) {
    return {{H}, {Symbol::phi}, {Symbol::M}, {Symbol::phi, true}, {H, true}};
  }
  /// Without mimic joints H_full is H.
  Symbol plain(Symbol s) const { return s == Symbol::H_full && !mimics_ ? Symbol::H : s; }
  bool matches(const Product& p, std::size_t at, const std::vector<Pattern>& pattern) const {
    if (p.factors.size() < at + pattern.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const Factor& f = p.factors[at + i];
      if (f.node->kind != Node::Kind::symbol || plain(f.node->symbol) != plain(pattern[i].symbol))
        return false;
      if (f.starred != pattern[i].starred && !symmetric(f.node->symbol)) return false;
    }
    return true;
  }
  bool is(const Product& p, const std::vector<Pattern>& pattern) const {
    return p.factors.size() == pattern.size() && matches(p, 0, pattern);
  }

  [[noreturn]] static void refuse(const NodePtr& n) {
    throw ArgumentError(fmt::format(
        "inv({}): the algebra gives no O(n) inverse of this; it has those of phi, psi, D, I + H*phi*K, I - "
        "H*psi*K, "
        "I + phi*K*H, I - psi*K*H, H*phi*M*star(phi)*star(H), and of products and adjoints of these",
        to_string(*n)));
  }
  static NodePtr s(Symbol symbol) { return make_symbol(symbol); }
  /// M^-1 = [Id - H psi K]* D^-1 [Id - H psi K]        JPL88 (4.16)
  /// D and psi are those with rotor inertias: without them the inverse has a factor of its own.
  NodePtr inverse_mass(Symbol H, bool with_rotors) const {
    const bool own_coordinates = mimics_ && H == Symbol::H;
    if (has_rotors_ && !with_rotors) {
      if (mimics_ && !own_coordinates)
        throw ArgumentError(
            "inv(H_full*phi*M*star(phi)*star(H_full)): with mimic joints and rotor inertias, add rotor");
      return s(Symbol::inv_bare_mass);
    }
    if (own_coordinates) return s(Symbol::inv_mass);
    const NodePtr whitener =
        sum(make_identity(), product(s(Symbol::H_full), product(s(Symbol::psi), s(Symbol::K))), -1);
    return product(star(whitener), product(s(Symbol::inv_D), whitener));
  }

  NodePtr invert_factor(const Factor& f, const NodePtr& whole) const {
    NodePtr result;
    switch (f.node->kind) {
      case Node::Kind::inverse:
        result = f.node->left;
        break;
      case Node::Kind::symbol:
        if (f.node->symbol == Symbol::phi)
          result = sum(make_identity(), s(Symbol::E_phi), -1);
        else if (f.node->symbol == Symbol::psi)
          result = sum(make_identity(), s(Symbol::E_psi), -1);
        else if (f.node->symbol == Symbol::D)
          result = s(Symbol::inv_D);
        else if (f.node->symbol == Symbol::inv_D)
          result = s(Symbol::D);
        else
          refuse(whole);
        break;
      case Node::Kind::sum:
        result = invert_sum(f.node, whole);
        break;
      default:
        refuse(whole);
    }
    return f.starred ? star(result) : result;
  }

  NodePtr invert_sum(const NodePtr& n, const NodePtr& whole) const {
    std::vector<Product> terms;
    terms_of(n, false, 1, terms);
    if (terms.size() != 2) refuse(whole);
    using enum Symbol;
    for (const Symbol h : {H, H_full}) {
      for (int first = 0; first < 2; ++first) {
        const Product &a = terms[first], &b = terms[1 - first];
        if (is(a, mass_with(h)) && a.factor == b.factor &&
            (is(b, {{rotor}}) || is(b, {{Gamma, true}, {rotor}, {Gamma}})))
          return scaled(1 / a.factor, inverse_mass(h, true));
        if (!a.factors.empty()) continue;
        const double c = a.factor;
        if (c == 0 || (b.factor != c && b.factor != -c)) continue;
        const bool plus = b.factor == c;
        // (Id + x)^-1 = Id - y: pairs that the algebra has (JPL88 (4.14), (a.14), (a.15), and phi, psi
        // themselves).
        struct Pair {
          std::vector<Pattern> in;
          bool plus;
          NodePtr out;
        };
        const auto node = [&](Symbol x, Symbol y, Symbol z) { return product(s(x), product(s(y), s(z))); };
        const Pair pairs[] = {
            {{{h}, {phi}, {K}}, true, sum(make_identity(), node(h, psi, K), -1)},
            {{{h}, {psi}, {K}}, false, sum(make_identity(), node(h, phi, K))},
            {{{phi}, {K}, {h}}, true, sum(make_identity(), node(psi, K, h), -1)},
            {{{psi}, {K}, {h}}, false, sum(make_identity(), node(phi, K, h))},
            {{{K}, {h}, {phi}}, true, sum(make_identity(), node(K, h, psi), -1)},
            {{{K}, {h}, {psi}}, false, sum(make_identity(), node(K, h, phi))},
            {{{E_phi}}, false, s(phi)},
            {{{E_psi}}, false, s(psi)},
        };
        for (const Pair& pair : pairs) {
          if (plus != pair.plus) continue;
          if (is(b, pair.in)) return scaled(1 / c, pair.out);
          std::vector<Pattern> adjoint(pair.in.rbegin(), pair.in.rend());
          for (Pattern& x : adjoint) x.starred = !x.starred;
          if (is(b, adjoint)) return scaled(1 / c, star(pair.out));
        }
      }
    }
    refuse(whole);
  }
  static NodePtr scaled(double factor, const NodePtr& x) { return factor == 1 ? x : scale(factor, x); }

  bool mimics_, has_rotors_ = false;
};

// --- 2. the graph ------------------------------------------------------------------------------------
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

}  // namespace

struct Compiler {
  Program& program;
  const Model& model;
  Inverter inverter;
  std::vector<Vector> graph{};
  std::vector<int> frame_counts{};  // by node: of frame vectors
  std::vector<int> buffer_of{};

  explicit Compiler(Program& p) : program(p), model(p.state_.model()), inverter(model) {}

  int add(Vector v, int frame_count = 0) {
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

  /// A vector whose space is not known takes that of its place.
  void settle(int v, Space space, int frame_count, const std::string& where) {
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
  void note_input(int index, Space space, int frame_count) {
    auto& sizes = program.input_sizes_;
    if (static_cast<int>(sizes.size()) <= index) sizes.resize(index + 1);
    sizes[index] = program.state_.size_of(space, frame_count);
  }

  int frame_set(const std::vector<std::string>& names) {
    std::vector<Program::FrameAt> set;
    for (const auto& name : names) {
      const articula::Frame& f = model.frames()[model.frame(name)];
      set.push_back({f.body, f.body < 0 ? f.placement.p : model.bodies()[f.body].link_axes * f.placement.p});
    }
    program.frame_sets_.push_back(std::move(set));
    return static_cast<int>(program.frame_sets_.size()) - 1;
  }

  int linear(std::vector<std::pair<double, int>> terms, Space space, int frame_count) {
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

  /// One symbol times v; a factor in front of v moves out.
  int times(Symbol symbol, bool starred, int v, int frames = -1) {
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
  int rename(int v, Space) { return v; }  // without mimic joints both joint spaces are one

  /// n applied to v (n a vector: v is ignored).
  int apply(const NodePtr& n, bool starred, int v) {
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

  // --- 3. sweeps -------------------------------------------------------------------------------------
  bool is(int v, Symbol symbol, bool starred) const {
    return graph[v].kind == Vector::Kind::times && graph[v].symbol == symbol && graph[v].starred == starred;
  }
  bool is_sweep(int v) const {
    return graph[v].kind == Vector::Kind::times &&
           (graph[v].symbol == Symbol::phi || graph[v].symbol == Symbol::psi);
  }
  void count_uses(int result) {
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
  std::vector<int> users_of(int v) const {
    std::vector<int> users;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (graph[i].uses == 0) continue;
      if (graph[i].kind == Vector::Kind::times && graph[i].source == v) users.push_back(static_cast<int>(i));
      for (const auto& t : graph[i].terms)
        if (t.second == v) users.push_back(static_cast<int>(i));
    }
    return users;
  }

  /// Puts the terms of the sweep's argument into its places.
  void fold_arguments(Instruction& s, int argument, std::string& text) {
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

  /// H z or K* z, with the sum and the D^-1 that follow it, if nothing else needs what lies between.
  void fold_tap(Instruction& s, int v, std::string& text) {
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

  int buffer(int v) {
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

  void emit_combine(int v) {
    Instruction c{.kind = Instruction::Kind::combine};
    for (const auto& [factor, x] : graph[v].terms) c.terms.emplace_back(factor, buffer(x));
    c.target = buffer(v);
    c.size = program.state_.size_of(graph[v].space, frame_counts[v]);
    c.text = fmt::format("sum of {} {} vectors", c.terms.size(), name_of(graph[v].space));
    program.instructions_.push_back(std::move(c));
  }
  void emit_local(int v) {
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
  void emit_sweep(int v) {
    Instruction s{.kind = Instruction::Kind::sweep};
    s.outward = graph[v].starred;
    s.psi = graph[v].symbol == Symbol::psi;
    std::string text =
        std::string(s.outward ? "star(" : "") + (s.psi ? "psi" : "phi") + (s.outward ? ")" : "");
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
  static unsigned needs_of(Symbol symbol) {
    switch (symbol) {
      case Symbol::P:
        return OperatorState::inertias;
      case Symbol::D:
      case Symbol::inv_D:
      case Symbol::K:
        return OperatorState::factor;
      case Symbol::G:
      case Symbol::L:
        return OperatorState::factor | OperatorState::gains;
      case Symbol::R:
        return OperatorState::composites;
      case Symbol::Omega:
        return OperatorState::factor | OperatorState::omegas;
      case Symbol::inv_mass:
        return OperatorState::factor | OperatorState::mimic_factor;
      case Symbol::inv_bare_mass:
        return OperatorState::bare_factor;
      default:
        return 0;
    }
  }

  void compile(const NodePtr& n) {
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
    if (argument >= 0)
      program.columns_ = program.state_.size_of(graph[argument].space, frame_counts[argument]);
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

  /// Which arguments will be folded into a sweep, before anything is emitted.
  void mark_folds() {
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
};

Program::Program(OperatorState& state, const NodePtr& expression) : state_(state), expression_(expression) {
  if (!expression) throw ArgumentError("operators: an empty expression");
  Compiler(*this).compile(expression);
}

}  // namespace articula::operators
