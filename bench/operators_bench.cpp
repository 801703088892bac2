// apply() of operator expressions against the hand-written algorithms that compute the same, as ratios from
// one run, and how both grow with the length of a chain.
//
//   operators_bench [--quick]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/chain.hpp"
#include "articula/operators/program.hpp"

namespace {

using namespace articula;
using namespace articula::operators;

bool quick = false;

/// Best time of one call, in ns.
template <class F>
double best(F&& f) {
  using Clock = std::chrono::steady_clock;
  const auto once = [&](int repeats) {
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) f();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / repeats;
  };
  f();
  const double first = once(1);
  const int repeats = static_cast<int>(std::clamp(2e5 / std::max(first, 1.0), 1.0, 10000.0));
  double least = HUGE_VAL;
  const int trials = quick ? 5 : 60;
  for (int i = 0; i < trials; ++i) least = std::min(least, once(repeats));
  return least;
}

void compare(const Model& model, int n) {
  std::vector<double> q(model.nq()), v(model.nv()), x(model.nv()), out(model.nv());
  for (int i = 0; i < model.nv(); ++i) {
    q[i] = std::sin(1.7 * i + 0.3);
    v[i] = std::cos(2.3 * i);
    x[i] = std::sin(0.9 * i + 1);
  }
  OperatorState state(model);
  const auto row = [&](const char* name, double hand, double operators) {
    fmt::print("{:>7}  {:<26} {:>12.0f} {:>12.0f} {:>8.2f} {:>12.1f}\n", n, name, hand, operators,
               operators / hand, operators / n);
  };

  // Products at one configuration: the set-up is done.
  MassFactor<> factor(model);
  factor.factor(q);
  state.update(q, v);
  Program mass(state, H * phi * M * star(phi) * star(H));
  Program inverse(state, inv(H * phi * M * star(phi) * star(H)));
  row("M x", best([&] { factor.multiply(x, out); }), best([&] { mass.apply(x, out); }));
  row("M^-1 x", best([&] { factor.solve(x, out); }), best([&] { inverse.apply(x, out); }));
  Program velocities(state, star(phi) * star(H));
  std::vector<double> V(velocities.rows());
  velocities.apply(x, V);

  // Whole algorithms: from q, v and tau.
  NamedForwardDynamics named(model);
  const auto T = input<JointSpace>(0);
  const auto a = a_bias + star(E) * a_g;
  const auto whiten = Id - H * psi * K;
  const auto T1 = T - H * phi * (M * star(phi) * a + b_bias);
  const auto fd1 = star(whiten) * inv(D) * whiten * T1;
  const auto fd3 = star(whiten) * inv(D) * (T - H * psi * (K * T + M * star(phi) * a + b_bias));
  const auto fd4 = star(whiten) * inv(D) * (T - H * psi * (K * T + b_bias + P * a)) - star(K) * star(psi) * a;
  const auto fd2 = star(psi) * star(H) * inv(D) * whiten * T1 + star(phi) * a;
  const auto whole = [&](const char* name, const auto& expression, auto&& hand) {
    Program program(state, expression);
    std::vector<double> result(program.rows());
    const std::span<const double> inputs[] = {x};
    row(name, best(hand), best([&] {
          state.update(q, v);
          program.evaluate(inputs, result);
        }));
  };
  whole("FD1", fd1, [&] { forward_dynamics_fd1(named, q, v, x, out); });
  whole("FD2 (link accelerations)", fd2, [&] { forward_dynamics_fd2(named, q, v, x, out); });
  whole("FD3", fd3, [&] { forward_dynamics_fd3(named, q, v, x, out); });
  whole("FD4", fd4, [&] { forward_dynamics_fd4(named, q, v, x, out); });
}

}  // namespace

int main(int argc, char** argv) {
  quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  fmt::print("{:>7}  {:<26} {:>12} {:>12} {:>8} {:>12}\n", "joints", "", "by hand ns", "apply ns", "ratio",
             "ns a joint");
  for (const int n : {7, 30, 100, 1000, 10000, 100000}) {
    if (quick && n > 1000) break;
    compare(articula::Model(articula::make_chain(n)), n);
  }
}
