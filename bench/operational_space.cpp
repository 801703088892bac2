// Operational space beyond one frame's inertia: bias terms, every tip of the tree, and controllers.
#include "articula/model/configuration.hpp"
#include "articula/task_space/control.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

struct Row {
  std::string name;
  double ns;
};

std::vector<Row> measure(Robot robot, const Effort& effort) {
  const Model& model = robot.model;
  std::vector<Row> rows;
  auto& s = robot.states;
  const std::string frame = model.frames()[robot.frame].name;
  const Task pose = pose_task(model, frame);
  TaskSpace space(model, pose);
  std::vector<double> square(36), c(6), g(6), tau(model.nv());
  const auto each = [&](auto call) {
    return effort.ns([&](long calls) {
      for (long i = 0; i < calls; ++i) call(s[i & (state_count - 1)]);
    });
  };
  rows.push_back({"Lambda, c, g of one frame", each([&](const PeerState& at) {
                    space.update(at.q, at.v);
                    space.lambda(square);
                    space.coriolis(c);
                    space.gravity(g);
                  })});
  std::vector<Task> tips;
  std::vector<bool> inner(model.body_count());
  for (const Body& body : model.bodies())
    if (body.inboard >= 0) inner[body.inboard] = true;
  for (int i = 0; i < model.body_count(); ++i)
    if (!inner[i]) tips.push_back(pose_task(model, model.bodies()[i].name));
  TaskSpace all(model, tips);
  std::vector<double> large(static_cast<std::size_t>(all.rows()) * all.rows());
  rows.push_back({"Omega of all tips", each([&](const PeerState& at) {
                    all.update(at.q);
                    all.omega(large);
                  })});

  // Controllers state by state; the last one is neutral, where robots are often singular.
  s.back().q = neutral(model);
  const auto controller = [&](const std::string& name, TaskController& control, const auto& command) {
    double typical = 1e300, worst = 0;
    for (int i = 0; i < state_count; ++i) {
      const double ns = Effort{effort.batch / 4, effort.total / 10}.ns([&](long calls) {
        for (long k = 0; k < calls; ++k) {
          control.update(s[i].q, s[i].v);
          command(control);
          control.torques(tau);
        }
      });
      typical = std::min(typical, ns);
      worst = std::max(worst, ns);
    }
    rows.push_back({name, typical});
    rows.push_back({name + ", slowest of 16 states", worst});
  };
  const auto follow = [](TaskController& control) {
    for (int t = 0; t < control.space().task_count(); ++t) control.follow(t, {});
  };
  const auto with_posture = [&](TaskController& control) {
    follow(control);
    control.hold_posture(s.back().q, 25, 10);
  };
  TaskController motion(model, {{pose}});
  controller("motion control", motion, follow);
  TaskController hybrid(model, {{pose}});
  controller("hybrid force and motion", hybrid, [&](TaskController& control) {
    control.follow(0, {});
    control.press(0, 5, 10, 20);
  });
  const std::string other = model.frames()[model.frames().size() / 2].name;
  TaskController levels(
      model, {{position_task(model, frame)}, {orientation_task(model, frame)}, {pose_task(model, other)}});
  controller("three levels and posture", levels, with_posture);
  levels.limit_torques(std::vector<double>(model.nv(), 20.0));
  controller("the same within torque limits", levels, with_posture);
  return rows;
}

}  // namespace

void operational_space_section(const Options& options, const Peers&, Page& page) {
  page.write("## Operational space");
  page.write(
      "Nanoseconds per call. Omega and Lambda of one frame are in the tables of one state and of long "
      "chains.");
  std::vector<std::string> models = shipped_robots();
  if (options.quick)
    models.resize(1);
  else
    models.insert(models.end(), {"chain:100", "chain:10000"});
  Table table{{""}};
  for (const std::string& argument : models) {
    const Robot robot = load(argument);
    table.head.push_back(robot.name);
    const auto rows = measure(robot, options.effort);
    table.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (table.rows[i].empty()) table.rows[i].push_back(rows[i].name);
      table.rows[i].push_back(count(rows[i].ns));
      page.numbers["operational_space"].push_back(
          {{"model", robot.name}, {"quantity", rows[i].name}, {"ns", rows[i].ns}});
    }
  }
  page.write(table);
}

}  // namespace articula::bench
