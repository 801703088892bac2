// Closed chains: how the cost of arms that hold an object grows with their joints (linear) and their number
// (the solve with Omega: cubic, from 6 rows per arm). A robot on four feet is among the cases of one state.
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/loops/assembly.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "bench/log_plot.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

struct Point {
  int arms, joints, n;
  double ns, open_ns;
};

/// Arms of so many joints, with an object between each `group` of them.
Point measure(int arms, int joints, int group, const Effort& effort) {
  Assembly assembly;
  for (int i = 0; i < arms; ++i) assembly.add(fmt::format("arm{}", i), make_chain(joints, i + 1));
  for (int i = 0; i < arms; i += group)
    assembly.add_object(fmt::format("object{}", i / group), {2, {0, 0, 0.1}, {0.1, 0.12, 0.14, 0, 0, 0}});
  const Model model = assembly.model();
  Draw draw;
  const std::vector<double> q = random(model, 5), v = draw(model.nv()), tau = draw(model.nv());
  std::vector<Constraint> constraints;
  for (int i = 0; i < arms; ++i) {
    constraints.push_back(grasp(fmt::format("arm{}", i), Grasp::rigid,
                                model.frame(fmt::format("arm{}/link_{}", i, joints)),
                                model.frame(fmt::format("object{}/body", i / group))));
    attach(model, constraints.back(), q);
  }
  ConstrainedDynamics work(model, constraints);
  ForwardDynamics<> open(model);
  std::vector<double> a(model.nv());
  const auto ns = race({[&](long calls) {
                          for (long i = 0; i < calls; ++i) work.acceleration(q, v, tau, a);
                        },
                        [&](long calls) {
                          for (long i = 0; i < calls; ++i) forward_dynamics(open, q, v, tau, a);
                        }},
                       effort);
  return {arms, joints, model.nv(), ns[0], ns[1]};
}

}  // namespace

void closed_chains_section(const Options& options, const Peers&, Page& page) {
  page.write("## Closed chains");
  page.write("Nanoseconds per call; \"open\" is forward dynamics of the same bodies without constraints.");
  const auto table = [&](const char* what, bool by_joints, int group) {
    Table t{{what}, {{"closed"}, {"open"}}};
    std::vector<Curve> curves{{"closed", {}}, {"open", {}}};
    const std::vector<int> sizes = options.quick ? std::vector{2, 4}
                                   : by_joints   ? std::vector{6, 12, 25, 50, 100, 200, 400}
                                                 : std::vector{2, 4, 8, 16, 32, 64};
    for (const int size : sizes) {
      const Point p = by_joints ? measure(2, size, 2, options.effort)
                                : measure(size, 7, group ? group : size, options.effort);
      t.head.push_back(fmt::format("{}", size));
      t.rows[0].push_back(count(p.ns));
      t.rows[1].push_back(count(p.open_ns));
      curves[0].points.emplace_back(size, p.ns);
      curves[1].points.emplace_back(size, p.open_ns);
      page.numbers["closed_chains"].push_back({{"case", what},
                                               {"arms", p.arms},
                                               {"joints", p.joints},
                                               {"n", p.n},
                                               {"ns", p.ns},
                                               {"open_ns", p.open_ns}});
    }
    page.write(t);
    return curves;
  };
  auto curves = table("two arms and an object, joints an arm", true, 2);
  const auto by_arms = table("arms of 7 joints on one object", false, 0);
  table("arms of 7 joints in pairs, each pair with an object of its own", false, 2);
  curves[0].name = "two arms, by joints: closed", curves[1].name = "open";
  curves.push_back({"7 joints, by arms: closed", by_arms[0].points});
  curves.push_back({"open", by_arms[1].points});
  page.draw({"closed_chain_cost.svg", log_plot("joints per arm, or arms", "nanoseconds per call", curves),
             "cost of closed chains"});
}

}  // namespace articula::bench
