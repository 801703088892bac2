// Operator expressions against the hand-written algorithms that compute the same.
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/operators/program.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

using namespace articula::operators;

struct Row {
  std::string name;
  double by_hand, operators;
};

std::vector<Row> compare(const Robot& robot, const Effort& effort) {
  std::vector<Row> rows;
  const Model& model = robot.model;
  const std::vector<double>&q = robot.states[0].q, &v = robot.states[0].v, &x = robot.states[0].tau;
  std::vector<double> out(model.nv());
  OperatorState state(model);
  const auto add = [&](const char* name, const auto& hand, const auto& operators) {
    const auto ns = race({[&](long calls) {
                            for (long i = 0; i < calls; ++i) hand();
                          },
                          [&](long calls) {
                            for (long i = 0; i < calls; ++i) operators();
                          }},
                         effort);
    rows.push_back({name, ns[0], ns[1]});
  };
  // Products at one configuration: the set-up is done.
  MassFactor<> factor(model);
  factor.factor(q);
  state.update(q, v);
  Program mass(state, H * phi * M * star(phi) * star(H));
  Program inverse(state, inv(H * phi * M * star(phi) * star(H)));
  add(
      "M x", [&] { factor.multiply(x, out); }, [&] { mass.apply(x, out); });
  add(
      "M^-1 x", [&] { factor.solve(x, out); }, [&] { inverse.apply(x, out); });

  // Whole algorithms: from q, v and tau.
  NamedForwardDynamics named(model);
  const auto T = input<JointSpace>(0);
  const auto a = a_bias + star(E) * a_g;
  const auto whiten = Id - H * psi * K;
  const auto T1 = T - H * phi * (M * star(phi) * a + b_bias);
  const auto fd1 = star(whiten) * inv(D) * whiten * T1;
  const auto fd2 = star(psi) * star(H) * inv(D) * whiten * T1 + star(phi) * a;
  const auto fd3 = star(whiten) * inv(D) * (T - H * psi * (K * T + M * star(phi) * a + b_bias));
  const auto fd4 = star(whiten) * inv(D) * (T - H * psi * (K * T + b_bias + P * a)) - star(K) * star(psi) * a;
  const auto whole = [&](const char* name, const auto& expression, const auto& hand) {
    Program program(state, expression);
    std::vector<double> result(program.rows());
    const std::span<const double> inputs[] = {x};
    add(name, hand, [&] {
      state.update(q, v);
      program.evaluate(inputs, result);
    });
  };
  whole("FD1", fd1, [&] { forward_dynamics_fd1(named, q, v, x, out); });
  whole("FD2 (link accelerations)", fd2, [&] { forward_dynamics_fd2(named, q, v, x, out); });
  whole("FD3", fd3, [&] { forward_dynamics_fd3(named, q, v, x, out); });
  whole("FD4", fd4, [&] { forward_dynamics_fd4(named, q, v, x, out); });
  return rows;
}

}  // namespace

void operators_section(const Options& options, const Peers&, Page& page) {
  page.write("## Operator expressions");
  page.write(
      "`apply` on chains of n joints: nanoseconds per joint, and in brackets how many times that of the "
      "hand-written "
      "algorithm.");
  Table table{{""}};
  for (const int n : options.quick ? std::vector{7} : std::vector{7, 30, 100, 1000, 10000, 100000}) {
    const auto rows = compare(load(fmt::format("chain:{}", n)), options.effort);
    table.head.push_back(fmt::format("n = {}", n));
    table.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (table.rows[i].empty()) table.rows[i].push_back(rows[i].name);
      table.rows[i].push_back(
          fmt::format("{:.1f} ({:.2f})", rows[i].operators / n, rows[i].operators / rows[i].by_hand));
      page.numbers["operators"].push_back({{"n", n},
                                           {"expression", rows[i].name},
                                           {"by_hand_ns", rows[i].by_hand},
                                           {"operators_ns", rows[i].operators}});
    }
  }
  page.write(table);
}

}  // namespace articula::bench
