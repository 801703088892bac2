// A file of states of which any can be had: what the parts of a sharded eval read.
#pragma once

#include <memory>
#include <string>

#include "cli/state_reader.hpp"

namespace articula::cli {

class StoredStates {
 public:
  /// Arrays (.npz, .npy, HDF5) are read where they are needed. JSON is read whole at once, checked, and kept in a file
  /// without a name. Errors as of stream_states. Parts begin at multiples of `at_once`.
  StoredStates(const std::string& path, const Model& model, const Needs& needs, std::size_t at_once,
               const StateReading& reading);
  ~StoredStates();
  StoredStates(const StoredStates&) = delete;
  StoredStates& operator=(const StoredStates&) = delete;

  std::uint64_t size() const;
  std::string fingerprint() const;
  /// States from `first` on, in stretches of `at_once`, as stream_states gives them.
  void stream(std::uint64_t first, std::uint64_t count, const UseStates& use);

 private:
  struct Copy;
  std::string path_;
  const Model& model_;
  const Needs& needs_;
  std::size_t at_once_;
  StateReading reading_;
  std::unique_ptr<ArrayStates> arrays_;  // or
  std::unique_ptr<Copy> copy_;
};

}  // namespace articula::cli
