// Everything that the list promises, for every entry: a new algorithm is tested by being entered.
#include "articula/algorithms/algorithms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "articula/kernels/instruction_set.hpp"
#include "articula/model/configuration.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using testing::RandomOptions;
using testing::Rng;

/// Vectors of `count` random states, in rows.
struct Arguments {
  Arguments(const Model& model, std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t s = 0; s < count; ++s) {
      const auto q = random(model, seed + s);
      x[0].insert(x[0].end(), q.begin(), q.end());
    }
    for (int k = 1; k < argument_count; ++k) {
      x[k].resize(count * static_cast<std::size_t>(model.nv()));
      for (double& y : x[k]) y = rng.uniform();
    }
  }
  std::array<std::vector<double>, argument_count> x;
};

/// Results of one algorithm, one array per part.
template <class S>
struct Results {
  Results(const Model& model, const Algorithm& algorithm, std::size_t count, std::size_t frames) {
    for (const Part& part : algorithm.parts)
      numbers.emplace_back(count * size_of(model, part, frames), S(-7));
    for (auto& n : numbers) out.emplace_back(n);
  }
  std::vector<std::vector<S>> numbers;
  std::vector<std::span<S>> out;
};

template <class S>
double difference(std::span<const S> a, std::span<const double> b) {
  double most = 0, scale = 1e-9;
  for (std::size_t i = 0; i < b.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    scale = std::max(scale, std::abs(b[i]));
    if (!std::isfinite(static_cast<double>(a[i]))) return INFINITY;
  }
  return most / scale;
}

std::vector<int> frames_for(const Algorithm& algorithm, const Model& model) {
  const int last = static_cast<int>(model.frames().size()) - 1;
  switch (algorithm.frames) {
    case FramesNeeded::none:
      return {};
    case FramesNeeded::one:
      return {last};
    default:
      return {last, last / 2};
  }
}

Model model_of(std::uint64_t seed, double mimic = 0) {
  Rng rng(seed);
  RandomOptions options;
  options.links = 7;
  options.mass_ratio = 10;
  options.mimic = mimic;
  return Model(testing::random_spec(rng, options), {.base = seed % 2 ? Base::free : Base::fixed});
}

TEST(Algorithms, NamesAreDifferentAndFound) {
  std::set<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name;
    EXPECT_EQ(find_algorithm(algorithm.name), &algorithm);
    EXPECT_FALSE(algorithm.parts.empty());
    EXPECT_NE(std::string(algorithm.meaning), "");
    std::set<std::string> keys;
    for (const Part& part : algorithm.parts) EXPECT_TRUE(keys.insert(part.key).second) << algorithm.name;
  }
  EXPECT_GE(names.size(), 30u);
  EXPECT_EQ(find_algorithm("no_such"), nullptr);
}

/// Many states equal one state after the other, in double and in float, on every instruction set.
TEST(Algorithms, ManyStatesEqualOneAndFloatEqualsDouble) {
  const std::string before = instruction_set();
  for (const std::string& set : instruction_sets()) {
    use_instruction_set(set);
    for (const std::uint64_t seed : {3, 4, 5, 8}) {
      const Model model = model_of(seed, seed == 8 ? 0.4 : 0);
      constexpr std::size_t count = 11;
      const Arguments given(model, count, seed);
      Evaluator<> evaluator(model);
      Evaluator<float> in_float(model);
      for (const Algorithm& algorithm : algorithms()) {
        if (model.has_mimics() && !algorithm.mimics) continue;
        SCOPED_TRACE(set + " " + algorithm.name + " " + std::to_string(seed));
        const std::vector<int> frames = frames_for(algorithm, model);
        Call<double> call;
        Call<float> float_call;
        call.frames = float_call.frames = frames;
        std::array<std::vector<float>, argument_count> floats;
        for (int k = 0; k < argument_count; ++k) {
          call.in[k] = given.x[k];
          floats[k].assign(given.x[k].begin(), given.x[k].end());
          float_call.in[k] = floats[k];
        }
        Results<double> many(model, algorithm, count, frames.size());
        Results<float> float_many(model, algorithm, count, frames.size());
        call.out = many.out;
        float_call.out = float_many.out;
        evaluator.many(algorithm, count, call);
        in_float.many(algorithm, count, float_call);
        for (std::size_t s = 0; s < count; ++s) {
          Results<double> one(model, algorithm, 1, frames.size());
          Call<double> single;
          single.frames = frames;
          for (int k = 0; k < argument_count; ++k) {
            const std::size_t n = size_of(model, static_cast<Argument>(k));
            single.in[k] = call.in[k].subspan(s * n, n);
          }
          single.out = one.out;
          evaluator.one(algorithm, single);
          for (std::size_t i = 0; i < one.out.size(); ++i) {
            const std::size_t n = one.numbers[i].size();
            EXPECT_LT(difference<double>(std::span(many.numbers[i]).subspan(s * n, n), one.numbers[i]), 1e-8)
                << algorithm.parts[i].key << " of state " << s;
            EXPECT_LT(difference<float>(std::span(float_many.numbers[i]).subspan(s * n, n), one.numbers[i]),
                      0.02)
                << algorithm.parts[i].key << " in float, of state " << s;
          }
        }
      }
    }
  }
  use_instruction_set(before);
}

