// Time per call of the operational-space quantities for one frame, and of controllers built on them.
//
//   operational_space_bench [--peer FILE.so] [--quick] [MODEL.urdf | free:MODEL.urdf | chain:N]...
//
// The frame is the last one of the model. A peer (bench/peer.hpp) is asked for "omega" and "lambda".
// Controllers are timed call by call over states that include singular ones: worst is the slowest state's
// best time.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "articula/dynamics/instruction_set.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"
#include "bench/measure.hpp"
#include "bench/peer.hpp"

using namespace articula;
using articula::bench::Peer;

namespace {

constexpr int state_count = 16;

struct Source {
  std::string name, urdf;
  bool free_base;
  Model model;
};
Source load(const std::string& argument) {
  if (argument.starts_with("chain:"))
    return {argument, "", false, Model(make_chain(std::stoi(argument.substr(6))))};
  const bool free_base = argument.starts_with("free:");
  const std::string path = free_base ? argument.substr(5) : argument;
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return {file.substr(0, file.rfind('.')) + (free_base ? " (free base)" : ""), path, free_base,
          read_urdf(path, {.base = free_base ? Base::free : Base::fixed})};
}

/// Random states; the last one is neutral, where robots are often singular.
struct States {
  std::vector<std::vector<double>> q, v;
  explicit States(const Model& model) {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto draw = [&](int n) {
      std::vector<double> x(n);
      for (double& number : x) number = uniform(engine);
      return x;
    };
    for (int i = 0; i < state_count; ++i) {
      std::vector<double> q0 = neutral(model), q1(model.nq());
      if (i + 1 < state_count)
        integrate(model, q0, draw(model.nv()), q1);
      else
        q1 = q0;
      q.push_back(q1);
      v.push_back(draw(model.nv()));
    }
  }
};

void row(const Source& source, const char* name, double ns, const char* note, double theirs, bool peer) {
  fmt::print("| {} | {} | {} | {:.0f} | {:.1f} | {} |", source.name, source.model.nv(), name, ns,
             ns / std::max(1, source.model.body_count()), note);
  if (peer && theirs > 0)
    fmt::print(" {:.0f} | {:.2f} |", theirs, theirs / ns);
  else if (peer)
    fmt::print(" | |");
  fmt::print("\n");
}

void report(const Source& source, const Peer* peer, bool quick) {
  const Model& model = source.model;
  const States s(model);
  const double seconds = quick ? 2e-4 : 1e-3;
  const int batches = quick ? 20 : 300;
  const auto time = [&](const std::function<void(long)>& f) {
    return articula::bench::best_ns(f, seconds, batches);
  };
  void* const theirs = peer && !source.urdf.empty() ? peer->load(source.urdf, source.free_base) : nullptr;
  const auto peer_ns = [&](const char* what) { return theirs ? peer->time_ns(theirs, what) : -1.0; };
  const std::string frame = model.frames().back().name;
  const Task pose = pose_task(model, frame);
  TaskSpace space(model, pose);
  std::vector<double> square(36), c(6), g(6), tau(model.nv());
  const auto at = [](long i) { return i % (state_count - 1); };
  row(source, "Omega", time([&](long i) {
        space.update(s.q[at(i)]);
        space.omega(square);
      }),
      "", peer_ns("omega"), peer);
  row(source, "Lambda", time([&](long i) {
        space.update(s.q[at(i)]);
        space.lambda(square);
      }),
      "", peer_ns("lambda"), peer);
  row(source, "Lambda, c, g", time([&](long i) {
        space.update(s.q[at(i)], s.v[at(i)]);
        space.lambda(square);
        space.coriolis(c);
        space.gravity(g);
      }),
      "", -1, peer);

  // every tip of the tree, stacked
  std::vector<Task> tips;
  std::vector<bool> inner(model.body_count());
  for (const Body& body : model.bodies())
    if (body.inboard >= 0) inner[body.inboard] = true;
  for (int i = 0; i < model.body_count(); ++i)
    if (!inner[i]) tips.push_back(pose_task(model, model.bodies()[i].name));
  TaskSpace all(model, tips);
  std::vector<double> large(static_cast<std::size_t>(all.rows()) * all.rows());
  row(source, fmt::format("Omega of {} frames", tips.size()).c_str(), time([&](long i) {
        all.update(s.q[at(i)]);
        all.omega(large);
      }),
      "", -1, peer);

  const auto controller = [&](const char* name, TaskController& control, const auto& command) {
    double typical = 1e300, worst = 0;
    for (int i = 0; i < state_count; ++i) {
      const double ns = articula::bench::best_ns(
          [&](long) {
            control.update(s.q[i], s.v[i]);
            command(control, i);
            control.torques(tau);
          },
          seconds / 4, batches / 10 + 1);
      typical = std::min(typical, ns);
      worst = std::max(worst, ns);
    }
    row(source, name, typical, fmt::format("worst {:.0f}", worst).c_str(), -1, peer);
  };
  const auto follow = [&](TaskController& control, int) {
    for (int t = 0; t < control.space().task_count(); ++t) control.follow(t, {});
  };
  TaskController motion(model, {{pose}});
  controller("motion control", motion, follow);
  TaskController hybrid(model, {{pose}});
  controller("hybrid force/motion", hybrid, [&](TaskController& control, int) {
    control.follow(0, {});
    control.press(0, 5, 10, 20);
  });
  const std::string other = model.frames()[model.frames().size() / 2].name;
  TaskController levels(
      model, {{position_task(model, frame)}, {orientation_task(model, frame)}, {pose_task(model, other)}});
  controller("three levels and posture", levels, [&](TaskController& control, int i) {
    follow(control, i);
    control.hold_posture(s.q[state_count - 1], 25, 10);
  });
  levels.limit_torques(std::vector<double>(model.nv(), 20.0));
  controller("the same within limits", levels, [&](TaskController& control, int i) {
    follow(control, i);
    control.hold_posture(s.q[state_count - 1], 25, 10);
  });
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> models;
  std::optional<Peer> peer;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--peer" && i + 1 < argc)
      peer.emplace(argv[++i]);
    else if (argument == "--quick")
      quick = true;
    else
      models.push_back(argument);
  }
  if (models.empty()) {
    const std::string folder = ARTICULA_MODELS_DIR "/";
    models = {folder + "arm7.urdf", "free:" + folder + "quadruped.urdf", "free:" + folder + "humanoid.urdf"};
    for (const char* n : {"10", "30", "100", "1000", "10000"}) models.push_back(std::string("chain:") + n);
  }
  fmt::print("Instruction set {}; one state, one core, best of many.\n\n", instruction_set());
  fmt::print("| model | nv | quantity | ns | ns per body | |");
  if (peer) fmt::print(" {} ns | times faster |", peer->name());
  fmt::print("\n|---|---|---|---|---|---|{}\n", peer ? "---|---|" : "");
  for (const auto& model : models) report(load(model), peer ? &*peer : nullptr, quick);
} catch (const std::exception& error) {
  fmt::print(stderr, "operational_space_bench: {}\n", error.what());
  return 1;
}
