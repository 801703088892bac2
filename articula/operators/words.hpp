// Operator expressions as sums of words, phi M phi* - P and the like: the form in which identities are applied.
//
// A letter is an operator, an adjoint, a vector, or the inverse of a sum. Products of sums are multiplied out; for
// readers the two factors of the mass operator, [I + H phi K] and [I - H psi K], are letters too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "articula/operators/node.hpp"

namespace articula::operators {

using Word = std::vector<int>;         // letters, as they stand; none: the identity
using Words = std::map<Word, double>;  // the terms of a sum, none with 0

/// The letters of some expressions, and what can be done with words of them.
class Alphabet {
 public:
  struct Letter {
    NodePtr node{};
    std::string text{};  // as papers write it
    int star = -1;       // the adjoint's letter; itself if symmetric
    bool sweeps = false;
    Words inverse_of{};  // of the inverse of a sum
  };

  explicit Alphabet(bool every_hinge);

  const Letter& operator[](int letter) const { return letters_[letter]; }
  /// In the grammar of parse.hpp.
  Words words_of(const char* text);
  Words words_of(const NodePtr& node);
  /// phi or psi as they are, or their adjoints.
  int symbol(Symbol symbol, bool starred = false);
  int inverse_of(const Words& sum);
  /// A letter for the inverse of the mass operator of mimic joints, (Gamma* X Gamma)^-1 with X of every hinge, which takes
  /// X^-1 and a dense solve of as many rows as joints mimic (OperatorState::solve_mass); none if it is another sum.
  std::optional<Words> mimic_inverse(const Words& sum);

  Words star(const Words& sum) const;
  static Words times(const Words& left, const Words& right);
  static void add(Words& to, const Words& sum, double factor = 1);

  /// Common factors on the left drawn out, as few sweeps as that allows.
  NodePtr node_of(const Words& sum) const;
  /// The same with factors of the mass operator for the words that they are made of, as far as there are any.
  Words folded(Words sum) const;
  /// As papers write it.
  std::string text_of(const Words& sum) const;

  struct Cost {
    int inverses = 0, inside = 0;  // that no letter stands for; letters in these
    int sweeps = 0, series = 0;    // of the sum; one after another, at most
    int letters = 0;
  };
  Cost cost_of(const Words& sum) const;

 private:
  int add_letter(Letter letter, bool symmetric);
  int letter_of(const NodePtr& node, const std::string& text, bool symmetric);
  /// [I + sign H sweep K]
  void add_factor(Symbol sweep, double sign, const char* text);

  /// [I + sign word]
  struct Factor {
    int letter;
    Word word;
    double sign;
  };
  std::vector<Letter> letters_;
  std::vector<Factor> factors_;
  std::map<std::string, int> by_name_;
  bool every_hinge_;
};

}  // namespace articula::operators
