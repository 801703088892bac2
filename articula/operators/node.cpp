#include "articula/operators/node.hpp"

#include <fmt/format.h>

namespace articula::operators {

const char* name_of(Space space) {
  static constexpr const char* names[] = {"joint", "joint (every hinge)", "body", "frame", "base", "one",
                                          "any"};
  return names[static_cast<int>(space)];
}
bool fits(Space a, Space b) {
  const auto plain = [](Space s) { return s == Space::hinge ? Space::joint : s; };
  return a == Space::any || b == Space::any || plain(a) == plain(b);
}

namespace {
struct SymbolFacts {
  const char* name;
  Space to, from;
};
const SymbolFacts& facts(Symbol symbol) {
  using enum Space;
  static constexpr SymbolFacts all[] = {{"H", joint, body},
                                        {"H_full", hinge, body},
                                        {"Gamma", hinge, joint},
                                        {"phi", body, body},
                                        {"psi", body, body},
                                        {"M", body, body},
                                        {"P", body, body},
                                        {"D", hinge, hinge},
                                        {"G", body, hinge},
                                        {"K", body, hinge},
                                        {"L", body, hinge},
                                        {"tau", body, body},
                                        {"tau_bar", body, body},
                                        {"E_phi", body, body},
                                        {"E_psi", body, body},
                                        {"S", body, body},
                                        {"R", body, body},
                                        {"Omega", body, body},
                                        {"B", body, frame},
                                        {"E", base, body},
                                        {"rotor", hinge, hinge},
                                        {"H_dot", hinge, body},
                                        {"M_ring", body, body},
                                        {"P_ring", body, body},
                                        {"G_ring", body, hinge},
                                        {"K_ring", body, hinge},
                                        {"R_ring", body, body},
                                        {"J_ring", body, body},
                                        {"H_ddot", hinge, body},
                                        {"H_f", body, hinge},
                                        {"root_D", hinge, hinge},
                                        {"inv(D)", hinge, hinge},
                                        {"inv(root_D)", hinge, hinge},
                                        {"inv(mass)", joint, joint},
                                        {"inv(mass without rotors)", joint, joint}};
  return all[static_cast<int>(symbol)];
}
std::shared_ptr<Node> make(Node::Kind kind, Space to, Space from) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->to = to;
  node->from = from;
  return node;
}
Space known_of(Space a, Space b) { return a == Space::any ? b : a; }
}  // namespace

const char* name_of(Symbol symbol) { return facts(symbol).name; }
Space to_of(Symbol symbol) { return facts(symbol).to; }
Space from_of(Symbol symbol) { return facts(symbol).from; }
const char* name_of(Known known) {
  static constexpr const char* names[] = {"a_bias", "b_bias", "a_g"};
  return names[static_cast<int>(known)];
}

NodePtr make_symbol(Symbol symbol) {
  auto node = make(Node::Kind::symbol, to_of(symbol), from_of(symbol));
  node->symbol = symbol;
  return node;
}
NodePtr make_B(std::vector<std::string> frames) {
  if (frames.empty())
    throw ArgumentError("B() needs the name of a frame: B(LINK), or several: B(LINK, LINK)");
  auto node = make(Node::Kind::symbol, Space::body, Space::frame);
  node->symbol = Symbol::B;
  node->frames = std::move(frames);
  return node;
}
NodePtr make_known(Known known) {
  auto node =
      make(Node::Kind::known, known == Known::base_acceleration ? Space::base : Space::body, Space::one);
  node->known = known;
  return node;
}
NodePtr make_input(Space space, int index, std::string name) {
  auto node = make(Node::Kind::input, space, Space::one);
  node->input = index;
  node->name = std::move(name);
  return node;
}
NodePtr make_identity() { return make(Node::Kind::identity, Space::any, Space::any); }

