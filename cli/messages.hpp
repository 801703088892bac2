// What the program says on stderr, in lines that are safe to show.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace articula::cli {

/// Text with names from outside, for a terminal: control characters, those that turn the direction of writing
/// and bytes that are not UTF-8 become \n, \u001b, \xe9.
std::string printable(std::string_view text);

/// "articula: " and the text as one printable line. Long words and long lines lose their middle.
void say_line(std::string_view text);

template <class... A>
void say(fmt::format_string<A...> text, A&&... a) {
  say_line(fmt::format(text, std::forward<A>(a)...));
}

}  // namespace articula::cli
