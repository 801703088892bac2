// Random mechanisms against the dense reference in long double: random_trees [trees] [seed] [threads].
//
// Every algorithm that the reference has is computed on each tree, alone and in a batch. Prints the worst errors by kind
// of mechanism with the seed that gave them; exit code 1 if one is beyond its bound. The same trees for the same
// arguments, whatever the number of threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "articula/algorithms/algorithms.hpp"
#include "tests/support/dense_dynamics.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

struct Kind {
  const char* name;
  double share;  // of all trees
  std::function<void(Rng&, RandomOptions&)> options;
  double far = 0;    // metres from the origin
  double speed = 1;  // radians or metres per second
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"ordinary trees", 0.6, [](Rng& rng, RandomOptions& o) { o.mimic = rng.chance(0.3) ? 0.3 : 0; }},
      {"masses up to 1 : 10^6", 0.15, [](Rng&, RandomOptions& o) { o.mass_ratio = 1e6; }},
      {"1 km from the origin", 0.1, [](Rng&, RandomOptions&) {}, 1000},
      {"fast, 100 rad/s", 0.1, [](Rng&, RandomOptions&) {}, 0, 100},
      {"large, 40 to 80 links", 0.05, [](Rng& rng, RandomOptions& o) { o.links = rng.integer(40, 80); }},
  };
  return all;
}

struct Worst {
  double error = 0;
  unsigned long seed = 0;
};
/// By kind and quantity.
using Table = std::map<std::pair<std::size_t, std::string>, Worst>;

/// One tree, and what is compared on it.
class Comparison {
 public:
  Comparison(unsigned long seed, std::size_t kind, Table& table) : seed_(seed), kind_(kind), table_(table) {}

  void run() {
    Rng rng(seed_);
    const Kind& kind = kinds()[kind_];
    RandomOptions options;
    options.links = rng.integer(1, 14);
    kind.options(rng, options);
    ModelSpec spec = random_spec(rng, options);
    for (JointSpec& joint : spec.joints)
      if (joint.parent == spec.links[0].name || joint.parent == "world")
        joint.placement.p += rng.direction() * kind.far;
    const Base base = rng.chance(0.5) ? Base::fixed : Base::free;
    const Model model(spec, {.base = base});
    if (model.nv() == 0) return;
    for (State& state : states_) state = random_state(rng, model, kind.speed);
    DenseDynamics dense(spec, base);
    dense.update(states_[0].q, states_[0].v);
    evaluator_.emplace(model);
    const LongVector tau = dense.inverse_dynamics(states_[0].a);
    compare("mass_matrix", to_std(dense.mass_matrix));
    // The moments of the weight about all axes, of which a joint may feel almost nothing.
    const double weight = 9.81 * largest(to_std(LongMatrix(dense.centroidal_map.bottomRows(3))));
    compare("bias_forces", to_std(dense.bias), forces(dense, states_[0].v, {}) + weight);
    compare("gravity_forces", to_std(dense.gravity), weight);
    compare("inverse_dynamics", to_std(tau), forces(dense, states_[0].v, states_[0].a) + weight);
    compare("kinetic_energy", {double(dense.kinetic)});
    compare("center_of_mass", to_std(LongVector(dense.center_of_mass)));
    compare("momentum", to_std(LongVector(dense.momentum)));
    compare("centroidal_map", to_std(dense.centroidal_map));
    // What inverts M has errors of its condition: relative to what the last bits of M and of the forces make of them.
    const LongMatrix inverse = dense.inverse_mass_matrix();
    const LongVector acceleration = dense.forward_dynamics(states_[0].tau);
    const LongVector forces_of_it = dense.mass_matrix.cwiseAbs() * acceleration.cwiseAbs() +
                                    to_vector(states_[0].tau).cwiseAbs() + dense.bias.cwiseAbs();
    compare("forward_dynamics", to_std(acceleration),
            largest(to_std(LongVector(inverse.cwiseAbs() * forces_of_it))));
    compare(
        "inverse_mass_matrix", to_std(inverse),
        largest(to_std(LongMatrix(inverse.cwiseAbs() * dense.mass_matrix.cwiseAbs() * inverse.cwiseAbs()))));
  }

