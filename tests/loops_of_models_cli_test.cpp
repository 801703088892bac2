// Models whose files close loops or couple joints: every command takes them closed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/simulation/recording.hpp"
#include "tests/support/command_line.hpp"

#ifdef ARTICULA_PROGRAM

namespace articula {
namespace {

using testing::Json;
using testing::Ran;

class LoopsOfModels : public testing::CommandLine {
 protected:
  /// Two bars that a third one joins, in the plane of x and z.
  std::string bars() const {
    const auto bar = [](const char* name, const char* at, const char* inside) {
      return std::string("<body name='") + name + "' pos='" + at + "'><joint name='" + name +
             "_j' axis='0 1 0'/><inertial pos='0.1 0 0.4' mass='2' diaginertia='0.2 0.2 0.1'/>" + inside +
             "</body>";
    };
    return write("bars.xml",
                 "<mujoco model='bars'><worldbody>" + bar("left", "0 0 0", bar("top", "0 0 1", "").c_str()) +
                     bar("right", "1 0 0", "") +
                     "</worldbody><equality><connect name='pin' body1='top' body2='right' anchor='1 0 0'/>"
                     "</equality><keyframe><key name='leaning' qpos='0.2 -0.2 0.2' qvel='1 -1 1'/>"
                     "<key name='open' qpos='0.2 0 0' qvel='0 0 0'/></keyframe></mujoco>");
  }
  /// A motion from leaning on, with these words.
  Recording moved(const testing::Words& more) const {
    testing::Words words{"simulate", bars(),    "--duration", "0.5",   "--initial",
                         "leaning",  "--every", "0.001",      "--out", path("moved.csv")};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return read_recording(path("moved.csv"), FileFormat::csv);
  }
  static double last(const std::string& file, std::string_view name) {
    const Recording r = read_recording(file, FileFormat::csv);
    return r.row(r.size() - 1)[std::size_t(r.find(name))];
  }
};

TEST_F(LoopsOfModels, EvalIsOfTheClosedMechanism) {
  const std::string model = bars();
  const Json tree = result({"eval", model, "mass_matrix", "bias_forces", "--states", "leaning"}, "");
  const Json found = result(
      {"eval", model, "forward_dynamics", "inverse_mass_matrix", "linearized_forward", "--states", "leaning"},
      "");
  // A parallelogram: the top keeps its attitude, and both bars turn alike.
  const Json a = found["forward_dynamics"];
  EXPECT_NEAR(a[0].get<double>(), a[2].get<double>(), 1e-12);
  EXPECT_NEAR(a[0].get<double>(), -a[1].get<double>(), 1e-12);
  // M a + C v + g = J* f: no power where the loop lets things move, along (1, -1, 1).
  double power = 0;
  for (int i = 0; i < 3; ++i) {
    double force = tree["bias_forces"][i].get<double>();
    for (int j = 0; j < 3; ++j) force += tree["mass_matrix"][i][j].get<double>() * a[j].get<double>();
    power += (i == 1 ? -1 : 1) * force;
  }
  EXPECT_NEAR(power, 0, 1e-12);
  EXPECT_GT(std::abs(a[0].get<double>()), 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(found["inverse_mass_matrix"][i][j].get<double>(),
                  found["linearized_forward"]["dtau"][i][j].get<double>(), 1e-13);
  const Json grasp = result({"eval", model, "grasp", "--states", "leaning"}, "")["grasp"];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(grasp["arms"][0]["a"][i], a[i]);
  EXPECT_EQ(grasp["loops"][0]["name"], "pin");
  // Directions and gradients are those of the matrices; many states are each as one.
  const std::string state = R"({"q": [0.2, -0.2, 0.2], "v": [1, -1, 1], "tau": [0, 0, 0], "dq": [1, 2, 3],
    "dv": [0, 1, 0], "dtau": [0, 0, 1], "weights": [1, 0, 2]})";
  const Json d = found["linearized_forward"];
  const Json more = result({"eval", model, "perturbed_forward", "forward_gradient"}, state);
  const auto x = [&](const char* part, int i, int j) { return d[part][i][j].get<double>(); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(more["perturbed_forward"][i].get<double>(),
                x("dq", i, 0) + 2 * x("dq", i, 1) + 3 * x("dq", i, 2) + x("dv", i, 1) + x("dtau", i, 2),
                1e-10);
    EXPECT_NEAR(more["forward_gradient"]["q"][i].get<double>(), x("dq", 0, i) + 2 * x("dq", 2, i), 1e-10);
  }
  std::string many = "{\"states\": [" + state;
  for (int i = 1; i < 20; ++i) many += ", " + state;
  const Json all = json({"eval", model, "forward_dynamics", "mass_matrix"}, many + "]}")["results"];
  ASSERT_EQ(all.size(), 20u);
  EXPECT_EQ(all[19]["forward_dynamics"], a);
  EXPECT_EQ(all[19]["mass_matrix"], tree["mass_matrix"]);
}

TEST_F(LoopsOfModels, OperationalSpaceOfTheClosedMechanism) {
  const std::string model = bars();
  const Json found = result({"eval", model, "operational_space", "inverse_mass_matrix", "jacobian", "--frame",
                             "top", "--states", "leaning"},
                            "");
  const Json& space = found["operational_space"];
  EXPECT_EQ(space["rank"], 1);  // one freedom
  const auto J = [&](int r, int i) { return found["jacobian"][r][i].get<double>(); };
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c) {
      double omega = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          omega += J(r, i) * found["inverse_mass_matrix"][i][j].get<double>() * J(c, j);
      EXPECT_NEAR(space["omega"][r][c].get<double>(), omega, 1e-11);
    }
  EXPECT_GT(std::abs(space["lambda"][3][3].get<double>()), 1e-3);
}

