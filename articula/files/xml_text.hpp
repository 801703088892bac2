// XML files of models as text: what the parser must be told of before it sees them, and numbers in them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/spec.hpp"

namespace tinyxml2 {
class XMLDocument;
}  // namespace tinyxml2

namespace articula {

/// For what a file says wrong: nothing can be built of it.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Written where URDF and MJCF need a number for "no bound": half a range; and read as such.
inline constexpr double largest = std::numeric_limits<double>::max();

/// To the last bit, but for the signs of zeros.
bool is_identity(const Mat3<double>& R);
inline bool is_zero(const Vec3<double>& a) { return a.x == 0 && a.y == 0 && a.z == 0; }

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
