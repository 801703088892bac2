// libFuzzer target for JSON, which every reader but that of URDF begins with.
#include "articula/files/json_input.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const nlohmann::json document = parse_json(text, "fuzz", "expected JSON");
  if (parse_json(document.dump(), "fuzz", "") != document) std::abort();
}