TEST(Algorithms, WrongArgumentsAreErrorsThatNameThem) {
  const Model model = model_of(3);
  Evaluator<> evaluator(model);
  const Arguments given(model, 1, 3);
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const std::vector<int> frames = frames_for(algorithm, model);
    Results<double> results(model, algorithm, 1, frames.size());
    const auto message = [&](auto change) {
      Call<double> call;
      call.frames = frames;
      call.out = results.out;
      for (int k = 0; k < argument_count; ++k) call.in[k] = given.x[k];
      std::vector<std::span<double>> out = results.out;
      change(call, out);
      try {
        evaluator.one(algorithm, call);
      } catch (const ArgumentError& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    for (const Argument argument : algorithm.uses) {
      const std::string text = message([&](Call<double>& call, auto&) {
        auto& x = call.in[static_cast<int>(argument)];
        x = x.first(x.size() - 1);
      });
      EXPECT_NE(text.find(std::string(name_of(argument)) + " has"), std::string::npos) << text;
      EXPECT_EQ(text.find(algorithm.name), 0u) << text;
    }
    const std::string short_result = message([&](Call<double>& call, auto& out) {
      out[0] = out[0].first(out[0].size() - 1);
      call.out = out;
    });
    EXPECT_NE(short_result.find(algorithm.parts[0].key), std::string::npos) << short_result;
    if (algorithm.frames != FramesNeeded::none) {
      const int wrong = 1000;
      EXPECT_NE(message([&](Call<double>& call, auto&) { call.frames = {}; }), "");
      if (algorithm.frames == FramesNeeded::one)
        EXPECT_NE(message([&](Call<double>& call, auto&) { call.frames = std::span(&wrong, 1); }), "");
    }
  }
}

/// A number that is not finite is the caller's mistake (ArgumentError), never a mechanism that is singular: each argument
/// in turn, of one state and of many, of which the others are done.
TEST(Algorithms, NumbersThatAreNotFiniteAreArgumentErrors) {
  for (const std::uint64_t seed : {3, 4, 8}) {
    const Model model = model_of(seed, seed == 8 ? 0.4 : 0);
    Evaluator<> evaluator(model);
    for (const std::size_t count : {1, 2, 11})
      for (const Algorithm& algorithm : algorithms())
        for (const Argument argument : algorithm.uses)
          for (const double bad : {double(NAN), double(INFINITY)}) {
            if (model.has_mimics() && !algorithm.mimics) continue;
            SCOPED_TRACE(
                fmt::format("{}: {} of {} states is {}", algorithm.name, name_of(argument), count, bad));
            Arguments given(model, count, seed);
            auto& x = given.x[static_cast<int>(argument)];
            std::fill(x.end() - static_cast<long>(size_of(model, argument)), x.end(), bad);
            const std::vector<int> frames = frames_for(algorithm, model);
            Results<double> results(model, algorithm, count, frames.size());
            Call<double> call;
            call.frames = frames;
            call.out = results.out;
            for (int k = 0; k < argument_count; ++k) call.in[k] = given.x[k];
            try {
              count == 1 ? evaluator.one(algorithm, call) : evaluator.many(algorithm, count, call);
            } catch (const NotFiniteError& error) {
              EXPECT_EQ(error.state, count - 1) << error.what();
            } catch (const ArgumentError& error) {
              EXPECT_EQ(count, 1u) << error.what();
            } catch (const std::exception& error) {
              ADD_FAILURE() << error.what();
            }
            for (const auto& numbers : results.numbers)
              for (std::size_t i = 0; i < numbers.size() / count * (count - 1); ++i)
                ASSERT_TRUE(std::isfinite(numbers[i])) << i;
          }
  }
}

/// External forces change what says that it takes them, and agree between one state and many.
TEST(Algorithms, ExternalForcesOfManyStatesEqualThoseOfOne) {
  const Model model = model_of(4);
  constexpr std::size_t count = 9;
  const Arguments given(model, count, 4);
  std::vector<double> wrenches(6 * count * static_cast<std::size_t>(model.body_count()));
  Rng rng(9);
  for (double& x : wrenches) x = rng.uniform();
  Evaluator<> evaluator(model);
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.external_forces) continue;
    SCOPED_TRACE(algorithm.name);
    std::vector<int> frames = frames_for(algorithm, model);
    for (int& frame : frames)
      while (model.frames()[frame].body < 0) --frame;  // one that moves
    Results<double> with(model, algorithm, count, frames.size()),
        without(model, algorithm, count, frames.size());
    Call<double> call;
    call.frames = frames;
    for (int k = 0; k < argument_count; ++k) call.in[k] = given.x[k];
    call.out = without.out;
    evaluator.many(algorithm, count, call);
    call.wrenches = wrenches;
    call.out = with.out;
    evaluator.many(algorithm, count, call);
    double most = 0;
    for (std::size_t i = 0; i < with.out.size(); ++i)
      most = std::max(most, difference<double>(with.numbers[i], without.numbers[i]));
    EXPECT_GT(most, 1e-6);
    Results<double> one(model, algorithm, 1, frames.size());
    Call<double> last;
    last.frames = frames;
    for (int k = 0; k < argument_count; ++k) {
      const std::size_t n = size_of(model, static_cast<Argument>(k));
      last.in[k] = call.in[k].last(n);
    }
    last.wrenches = std::span<const double>(wrenches).last(wrenches.size() / count);
    last.out = one.out;
    evaluator.one(algorithm, last);
    for (std::size_t i = 0; i < one.out.size(); ++i) {
      const std::size_t n = one.numbers[i].size();
      EXPECT_LT(difference<double>(std::span(with.numbers[i]).last(n), one.numbers[i]), 1e-9);
    }
  }
}

