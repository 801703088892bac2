// Many states at once, beside the calls for one state.
//
//   batch_bench [--states B] [--threads T] [--json] [MODEL.urdf | free:MODEL.urdf |
//   chain:N]...
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/dynamics/instruction_set.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "bench/measure.hpp"
#include "bench/source.hpp"

namespace {

using namespace articula;

struct States {
  std::vector<double> q, v, a, tau;
  States(const Model& model, std::size_t count) {
    bench::Draw draw;
    const auto add = [](std::vector<double>& to, const std::vector<double>& x) {
      to.insert(to.end(), x.begin(), x.end());
    };
    for (std::size_t i = 0; i < count; ++i) {
      add(q, draw.configuration(model));
      for (auto* x : {&v, &a, &tau}) add(*x, draw(model.nv()));
    }
  }
};

void measure(const std::string& name, std::size_t count, int thread_count, bool json, bool& first) {
  const Model model = bench::load(name).model;
  const States s(model, count);
  const std::size_t nq = model.nq(), nv = model.nv();
  std::optional<Threads> threads;
  if (thread_count > 1) threads.emplace(thread_count);
  Batch<> batch(model, {.threads = threads ? &*threads : nullptr});
  ForwardDynamics<> fd(model);
  InverseDynamics<> id(model);
  MassMatrix<> mm(model);
  MassFactor<> factor(model);
  LinearizedForward<> lf(model);
  LinearizedInverse<> li(model);
  std::vector<double> x(count * nv), one(nv), A(count * nv * nv), B(A.size()), C(A.size()), M(nv * nv), N(M),
      O(M);
  const auto row = [&](const std::vector<double>& all, long i, std::size_t n) {
    return std::span(all).subspan(static_cast<std::size_t>(i) % count * n, n);
  };
  const auto put = [&](const char* algorithm, auto&& many, auto&& single) {
    const double batch_ns = bench::best_ns([&](long) { many(); }, 1e-2, 30) / static_cast<double>(count);
    const double one_ns = bench::best_ns(single, 1e-3, 100);
    if (json)
      fmt::print(
          "{}{{\"model\": \"{}\", \"algorithm\": \"{}\", \"states\": {}, \"threads\": {}, \"ns_per_state\": "
          "{:.2f}, "
          "\"one_state_ns\": {:.2f}}}",
          first ? "" : ",\n", model.name(), algorithm, count, thread_count, batch_ns, one_ns);
    else
      fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.2f} |\n", model.name(), algorithm, batch_ns, one_ns,
                 one_ns / batch_ns);
    first = false;
    std::fflush(stdout);
  };
  put(
      "inverse_dynamics", [&] { batch.inverse_dynamics(s.q, s.v, s.a, x); },
      [&](long i) { inverse_dynamics(id, row(s.q, i, nq), row(s.v, i, nv), row(s.a, i, nv), one); });
  put(
      "forward_dynamics", [&] { batch.forward_dynamics(s.q, s.v, s.tau, x); },
      [&](long i) { forward_dynamics(fd, row(s.q, i, nq), row(s.v, i, nv), row(s.tau, i, nv), one); });
  put(
      "mass_matrix", [&] { batch.mass_matrix(s.q, A); },
      [&](long i) { mass_matrix(mm, row(s.q, i, nq), M); });
  put(
      "inverse_mass_matrix", [&] { batch.inverse_mass_matrix(s.q, A); },
      [&](long i) { inverse_mass_matrix(factor, row(s.q, i, nq), M); });
  put(
      "linearized_inverse", [&] { batch.linearized_inverse(s.q, s.v, s.a, A, B, C); },
      [&](long i) { linearized_inverse(li, row(s.q, i, nq), row(s.v, i, nv), row(s.a, i, nv), M, N, O); });
  put(
      "linearized_forward", [&] { batch.linearized_forward(s.q, s.v, s.tau, A, B, C); },
      [&](long i) { linearized_forward(lf, row(s.q, i, nq), row(s.v, i, nv), row(s.tau, i, nv), M, N, O); });
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t count = 4096;
  int threads = 1;
  bool json = false;
  std::vector<std::string> models;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--states" && i + 1 < argc)
      count = std::stoul(argv[++i]);
    else if (argument == "--threads" && i + 1 < argc)
      threads = std::stoi(argv[++i]);
    else if (argument == "--json")
      json = true;
    else
      models.push_back(argument);
  }
  if (models.empty()) models = bench::shipped_robots();
  if (json)
    fmt::print("[");
  else
    fmt::print(
        "Instruction set {}; {} states, {} thread{}, rows; best of many.\n\n"
        "| model | algorithm | ns per state | one state, ns | times as many |\n|---|---|---|---|---|\n",
        instruction_set(), count, threads, threads == 1 ? "" : "s");
  bool first = true;
  for (const std::string& model : models) measure(model, count, threads, json, first);
  if (json) fmt::print("]\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "batch_bench: {}\n", error.what());
  return 2;
}
