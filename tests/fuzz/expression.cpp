// libFuzzer target for operator expressions: parsed, compiled and evaluated.
#include "articula/model/configuration.hpp"
#include "articula/operators/parse.hpp"
#include "articula/operators/program.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const operators::Parsed parsed = operators::parse(text);
  operators::OperatorState state(testing::fuzz_model());
  std::vector<double> q(testing::fuzz_model().nq());
  neutral(testing::fuzz_model(), q);
  state.update(q, std::vector<double>(testing::fuzz_model().nv(), 0.5));
  operators::Program program(state, parsed.node);
  if (parsed.node->from != operators::Space::one) return;
  std::vector<std::vector<double>> vectors;
  for (int i = 0; i < program.inputs(); ++i) vectors.emplace_back(program.input_size(i), 1.0);
  const std::vector<std::span<const double>> inputs(vectors.begin(), vectors.end());
  std::vector<double> out(program.rows());
  program.evaluate(inputs, out);
}
