#include "articula/operators/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <queue>
#include <set>

#include "articula/operators/inverses.hpp"
#include "articula/operators/trials.hpp"
#include "articula/operators/words.hpp"
#include "articula/spatial/dense.hpp"

namespace articula::operators {

std::span<const Rewriting> rewritings() {
  static constexpr Rewriting all[] = {
      {"phi M phi* = phi P + P phi* - P + phi K D K* phi*", "JPL88 (a.48), (a.13)", "phi*M*star(phi)",
       "phi*P + P*star(phi) - P + phi*K*D*star(K)*star(phi)"},
      {"psi M phi* = psi P + P phi* - P", "JPL88 (a.46), OSC (54)", "psi*M*star(phi)",
       "psi*P + P*star(phi) - P"},
      {"psi M_ring phi* = psi P_ring + P_ring phi* - P_ring", "LIN (4.12), (A.2)", "psi*M_ring*star(phi)",
       "psi*P_ring + P_ring*star(phi) - P_ring"},
      {"P_ring* H* D^-1 = G_ring", "LIN (4.12)", "star(P_ring)*star(H)*inv(D)", "G_ring"},
      {"phi G_ring = G_ring + phi K_ring", "LIN (4.12)", "phi*G_ring", "G_ring + phi*K_ring"},
      {"P H* = G D", "JPL88 (a.2)", "P*star(H)", "G*D"},
      {"H G = I - rotor D^-1", "JPL88 (a.1), (a.2)", "H*G", "I - rotor*inv(D)"},
      {"phi G = G + phi K", "JPL88 (a.13)", "phi*G", "G + phi*K"},
      {"root_D root_D* = D", "DIAG (22)", "root_D*star(root_D)", "D"},
      {"root_D^-1 D = root_D*", "DIAG (22)", "inv(root_D)*D", "star(root_D)"},
      {"D D^-1 = I", "JPL88 (a.1)", "D*inv(D)", "I"},
      {"K H = E_phi - E_psi", "JPL88 (4.7), OSC (28)", "K*H", "E_phi - E_psi"},
      {"psi K H phi = phi - psi", "JPL88 (a.18), OSC (52)", "psi*K*H*phi", "phi - psi"},
      {"phi K H psi = phi - psi", "JPL88 (a.26), OSC (52)", "phi*K*H*psi", "phi - psi"},
      {"phi E_phi = phi - I", "JPL88 (a.9)", "phi*E_phi", "phi - I"},
      {"E_phi phi = phi - I", "JPL88 (a.11)", "E_phi*phi", "phi - I"},
      {"psi E_psi = psi - I", "JPL88 (a.8)", "psi*E_psi", "psi - I"},
      {"E_psi psi = psi - I", "JPL88 (a.10)", "E_psi*psi", "psi - I"},
      {"H* D^-1 H = Omega - E_psi* Omega E_psi", "OSC (57)", "star(H)*inv(D)*H",
       "Omega - star(E_psi)*Omega*E_psi", true},
  };
  return all;
}

namespace {

constexpr int most_expansions = 400, most_terms = 40, most_dense = 600;

/// One rule and its adjoint.
struct Rule {
  Word left[2];
  Words right[2];
  std::string name, source;
};
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
      if (!rotors && std::erase_if(right, [&](const auto& term) { return has(term.first, rotor); }))
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
      throw ArgumentError(fmt::format("{}: the algebra finds no O(n) form of this; what remains: {}",
                                      to_string(*expression), out.steps.back().text));
    out.result = letters_.node_of(result);
    check(expression->from, sums, out);
    return out;
  }

 private:
  static bool has(const Word& word, int letter) {
    return std::find(word.begin(), word.end(), letter) != word.end();
  }

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

  // --- numbers at the state --------------------------------------------------------------------------

  void check(Space from, const std::vector<const Words*>& sums, Derivation& out) {
    std::mt19937_64 engine(1);
    std::vector<double> x;
    if (out.result->from == Space::any) {  // a multiple of the identity
      if (from != Space::frame) x = random_vector(engine, state_.size_of(from));
    } else {
      Program result(state_, out.result);
      for (int i = 0; i < result.inputs(); ++i)
        inputs_.push_back(random_vector(engine, result.input_size(i)));
      if (from != Space::one) x = random_vector(engine, result.columns());
      rows_ = result.rows();
    }
    std::vector<double> before;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto value = times(*sums[i], x);
      if (!value) return;
      if (i > 0) {
        for (std::size_t k = 0; k < before.size(); ++k) before[k] -= (*value)[k];
        out.steps[i].residual = largest(before) / std::max(1.0, largest(*value));
      }
      before = *value;
    }
    out.checked = true;
  }
  using Numbers = std::optional<std::vector<double>>;
  Numbers times(const Words& sum, const std::vector<double>& x) {
    std::vector<double> out;
    for (const auto& [word, factor] : sum) {
      Numbers value = x;
      for (auto letter = word.rbegin(); letter != word.rend() && value; ++letter)
        value = times(*letter, *value);
      if (!value) return value;
      out.resize(value->size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += factor * (*value)[i];
    }
    if (out.empty()) out.resize(x.empty() ? rows_ : x.size());
    return out;
  }
  Numbers times(int l, const std::vector<double>& x) {
    const Alphabet::Letter letter = letters_[l];
    if (letter.node->kind == Node::Kind::input) return inputs_[letter.node->input];
    if (!letter.inverse_of.empty()) {
      const int n = static_cast<int>(x.size());
      if (n > most_dense) return std::nullopt;
      dense::Matrix matrix(n, n);
      std::vector<double> unit(n);
      for (int j = 0; j < n; ++j) {
        unit[j] = 1;
        const Numbers column = times(letter.inverse_of, unit);
        if (!column) return column;
        for (int i = 0; i < n; ++i) matrix(i, j) = (*column)[i];
        unit[j] = 0;
      }
      const dense::Matrix solved = dense::LU(matrix).solve(dense::view(x));
      return std::vector<double>(solved.numbers().begin(), solved.numbers().end());
    }
    auto& program = programs_[l];
    if (!program) program = std::make_unique<Program>(state_, letter.node);
    std::vector<double> out(program->rows());
    program->apply(letter.node->from == Space::one ? std::vector<double>{} : x, out);
    return out;
  }

  OperatorState& state_;
  Alphabet letters_;
  std::vector<Rule> rules_;
  std::map<int, std::unique_ptr<Program>> programs_;
  std::vector<std::vector<double>> inputs_;
  int rows_ = 0;
};

}  // namespace

Derivation derive(OperatorState& state, const NodePtr& expression, bool matrix) {
  return Deriver(state).derive(expression, matrix);
}

}  // namespace articula::operators
