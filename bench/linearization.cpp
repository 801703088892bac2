// Where Algorithms 4 (O(n^3)) and 6 (O(n^2)) of the linearized forward dynamics part.
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "bench/log_plot.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

void linearization_section(const Options& options, const Peers&, Page& page) {
  page.write("## Linearization of chains");
  page.write(
      "Nanoseconds per call on revolute chains of n joints. The matrices of forward dynamics by Algorithm 4 "
      "grow with the "
      "third power of n, by Algorithm 6 with the second; both include the forward dynamics they start from.");
  const std::vector<int> sizes =
      options.quick ? std::vector{1, 4} : std::vector{1, 2, 4, 7, 10, 20, 30, 50, 100, 200, 500};
  Table table{{"n"}};
  std::vector<Curve> curves;
  for (const char* name : {"inverse, matrices (Algorithm 2)", "forward, conventional (Algorithm 4)",
                           "forward, direct (Algorithm 6)", "forward, one direction (Algorithm 5)",
                           "forward, numerical inverse (Algorithm 4)", "forward, as printed (Algorithm 6)"}) {
    table.rows.push_back({name});
    curves.push_back({name, {}});
  }
  for (const int n : sizes) {
    const Robot robot = load(fmt::format("chain:{}", n));
    LinearizedInverse<> inverse(robot.model);
    LinearizedForward<> forward(robot.model);
    std::vector<double> A(n * n), B(n * n), C(n * n), x(n);
    const auto each = [&](auto call) {
      return [&robot, call](long calls) {
        for (long i = 0; i < calls; ++i) call(robot.states[i & (state_count - 1)]);
      };
    };
    const auto ns = race(
        {each([&](const PeerState& s) { linearized_inverse(inverse, s.q, s.v, s.a, A, B, C); }),
         each([&](const PeerState& s) {
           linearized_forward(forward, s.q, s.v, s.tau, A, B, C, {.method = Method::conventional});
         }),
         each([&](const PeerState& s) {
           linearized_forward(forward, s.q, s.v, s.tau, A, B, C, {.method = Method::direct});
         }),
         each([&](const PeerState& s) { perturbed_forward(forward, s.q, s.v, s.tau, s.v, s.a, s.tau, x); }),
         each([&](const PeerState& s) {
           linearized_forward(forward, s.q, s.v, s.tau, A, B, C, {.method = Method::numerical});
         }),
         each([&](const PeerState& s) {
           linearized_forward(forward, s.q, s.v, s.tau, A, B, C, {.method = Method::printed});
         })},
        options.effort);
    table.head.push_back(fmt::format("{}", n));
    for (std::size_t i = 0; i < ns.size(); ++i) {
      table.rows[i].push_back(count(ns[i]));
      curves[i].points.emplace_back(n, ns[i]);
      page.numbers["linearization"].push_back({{"n", n}, {"algorithm", curves[i].name}, {"ns", ns[i]}});
    }
  }
  page.write(table);
  page.draw({"linearization_cost.svg", log_plot("joints of a revolute chain", "nanoseconds per call", curves),
             "linearizations against n"});
}

}  // namespace articula::bench