/// jacobian_dot is the rate of jacobian along v, in all axes, and its product with v is jacobian_dot_v.
TEST(Algorithms, JacobianDotIsTheRateOfTheJacobian) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 8}) {
    const Model model = model_of(seed, seed == 8 ? 0.4 : 0);
    const std::size_t nv = model.nv();
    const Arguments given(model, 1, seed);
    const std::vector<double>&q = given.x[0], &v = given.x[1];
    OneState<> one(model);
    Evaluator<> evaluator(model);
    for (int frame = 0; frame < static_cast<int>(model.frames().size()); ++frame)
      for (const Axes axes : {Axes::world, Axes::local, Axes::spatial}) {
        std::vector<double> rate(6 * nv), rate_v(6), plus(6 * nv), minus(6 * nv), step(nv), at(q);
        std::vector<std::span<double>> out{rate};
        Call<double> call;
        for (int k = 0; k < argument_count; ++k) call.in[k] = given.x[k];
        call.frames = std::span(&frame, 1);
        call.axes = axes;
        call.out = out;
        evaluator.one(*find_algorithm("jacobian_dot"), call);
        constexpr double h = 1e-5;
        for (const double sign : {1.0, -1.0}) {
          for (std::size_t i = 0; i < nv; ++i) step[i] = sign * h * v[i];
          integrate(model, q, step, at);
          one.jacobian(frame, at, sign > 0 ? plus : minus, axes);
        }
        for (std::size_t i = 0; i < 6 * nv; ++i) plus[i] = (plus[i] - minus[i]) / (2 * h);
        const auto error = [](std::span<const double> a,
                              std::span<const double> b) {  // of numbers around one
          double most = 0;
          for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
          return most;
        };
        EXPECT_LT(error(rate, plus), 1e-8) << seed << " frame " << frame;
        one.jacobian_dot_v(frame, q, v, rate_v, axes);
        std::vector<double> product(6);
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < nv; ++j) product[i] += rate[i * nv + j] * v[j];
        EXPECT_LT(error(product, rate_v), 1e-12) << seed << " frame " << frame;
      }
  }
}

/// center_of_mass_jacobian times mass is the linear part of the centroidal map.
TEST(Algorithms, CenterOfMassJacobianIsTheLinearMomentumPerMass) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 8}) {
    const Model model = model_of(seed, seed == 8 ? 0.4 : 0);
    const std::size_t nv = model.nv();
    const Arguments given(model, 1, seed);
    OneState<> one(model);
    Evaluator<> evaluator(model);
    std::vector<double> J(3 * nv), map(6 * nv);
    std::vector<std::span<double>> out{J};
    Call<double> call;
    call.in[0] = given.x[0];
    call.out = out;
    evaluator.one(*find_algorithm("center_of_mass_jacobian"), call);
    one.centroidal_map(given.x[0], map);
    for (double& x : J) x *= model.mass();
    EXPECT_LT(difference<double>(J, std::span(map).last(3 * nv)), 1e-12) << seed;
  }
}

}  // namespace
}  // namespace articula
