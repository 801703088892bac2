#include "articula/operators/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "articula/operators/inverses.hpp"
#include "articula/operators/parse.hpp"

namespace articula::operators {

namespace {
// The mass operator of mimic joints, with H and rotor of every hinge.
constexpr const char *own_mass = "star(Gamma)*H*phi*M*star(phi)*star(H)*Gamma",
                     *own_rotor = "star(Gamma)*rotor*Gamma";
}  // namespace

Alphabet::Alphabet(bool every_hinge) : every_hinge_(every_hinge) {
  add_factor(Symbol::phi, 1, "[I + H phi K]");
  add_factor(Symbol::psi, -1, "[I - H psi K]");
}

void Alphabet::add_factor(Symbol sweep, double sign, const char* text) {
  const Word word{symbol(every_hinge_ ? Symbol::H_full : Symbol::H), symbol(sweep), symbol(Symbol::K)};
  const int letter = add_letter({.node = node_of({{{}, 1}, {word, sign}}), .text = text}, false);
  factors_.push_back({letter, word, sign});
  factors_.push_back({letters_[letter].star, star({{word, 1}}).begin()->first, sign});
}

int Alphabet::add_letter(Letter letter, bool symmetric) {
  const int at = static_cast<int>(letters_.size());
  letter.star = at;
  letters_.push_back(letter);
  if (symmetric) return at;
  letters_[at].star = at + 1;
  letter.node = operators::star(letter.node);
  letter.text += '*';
  letters_.push_back(std::move(letter));
  return at;
}
int Alphabet::letter_of(const NodePtr& node, const std::string& text, bool symmetric) {
  const auto [found, made] = by_name_.try_emplace(text, static_cast<int>(letters_.size()));
  if (made) add_letter({.node = node, .text = text}, symmetric);
  return found->second;
}
int Alphabet::symbol(Symbol symbol, bool starred) {
  const bool is_inverse = symbol == Symbol::inv_D;
  const char* const name = is_inverse                     ? "D^-1"
                           : symbol == Symbol::inv_root_D ? "root_D^-1"
                           : symbol == Symbol::H_full     ? "H"
                                                          : name_of(symbol);
  const int letter = letter_of(make_symbol(symbol), name, is_inverse || symmetric(symbol));
  if (symbol == Symbol::phi || symbol == Symbol::psi)
    letters_[letter].sweeps = letters_[letters_[letter].star].sweeps = true;
  return starred ? letters_[letter].star : letter;
}
int Alphabet::inverse_of(const Words& sum) {
  const std::string text = "(" + text_of(sum) + ")^-1";
  const bool symmetric = star(sum) == sum;
  const int letter = letter_of(inverse(node_of(sum)), text, symmetric);
  letters_[letter].inverse_of = sum;
  letters_[letters_[letter].star].inverse_of = star(sum);
  return letter;
}

std::optional<Words> Alphabet::mimic_inverse(const Words& sum) {
  for (const bool rotors : {false, true}) {
    Words mass = words_of(own_mass);
    if (rotors) add(mass, words_of(own_rotor));
    const double factor = sum.begin()->second;
    Words scaled;
    add(scaled, mass, factor);
    if (!every_hinge_ || scaled != sum) continue;
    const char* const text =
        rotors ? "inv(H*phi*M*star(phi)*star(H) + rotor)" : "inv(H*phi*M*star(phi)*star(H))";
    const int letter = letter_of(parse(text).node, rotors ? "mass^-1" : "(mass without rotors)^-1", true);
    letters_[letter].sweeps = true;
    return Words{{{letter}, 1 / factor}};
  }
  return std::nullopt;
}

// --- sums of words -----------------------------------------------------------------------------------

void Alphabet::add(Words& to, const Words& sum, double factor) {
  for (const auto& [word, x] : sum) {
    const auto place = to.try_emplace(word, 0).first;
    place->second += factor * x;
    if (place->second == 0) to.erase(place);
  }
}
Words Alphabet::times(const Words& left, const Words& right) {
  Words out;
  for (const auto& [a, x] : left)
    for (const auto& [b, y] : right) {
      Word word = a;
      word.insert(word.end(), b.begin(), b.end());
      add(out, {{std::move(word), x * y}});
    }
  return out;
}
Words Alphabet::star(const Words& sum) const {
  Words out;
  for (const auto& [word, x] : sum) {
    Word reversed(word.rbegin(), word.rend());
    for (int& letter : reversed) letter = letters_[letter].star;
    out[reversed] = x;
  }
  return out;
}
// --- from and to expressions -------------------------------------------------------------------------

Words Alphabet::words_of(const char* text) { return words_of(parse(text, every_hinge_).node); }

Words Alphabet::words_of(const NodePtr& n) {
  switch (n->kind) {
    case Node::Kind::symbol:
      if (n->symbol == Symbol::B) return {{{letter_of(n, to_string(*n), false)}, 1}};
      // Without mimic joints H_full is H; with them, H = Gamma* H_full.
      if (n->symbol == Symbol::H && every_hinge_)
        return {{{symbol(Symbol::Gamma, true), symbol(Symbol::H_full)}, 1}};
      return {{{symbol(n->symbol)}, 1}};
    case Node::Kind::known:
    case Node::Kind::input:
      return {{{letter_of(n, to_string(*n), true)}, 1}};
    case Node::Kind::identity:
      return {{{}, 1}};
    case Node::Kind::product:
      return times(words_of(n->left), words_of(n->right));
    case Node::Kind::sum: {
      Words sum = words_of(n->left);
      add(sum, words_of(n->right));
      return sum;
    }
    case Node::Kind::scale: {
      Words out;
      if (n->factor != 0) add(out, words_of(n->left), n->factor);
      return out;
    }
    case Node::Kind::star:
      return star(words_of(n->left));
    case Node::Kind::inverse: {
      Words sum = words_of(n->left);
      // rotor beside the mass operator of mimic joints, as inv() reads it
      if (every_hinge_ && sum.contains(words_of(own_mass).begin()->first))
        if (const auto rotor = sum.extract({symbol(Symbol::rotor)}))
          add(sum, words_of(own_rotor), rotor.mapped());
      for (const auto& [of, is] : {std::pair{Symbol::D, Symbol::inv_D}, {Symbol::root_D, Symbol::inv_root_D}})
        if (sum == Words{{{symbol(of)}, 1}}) return {{{symbol(is)}, 1}};
      return {{{inverse_of(sum)}, 1}};
    }
  }
  return {};
}

namespace {
/// A sum by its words' first letters: first (the rest), the rest divided by its first number, so that equal rests
/// are equal whatever their sign.
struct Group {
  int first;
  double factor;
  Words rest;
};
std::vector<Group> groups_of(const Words& sum) {
  std::vector<Group> out;
  for (const auto& [word, x] : sum) {
    if (word.empty()) continue;
    if (out.empty() || out.back().first != word[0]) out.push_back({word[0], x, {}});
    out.back().rest[Word(word.begin() + 1, word.end())] = x / out.back().factor;
  }
  return out;
}
double identity_in(const Words& sum) {
  const auto found = sum.find({});
  return found == sum.end() ? 0 : found->second;
}
}  // namespace

NodePtr Alphabet::node_of(const Words& sum) const {
  NodePtr out;
  const auto put = [&](double factor, const NodePtr& x) {
    out = out ? operators::sum(out, x, factor) : factor == 1 ? x : scale(factor, x);
  };
  if (const double x = identity_in(sum); x != 0) put(x, make_identity());
  for (const Group& g : groups_of(sum)) {
    const NodePtr& first = letters_[g.first].node;
    put(g.factor, g.rest == Words{{{}, 1}} ? first : product(first, node_of(g.rest)));
  }
  return out ? out : scale(0, make_identity());
}

Words Alphabet::folded(Words sum) const {
  // x u v + x sign u w v = x u [I + sign w] v, for every such pair of words
  const auto fold = [&](const Factor& f) {
    for (const auto& [word, x] : sum)
      for (auto at = word.begin();
           (at = std::search(at, word.end(), f.word.begin(), f.word.end())) != word.end(); ++at) {
        Word without(word.begin(), at), with = without;
        with.push_back(f.letter);
        const auto after = at + static_cast<long>(f.word.size());
        without.insert(without.end(), after, word.end());
        with.insert(with.end(), after, word.end());
        const auto partner = sum.find(without);
        if (partner == sum.end() || partner->second != f.sign * x) continue;
        const Words pair{{word, -x}, {without, -f.sign * x}, {with, f.sign * x}};
        add(sum, pair);
        return true;
      }
    return false;
  };
  for (bool found = true; found;) found = std::any_of(factors_.begin(), factors_.end(), fold);
  return sum;
}

std::string Alphabet::text_of(const Words& sum) const {
  std::string out;
  const auto put = [&](double factor, const std::string& x) {
    if (out.empty())
      out = factor < 0 ? "-" : "";
    else
      out += factor < 0 ? " - " : " + ";
    if (std::abs(factor) != 1) out += fmt::format("{} ", std::abs(factor));
    out += x;
  };
  if (const double x = identity_in(sum); x != 0) put(x, "I");
  for (const Group& g : groups_of(sum)) {
    const std::string& first = letters_[g.first].text;
    const bool several = groups_of(g.rest).size() + (identity_in(g.rest) != 0) > 1;
    put(g.factor, g.rest == Words{{{}, 1}} ? first
                  : several                ? first + " (" + text_of(g.rest) + ")"
                                           : first + " " + text_of(g.rest));
  }
  return out.empty() ? "0" : out;
}

Alphabet::Cost Alphabet::cost_of(const Words& sum) const {
  Cost cost;
  std::set<int> inverses;
  std::set<std::pair<int, std::string>> seen;
  const auto walk = [&](const auto& self, const Words& part) -> void {
    for (const Group& g : groups_of(part)) {
      const Letter& letter = letters_[g.first];
      if (!seen.emplace(g.first, text_of(g.rest)).second) continue;
      ++cost.letters;
      cost.sweeps += letter.sweeps;
      if (!letter.inverse_of.empty() && inverses.insert(std::min(g.first, letter.star)).second)
        for (const auto& term : letter.inverse_of) cost.inside += static_cast<int>(term.first.size()) + 1;
      self(self, g.rest);
    }
  };
  walk(walk, sum);
  cost.inverses = static_cast<int>(inverses.size());
  for (const auto& term : sum)
    cost.series =
        std::max(cost.series, static_cast<int>(std::count_if(term.first.begin(), term.first.end(),
                                                             [&](int l) { return letters_[l].sweeps; })));
  return cost;
}

}  // namespace articula::operators
