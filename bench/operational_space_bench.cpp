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

#include "articula/dynamics/instruction_set.hpp"
#include "articula/task_space/control.hpp"
#include "bench/measure.hpp"
#include "bench/source.hpp"

using namespace articula;
using articula::bench::Peer;

namespace {

constexpr int state_count = 16;

/// Random states; the last one is neutral, where robots are often singular.
struct States {
  std::vector<std::vector<double>> q, v;
  explicit States(const Model& model) {
    bench::Draw draw;
    for (int i = 0; i < state_count; ++i) {
      q.push_back(i + 1 < state_count ? draw.configuration(model) : neutral(model));
      v.push_back(draw(model.nv()));
    }
  }
};

void row(const bench::Source& source, const char* name, double ns, const char* note, double theirs,
         bool peer) {
  fmt::print("| {} | {} | {} | {:.0f} | {:.1f} | {} |", source.name, source.model.nv(), name, ns,
             ns / std::max(1, source.model.body_count()), note);
  if (peer && theirs > 0)
    fmt::print(" {:.0f} | {:.2f} |", theirs, theirs / ns);
  else if (peer)
    fmt::print(" | |");
  fmt::print("\n");
}

void report(const bench::Source& source, const Peer* peer, bool quick) {
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
  bench::Arguments arguments(argc, argv, {"10", "30", "100", "1000", "10000"});
  auto& [models, peer, quick] = arguments;
  fmt::print("Instruction set {}; one state, one core, best of many.\n\n", instruction_set());
  fmt::print("| model | nv | quantity | ns | ns per body | |");
  if (peer) fmt::print(" {} ns | times faster |", peer->name());
  fmt::print("\n|---|---|---|---|---|---|{}\n", peer ? "---|---|" : "");
  for (const auto& model : models) report(bench::load(model), peer ? &*peer : nullptr, quick);
} catch (const std::exception& error) {
  fmt::print(stderr, "operational_space_bench: {}\n", error.what());
  return 1;
}
