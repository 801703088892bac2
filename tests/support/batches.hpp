// Random states of one model, one after the other, as batches take them.
#pragma once

#include <span>
#include <vector>

#include "tests/support/random_models.hpp"

namespace articula::testing {

struct States {
  std::size_t count;
  std::vector<double> q, v, a, tau, wrenches;  // wrenches: six numbers per body
  States(Rng& rng, const Model& model, std::size_t count) : count(count) {
    for (std::size_t i = 0; i < count; ++i) {
      const State s = random_state(rng, model);
      q.insert(q.end(), s.q.begin(), s.q.end());
      v.insert(v.end(), s.v.begin(), s.v.end());
      a.insert(a.end(), s.a.begin(), s.a.end());
      tau.insert(tau.end(), s.tau.begin(), s.tau.end());
      for (const auto& f : s.wrenches)
        wrenches.insert(wrenches.end(), {f.w.x, f.w.y, f.w.z, f.v.x, f.v.y, f.v.z});
    }
  }
};
inline std::span<const double> row(const std::vector<double>& x, std::size_t state, std::size_t n) {
  return std::span(x).subspan(state * n, n);
}
/// From rows to columns, or, with the number of columns, back.
inline std::vector<double> turned(const std::vector<double>& x, std::size_t rows) {
  const std::size_t columns = rows ? x.size() / rows : 0;
  std::vector<double> out(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = x[i * columns + j];
  return out;
}

}  // namespace articula::testing
