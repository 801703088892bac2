#include "articula/operators/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <set>

#include "articula/operators/inverses.hpp"
#include "articula/operators/trials.hpp"
#include "articula/operators/word_values.hpp"

namespace articula::operators {

namespace {

constexpr int most_expansions = 400, most_terms = 40;
constexpr double largest_residual = 1e-6;  // more is no rounding, unless the state is all but singular

/// One rule and its adjoint.
struct Rule {
  Word left[2];
  Words right[2];
  std::string name, source;
};
void require(const DerivationStep& step, const Derivation& derivation) {
  if (!std::isfinite(step.residual))
    throw ArgumentError(fmt::format("{}: at this state the sides of '{}' are not finite numbers",
                                    derivation.steps[0].expression, step.identity));
  if (!(step.residual <= largest_residual))
    throw SingularError(fmt::format("{}: at this state the sides of '{}' are {:.2g} apart",
                                    derivation.steps[0].expression, step.identity, step.residual));
}
/// What a rule makes of a sum.
struct Move {
  Words to;
  std::string identity, source;
};

class Deriver {
 public:
  explicit Deriver(OperatorState& state) : state_(state), letters_(state.model().has_mimics()) {
    const bool chain = is_chain(state.model()), rotors = has_rotors(state.model());
    const int rotor = letters_.symbol(Symbol::rotor);
    if (!rotors) rules_.push_back({{{rotor}, {rotor}}, {}, "rotor = 0", "this model"});
    for (const Rewriting& r : rewritings()) {
      if (r.chains_only && !chain) continue;
      const Words left = letters_.words_of(r.left);
      Words right = letters_.words_of(r.right);
      std::string name = r.name;
      if (!rotors && std::erase_if(right, [&](const auto& term) {
            return std::count(term.first.begin(), term.first.end(), rotor) > 0;
          }))
        name.resize(name.find(" - rotor"));
      rules_.push_back({{left.begin()->first, letters_.star(left).begin()->first},
                        {right, letters_.star(right)},
                        name,
                        r.source});
    }
  }

  Derivation derive(const NodePtr& expression, bool matrix) {
    const auto price = [&](const Words& sum) {
      const Alphabet::Cost c = letters_.cost_of(sum);
      // A matrix is made column by column: sweeps one after another cost more than sweeps side by side.
      const int sweeps = matrix ? 4 * c.series + c.sweeps : 4 * c.sweeps;
      return 100'000 * c.inverses + 10 * c.inside + 50 * sweeps + 2 * c.letters +
             static_cast<int>(sum.size());
    };
    struct Place {
      Words sum;
      int before, depth;
      std::string identity, source;
    };
    std::vector<Place> places{{letters_.words_of(expression), -1, 0, {}, {}}};
    std::set<Words> known{places[0].sum};
    using Entry = std::pair<int, int>;  // price and detour, place
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    int best = 0, best_price = price(places[0].sum), found_at = 0;
    open.emplace(best_price, 0);
    for (int n = 0; n < found_at + most_expansions && !open.empty(); ++n) {
      const int at = open.top().second;
      open.pop();
      for (Move& move : moves(places[at].sum)) {
        if (move.to.size() > most_terms || !known.insert(move.to).second) continue;
        const int p = price(move.to), depth = places[at].depth + 1, place = static_cast<int>(places.size());
        places.push_back({std::move(move.to), at, depth, std::move(move.identity), std::move(move.source)});
        open.emplace(p + 5 * depth, place);
        if (p < best_price) best = place, best_price = p, found_at = n;
      }
    }
    Derivation out;
    std::vector<const Words*> sums;
    for (int at = best; at >= 0; at = places[at].before) {
      const Place& p = places[at];
      sums.push_back(&p.sum);
      const Words shown = letters_.folded(p.sum);
      out.steps.push_back(
          {letters_.text_of(shown), to_string(*letters_.node_of(shown)), p.identity, p.source, 0});
    }
    std::reverse(sums.begin(), sums.end());
    std::reverse(out.steps.begin(), out.steps.end());
    const Words& result = places[best].sum;
    if (letters_.cost_of(result).inverses)
      throw ArgumentError(fmt::format(
          "{}: the algebra finds no O(n) form of this; what remains: {}{}", to_string(*expression),
          out.steps.back().text,
          has_rotors(state_.model()) && to_string(*expression).find("rotor") == std::string::npos
              ? " (this model has rotor inertias, which P, D, K and psi count: add '+ rotor' to its mass "
                "operator)"
              : ""));
    out.result = letters_.node_of(result);
    check(expression->from, sums, out);
    return out;
  }

