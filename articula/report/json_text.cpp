#include "articula/report/json_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>

#include "articula/utf8.hpp"

namespace articula {

namespace {

static_assert(std::endian::native == std::endian::little, "packed numbers are little-endian");

void append_string(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    const char c = text[0];
    if (size == 0)
      out += "\xEF\xBF\xBD";  // the replacement character
    else if (size > 1)
      out += text.substr(0, size);
    else if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < ' ' || c == 127 || c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
    text.remove_prefix(size ? size : 1);
  }
  out += '"';
}

void append_number(double number, std::string& out) {
  if (std::isfinite(number))
    out += fmt::format("{}", number);
  else
    out += "null";
}

}  // namespace

void JsonText::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonText& JsonText::open(char c) {
  separate();
  text_ += c;
  first_ = true;
  return *this;
}

JsonText& JsonText::close(char c) {
  text_ += c;
  first_ = false;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  append_string(name, text_);
  text_ += ':';
  first_ = true;  // its value follows without a comma
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  separate();
  append_string(text, text_);
  return *this;
}

JsonText& JsonText::value(double number) {
  separate();
  append_number(number, text_);
  return *this;
}

JsonText& JsonText::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonText& JsonText::values(std::span<const double> numbers) {
  begin_list();
  for (const double x : numbers) value(x);
  return end_list();
}

JsonText& JsonText::packed_bytes(std::span<const std::byte> bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  separate();
  text_.reserve(text_.size() + bytes.size() / 3 * 4 + 8);
  text_ += '"';
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < here ? std::to_integer<unsigned>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text_ += k <= here ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  text_ += '"';
  return *this;
}

}  // namespace articula
