#include "articula/operators/inverses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/model/model.hpp"

namespace articula::operators {

namespace {

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

}  // namespace

struct Inverter::Rules {
  bool mimics_, has_rotors_;

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
        else if (f.node->symbol == Symbol::root_D)
          result = s(Symbol::inv_root_D);
        else if (f.node->symbol == Symbol::inv_root_D)
          result = s(Symbol::root_D);
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

  /// The inverse of Id + x, or Id - x, by the pairs that the algebra has; null if x is in none of them.
  NodePtr paired(Symbol h, const Product& x, bool plus) const {
    using enum Symbol;
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
      if (is(x, pair.in)) return pair.out;
      std::vector<Pattern> adjoint(pair.in.rbegin(), pair.in.rend());
      for (Pattern& p : adjoint) p.starred = !p.starred;
      if (is(x, adjoint)) return star(pair.out);
    }
    return nullptr;
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
        if (NodePtr out = paired(h, b, b.factor == c)) return scaled(1 / c, out);
      }
    }
    refuse(whole);
  }
  static NodePtr scaled(double factor, const NodePtr& x) { return factor == 1 ? x : scale(factor, x); }
};

bool is_chain(const Model& model) {
  std::vector<int> outboard(model.bodies().size() + 1);
  return std::all_of(model.bodies().begin(), model.bodies().end(),
                     [&](const articula::Body& b) { return ++outboard[b.inboard + 1] == 1; });
}
bool has_rotors(const Model& model) {
  const Tree<double>& tree = model.tree<double>();
  return std::any_of(tree.armature, tree.armature + tree.nv, [](double x) { return x != 0; });
}

Inverter::Inverter(const Model& model) : mimics_(model.has_mimics()), has_rotors_(has_rotors(model)) {}

NodePtr Inverter::invert(const NodePtr& n) const { return Rules{mimics_, has_rotors_}.invert(n); }

}  // namespace articula::operators
