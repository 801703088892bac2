// libFuzzer target for scenes: the file, and what is computed before anything moves.
#include "articula/loops/scene.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const auto model = [](const std::string&, const std::string&) { return testing::fuzz_model().spec(); };
  const SceneSpec spec = parse_scene(text, "fuzz", "/nowhere", model);
  if (spec.arms.size() + spec.objects.size() > 8) return;
  Scene scene(spec, {.project = text.size() % 2 == 0});
  std::vector<double> a(scene.model().nv());
  scene.dynamics().acceleration(scene.q, scene.v, scene.tau, a);
}
