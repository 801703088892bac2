// Results of articula eval as arrays, a row per state: .npz and HDF5.
#pragma once

#include <functional>

#include "cli/eval_results.hpp"

namespace articula::cli {

/// Numbers that wait, in a file without a name, until all of them are there.
class Spool {
 public:
  explicit Spool(const std::string& folder);
  ~Spool();
  Spool(Spool&& other) noexcept;
  void add(std::span<const double> x);
  /// All, in pieces.
  void for_each_piece(const std::function<void(std::span<const double>)>& use);

 private:
  void flush();
  int fd_;
  std::size_t bytes_ = 0;  // in the file
  std::vector<double> waiting_;
};

/// Arrays (states, ..) named QUANTITY, or QUANTITY.KEY where a quantity has several parts.
class ArrayResults : public Results {
 public:
  enum class Form { npz, hdf5 };
  ArrayResults(const std::string& out, Form form, std::span<const Values> values);
  void add(std::span<const Result> state) override;
  void finish() override;

 private:
  struct Column {
    std::string name;
    std::vector<std::size_t> shape;
    Spool spool;
  };
  std::string path_;
  Output out_;
  Form form_;
  std::vector<Column> columns_;
  std::size_t states_ = 0;
};

}  // namespace articula::cli
