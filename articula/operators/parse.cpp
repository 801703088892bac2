#include "articula/operators/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace articula::operators {

std::string_view operator_names() {
  return "H phi psi M P D G K L tau_bar E_phi E_psi S R Omega E rotor Gamma H_full root_D H_dot M_ring "
         "P_ring G_ring K_ring R_ring J_ring H_ddot H_f I, B(FRAME), star(...), inv(...)";
}

namespace {

/// A number or an expression.
struct Value {
  std::optional<double> number;
  NodePtr node;
};

class Parser {
 public:
  Parser(std::string_view text, bool every_hinge) : text_(text), every_hinge_(every_hinge) {}

  Parsed parse() {
    Value v = sum();
    skip();
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected here", text_[at_]));
    if (!v.node) fail("this is a number; an operator or a vector is expected");
    return {std::move(v.node), std::move(vectors_)};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ArgumentError(fmt::format("expression '{}', character {}: {}", text_, at_ + 1, what));
  }
  template <class F>
  NodePtr guarded(F&& f) const {
    try {
      return f();
    } catch (const ArgumentError& e) {
      fail(e.what());
    }
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c))
      fail(at_ < text_.size() ? fmt::format("'{}' is expected before '{}'", c, text_[at_])
                              : fmt::format("'{}' is missing at the end", c));
  }

  Value sum() {
    Value left = product_of();
    while (true) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      const Value right = product_of();
      if (left.number && right.number) {
        left.number = *left.number + (plus ? *right.number : -*right.number);
        continue;
      }
      if (left.number || right.number)
        fail(fmt::format("{} cannot be added to an operator; write {}*I for that multiple of the identity",
                         left.number ? *left.number : *right.number,
                         left.number ? *left.number : *right.number));
      left.node = guarded([&] { return operators::sum(left.node, right.node, plus ? 1 : -1); });
    }
  }
  Value product_of() {
    Value left = factor();
    while (take('*')) {
      const Value right = factor();
      if (left.number && right.number)
        left.number = *left.number * *right.number;
      else if (left.number)
        left = {std::nullopt, scale(*left.number, right.node)};
      else if (right.number)
        left.node = scale(*right.number, left.node);
      else
        left.node = guarded([&] { return operators::product(left.node, right.node); });
    }
    return left;
  }
  /// Brackets, signs and functions may be nested this deep.
  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > 200) parser.fail("brackets are nested more than 200 deep");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };
  Value factor() {
    const Depth depth(*this);
    if (take('-')) {
      Value v = factor();
      if (v.number)
        v.number = -*v.number;
      else
        v.node = scale(-1, v.node);
      return v;
    }
    if (take('(')) {
      Value v = sum();
      expect(')');
      return v;
    }
    if (at_ >= text_.size()) fail("something is missing at the end");
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      double number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) fail("this is not a number");
      at_ = end - text_.data();
      return {number, nullptr};
    }
    if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
      fail(fmt::format("'{}' is not expected here", c));
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return {std::nullopt, name(text_.substr(start, at_ - start))};
  }
  NodePtr name(std::string_view name) {
    if (name == "star" || name == "inv") {
      expect('(');
      const Value v = sum();
      if (!v.node) fail(fmt::format("{}() needs an operator", name));
      expect(')');
      return guarded([&] { return name == "star" ? operators::star(v.node) : inverse(v.node); });
    }
    if (name == "B") {
      expect('(');
      std::vector<std::string> frames;
      do frames.push_back(frame_name());
      while (take(','));
      expect(')');
      return make_B(std::move(frames));
    }
    if (name == "I" || name == "Id") return make_identity();
    for (const Known known : {Known::bias_acceleration, Known::bias_force, Known::base_acceleration})
      if (name == name_of(known)) return make_known(known);
    for (int i = 0; i < static_cast<int>(Symbol::inv_D); ++i) {
      const auto symbol = static_cast<Symbol>(i);
      if (symbol == Symbol::tau || name != name_of(symbol))
        continue;  // tau is the vector of joint forces here
      return make_symbol(symbol == Symbol::H && every_hinge_ ? Symbol::H_full : symbol);
    }
    skip();
    if (at_ < text_.size() && text_[at_] == '(')
      fail(fmt::format("there is no function '{}'; there are: {}", name, operator_names()));
    auto found = std::find(vectors_.begin(), vectors_.end(), name);
    if (found == vectors_.end()) found = vectors_.insert(found, std::string(name));
    return make_input(Space::any, static_cast<int>(found - vectors_.begin()), std::string(name));
  }
  /// Anything up to a comma or a closing bracket; in quotes, anything.
  std::string frame_name() {
    skip();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) fail("the closing quote is missing");
      const std::string name(text_.substr(at_, end - at_));
      at_ = end + 1;
      return name;
    }
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')') ++at_;
    std::size_t end = at_;
    while (end > start && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
    if (end == start) fail("B() needs the name of a frame");
    return std::string(text_.substr(start, end - start));
  }

  std::string_view text_;
  bool every_hinge_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::string> vectors_;
};

}  // namespace

Parsed parse(std::string_view text, bool every_hinge) { return Parser(text, every_hinge).parse(); }

}  // namespace articula::operators
