// JSON as text, written front to back, safe inside a <script> of an HTML page whatever the names are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace articula {

/// Commas are its own affair; that every begin has its end is the caller's.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_list() { return open('['); }
  JsonText& end_list() { return close(']'); }
  JsonText& key(std::string_view name);
  /// No '<', '>' or '&' stands in the result, nor anything that is not UTF-8.
  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  /// To the last bit; null if not finite.
  JsonText& value(double number);
  JsonText& value(int number) { return value(static_cast<double>(number)); }
  JsonText& value(bool yes) { return raw(yes ? "true" : "false"); }
  JsonText& null() { return raw("null"); }
  JsonText& values(std::span<const double> numbers);
  /// Numbers as they lie in memory, in base 64: compact, exact and quick to read. Little-endian machines
  /// only.
  template <class T>
  JsonText& packed(std::span<T> numbers) {
    return packed_bytes(std::as_bytes(numbers));
  }
  template <class T>
  JsonText& entry(std::string_view name, const T& x) {
    return key(name).value(x);
  }

  std::string take() { return std::move(text_); }

 private:
  JsonText& open(char c);
  JsonText& close(char c);
  JsonText& raw(std::string_view text);
  JsonText& packed_bytes(std::span<const std::byte> bytes);
  void separate();
  std::string text_;
  bool first_ = true;
};

}  // namespace articula
