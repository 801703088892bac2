#include "articula/operators/word_values.hpp"

#include "articula/operators/trials.hpp"
#include "articula/spatial/dense.hpp"

namespace articula::operators {

namespace {
constexpr int most_dense = 600;
}

WordValues::WordValues(OperatorState& state, const Alphabet& letters, Space from, const NodePtr& like)
    : state_(state), letters_(letters) {
  std::mt19937_64 engine(1);
  if (like->from == Space::any) {  // a multiple of the identity
    if (from != Space::frame) x_ = random_vector(engine, state_.size_of(from));
    return;
  }
  Program result(state_, like);
  for (int i = 0; i < result.inputs(); ++i) inputs_.push_back(random_vector(engine, result.input_size(i)));
  if (from != Space::one) x_ = random_vector(engine, result.columns());
  rows_ = result.rows();
}

WordValues::Numbers WordValues::times(const Words& sum, const std::vector<double>& x) {
  std::vector<double> out;
  for (const auto& [word, factor] : sum) {
    Numbers value = x;
    for (auto letter = word.rbegin(); letter != word.rend() && value; ++letter)
      value = times(*letter, *value);
    if (!value) return value;
    out.resize(value->size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += factor * (*value)[i];
  }
  if (out.empty()) out.resize(x.empty() ? rows_ : x.size());
  return out;
}

WordValues::Numbers WordValues::times(int l, const std::vector<double>& x) {
  const Alphabet::Letter letter = letters_[l];
  if (letter.node->kind == Node::Kind::input) return inputs_[letter.node->input];
  if (!letter.inverse_of.empty()) {
    const int n = static_cast<int>(x.size());
    if (n > most_dense) return std::nullopt;
    dense::Matrix matrix(n, n);
    std::vector<double> unit(n);
    for (int j = 0; j < n; ++j) {
      unit[j] = 1;
      const Numbers column = times(letter.inverse_of, unit);
      if (!column) return column;
      for (int i = 0; i < n; ++i) matrix(i, j) = (*column)[i];
      unit[j] = 0;
    }
    const dense::Matrix solved = dense::LU(matrix).solve(dense::view(x));
    return std::vector<double>(solved.numbers().begin(), solved.numbers().end());
  }
  auto& program = programs_[l];
  if (!program) program = std::make_unique<Program>(state_, letter.node);
  std::vector<double> out(program->rows());
  program->apply(letter.node->from == Space::one ? std::vector<double>{} : x, out);
  return out;
}

}  // namespace articula::operators
