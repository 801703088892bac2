// Nanoseconds a call of every linearization, on shipped robots and on chains: where Algorithms 4 (O(n^3)) and
// 6 (O(n^2)) part. linearization_bench [MODELS_FOLDER] [--json] [--plot FILE.svg]
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "articula/dynamics/instruction_set.hpp"
#include "articula/files/urdf.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "bench/log_plot.hpp"
#include "bench/measure.hpp"

using namespace articula;

namespace {

template <class F>
double nanoseconds(F&& call) {
  return bench::best_ns([&](long) { call(); }, 1e-3, 40);
}

void measure(const std::string& name, const Model& model, nlohmann::json& results, bool json) {
  const std::size_t nv = model.nv();
  const std::vector<double> q = random(model, 3);
  std::vector<double> v(nv), a(nv), tau(nv), A(nv * nv), B(nv * nv), C(nv * nv), x(nv), y(nv), z(nv);
  for (std::size_t i = 0; i < nv; ++i) {
    v[i] = 0.1 * static_cast<double>(i % 7) - 0.3;
    a[i] = 0.3 - 0.2 * static_cast<double>(i % 5);
    tau[i] = 1 - 0.2 * static_cast<double>(i % 11);
  }
  LinearizedInverse<> inverse(model);
  LinearizedForward<> forward(model);
  SecondOrder second(model);
  const Direction one{v, a, tau}, other{a, tau, v};
  const std::pair<const char*, double> rows[] = {
      {"linearized_inverse", nanoseconds([&] { linearized_inverse(inverse, q, v, a, A, B, C); })},
      {"linearized_forward direct",
       nanoseconds([&] { linearized_forward(forward, q, v, tau, A, B, C, {.method = Method::direct}); })},
      {"linearized_forward conventional", nanoseconds([&] {
         linearized_forward(forward, q, v, tau, A, B, C, {.method = Method::conventional});
       })},
      {"perturbed_inverse", nanoseconds([&] { perturbed_inverse(inverse, q, v, a, v, a, tau, x); })},
      {"perturbed_forward", nanoseconds([&] { perturbed_forward(forward, q, v, tau, v, a, tau, x); })},
      {"inverse_gradient", nanoseconds([&] { inverse_gradient(inverse, q, v, a, tau, x, y, z); })},
      {"forward_gradient", nanoseconds([&] { forward_gradient(forward, q, v, tau, a, x, y, z); })},
      {"twice_perturbed_inverse",
       nanoseconds([&] { twice_perturbed_inverse(second, q, v, a, one, other, x); })},
      {"twice_perturbed_forward",
       nanoseconds([&] { twice_perturbed_forward(second, q, v, tau, one, other, x); })},
  };
  const auto put = [&](const std::string& algorithm, double ns) {
    results.push_back({{"algorithm", algorithm}, {"model", name}, {"nv", nv}, {"ns", ns}});
    if (!json) fmt::print("{:<14} nv {:>4}  {:<32} {:>10.0f} ns\n", name, nv, algorithm, ns);
  };
  for (const auto& [algorithm, ns] : rows) put(algorithm, ns);
  if (name.starts_with("chain:")) return;
  std::vector<double> step_A(4 * nv * nv), step_B(2 * nv * nv), q_next(q);
  for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::midpoint, Integrator::variational}) {
    LinearizedStep step(model, integrator);
    put(fmt::format("LinearizedStep {}", name_of(integrator)),
        nanoseconds([&] { step.compute(q, v, tau, 1e-3, step_A, step_B, q_next, x); }));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string models = "models", plot;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0)
      json = true;
    else if (std::strcmp(argv[i], "--plot") == 0 && i + 1 < argc)
      plot = argv[++i];
    else
      models = argv[i];
  }
  nlohmann::json results = nlohmann::json::array();
  if (!json) fmt::print("instruction set {}\n", instruction_set());
  measure("arm7", read_urdf(models + "/arm7.urdf"), results, json);
  measure("quadruped", read_urdf(models + "/quadruped.urdf", {.base = Base::free}), results, json);
  measure("humanoid", read_urdf(models + "/humanoid.urdf", {.base = Base::free}), results, json);
  for (const int n : {1, 2, 4, 7, 10, 20, 30, 50, 100, 200, 500})
    measure(fmt::format("chain:{}", n), Model(make_chain(n)), results, json);
  if (!plot.empty()) {  // chains only
    const std::map<std::string, std::string> names{{"linearized_inverse", "Algorithm 2"},
                                                   {"linearized_forward conventional", "Algorithm 4"},
                                                   {"linearized_forward direct", "Algorithm 6"},
                                                   {"perturbed_forward", "Algorithm 5"}};
    std::vector<bench::Curve> curves;
    for (const auto& [algorithm, name] : names) {
      curves.push_back({name, {}});
      for (const auto& r : results)
        if (r["algorithm"] == algorithm && r["model"].get<std::string>().starts_with("chain:"))
          curves.back().points.emplace_back(r["nv"].get<double>(), r["ns"].get<double>());
    }
    std::ofstream(plot) << bench::log_plot("joints of a revolute chain", "nanoseconds a call", curves);
  }
  if (json)
    fmt::print("{}\n", nlohmann::json{{"instruction_set", instruction_set()}, {"results", results}}.dump(1));
}