 private:
  static LongVector to_vector(std::span<const double> x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())).cast<Long>();
  }
  /// What forces are made of before they cancel.
  static double forces(const DenseDynamics& dense, std::span<const double> v, std::span<const double> a) {
    const LongVector from_speed = dense.mass_matrix.cwiseAbs() * to_vector(v).cwiseAbs() * largest(v);
    double out = largest(to_std(dense.bias)) + largest(to_std(dense.gravity)) + largest(to_std(from_speed));
    if (!a.empty())
      out += largest(to_std(LongVector(dense.mass_matrix.cwiseAbs() * to_vector(a).cwiseAbs())));
    return out;
  }
  void note(const std::string& name, std::span<const double> got, std::span<const double> expected,
            double scale) {
    double error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double e = std::abs(got[i] - expected[i]) / std::max(scale, 1e-300);
      error = e <= error ? error : std::isnan(e) ? INFINITY : e;
    }
    Worst& worst = table_[{kind_, name}];
    if (error > worst.error) worst = {error, seed_};
  }
  void compare(const std::string& name, const std::vector<double>& expected, double scale = 0) {
    const Algorithm& algorithm = *find_algorithm(name);
    const Model& model = evaluator_->model();
    if (scale == 0) scale = largest(expected);
    const auto vector = [&](const State& s, int k) -> const std::vector<double>& {
      static const std::vector<double> none;
      switch (static_cast<Argument>(k)) {
        case Argument::q:
          return s.q;
        case Argument::v:
          return s.v;
        case Argument::a:
          return s.a;
        case Argument::tau:
          return s.tau;
        default:
          return none;
      }
    };
    const std::size_t size = size_of(model, algorithm.parts[0], 0);
    std::vector<double> one(size), many(size * states_.size());
    Call<double> call;
    std::span<double> out(one);
    call.out = {&out, 1};
    for (int k = 0; k < argument_count; ++k) call.in[k] = vector(states_[0], k);
    evaluator_->one(algorithm, call);
    note(name, one, expected, scale);
    std::array<std::vector<double>, argument_count> all;
    for (int k = 0; k < argument_count; ++k) {
      for (const State& s : states_) all[k].insert(all[k].end(), vector(s, k).begin(), vector(s, k).end());
      call.in[k] = all[k];
    }
    out = many;
    evaluator_->many(algorithm, states_.size(), call);
    note(name + ", batch", std::span(many).first(size), expected, scale);
  }

  unsigned long seed_;
  std::size_t kind_;
  Table& table_;
  std::array<State, 5> states_;
  std::optional<Evaluator<double>> evaluator_;
};

std::size_t kind_of(unsigned long seed) {
  Rng rng(seed ^ 0x9e3779b97f4a7c15u);
  double x = rng.uniform(0, 1);
  std::size_t kind = 0;
  while (kind + 1 < kinds().size() && x >= kinds()[kind].share) x -= kinds()[kind++].share;
  return kind;
}

}  // namespace
}  // namespace articula::testing

int main(int argc, char** argv) {
  using namespace articula::testing;
  const auto argument = [&](int i, unsigned long other) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : other;
  };
  const unsigned long trees = argument(1, 1000), seed = argument(2, 1);
  const unsigned long threads = argument(3, std::max(1u, std::thread::hardware_concurrency()));
  Table table;
  std::mutex both;
  std::atomic<unsigned long> next{0};
  std::atomic<bool> good{true};
  const auto work = [&] {
    Table own;
    for (unsigned long i; (i = next++) < trees;) try {
        Comparison(seed * 1'000'000'007 + i, kind_of(seed * 1'000'000'007 + i), own).run();
      } catch (const std::exception& error) {
        fmt::print("seed {}: {}\n", seed * 1'000'000'007 + i, error.what());
        good = false;
      }
    const std::lock_guard lock(both);
    for (const auto& [key, worst] : own)
      if (Worst& all = table[key];
          worst.error > all.error || (worst.error == all.error && worst.seed < all.seed))
        all = worst;
  };
  std::vector<std::jthread> crew;
  for (unsigned long i = 1; i < threads; ++i) crew.emplace_back(work);
  work();
  crew.clear();
  fmt::print(
      "{} random mechanisms (seed {}); errors relative to the largest number or, of forces, to what they are "
      "summed\n"
      "of; where M is inverted, to what the last bits of M and of the forces make of them\n",
      trees, seed);
  for (std::size_t k = 0; k < kinds().size(); ++k) {
    fmt::print("{}\n", kinds()[k].name);
    for (const auto& [key, worst] : table) {
      if (key.first != k) continue;
      const bool fine = worst.error < 1e-12;
      good = good && fine;
      fmt::print("  {:<28} {:8.1e}   seed {}{}\n", key.second, worst.error, worst.seed,
                 fine ? "" : "  TOO LARGE");
    }
  }
  return good ? 0 : 1;
}