TEST_F(LoopsOfModels, StatesFitOrAreMadeTo) {
  const std::string model = bars();
  const Ran open = run({"eval", model, "forward_dynamics", "--states", "open"});
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.err.find("state 0: "), std::string::npos) << open.err;
  EXPECT_NE(open.err.find("loop 'pin' is not closed"), std::string::npos) << open.err;
  EXPECT_NE(open.err.find("--project"), std::string::npos) << open.err;
  EXPECT_EQ(run({"eval", model, "mass_matrix", "--states", "open"}).code, 0);  // of the tree, which fits
  EXPECT_EQ(run({"eval", model, "forward_dynamics", "--states", "open", "--project"}).code, 0);
  const std::string moving = R"({"q": [0, 0, 0], "v": [1, 0, 0], "tau": [0, 0, 0]})";
  const Ran unfit = run({"eval", model, "forward_dynamics"}, moving);
  EXPECT_EQ(unfit.code, 2);
  EXPECT_NE(unfit.err.find("velocity of loop 'pin' does not fit"), std::string::npos) << unfit.err;
  // The velocity that is nearest in the metric of the mass matrix lies along what the loop allows.
  const Json fit = result({"eval", model, "frame_velocity", "--frame", "top", "--project"}, moving);
  EXPECT_NEAR(fit["frame_velocity"][1].get<double>(), 0, 1e-12);
  EXPECT_GT(fit["frame_velocity"][3].get<double>(), 0.1);
  const Ran told = run({"eval", model, "inverse_dynamics", "--states", "leaning"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(told.err.find("inverse_dynamics is of the tree alone"), std::string::npos) << told.err;
  EXPECT_EQ(run({"eval", "arm7", "mass_matrix", "--project"}, "{}").code, 2);
  const Ran unknown = run({"eval", model, "mass_matrix", "--states", "lying"});
  EXPECT_EQ(unknown.code, 2);
}

TEST_F(LoopsOfModels, OtherCommands) {
  const std::string model = bars();
  const Ran moved = run({"simulate", model, "--duration", "0.1", "--initial", "leaning"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_NE(moved.out.find("\n0,0.2,-0.2,0.2,1,-1,1,"), std::string::npos) << moved.out.substr(0, 600);
  EXPECT_EQ(run({"simulate", model, "--duration", "0.1", "--initial", "open"}).code, 2);
  EXPECT_EQ(run({"simulate", model, "--duration", "0.1", "--initial", "open", "--project"}).code, 0);
  EXPECT_EQ(run({"simulate", "double_pendulum", "--duration", "0.1", "--initial", "leaning"}).code, 2);
  const Ran check = run({"check", model});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_NE(check.out.find("note: 'pin' (translation along y) holds by itself"), std::string::npos)
      << check.out;
  const Json info = json({"info", model, "--json"});
  EXPECT_EQ(info["loops"][0]["links"], (Json{"top", "right"}));
  EXPECT_EQ(run({"view", model, "--out", path("page.html")}).code, 0);
  const std::string apart = write("apart.xml",
                                  "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/><inertial pos='0 0 "
                                  "1' mass='1' diaginertia='1 1 1'/></body>"
                                  "</worldbody><equality><connect body1='a' anchor='0 5 0'/><joint "
                                  "joint1='a_joint' polycoef='1 0 0 0 0'/>"
                                  "</equality></mujoco>");
  EXPECT_NE(run({"check", apart}).out.find("apart.xml"), std::string::npos);
  const std::string standing =
      write("standing.xml",
            "<mujoco><worldbody><body name='a'><geom size='1'/></body></worldbody><equality>"
            "<weld body1='a'/></equality></mujoco>");
  EXPECT_EQ(run({"view", standing, "--out", path("page.html")}).code, 0);
  EXPECT_NE(run({"check", standing}).out.find("both its ends are fixed in the world"), std::string::npos);
}

TEST_F(LoopsOfModels, CurvedCouplingsKeepTheEnergy) {
  const std::string model = write("cam.xml",
                                  "<mujoco model='cam'><worldbody><body name='a'><joint name='x' axis='0 1 "
                                  "0'/><inertial pos='0.3 0 0' mass='1' "
                                  "diaginertia='0.1 0.1 0.1'/></body><body name='b' pos='0 1 0'><joint "
                                  "name='y' type='slide' axis='0 0 1'/>"
                                  "<inertial pos='0 0 0' mass='2' diaginertia='1 1 "
                                  "1'/></body></worldbody><equality><joint name='cam' joint1='y' "
                                  "joint2='x' polycoef='0.1 0.2 -0.5 0.1 0.3'/></equality></mujoco>");
  const Ran ran = run({"simulate", model, "--duration", "0.5", "--step", "0.00025", "--every", "0.5",
                       "--project", "--out", path("cam.csv")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto at = [&](std::string_view name) { return last(path("cam.csv"), name); };
  const double x = at("q:x"), y = at("q:y");
  EXPECT_NEAR(y, 0.1 + 0.2 * x - 0.5 * x * x + 0.1 * x * x * x + 0.3 * x * x * x * x, 1e-10);
  EXPECT_NEAR(at("energy_change"), 0, 1e-8);  // of 6 J; the error falls with the fourth power of the step
  EXPECT_GT(at("kinetic_energy"), 0.1);
}

TEST_F(LoopsOfModels, ControllersAreTheForcesThatTheyRecord) {
  const std::string hold = write(
      "hold.json", R"({"type": "pd", "kp": {"left_j": 300}, "kd": {"left_j": 20}, "reference": [0, 0, 0]})");
  const Recording free = moved({}), held = moved({"--controllers", hold});
  const int q = held.find("q:left_j"), tau = held.find("tau:left_j");
  ASSERT_GT(q, 0);
  const std::size_t end = held.size() - 1;
  EXPECT_GT(std::abs(free.row(end)[q] - held.row(end)[q]), 0.1);
  EXPECT_LT(std::abs(held.row(end)[q]), 0.1);
  // The motor of one joint holds all three: the loop does the rest.
  EXPECT_NEAR(held.row(end)[q], -held.row(end)[held.find("q:top_j")], 1e-10);
  EXPECT_EQ(held.row(end)[held.find("tau:right_j")], 0);
  std::string table = "time,tau:left_j,tau:top_j,tau:right_j\n";
  for (std::size_t i = 0; i <= end; ++i)
    table += fmt::format("{},{},0,0\n", held.row(i)[0], held.row(i)[std::size_t(tau)]);
  const Recording again = moved({"--torque", write("tau.csv", table)});
  // The table is straight between rows, the controller is not: second order in the rows' distance.
  EXPECT_NEAR(again.row(end)[q], held.row(end)[q], 1e-5);
  const std::string sampled = write(
      "sampled.json", R"({"type": "pd", "kp": 300, "kd": 20, "reference": [0, 0, 0], "sample_time": 0.004})");
  const Recording whole = moved({"--controllers", sampled});
  EXPECT_EQ(whole.row(end)[std::size_t(whole.find("sample.0"))], 124);  // of t = 0.496 s: the next one is due
  // A run that was cut goes on to the same bits, held forces and all.
  testing::Words words{"simulate", bars(),  "--duration", "0.25",          "--initial",     "leaning",
                       "--every",  "0.001", "--out",      path("cut.csv"), "--controllers", sampled};
  EXPECT_EQ(run(words).code, 0);
  words[3] = "0.5", words.push_back("--resume");
  const Ran resumed = run(words);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(content(path("cut.csv")), content(path("moved.csv")));
}

TEST_F(LoopsOfModels, DampingSpringsAndLimitsAct) {
  const auto numbers = [](const Recording& r, const char* name) { return r.values(r.find(name)); };
  const std::string damping = write("damping.json", R"({"damping": 3})");
  const Recording damped = moved({"--forces", damping});
  const auto change = numbers(damped, "energy_change"), power = numbers(damped, "power");
  double work = 0;
  for (std::size_t i = 1; i < change.size(); ++i) {
    work += (power[i - 1] + power[i]) / 2 * 0.001;
    EXPECT_LT(change[i], change[i - 1]);
  }
  EXPECT_NEAR(change.back(), work, 1e-4 * std::abs(work));
  EXPECT_LT(work, -1);
  // What the file says of its joints.
  std::string text = content(bars());
  for (std::size_t at = 0; (at = text.find("axis='0 1 0'", at)) != text.npos; at += 20)
    text.insert(at, "damping='3' ");
  const std::string own = write("own.xml", text);
  const Ran ran = run({"simulate", own, "--damping", "--duration", "0.5", "--initial", "leaning", "--every",
                       "0.001", "--out", path("own.csv")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(last(path("own.csv"), "energy_change"), change.back());
  // eval has it too: forces less, and a derivative by v more.
  const std::string still = R"({"q": [0.2, -0.2, 0.2], "v": [1, -1, 1], "tau": [)";
  const Json lossy =
      result({"eval", own, "forward_dynamics", "linearized_forward", "--damping"}, still + "0, 0, 0]}");
  const Json less = result({"eval", own, "forward_dynamics", "linearized_forward"}, still + "-3, 3, -3]}");
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(lossy["forward_dynamics"][i].get<double>(), less["forward_dynamics"][i].get<double>(), 1e-11);
    const Json &d = lossy["linearized_forward"], &e = less["linearized_forward"];
    EXPECT_NEAR(d["dv"][i][0].get<double>(), e["dv"][i][0].get<double>() - 3 * e["dtau"][i][0].get<double>(),
                1e-10);
  }
  // A spring's energy comes back.
  const Recording sprung =
      moved({"--forces", write("spring.json", R"({"springs": {"right_j": {"stiffness": 200}}})")});
  const auto total = numbers(sprung, "total_energy"), stored = numbers(sprung, "stored_energy");
  for (std::size_t i = 0; i < total.size(); ++i)
    EXPECT_NEAR(total[i] + stored[i], total[0] + stored[0], 1e-6);
  for (const char* integrator : {"variational", "midpoint", "cvode", "rk45"}) {
    const Recording other = moved({"--forces", damping, "--integrator", integrator});
    EXPECT_NEAR(other.row(other.size() - 1)[1], damped.row(damped.size() - 1)[1], 1e-4) << integrator;
  }
}

TEST_F(LoopsOfModels, ManyRunsStayClosed) {
  const std::string drawn = write(
      "drawn.json",
      R"({"q": {"*": {"normal": [0, 0.1]}}, "v": {"left_j": {"normal": [0, 1]}}, "mass": {"top": {"uniform": [0.5, 2]}}})");
  const auto many = [&](const testing::Words& more) {
    testing::Words words{"simulate",  bars(),    "--duration",    "0.1",
                         "--initial", "leaning", "--monte-carlo", "20"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const std::string text = many({"--distributions", drawn, "--threads", "1"});
  EXPECT_EQ(many({"--distributions", drawn, "--threads", "3"}), text);
  // Without the last column, which is for messages.
  std::string numbers;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    numbers += text.substr(at, text.rfind(',', end) - at) + "\n";
  numbers.replace(0, 3, "time");  // "run": a recording begins so
  const Recording r = read_recording(write("many.csv", numbers), FileFormat::csv);
  ASSERT_EQ(r.size(), 20u);
  double least = 1, most = -1;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const auto at = [&](const char* name) { return r.row(i)[std::size_t(r.find(name))]; };
    EXPECT_NEAR(at("q:left_j"), at("q:right_j"), 1e-10);
    EXPECT_NEAR(at("q:left_j"), -at("q:top_j"), 1e-10);
    EXPECT_LT(at("constraint_drift"), 1e-10);
    EXPECT_NEAR(at("energy_change"), 0, 1e-6);
    least = std::min(least, at("q:left_j")), most = std::max(most, at("q:left_j"));
  }
  EXPECT_GT(most - least, 0.05);
  // Nothing drawn: the run itself.
  const Ran one = run({"simulate", bars(), "--duration", "0.1", "--initial", "leaning", "--every", "0.1"});
  const std::string row = one.out.substr(one.out.rfind('\n', one.out.size() - 2) + 1);
  EXPECT_NE(many({}).find("0,0," + row.substr(0, row.size() - 1)), std::string::npos);
}

}  // namespace
}  // namespace articula

#endif
