// Results of articula eval as arrays, a row per state: .npz and HDF5; and as bytes, for blocks of sharded runs.
#pragma once

#include "cli/eval_results.hpp"
#include "cli/spool.hpp"

namespace articula::cli {

/// Arrays (states, ..) named QUANTITY, or QUANTITY.KEY where a quantity has several parts.
class ArrayResults : public Results {
 public:
  ArrayResults(const std::string& out, FileFormat format, std::span<const Quantity> quantities);
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
  FileFormat format_;
  std::vector<Column> columns_;
  std::size_t states_ = 0;
};

/// The numbers of all states one after the other, little-endian doubles, as they are in memory.
class BlockResults : public Results {
 public:
  void add(std::span<const Result> state) override;
  void finish() override {}
  std::string bytes;
};
/// Gives the states of such a block on. ComputationError unless it is of `count` states with these results.
void add_block(std::string_view bytes, std::size_t count, std::span<const Quantity> quantities,
               Results& results);

}  // namespace articula::cli
