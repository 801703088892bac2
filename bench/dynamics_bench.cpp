// Time per call of each algorithm, on given models or on the shipped robots and chains of 10 to 10^5 links.
//
//   dynamics_bench [--peer FILE.so] [--quick] [MODEL.urdf | free:MODEL.urdf | chain:N]...
#include <fmt/format.h>

#include <functional>
#include <memory>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/instruction_set.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "bench/measure.hpp"
#include "bench/source.hpp"

using namespace articula;
using articula::bench::Peer;

namespace {

constexpr int state_count = 16;
constexpr int largest_matrix = 1000;  // n^2 numbers beyond this measure the memory, not the algorithm

struct States {
  std::vector<std::vector<double>> q, v, a, tau;
  explicit States(const Model& model) {
    bench::Draw draw;
    for (int i = 0; i < state_count; ++i) {
      q.push_back(draw.configuration(model));
      v.push_back(draw(model.nv()));
      a.push_back(draw(model.nv()));
      tau.push_back(draw(model.nv()));
    }
  }
};

using Algorithm = std::pair<std::string, std::function<void(long)>>;

/// Every algorithm as a call on state i.
std::vector<Algorithm> algorithms(const Model& model, const States& s, std::vector<double>& out,
                                  std::vector<double>& matrix) {
  const auto id = std::make_shared<InverseDynamics<>>(model);
  const auto fd = std::make_shared<ForwardDynamics<>>(model);
  const auto kinematics = std::make_shared<Kinematics<>>(model);
  const auto at = [](long i) { return i % state_count; };
  std::vector<Algorithm> all{
      {"inverse_dynamics",
       [&, id, at](long i) { inverse_dynamics(*id, s.q[at(i)], s.v[at(i)], s.a[at(i)], out); }},
      {"forward_dynamics",
       [&, fd, at](long i) { forward_dynamics(*fd, s.q[at(i)], s.v[at(i)], s.tau[at(i)], out); }},
      {"bias_forces", [&, id, at](long i) { bias_forces(*id, s.q[at(i)], s.v[at(i)], out); }},
      {"gravity_forces", [&, id, at](long i) { gravity_forces(*id, s.q[at(i)], out); }},
      {"kinematics", [&, kinematics, at](long i) { kinematics->update(s.q[at(i)], s.v[at(i)], s.a[at(i)]); }},
  };
  if (model.nv() <= largest_matrix) {
    matrix.resize(static_cast<std::size_t>(model.nv()) * model.nv());
    const auto mass = std::make_shared<MassMatrix<>>(model);
    const auto factor = std::make_shared<MassFactor<>>(model);
    all.push_back({"mass_matrix", [&, mass, at](long i) { mass_matrix(*mass, s.q[at(i)], matrix); }});
    all.push_back({"inverse_mass_matrix",
                   [&, factor, at](long i) { inverse_mass_matrix(*factor, s.q[at(i)], matrix); }});
  }
  return all;
}

void report(const bench::Source& source, const Peer* peer, bool quick) {
  const States states(source.model);
  std::vector<double> out(source.model.nv()), matrix;
  void* const peer_model = peer && !source.urdf.empty() ? peer->load(source.urdf, source.free_base) : nullptr;
  for (const auto& [name, call] : algorithms(source.model, states, out, matrix)) {
    const double ns = articula::bench::best_ns(call, quick ? 2e-4 : 1e-3, quick ? 20 : 300);
    fmt::print("| {} | {} | {} | {:.1f} | {:.2f} |", source.name, source.model.nv(), name, ns,
               ns / source.model.body_count());
    if (peer) {
      const double theirs = peer_model ? peer->time_ns(peer_model, name) : -1;
      if (theirs > 0)
        fmt::print(" {:.1f} | {:.2f} |", theirs, theirs / ns);
      else
        fmt::print(" - | - |");
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  bench::Arguments arguments(argc, argv, {"10", "30", "100", "1000", "10000", "100000"});
  auto& [models, peer, quick] = arguments;
  fmt::print("Instruction set {}; one state, one core, best of many.\n\n", instruction_set());
  fmt::print("| model | nv | algorithm | ns | ns per body |");
  if (peer) fmt::print(" {} ns | times faster |", peer->name());
  fmt::print("\n|---|---|---|---|---|{}\n", peer ? "---|---|" : "");
  for (const auto& model : models) report(bench::load(model), peer ? &*peer : nullptr, quick);
} catch (const std::exception& error) {
  fmt::print(stderr, "dynamics_bench: {}\n", error.what());
  return 1;
}
