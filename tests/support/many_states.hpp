// Calls for many states against the same for one, in both layouts and on threads.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "articula/batch/batch.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {

struct ManyStates : States {
  using States::States;
  /// State i alone.
  State operator[](std::size_t i) const {
    const auto row = [&](const std::vector<double>& x) {
      const std::size_t n = x.size() / count;
      return std::vector<double>(x.begin() + i * n, x.begin() + (i + 1) * n);
    };
    State s{row(q), row(v), row(a), row(tau), {}};
    const std::vector<double> w = row(wrenches);
    for (std::size_t b = 0; b + 6 <= w.size(); b += 6)
      s.wrenches.push_back({{w[b], w[b + 1], w[b + 2]}, {w[b + 3], w[b + 4], w[b + 5]}});
    return s;
  }
  ManyStates in_columns() const {
    ManyStates s = *this;
    for (auto* x : {&s.q, &s.v, &s.a, &s.tau, &s.wrenches}) *x = turned(*x, count);
    return s;
  }
};

struct ManyCall {
  std::string name;
  std::size_t n;  // numbers per state
  std::function<void(Batch<>&, const ManyStates&, std::span<double>)> many;
  std::function<void(const State&, std::span<double>)> one;
  double limit = 1e-13;
};

/// Each call at so many states, in rows on one thread as one state has it; in columns and on threads the same
/// bits.
inline void expect_as_one_by_one(const Model& model, Rng& rng, const std::vector<ManyCall>& calls,
                                 std::initializer_list<int> counts, Worst& worst) {
  Threads threads(3);
  Batch<> rows(model), columns(model, {.layout = Layout::columns}), on_threads(model, {.threads = &threads}),
      columns_on_threads(model, {.layout = Layout::columns, .threads = &threads});
  for (const int count : counts) {
    const ManyStates states(rng, model, count), other = states.in_columns();
    for (const ManyCall& call : calls) {
      SCOPED_TRACE(call.name + " of " + std::to_string(count));
      std::vector<double> all(count * call.n, NAN), again(all.size(), NAN);
      call.many(rows, states, all);
      for (int i = 0; i < count; ++i) {
        std::vector<double> one(call.n, NAN);
        call.one(states[i], one);
        const double error = relative_error(std::span(all).subspan(i * call.n, call.n), one, 0.01);
        EXPECT_LT(worst(error), call.limit) << "state " << i;
      }
      call.many(columns, other, again);
      EXPECT_EQ(all, turned(again, call.n)) << "in columns";
      call.many(on_threads, states, again);
      EXPECT_EQ(all, again) << "on threads";
      call.many(columns_on_threads, other, again);
      EXPECT_EQ(all, turned(again, call.n)) << "in columns, on threads";
    }
  }
}

}  // namespace articula::testing