  /// How far the expression at this state is from itself at another.
  std::optional<double> apart(OperatorState& other, const NodePtr& expression) {
    const Words sum = letters_.words_of(expression);
    const auto here = WordValues(state_, letters_, expression->from, expression)(sum);
    const auto there = WordValues(other, letters_, expression->from, expression)(sum);
    if (!here || !there) return std::nullopt;
    return relative_difference(*here, *there);
  }

 private:
  // --- what can be done next -------------------------------------------------------------------------

  std::vector<Move> moves(const Words& sum) {
    std::vector<Move> out;
    const auto put = [&](Words to, const std::string& identity, const std::string& source) {
      if (to != sum) out.push_back({std::move(to), identity, source});
    };
    for (const Rule& rule : rules_) {
      put(rewritten(sum, rule), rule.name, rule.source);
      put(inside_inverses(sum, [&](const Words& inner) { return rewritten(inner, rule); }), rule.name,
          rule.source);
    }
    for (const int letter : inverses_in(sum))
      for (Move& m : resolved(letter)) {
        Words to = replaced(sum, letter, m.to);
        put(std::move(to), m.identity, m.source);
      }
    one_frame(sum, out);
    return out;
  }

  /// Everywhere, as long as it applies.
  Words rewritten(const Words& sum, const Rule& rule) const {
    Words out, todo = sum;
    for (int round = 0; !todo.empty() && round < 200 && out.size() <= most_terms; ++round) {
      const auto [word, x] = *todo.begin();
      todo.erase(todo.begin());
      bool changed = false;
      for (int side = 0; side < 2 && !changed; ++side) {
        const Word& left = rule.left[side];
        const auto found = std::search(word.begin(), word.end(), left.begin(), left.end());
        if (found == word.end()) continue;
        const Words before{{Word(word.begin(), found), x}},
            after{{Word(found + static_cast<long>(left.size()), word.end()), 1}};
        Alphabet::add(todo, Alphabet::times(Alphabet::times(before, rule.right[side]), after));
        changed = true;
      }
      if (!changed) Alphabet::add(out, {{word, x}});
    }
    Alphabet::add(out, todo);
    return out;
  }
  std::set<int> inverses_in(const Words& sum) const {
    std::set<int> out;
    for (const auto& term : sum)
      for (const int letter : term.first)
        if (!letters_[letter].inverse_of.empty()) out.insert(letter);
    return out;
  }
  template <class F>
  Words inside_inverses(Words sum, F&& f) {
    for (const int letter : inverses_in(sum)) {
      const Words inner = letters_[letter].inverse_of, other = f(inner);
      if (other != inner && !other.empty()) sum = replaced(sum, letter, {{{letters_.inverse_of(other)}, 1}});
    }
    return sum;
  }
  /// Another sum for a letter.
  Words replaced(const Words& sum, int letter, const Words& by) const {
    Words out;
    for (const auto& [word, x] : sum) {
      Words terms{{{}, x}};
      for (const int l : word) terms = Alphabet::times(terms, l == letter ? by : Words{{{l}, 1}});
      Alphabet::add(out, terms);
    }
    return out;
  }

