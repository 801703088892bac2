// What articula eval has computed, and where it goes: as text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "articula/algorithms/algorithms.hpp"
#include "cli/output.hpp"

namespace articula::cli {

/// What the results of an algorithm look like.
struct Quantity {
  struct Part {
    std::string key;
    /// None for a number; the length of a list; rows, columns; planes, rows, columns.
    std::vector<std::size_t> shape;
    bool whole_number = false;
    std::size_t size() const;
  };
  std::string name;
  std::vector<Part> parts;
};
Json describe(std::span<const Quantity> quantities);
/// The way back. ComputationError where it is none.
std::vector<Quantity> quantities_of(const Json& described);

/// One algorithm's result at one state.
struct Result {
  const Quantity* quantity;
  std::span<const std::span<double>> arrays;  // of each part, over a stretch of states
  std::size_t place;                          // in the stretch
  std::span<const double> part(std::size_t i) const {
    const std::size_t size = quantity->parts[i].size();
    return arrays[i].subspan(place * size, size);
  }
};

/// The results of one algorithm at a stretch of states, in one array per part.
class Values {
 public:
  Values(const Algorithm& algorithm, const Model& model, std::size_t frames);
  std::span<const std::span<double>> room(std::size_t states);
  bool finite(std::size_t state) const;
  /// Whether there are words to it: OneState::remark.
  bool deficient(std::size_t state) const;
  Result at(std::size_t state) const { return {&quantity, out_, state}; }

  const Algorithm& algorithm;
  Quantity quantity;

 private:
  std::size_t task_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::span<double>> out_;
};

/// Takes the results state by state, one per algorithm.
class Results {
 public:
  virtual ~Results() = default;
  virtual void add(std::span<const Result> state) = 0;
  /// All are there.
  virtual void finish() = 0;
};
/// json, ndjson, npz or h5: the format, or, if that is empty, as the name ends.
std::string results_format(const std::string& out, const std::string& format = "");
/// `model`: describe_model. InputError where the file cannot be made.
std::unique_ptr<Results> results_for(const std::string& out, const std::string& format, const Json& model,
                                     std::span<const Quantity> quantities);

/// JSON, laid out as append() of output.hpp lays it out; or a line per state.
class TextResults : public Results {
 public:
  TextResults(const std::string& out, const Json& model, bool lines);
  void add(std::span<const Result> state) override;
  void finish() override;

 private:
  Output out_;
  bool lines_, any_ = false;
  std::string text_;
  std::size_t hold_;  // so much text is kept back: a fault until then leaves no half result on stdout
};

}  // namespace articula::cli
