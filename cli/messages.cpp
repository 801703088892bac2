#include "cli/messages.hpp"

#include <cstdio>
#include <iterator>

#include "articula/utf8.hpp"

namespace articula::cli {

namespace {

/// Of a whole UTF-8 character.
unsigned code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  unsigned code = byte(0) & (0x7Fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

/// Control characters of ASCII and Unicode, line ends of Unicode, marks that turn the direction of writing.
bool is_unsafe(unsigned code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// The first and last bytes of a text that is longer than `most`, and how much is left out.
std::string without_middle(std::string_view text, std::size_t most, std::size_t first, std::size_t last) {
  if (text.size() <= most) return std::string(text);
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  std::size_t end = first, begin = text.size() - last;
  while (end > 0 && inside(end)) --end;
  while (begin < text.size() && inside(begin)) ++begin;
  return fmt::format("{}..({} bytes)..{}", text.substr(0, end), begin - end, text.substr(begin));
}

std::string brief(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size() - 1) + 1;
    out += without_middle(line.substr(0, end), 300, 120, 60);
    line.remove_prefix(end);
  }
  return without_middle(out, 1600, 1000, 400);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    const std::string_view here = text.substr(0, size ? size : 1);
    const unsigned code = size ? code_point(here) : static_cast<unsigned char>(here[0]);
    if (size == 0)
      out += fmt::format("\\x{:02x}", code);
    else if (code == '\n' || code == '\r' || code == '\t')
      out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    else if (is_unsafe(code))
      out += fmt::format("\\u{:04x}", code);
    else
      out += here;
    text.remove_prefix(here.size());
  }
  return out;
}

void say_line(std::string_view text) { fmt::print(stderr, "articula: {}\n", brief(printable(text))); }

}  // namespace articula::cli
