#include "articula/report/page.hpp"

#include "articula/error.hpp"
#include "articula/report/report.hpp"

namespace articula {

namespace {
// web/index.html holds it once, in a <script type="application/json">.
constexpr std::string_view marker = "@ARTICULA_DATA@";
}  // namespace

bool has_page() { return !page_template().empty(); }

std::string page_with(std::string_view json) {
  const std::string_view page = page_template();
  if (page.empty())
    throw Error(
        "this build has no report page: Node.js, npm or the network was missing when it was built; install "
        "nodejs and npm (Debian), configure and build again");
  const std::size_t at = page.find(marker);
  if (at == page.npos) throw Error("the built-in report page is damaged: it has no place for data");
  std::string out;
  out.reserve(page.size() + json.size());
  out += page.substr(0, at);
  out += json;
  out += page.substr(at + marker.size());
  return out;
}

}  // namespace articula