NodePtr product(const NodePtr& left, const NodePtr& right) {
  if (left->from == Space::one)
    throw ArgumentError(fmt::format("{} * {}: '{}' is a vector, it can only stand on the right",
                                    to_string(*left), to_string(*right), to_string(*left)));
  if (!fits(left->from, right->to))
    throw ArgumentError(fmt::format("{} * {} does not fit: '{}' takes {} vectors, '{}' gives {} vectors",
                                    to_string(*left), to_string(*right), to_string(*left),
                                    name_of(left->from), to_string(*right), name_of(right->to)));
  Space to = left->to, from = right->from;
  if (left->kind == Node::Kind::identity) to = right->to;
  if (right->kind == Node::Kind::identity) from = left->from;
  auto node = make(Node::Kind::product, to, from);
  node->left = left;
  node->right = right;
  return node;
}
NodePtr sum(const NodePtr& left, const NodePtr& right, double right_factor) {
  const char sign = right_factor < 0 ? '-' : '+';
  if ((left->from == Space::one) != (right->from == Space::one))
    throw ArgumentError(fmt::format("{} {} {} does not fit: '{}' is a vector, '{}' is an operator",
                                    to_string(*left), sign, to_string(*right),
                                    to_string(left->from == Space::one ? *left : *right),
                                    to_string(left->from == Space::one ? *right : *left)));
  if (!fits(left->to, right->to) || !fits(left->from, right->from))
    throw ArgumentError(fmt::format("{} {} {} does not fit: '{}' takes {} to {}, '{}' takes {} to {}",
                                    to_string(*left), sign, to_string(*right), to_string(*left),
                                    name_of(left->from), name_of(left->to), to_string(*right),
                                    name_of(right->from), name_of(right->to)));
  auto node = make(Node::Kind::sum, known_of(left->to, right->to), known_of(left->from, right->from));
  if ((left->kind == Node::Kind::identity || right->kind == Node::Kind::identity) &&
      !fits(node->to, node->from))
    throw ArgumentError(
        fmt::format("{} {} {} does not fit: an identity can only be added where domain and result are "
                    "one space, here {} and {}",
                    to_string(*left), sign, to_string(*right), name_of(node->from), name_of(node->to)));
  node->left = left;
  node->right = right_factor == 1 ? right : scale(right_factor, right);
  return node;
}
NodePtr scale(double factor, const NodePtr& x) {
  auto node = make(Node::Kind::scale, x->to, x->from);
  node->factor = factor;
  node->left = x;
  return node;
}
NodePtr star(const NodePtr& x) {
  if (x->from == Space::one)
    throw ArgumentError(
        fmt::format("star({}): '{}' is a vector; star() is for operators", to_string(*x), to_string(*x)));
  if (x->kind == Node::Kind::star) return x->left;
  auto node = make(Node::Kind::star, x->from, x->to);
  node->left = x;
  return node;
}
NodePtr inverse(const NodePtr& x) {
  if (x->from == Space::one)
    throw ArgumentError(
        fmt::format("inv({}): '{}' is a vector; inv() is for operators", to_string(*x), to_string(*x)));
  if (!fits(x->from, x->to))
    throw ArgumentError(fmt::format("inv({}): an operator from {} to {} vectors has no inverse",
                                    to_string(*x), name_of(x->from), name_of(x->to)));
  auto node = make(Node::Kind::inverse, x->from, x->to);
  node->left = x;
  return node;
}

namespace {
/// Inside a product (level 1) a sum needs brackets.
std::string text(const Node& n, int level) {
  const auto bracket = [&](std::string s, bool needed) { return needed ? '(' + s + ')' : s; };
  switch (n.kind) {
    case Node::Kind::symbol: {
      if (n.symbol != Symbol::B) return name_of(n.symbol);
      std::string frames;
      for (const auto& f : n.frames) frames += (frames.empty() ? "" : ", ") + f;
      return "B(" + frames + ')';
    }
    case Node::Kind::known:
      return name_of(n.known);
    case Node::Kind::input:
      return n.name;
    case Node::Kind::identity:
      return "I";
    case Node::Kind::product:
      return text(*n.left, 1) + '*' + text(*n.right, 1);
    case Node::Kind::sum: {
      if (n.right->kind == Node::Kind::scale && n.right->factor < 0) {
        const double f = -n.right->factor;
        return bracket(
            text(*n.left, 0) + " - " + (f == 1 ? "" : fmt::format("{}*", f)) + text(*n.right->left, 1),
            level > 0);
      }
      return bracket(text(*n.left, 0) + " + " + text(*n.right, 0), level > 0);
    }
    case Node::Kind::scale:
      return bracket((n.factor == -1 ? "-" : fmt::format("{}*", n.factor)) + text(*n.left, 1), level > 0);
    case Node::Kind::star:
      return "star(" + text(*n.left, 0) + ')';
    case Node::Kind::inverse:
      return "inv(" + text(*n.left, 0) + ')';
  }
  return "?";
}
}  // namespace
std::string to_string(const Node& node) { return text(node, 0); }

}  // namespace articula::operators
