#include "cli/eval_results.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>

#include "cli/eval_arrays.hpp"

namespace articula::cli {

std::size_t Quantity::Part::size() const {
  std::size_t out = 1;
  for (const std::size_t n : shape) out *= n;
  return out;
}

Json describe(std::span<const Quantity> quantities) {
  Json out = Json::array();
  for (const Quantity& quantity : quantities) {
    Json parts = Json::array();
    for (const Quantity::Part& part : quantity.parts)
      parts.push_back({{"key", part.key}, {"shape", part.shape}, {"whole_number", part.whole_number}});
    out.push_back({{"name", quantity.name}, {"parts", parts}});
  }
  return out;
}
std::vector<Quantity> quantities_of(const Json& described) {
  constexpr std::size_t longest = 100'000, most = 1 << 28;  // numbers
  const auto damaged = [] {
    throw ComputationError("run.json is damaged: it does not say what its results are");
  };
  std::vector<Quantity> out;
  try {
    for (const Json& quantity : described) {
      out.push_back({quantity.at("name"), {}});
      for (const Json& part : quantity.at("parts")) {
        Quantity::Part read{part.at("key"), {}, part.at("whole_number")};
        std::size_t size = 1;
        for (const Json& n : part.at("shape")) {
          if (!n.is_number_unsigned() || n.get<std::size_t>() > longest) damaged();
          size *= read.shape.emplace_back(n);
          if (size > most || read.shape.size() > 3) damaged();
        }
        if (read.whole_number && !read.shape.empty()) damaged();
        out.back().parts.push_back(std::move(read));
      }
      if (out.back().parts.empty()) damaged();
    }
  } catch (const Json::exception&) {
    damaged();
  }
  if (out.empty()) damaged();
  return out;
}

Values::Values(const Algorithm& algorithm, const Model& model, std::size_t frames)
    : algorithm(algorithm),
      quantity{algorithm.name, {}},
      task_(length_of(model, Extent::task, frames)),
      numbers_(algorithm.parts.size()) {
  for (const Part& part : algorithm.parts) {
    auto& made = quantity.parts.emplace_back(Quantity::Part{part.key, {}, part.whole_number});
    for (const Extent extent : {part.planes, part.rows, part.columns})
      if (extent != Extent::one) made.shape.push_back(length_of(model, extent, frames));
  }
}
std::span<const std::span<double>> Values::room(std::size_t states) {
  out_.clear();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    numbers_[i].resize(states * quantity.parts[i].size());
    out_.emplace_back(numbers_[i]);
  }
  return out_;
}
bool Values::finite(std::size_t state) const {
  const Result found = at(state);
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    for (const double x : found.part(i))
      if (!std::isfinite(x)) return false;
  return true;
}
bool Values::deficient(std::size_t state) const {
  const std::size_t last = numbers_.size() - 1;
  return quantity.parts[last].whole_number && at(state).part(last)[0] < static_cast<double>(task_);
}

namespace {

/// Text without a tree of JSON in between, which would take most of the time.
class JsonLayout {
 public:
  JsonLayout(std::string& text, bool one_line) : text_(text), one_line_(one_line) {}

  void state(std::span<const Result> results, int indent) {
    const auto simple = [](const Result& r) {
      return r.quantity->parts.size() == 1 && r.quantity->parts[0].shape.empty();
    };
    const bool flat = std::all_of(results.begin(), results.end(), simple);
    items("{}", results.size(), indent, flat, [&](std::size_t i) {
      key(results[i].quantity->name);
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
  void key(const std::string& name) { text_.append(1, '"').append(name).append("\": "); }
  /// As the JSON library writes it, in a third of the time: the shortest text that reads back the same, 1 as 1.0.
  void number(double x) {
    char digits[32];
    char* const end = fmt::format_to(digits, FMT_COMPILE("{}"), x);
    text_.append(digits, end);
    if (std::none_of(digits, end, [](char c) { return c == '.' || c == 'e'; })) text_ += ".0";
  }

  void value(const Result& result, int indent) {
    const auto& parts = result.quantity->parts;
    const auto one = [&](std::size_t i, int indent) {
      const auto x = result.part(i);
      if (parts[i].whole_number && std::abs(x[0]) < 1e15)
        text_ += std::to_string(static_cast<long>(x[0]));
      else
        array(x, parts[i].shape, indent);
    };
    if (parts.size() == 1) return one(0, indent);
    const bool flat =
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.shape.empty(); });
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

constexpr std::size_t written_at_once = 1 << 16;  // is written at once

}  // namespace

TextResults::TextResults(const std::string& out, const Json& model, bool lines)
    : out_(out), lines_(lines), hold_(out == "-" ? 1 << 24 : written_at_once) {
  if (lines) return;
  text_ = "{\n \"model\": ";
  append(model, 1, text_);
  text_ += ",\n \"results\": [";
}
void TextResults::add(std::span<const Result> state) {
  if (!lines_) text_ += any_ ? ",\n  " : "\n  ";
  any_ = true;
  JsonLayout(text_, lines_).state(state, 2);
  if (lines_) text_ += '\n';
  if (text_.size() < hold_) return;
  out_.write(text_);
  text_.clear();
  hold_ = written_at_once;
}
void TextResults::finish() {
  if (!lines_) text_ += any_ ? "\n ]\n}\n" : "]\n}\n";
  out_.write(text_);
  out_.finish();
}

std::string results_format(const std::string& out, const std::string& format) {
  if (!format.empty()) return format;
  if (out.ends_with(".ndjson") || out.ends_with(".jsonl")) return "ndjson";
  const FileFormat arrays = format_of(out);
  return arrays == FileFormat::npz ? "npz" : arrays == FileFormat::hdf5 ? "h5" : "json";
}
std::unique_ptr<Results> results_for(const std::string& out, const std::string& format, const Json& model,
                                     std::span<const Quantity> quantities) {
  if (format == "npz") return std::make_unique<ArrayResults>(out, FileFormat::npz, quantities);
  if (format == "h5") return std::make_unique<ArrayResults>(out, FileFormat::hdf5, quantities);
  return std::make_unique<TextResults>(out, model, format == "ndjson");
}

}  // namespace articula::cli