  /// An inverse by other letters, or by inverses of less.
  std::vector<Move> resolved(int letter) {
    const Words sum = letters_[letter].inverse_of;
    std::vector<Move> out;
    const auto e = [&](Symbol s, bool starred) {
      return Words{{{}, 1}, {{letters_.symbol(s, starred)}, -1}};
    };
    for (const bool starred : {false, true})
      for (const auto& [inverse, of] : {std::pair{Symbol::phi, Symbol::E_phi}, {Symbol::psi, Symbol::E_psi}})
        if (sum == e(of, starred))
          out.push_back({{{{letters_.symbol(inverse, starred)}, 1}},
                         fmt::format("(I - {})^-1 = {}", name_of(of), name_of(inverse)),
                         inverse == Symbol::phi ? "OSC (23)" : "OSC (29)"});
    if (auto own = letters_.mimic_inverse(sum))
      out.push_back(
          {std::move(*own),
           "(Gamma* X Gamma)^-1 by X^-1 = [I - H psi K]* D^-1 [I - H psi K] and a row for each mimic joint",
           "JPL88 (4.16)"});
    const Word& only = sum.begin()->first;
    const auto square = [&](int l) { return fits(letters_[l].node->to, letters_[l].node->from); };
    if (sum.size() == 1 && !only.empty() && std::all_of(only.begin(), only.end(), square)) {
      Words product{{{}, 1 / sum.begin()->second}};
      for (const int l : only) product = Alphabet::times(inverse_letter(l), product);
      out.push_back({product, "(X Y)^-1 = Y^-1 X^-1", "algebra"});
    }
    if (const auto factors = factored(sum)) {
      Words product{{{}, 1}};
      for (const Words& f : *factors) product = Alphabet::times(inverse_words(f), product);
      out.push_back({product, "common factors drawn out, (X Y)^-1 = Y^-1 X^-1", "algebra"});
    }
    inversion_lemma(sum, out);
    return out;
  }
  Words inverse_words(const Words& sum) {
    if (sum.size() == 1 && sum.begin()->first.size() == 1) {
      Words out;
      Alphabet::add(out, inverse_letter(sum.begin()->first[0]), 1 / sum.begin()->second);
      return out;
    }
    return {{{letters_.inverse_of(sum)}, 1}};
  }
  Words inverse_letter(int l) {
    const Alphabet::Letter letter = letters_[l];
    if (!letter.inverse_of.empty()) return letter.inverse_of;
    if (l == letters_.symbol(Symbol::D)) return {{{letters_.symbol(Symbol::inv_D)}, 1}};
    if (l == letters_.symbol(Symbol::inv_D)) return {{{letters_.symbol(Symbol::D)}, 1}};
    for (const bool starred : {false, true}) {
      if (l == letters_.symbol(Symbol::root_D, starred))
        return {{{letters_.symbol(Symbol::inv_root_D, starred)}, 1}};
      for (const auto& [symbol, e] : {std::pair{Symbol::phi, Symbol::E_phi}, {Symbol::psi, Symbol::E_psi}})
        if (l == letters_.symbol(symbol, starred)) return {{{}, 1}, {{letters_.symbol(e, starred)}, -1}};
    }
    return {{{letters_.inverse_of({{{l}, 1}})}, 1}};
  }
  /// sum = [I + p] B [I + s], or with one of these factors, by the words that go together.
  std::optional<std::vector<Words>> factored(const Words& sum) const {
    if (sum.size() < 2) return std::nullopt;
    std::vector<Words> out;
    Words rest = sum;
    if (auto right = drawn_out(rest)) {
      out.push_back(right->second);
      rest = right->first;
    }
    if (auto left = drawn_out(letters_.star(rest))) {
      out.insert(out.begin(), letters_.star(left->second));
      rest = letters_.star(left->first);
      out.insert(out.begin() + 1, rest);
    } else {
      out.insert(out.begin(), rest);
    }
    std::erase(out, Words{{{}, 1}});
    if (out.size() < 2) return std::nullopt;
    return out;
  }
  /// sum = A [I + c s] with a word s.
  static std::optional<std::pair<Words, Words>> drawn_out(const Words& sum) {
    if (sum.size() < 2) return std::nullopt;
    std::vector<std::pair<Word, double>> by_length(sum.begin(), sum.end());
    std::stable_sort(by_length.begin(), by_length.end(),
                     [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
    const auto& [shortest, x] = by_length[0];
    for (const auto& [longer, y] : by_length) {
      if (longer.size() <= shortest.size() || !std::equal(shortest.begin(), shortest.end(), longer.begin()))
        continue;
      const Words second{{{}, 1},
                         {Word(longer.begin() + static_cast<long>(shortest.size()), longer.end()), y / x}};
      Words first, left = sum;
      while (!left.empty()) {
        auto least = left.begin();
        for (auto i = left.begin(); i != left.end(); ++i)
          if (i->first.size() < least->first.size()) least = i;
        const Words term{*least};
        Alphabet::add(first, term);
        Alphabet::add(left, Alphabet::times(term, second), -1);
        if (first.size() >= sum.size()) break;
      }
      if (left.empty()) return std::pair{first, second};
    }
    return std::nullopt;
  }
  /// (I + c A X C)^-1 = I - c A (X^-1 + c C A)^-1 C, X = phi or psi, or an adjoint.
  void inversion_lemma(const Words& sum, std::vector<Move>& out) {
    if (sum.size() != 2 || !sum.begin()->first.empty()) return;
    const double k = sum.begin()->second, c = sum.rbegin()->second / k;
    const Word word = sum.rbegin()->first;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (!letters_[word[i]].sweeps) continue;
      const Words A{{Word(word.begin(), word.begin() + static_cast<long>(i)), 1}},
          C{{Word(word.begin() + static_cast<long>(i) + 1, word.end()), 1}};
      Words middle = inverse_letter(word[i]);
      Alphabet::add(middle, Alphabet::times(C, A), c);
      if (middle.empty()) continue;
      Words found{{{}, 1 / k}};
      Alphabet::add(found, Alphabet::times(A, Alphabet::times({{{letters_.inverse_of(middle)}, 1}}, C)),
                    -c / k);
      const std::string x = letters_[word[i]].text;
      out.push_back(
          {found, fmt::format("(I + A {0} C)^-1 = I - A ({0}^-1 + C A)^-1 C", x), "inversion lemma"});
    }
  }
  /// One frame sees its own body alone: B* psi* Omega B = B* Omega B, and on trees, where (57) does not hold for
  /// bodies side by side, B* psi* H* D^-1 H psi B = B* Omega B.
  void one_frame(const Words& sum, std::vector<Move>& out) {
    const int psi = letters_.symbol(Symbol::psi), omega = letters_.symbol(Symbol::Omega);
    const int H = letters_.symbol(state_.model().has_mimics() ? Symbol::H_full : Symbol::H);
    const int psi_star = letters_[psi].star, H_star = letters_[H].star,
              inv_D = letters_.symbol(Symbol::inv_D);
    const Word inner[] = {{psi_star, omega}, {omega, psi}, {psi_star, H_star, inv_D, H, psi}};
    std::set<int> frames;
    for (const auto& term : sum)
      for (const int l : term.first)
        if (letters_[l].node->kind == Node::Kind::symbol && letters_[l].node->symbol == Symbol::B &&
            letters_[l].node->frames.size() == 1)
          frames.insert(l);
    for (const int B : frames) {
      const auto between = [&](Word w) {
        w.insert(w.begin(), letters_[B].star);
        w.push_back(B);
        return w;
      };
      const Words right{{between({omega}), 1}};
      const Rule own{{between(inner[0]), between(inner[1])}, {right, right}, "", ""};
      if (Words to = rewritten(sum, own); to != sum)
        out.push_back({std::move(to), "B* psi* Omega B = B* Omega B, one frame", "OSC (58)"});
      const Rule tree{{between(inner[2]), between(inner[2])}, {right, right}, "", ""};
      if (Words to = rewritten(sum, tree); to != sum)
        out.push_back({std::move(to), "B* psi* H* D^-1 H psi B = B* Omega B, one frame", "OSC (56)-(58)"});
    }
  }

  void check(Space from, const std::vector<const Words*>& sums, Derivation& out) {
    WordValues value_of(state_, letters_, from, out.result);
    std::optional<std::vector<double>> before, value;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!(value = value_of(*sums[i]))) return;
      DerivationStep& step = out.steps[i];
      if (i > 0) step.residual = relative_difference(*value, *before);
      require(step, out);
      before = std::move(value);
    }
    out.checked = true;
  }

