// What articula eval has computed, and where it goes: as text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "cli/output.hpp"

namespace articula::cli {

/// The results of one algorithm at a stretch of states, in one array per part.
class Values {
 public:
  Values(const Algorithm& algorithm, const Model& model, std::size_t frames);
  std::span<const std::span<double>> room(std::size_t states);
  bool finite(std::size_t state) const;
  /// Whether there are words to it: OneState::remark.
  bool deficient(std::size_t state) const;
  std::span<const double> part(std::size_t i, std::size_t state) const {
    return std::span(numbers_[i]).subspan(state * sizes_[i], sizes_[i]);
  }

  const Algorithm& algorithm;
  /// Of each part: none for a number; the length of a list; rows, columns; planes, rows, columns.
  std::vector<std::vector<std::size_t>> shapes;

 private:
  std::size_t task_;
  std::vector<std::size_t> sizes_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::span<double>> out_;
};

/// One algorithm's result at one state.
struct Result {
  const Values* values;
  std::size_t place;  // in the stretch
};

/// Takes the results state by state, one per algorithm.
class Results {
 public:
  virtual ~Results() = default;
  virtual void add(std::span<const Result> state) = 0;
  /// All are there.
  virtual void finish() = 0;
};

/// JSON, laid out as append() of output.hpp lays it out; or a line per state.
class TextResults : public Results {
 public:
  TextResults(const std::string& out, const Model& model, bool lines);
  void add(std::span<const Result> state) override;
  void finish() override;

 private:
  Output out_;
  bool lines_, any_ = false;
  std::string text_;
  std::size_t hold_;  // so much text is kept back: a fault until then leaves no half result on stdout
};

}  // namespace articula::cli
