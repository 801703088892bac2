#include "cli/eval_results.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>

namespace articula::cli {

Values::Values(const Algorithm& algorithm, const Model& model, std::size_t frames)
    : algorithm(algorithm), task_(length_of(model, Extent::task, frames)), numbers_(algorithm.parts.size()) {
  for (const Part& part : algorithm.parts) {
    sizes_.push_back(size_of(model, part, frames));
    auto& shape = shapes.emplace_back();
    for (const Extent extent : {part.planes, part.rows, part.columns})
      if (extent != Extent::one) shape.push_back(length_of(model, extent, frames));
  }
}
std::span<const std::span<double>> Values::room(std::size_t states) {
  out_.clear();
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    numbers_[i].resize(states * sizes_[i]);
    out_.emplace_back(numbers_[i]);
  }
  return out_;
}
bool Values::finite(std::size_t state) const {
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    for (const double x : part(i, state))
      if (!std::isfinite(x)) return false;
  return true;
}
bool Values::deficient(std::size_t state) const {
  const std::size_t last = sizes_.size() - 1;
  return algorithm.parts[last].whole_number && part(last, state)[0] < static_cast<double>(task_);
}

namespace {

/// Text without a tree of JSON in between, which would take most of the time.
class Layout {
 public:
  Layout(std::string& text, bool one_line) : text_(text), one_line_(one_line) {}

  void state(std::span<const Result> results, int indent) {
    const auto simple = [](const Result& r) {
      return r.values->shapes.size() == 1 && r.values->shapes[0].empty();
    };
    const bool flat = std::all_of(results.begin(), results.end(), simple);
    items("{}", results.size(), indent, flat, [&](std::size_t i) {
      key(results[i].values->algorithm.name);
      value(results[i], indent + 1);
    });
  }

 private:
  /// "a, b" in a line, or each in a line of its own.
  template <class F>
  void items(const char* marks, std::size_t count, int indent, bool flat, F&& item) {
    flat = flat || one_line_ || count == 0;
    text_ += marks[0];
    for (std::size_t i = 0; i < count; ++i) {
      if (i) text_ += flat ? ", " : ",";
      if (!flat) margin(indent + 1);
      item(i);
    }
    if (!flat) margin(indent);
    text_ += marks[1];
  }
  void margin(int indent) { text_.append(1, '\n').append(static_cast<std::size_t>(indent), ' '); }
  void key(const char* name) { text_.append(1, '"').append(name).append("\": "); }
  /// As the JSON library writes it, in a third of the time: the shortest text that reads back the same, 1 as 1.0.
  void number(double x) {
    char digits[32];
    char* const end = fmt::format_to(digits, FMT_COMPILE("{}"), x);
    text_.append(digits, end);
    if (std::none_of(digits, end, [](char c) { return c == '.' || c == 'e'; })) text_ += ".0";
  }

  void value(const Result& result, int indent) {
    const Values& values = *result.values;
    const auto& parts = values.algorithm.parts;
    const auto one = [&](std::size_t i, int indent) {
      const auto x = values.part(i, result.place);
      if (parts[i].whole_number)
        text_ += std::to_string(static_cast<long>(x[0]));
      else
        array(x, values.shapes[i], indent);
    };
    if (parts.size() == 1) return one(0, indent);
    const bool flat =
        std::all_of(values.shapes.begin(), values.shapes.end(), [](const auto& s) { return s.empty(); });
    items("{}", parts.size(), indent, flat, [&](std::size_t i) {
      key(parts[i].key);
      one(i, indent + 1);
    });
  }
  void array(std::span<const double> x, std::span<const std::size_t> shape, int indent) {
    if (shape.empty()) return number(x[0]);
    const std::size_t count = x.empty() ? 0 : shape[0], size = count ? x.size() / count : 0;
    items("[]", count, indent, shape.size() == 1,
          [&](std::size_t i) { array(x.subspan(i * size, size), shape.subspan(1), indent + 1); });
  }

  std::string& text_;
  bool one_line_;
};

constexpr std::size_t piece = 1 << 16;  // is written at once

}  // namespace

TextResults::TextResults(const std::string& out, const Model& model, bool lines)
    : out_(out), lines_(lines), hold_(out == "-" ? 1 << 24 : piece) {
  if (lines) return;
  text_ = "{\n \"model\": ";
  append(describe_model(model), 1, text_);
  text_ += ",\n \"results\": [";
}
void TextResults::add(std::span<const Result> state) {
  if (!lines_) text_ += any_ ? ",\n  " : "\n  ";
  any_ = true;
  Layout(text_, lines_).state(state, 2);
  if (lines_) text_ += '\n';
  if (text_.size() < hold_) return;
  out_.write(text_);
  text_.clear();
  hold_ = piece;
}
void TextResults::finish() {
  if (!lines_) text_ += any_ ? "\n ]\n}\n" : "]\n}\n";
  out_.write(text_);
  out_.finish();
}

}  // namespace articula::cli
