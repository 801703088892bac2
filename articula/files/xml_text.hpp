// XML files of models as text: what the parser must be told of before it sees them, and numbers in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/spec.hpp"

namespace tinyxml2 {
class XMLDocument;
}  // namespace tinyxml2

namespace articula {

/// To the last bit, but for the signs of zeros.
bool is_identity(const Mat3<double>& R);

/// The words of a text, at most `most` + 1 of them.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most);
/// A finite number that takes the whole word. Independent of the locale.
std::optional<double> number_of(std::string_view word);

/// Text from a file in a message: shortened, and without control characters.
std::string shown(std::string_view text);
std::string in_quotes(std::string_view text);

/// The name of the first element, "" if there is none: by it formats are told apart.
std::string_view root_element_of(std::string_view text);

/// Most elements that are nested in each other. The parser itself takes 100; robots nest bodies, models and nodes.
inline constexpr int deepest_element = 2000;

/// Parses; what other readers pass over (a second <?xml ..?>, zero bytes at the end, Latin-1 instead of UTF-8)
/// is put right, with a warning. ModelError ("name:line: what") if it is not XML, or nested too deep.
void parse_xml(std::string_view text, const std::string& name, tinyxml2::XMLDocument& document,
               std::vector<Finding>& findings);

/// ModelError if it cannot be read.
std::string content_of(const std::string& path);

}  // namespace articula