  OperatorState& state_;
  Alphabet letters_;
  std::vector<Rule> rules_;
};

template <class F>
bool any_of(const Node& n, const F& f) {
  return f(n) || (n.left && any_of(*n.left, f)) || (n.right && any_of(*n.right, f));
}
Model without_rotors(const Model& model) {
  ModelSpec spec = model.spec();
  for (JointSpec& joint : spec.joints) joint.armature = 0;
  return Model(spec, {.base = model.base(), .gravity = model.gravity()});
}

}  // namespace

Derivation derive(OperatorState& state, const NodePtr& expression, bool matrix) {
  const bool inverts = any_of(*expression, [](const Node& n) { return n.kind == Node::Kind::inverse; });
  const bool sees_rotors = any_of(
      *expression, [](const Node& n) { return n.kind == Node::Kind::symbol && counts_rotors(n.symbol); });
  if (!inverts || sees_rotors || !has_rotors(state.model())) return Deriver(state).derive(expression, matrix);
  // P, D, K and psi of this model count rotors; those that the inverses are made of do not.
  const Model bare = without_rotors(state.model());
  OperatorState there(bare);
  there.update(state);
  Deriver deriver(there);
  Derivation out = deriver.derive(expression, matrix);
  DerivationStep step = out.steps[0];
  step.identity = "no rotor here: P, D, K, psi are those of the mechanism without rotors";
  step.source = "this model";
  step.residual = deriver.apart(state, expression).value_or(0);
  require(step, out);
  out.steps.insert(out.steps.begin() + 1, std::move(step));
  out.without_rotors = true;
  out.result = expression;  // whose inv() is the form that was found
  return out;
}

}  // namespace articula::operators
