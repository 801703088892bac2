// libFuzzer target for requests to the server of `articula view`.
#include "cli/view_server.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const cli::ViewAddress address{80, "t"};
  const cli::ViewHandlers handlers{[] { return std::string("page"); },
                                   [](const std::string& body) { return body; }};
  const auto answer = cli::answer_http(text, address, handlers);
  if (answer && !answer->starts_with("HTTP/1.1 ")) std::abort();
}
