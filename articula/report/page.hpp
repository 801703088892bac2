// The page itself, made from web/ when the library is built, and how data gets into it.
#pragma once

#include <string>
#include <string_view>

namespace articula {

/// HTML with a marker for the data; empty if it was built without Node.js.
std::string_view page_template();
/// The page with this JSON in it (as JsonText writes it). Throws Error if there is no page.
std::string page_with(std::string_view json);

}  // namespace articula
