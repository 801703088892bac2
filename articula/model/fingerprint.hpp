// A short name for content, so that files can say of which model and settings they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "articula/model/model.hpp"

namespace articula {

/// FNV-1a of 64 bits: the same on every machine; finds what differs by accident, not by malice.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text);
  Fingerprint& add(double x);
  Fingerprint& add(std::span<const double> x);
  /// Sixteen digits.
  std::string text() const;

 private:
  void bytes(const void* data, std::size_t size);
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

/// Of everything that a computation reads of a model; not of the file that it came from.
std::string fingerprint(const Model& model);

}  // namespace articula
