// Closed chains: nanoseconds a call on the quadruped with four feet on the ground, and how the cost of arms
// that hold an object grows with their joints (linear) and their number (the solve with Omega: cubic, from 6
// rows an arm). closed_chain_bench [--urdf FILE FOOT FOOT FOOT FOOT] [--svg FILE] [--json]
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/instruction_set.hpp"
#include "articula/files/urdf.hpp"
#include "articula/loops/assembly.hpp"
#include "articula/loops/constrained_dynamics.hpp"
#include "articula/loops/linearized_constrained.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "bench/measure.hpp"

using namespace articula;

namespace {

struct Point {
  int arms, joints, n;
  double ns, open_ns;
};

std::vector<double> some(int n, int seed) {
  std::vector<double> x(n);
  for (int i = 0; i < n; ++i) x[i] = 0.1 * ((i * 7 + seed * 3) % 11) - 0.5;
  return x;
}

Point measure_arms(int arms, int joints) {
  Assembly assembly;
  for (int i = 0; i < arms; ++i) assembly.add(fmt::format("arm{}", i), make_chain(joints, i + 1));
  assembly.add_object("object", {2, {0, 0, 0.1}, {0.1, 0.12, 0.14, 0, 0, 0}});
  const Model model = assembly.model();
  const std::vector<double> q = random(model, 5), v = some(model.nv(), 1), tau = some(model.nv(), 2);
  std::vector<Constraint> constraints;
  for (int i = 0; i < arms; ++i) {
    constraints.push_back(grasp(fmt::format("arm{}", i), Grasp::rigid,
                                model.frame(fmt::format("arm{}/link_{}", i, joints)),
                                model.frame("object/body")));
    attach(model, constraints.back(), q);
  }
  ConstrainedDynamics work(model, constraints);
  ForwardDynamics<> open(model);
  std::vector<double> a(model.nv());
  const double ns = bench::best_ns([&](long) { work.acceleration(q, v, tau, a); }, 1e-3, 60);
  const double open_ns = bench::best_ns([&](long) { forward_dynamics(open, q, v, tau, a); }, 1e-3, 60);
  return {arms, joints, model.nv(), ns, open_ns};
}

/// Pairs of arms, each pair with an object of its own: Omega has no blocks between them.
Point measure_pairs(int pairs) {
  Assembly assembly;
  for (int i = 0; i < 2 * pairs; ++i) assembly.add(fmt::format("arm{}", i), make_chain(7, i + 1));
  for (int i = 0; i < pairs; ++i)
    assembly.add_object(fmt::format("object{}", i), {2, {0, 0, 0.1}, {0.1, 0.12, 0.14, 0, 0, 0}});
  const Model model = assembly.model();
  const std::vector<double> q = random(model, 5), v = some(model.nv(), 1), tau = some(model.nv(), 2);
  std::vector<Constraint> constraints;
  for (int i = 0; i < 2 * pairs; ++i) {
    constraints.push_back(grasp(fmt::format("arm{}", i), Grasp::rigid,
                                model.frame(fmt::format("arm{}/link_7", i)),
                                model.frame(fmt::format("object{}/body", i / 2))));
    attach(model, constraints.back(), q);
  }
  ConstrainedDynamics work(model, constraints);
  ForwardDynamics<> open(model);
  std::vector<double> a(model.nv());
  const double ns = bench::best_ns([&](long) { work.acceleration(q, v, tau, a); }, 1e-3, 40);
  const double open_ns = bench::best_ns([&](long) { forward_dynamics(open, q, v, tau, a); }, 1e-3, 40);
  return {2 * pairs, 7, model.nv(), ns, open_ns};
}

/// Two panels: microseconds over joints of an arm (two arms), and over the number of arms (seven joints),
/// log-log.
std::string plot(const std::vector<Point>& by_joints, const std::vector<Point>& by_arms) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"330\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"760\" height=\"330\" fill=\"white\"/>\n";
  const auto panel = [&](double left, const std::vector<Point>& points, const char* title, const char* label,
                         auto x_of) {
    double x0 = 1e300, x1 = 0, y0 = 1e300, y1 = 0;
    for (const Point& p : points) {
      x0 = std::min(x0, x_of(p)), x1 = std::max(x1, x_of(p));
      y0 = std::min(y0, p.open_ns), y1 = std::max(y1, p.ns);
    }
    const auto X = [&](double x) { return left + 300 * std::log(x / x0) / std::log(x1 / x0); };
    const auto Y = [&](double y) { return 270 - 220 * std::log(y / y0) / std::log(y1 / y0); };
    svg += fmt::format(
        "<text x=\"{}\" y=\"24\" font-size=\"14\">{}</text>\n<rect x=\"{}\" y=\"50\" width=\"300\" "
        "height=\"220\" fill=\"none\" stroke=\"#888\"/>\n",
        left, title, left);
    for (const Point& p : points)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"286\" text-anchor=\"middle\">{}</text>\n", X(x_of(p)),
                         static_cast<int>(x_of(p)));
    svg += fmt::format("<text x=\"{}\" y=\"306\" text-anchor=\"middle\">{}</text>\n", left + 150, label);
    for (double tick = 100; tick < 1e9; tick *= 10)
      if (tick > y0 && tick < y1)
        svg += fmt::format(
            "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} us</text><line x1=\"{}\" x2=\"{}\" "
            "y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
            left - 4, Y(tick) + 4, tick / 1000, left, left + 300, Y(tick), Y(tick));
    for (int curve = 0; curve < 2; ++curve) {
      std::string path;
      for (const Point& p : points)
        path += fmt::format("{:.1f},{:.1f} ", X(x_of(p)), Y(curve ? p.open_ns : p.ns));
      svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                         curve ? "#999" : "#0a58ca");
    }
    svg += fmt::format(
        "<text x=\"{}\" y=\"66\" fill=\"#0a58ca\">closed</text><text x=\"{}\" y=\"82\" "
        "fill=\"#777\">open</text>\n",
        left + 8, left + 8);
  };
  panel(60, by_joints, "Two arms and an object", "joints an arm",
        [](const Point& p) { return double(p.joints); });
  panel(440, by_arms, "Arms of seven joints and an object", "arms",
        [](const Point& p) { return double(p.arms); });
  return svg + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::string urdf = ARTICULA_MODELS_DIR "/quadruped.urdf", svg;
  std::vector<std::string> feet{"lf_foot", "rf_foot", "lh_foot", "rh_foot"};
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    if (std::strcmp(argv[i], "--svg") == 0 && i + 1 < argc) svg = argv[++i];
    if (std::strcmp(argv[i], "--urdf") == 0 && i + 5 < argc) {
      urdf = argv[i + 1];
      for (int f = 0; f < 4; ++f) feet[f] = argv[i + 2 + f];
      i += 5;
    }
  }
  const Model quadruped = read_urdf(urdf, {.base = Base::free});
  std::vector<Constraint> contacts;
  for (const std::string& foot : feet) contacts.push_back(ball(foot, {-1, {}}, {quadruped.frame(foot), {}}));
  ConstrainedDynamics work(quadruped, contacts);
  LinearizedConstrained linear(work);
  ConstrainedDerivatives derivatives;
  ForwardDynamics<> open(quadruped);
  const std::vector<double> q = random(quadruped, 3), v = some(quadruped.nv(), 1),
                            tau = some(quadruped.nv(), 2);
  std::vector<double> a(quadruped.nv()), w(quadruped.nv());
  const double closed_ns = bench::best_ns([&](long) { work.acceleration(q, v, tau, a); });
  const double open_ns = bench::best_ns([&](long) { forward_dynamics(open, q, v, tau, a); });
  const double impulse_ns = bench::best_ns([&](long) { work.impulse(q, v, w); });
  const double linear_ns = bench::best_ns([&](long) { linear.compute(q, v, tau, derivatives); }, 1e-3, 40);
  std::vector<Point> by_joints, by_arms;
  for (const int joints : {6, 12, 25, 50, 100, 200, 400}) by_joints.push_back(measure_arms(2, joints));
  for (const int arms : {1, 2, 4, 8, 16, 32, 64}) by_arms.push_back(measure_arms(arms, 7));
  std::vector<Point> by_pairs;
  for (const int pairs : {1, 2, 4, 8, 16, 32}) by_pairs.push_back(measure_pairs(pairs));
  if (!svg.empty()) std::ofstream(svg) << plot(by_joints, by_arms);
  if (json) {
    nlohmann::json out{{"instruction_set", instruction_set()},
                       {"quadruped",
                        {{"constrained_dynamics", closed_ns},
                         {"forward_dynamics", open_ns},
                         {"impulse", impulse_ns},
                         {"linearized", linear_ns}}}};
    for (const auto* list : {&by_joints, &by_arms})
      for (const Point& p : *list)
        out["arms"].push_back(
            {{"arms", p.arms}, {"joints", p.joints}, {"n", p.n}, {"ns", p.ns}, {"open_ns", p.open_ns}});
    fmt::print("{}\n", out.dump(1));
    return 0;
  }
  fmt::print(
      "instruction set {}\n{} with four point contacts: constrained dynamics {:.0f} ns (open {:.0f}), "
      "impulse {:.0f}, linearized {:.0f}\n",
      instruction_set(), quadruped.name(), closed_ns, open_ns, impulse_ns, linear_ns);
  for (const auto* list : {&by_joints, &by_arms})
    for (const Point& p : *list)
      fmt::print("{:>3} arms of {:>3} joints, n = {:>4}: {:>9.0f} ns (open {:>8.0f}), {:>6.1f} ns a joint\n",
                 p.arms, p.joints, p.n, p.ns, p.open_ns, p.ns / p.n);
  for (const Point& p : by_pairs)
    fmt::print(
        "{:>3} arms of 7 joints in pairs, n = {:>4}: {:>9.0f} ns (open {:>8.0f}), {:>6.1f} ns a joint\n",
        p.arms, p.n, p.ns, p.open_ns, p.ns / p.n);
}
