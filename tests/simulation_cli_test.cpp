// articula simulate, by running the program: what users script, and what must not go wrong.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "articula/simulation/recording.hpp"
#include "articula/task_space/coordinates.hpp"
#include "tests/support/motions.hpp"
#include "tests/support/simulate_command.hpp"

namespace articula {
namespace {

namespace fs = testing::fs;
using testing::Ran;
using testing::Words;

using testing::endless;
using testing::pendulum;
using testing::SimulateCommand;
using testing::operator+;

TEST_F(SimulateCommand, WritesTheColumnsOfTheManual) {
  const std::string initial = write("i.json", R"({"q": [1.2, -0.7], "v": [0.3, 0.5]})");
  const Recording r = recording(pendulum + Words{"--initial", initial});
  const char* expected[] = {"time",     "q:joint1",       "q:joint2",        "v:joint1",
                            "v:joint2", "kinetic_energy", "potential_energy"};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(r.columns[i].name, expected[i]);
  ASSERT_EQ(r.size(), 101u);
  EXPECT_EQ(r.row(0)[1], 1.2);
  EXPECT_EQ(r.row(100)[0], 1);
  // The same motion by the library.
  const auto end = testing::reference(testing::double_pendulum(), 1);
  EXPECT_NEAR(r.row(100)[1], end.q[0], 1e-6);
  EXPECT_NEAR(r.row(100)[4], end.v[1], 1e-5);
  for (std::size_t i = 0; i < r.size(); ++i)
    EXPECT_NEAR(r.row(i)[std::size_t(r.find("energy_change"))], 0, 1e-5);
  // Rows less often; the last step may be short.
  EXPECT_EQ(recording(pendulum + Words{"--every", "0.1"}).size(), 11u);
  const Recording odd = recording({"double_pendulum", "--duration", "0.025", "--step", "0.01"});
  ASSERT_EQ(odd.size(), 4u);
  EXPECT_EQ(odd.row(3)[0], 0.025);
  const Recording with_units = recording(pendulum + Words{"--units"});
  EXPECT_EQ(with_units.columns[3].unit, "rad/s");
  EXPECT_EQ(with_units.columns.back().unit, "N m");
  EXPECT_EQ(with_units.size(), 101u);
  const Recording free_base =
      recording({"quadruped", "--base", "free", "--duration", "0.01", "--step", "0.01"});
  EXPECT_EQ(free_base.columns[1].name, "q:root_joint.0");
}

TEST_F(SimulateCommand, EveryIntegratorAgreesAndResumesToTheSameBits) {
  const std::string initial = write("i.json", R"({"q": [1.2, -0.7], "v": [0.3, 0.5]})");
  const std::string control = write("c.json", R"({"type": "pd", "kp": 20, "kd": 2, "sample_time": 0.007})");
  const auto end = testing::reference(testing::double_pendulum(), 1);
  for (const std::string name :
       {"euler", "symplectic_euler", "rk4", "rk45", "variational", "midpoint", "cvode"}) {
    const Recording r = recording({"double_pendulum", "--duration", "1", "--step", "0.002", "--integrator",
                                   name, "--initial", initial});
    const double tolerance = name.find("euler") != name.npos   ? 0.1
                             : name == "rk4" || name == "rk45" ? 1e-6
                                                               : 1e-3;
    EXPECT_NEAR(r.row(r.size() - 1)[1], end.q[0], tolerance) << name;
    for (const char* ending : {"csv", "npz", "h5"}) {
      if (ending != std::string("csv") && name != "rk45") continue;
      const std::string whole = path(name + "_whole." + ending), parts = path(name + "_parts." + ending);
      const Words common{"double_pendulum", "--step",        "0.01",  "--integrator", name,  "--initial",
                         initial,           "--controllers", control, "--every",      "0.02"};
      EXPECT_EQ(run(common + Words{"--duration", "1", "--out", whole}).code, 0);
      EXPECT_EQ(run(common + Words{"--duration", "0.35", "--out", parts}).code, 0);
      const Ran resumed = run(common + Words{"--duration", "1", "--out", parts, "--resume"});
      EXPECT_EQ(resumed.code, 0) << resumed.err;
      if (ending != std::string("h5")) {
        EXPECT_EQ(content(whole), content(parts)) << name << " " << ending;
      }
      const auto a = read_recording(whole, format_of(whole)), b = read_recording(parts, format_of(parts));
      EXPECT_EQ(a.numbers, b.numbers) << name << " " << ending;
    }
  }
}

TEST_F(SimulateCommand, AsymmetricTopForAThousandSeconds) {
  const std::string body =
      write("top.urdf", R"(<robot name="top"><link name="body"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>)");
  const std::string initial = write("i.json", R"({"q": [0,0,0,1, 0,0,0], "v": [0.4, 3, -0.7, 0,0,0]})");
  const Recording r =
      recording({body, "--base", "free", "--gravity", "0", "0", "0", "--initial", initial, "--duration",
                 "1000", "--step", "0.01", "--every", "10", "--integrator", "variational"});
  ASSERT_EQ(r.size(), 101u);
  const auto energy = r.values(r.find("kinetic_energy"));
  double worst = 0, size = 0;
  for (const char* axis : {"x", "y", "z"}) {
    const auto L = r.values(r.find(std::string("angular_momentum.") + axis));
    size += L[0] * L[0];
    for (const double x : L) worst = std::max(worst, std::abs(x - L[0]));
  }
  EXPECT_LT(worst, 1e-11 * std::sqrt(size));
  for (const double e : energy) EXPECT_LT(std::abs(e - energy[0]), 1e-11 * energy[0]);
}

TEST_F(SimulateCommand, RefusesWrongInputs) {
  const auto torque = [&](const std::string& text) {
    return pendulum + Words{"--torque", write("t.csv", text)};
  };
  refuses(torque("time,tau:joint1,tau:joint2\n0,nan,0\n"), "tau:joint1");
  refuses(torque("time,tau:joint1,tau:joint2\n0,1e999,0\n"), "tau:joint1");
  refuses(torque("time,tau:joint1\n0,1\n"), "'tau:joint2' is missing");
  refuses(torque("tau:joint1,tau:joint2\n0,1\n"), "not 'time'");
  refuses(torque("time,tau:joint1,tau:joint2,tau:joint3\n0,1,2,3\n"), "joint3");
  refuses(torque("time,tau:joint1,tau:joint2\n0,1\n"), "t.csv:2");
  refuses(torque("time,tau:joint1,tau:joint2\n1,1,1\n0,1,1\n"), "does not come after");
  refuses(torque(""), "no header");
  refuses(pendulum + Words{"--torque", "absent.csv"}, "absent.csv");
  refuses(pendulum + Words{"--initial", write("i.json", R"({"q": [1]})")}, "needs nq = 2");
  refuses(pendulum + Words{"--initial", write("i.json", R"({"q": [1, 2], "v": [1, 2, 3]})")}, "needs nv = 2");
  refuses(pendulum + Words{"--initial", write("i.json", R"({"q": [1, null]})")}, "q[1]");
  refuses(pendulum + Words{"--initial", path("absent.json")}, "--initial");
  refuses({"arm7", "--duration", "1", "--initial", write("i.json", R"({"q": [0, 99, 0, 0, 0, 0, 0]})")},
          "outside its limits");
  refuses(pendulum + Words{"--integrator", "rk5"}, "known: euler");
  refuses(pendulum + Words{"--step", "0"}, "--step");
  refuses(pendulum + Words{"--step", "nan"}, "--step");
  refuses({"double_pendulum", "--duration", "-1"}, "--duration");
  refuses({"double_pendulum"}, "--duration");
  refuses(pendulum + Words{"--every", "0.015"}, "whole number of steps");
  refuses(pendulum + Words{"--every", "0"}, "--every");
  refuses(pendulum + Words{"--project"}, "--project");
  refuses(pendulum + Words{"--plot", "picture.gif"}, ".svg or .png");
  refuses(pendulum + Words{"--resume"}, "--out FILE");
  refuses(pendulum + Words{"--out", path("x.svg"), "--plot", path("x.svg")}, "same file");
  refuses(pendulum + Words{"--out", path("x.csv"), "--plot", path("no/x.svg")}, "--plot");
  refuses(pendulum + Words{"--out", path("x.csv"), "--plot", path("x.svg"), "--plot", path("y.svg")},
          "--plot");
  EXPECT_FALSE(fs::exists(path("x.csv.part")));  // found before the run
  refuses(pendulum + Words{"--resume", "--out", path("absent.csv")}, "go on from");
  refuses(pendulum + Words{"--out", path("no/such/folder.csv")}, "cannot be written");
  refuses(pendulum + Words{"--limits", "events"}, "rk45");
  refuses(pendulum + Words{"--tolerance", "-1"}, "--tolerance");
  refuses(pendulum + Words{"--distributions", "x.json"}, "--monte-carlo");
  const auto controllers = [&](const std::string& text) {
    return pendulum + Words{"--controllers", write("c.json", text)};
  };
  refuses(controllers(R"({"type": "pid"})"), "known: pd, computed_torque");
  refuses(controllers(R"({"type": "pd", "kp": 1})"), "\"kd\" is missing");
  refuses(controllers(R"({"type": "pd", "kp": [1], "kd": 1})"), "list of 2 numbers, found 1");
  refuses(controllers(R"({"type": "pd", "kp": {"nobody": 1}, "kd": 1})"), "nobody");
  refuses(controllers(R"({"type": "pd", "kp": 1, "kd": 1, "sample_time": 0})"), "period");
  refuses(controllers(R"({"type": "pd", "kp": 1, "kd": 1, "gain": 0})"), "\"gain\" is not known");
  refuses(controllers("{"), "not JSON");
  const auto forces = [&](const std::string& text) {
    return pendulum + Words{"--forces", write("f.json", text)};
  };
  refuses(forces(R"({"springs": {"joint9": {"stiffness": 1}}})"), "joint9");
  refuses(forces(R"({"springs": {"joint1": {"stiffness": -1}}})"), "at least 0");
  refuses(forces(R"({"spring": 1})"), "\"spring\" is not known");
  refuses(forces(R"({"wrenches": [{"frame": "nowhere", "wrench": [0,0,0,0,0,0]}]})"), "nowhere");
  refuses(forces(R"({"wrenches": [{"frame": "tip", "wrench": [0,0,0]}]})"), "list of 6 numbers");
  const Words many = pendulum + Words{"--monte-carlo", "2", "--distributions"};
  refuses(many + Words{write("d.json", R"({"q": {"joint9": {"normal": [0, 1]}}})")}, "no such joint");
  refuses(many + Words{write("d.json", R"({"q": {"joint1": {"normal": [0]}}})")}, "two finite numbers");
  refuses(many + Words{write("d.json", R"({"p": {}})")}, "known: q, v, mass, torque");
}

TEST_F(SimulateCommand, TorquesForcesAndControllersAct) {
  const Ran piped = shell(line(pendulum + Words{"--torque", "-"}), "time,tau:joint1,tau:joint2\n0,1,0\n");
  EXPECT_EQ(piped.code, 0) << piped.err;
  // Gravity compensated: it stays. With a torque over time on top, it moves.
  const std::string initial = write("i.json", R"({"q": [1.2, -0.7]})");
  const std::string still = write("c.json", R"({"controllers": [{"type": "gravity_compensation"}]})");
  const Words common = pendulum + Words{"--initial", initial, "--controllers", still};
  const Recording r = recording(common);
  EXPECT_NEAR(r.row(100)[1], 1.2, 1e-9);
  EXPECT_GT(std::abs(r.row(50)[std::size_t(r.find("tau:joint1"))]), 1);
  const Recording moved =
      recording(common + Words{"--torque", write("t.csv", "time,joint2,joint1\n0,0,0\n1,0,1\n")});
  EXPECT_GT(std::abs(moved.row(100)[1] - 1.2), 0.01);
  EXPECT_NEAR(moved.row(100)[std::size_t(moved.find("power"))],
              moved.row(100)[3] * moved.row(100)[std::size_t(moved.find("tau:joint1"))] +
                  moved.row(100)[4] * moved.row(100)[std::size_t(moved.find("tau:joint2"))],
              1e-9);
  // Damping takes energy; computed torque reaches its reference; stiff limits hold.
  const Recording damped =
      recording(pendulum + Words{"--initial", initial, "--forces", write("f.json", R"({"damping": 0.5})")});
  EXPECT_LT(damped.row(100)[std::size_t(damped.find("energy_change"))], -1);
  const Recording reached = recording(
      {"double_pendulum", "--duration", "2", "--initial", initial, "--every", "0.1", "--controllers",
       write("c.json", R"({"type": "computed_torque", "kp": 100, "kd": 20, "reference": [0.5, 0.25]})")});
  EXPECT_NEAR(reached.row(20)[1], 0.5, 1e-5);
  EXPECT_NEAR(reached.row(20)[2], 0.25, 1e-5);
  // A hand goes where operational space says, sampled at 1 kHz.
  const std::string bent = write("b.json", R"({"q": [0.1, 0.6, 0, 1.1, 0, 0.5, 0]})");
  const Words reach{"arm7", "--duration", "2", "--initial", bent, "--every", "0.5", "--controllers"};
  const Recording held = recording(
      reach +
      Words{write("c.json", R"({"type": "operational_space", "frame": "hand", "sample_time": 0.001})")});
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_NEAR(held.row(i)[2], 0.6, 1e-3);
  const Recording sent =
      recording(reach + Words{write("c.json", R"({"type": "operational_space", "frame": "hand",
      "position": [0.5, 0.1, 0.6], "stiffness": 100, "damping": 20, "sample_time": 0.001})")});
  const Model model = testing::shipped("arm7");
  const auto last = sent.row(sent.size() - 1);
  const auto at = pose(model, last.subspan(1, 7), "hand").position;
  EXPECT_NEAR(at.x, 0.5, 1e-3);
  EXPECT_NEAR(at.y, 0.1, 1e-3);
  EXPECT_NEAR(at.z, 0.6, 1e-3);
  // Two sweeps a tick go there too, by another way that is the same for short ticks.
  const auto swept = [&](const std::string& sweeps, const std::string& period) {
    const Recording r =
        recording({"arm7", "--duration", "0.2", "--initial", bent, "--every", "0.2", "--controllers",
                   write("c.json", R"({"type": "operational_space", "frame": "hand",
        "position": [0.5, 0.1, 0.6], "sweeps": )" +
                                       sweeps + R"(, "sample_time": )" + period + "}")});
    const auto row = r.row(r.size() - 1);
    return std::vector<double>(row.begin() + 1, row.begin() + 8);
  };
  const auto off = [&](const std::string& sweeps, const std::string& period) {
    const auto exact = swept("4", period), delayed = swept(sweeps, period);
    double worst = 0;
    for (int i = 0; i < 7; ++i) worst = std::max(worst, std::abs(exact[i] - delayed[i]));
    return worst;
  };
  EXPECT_GT(off("2", "0.002"), 1e-4);
  EXPECT_LT(off("2", "0.001"), 0.6 * off("2", "0.002"));
  EXPECT_LT(off("3", "0.002"), off("2", "0.002"));
  refuses(reach + Words{write("c.json", R"({"type": "operational_space", "frame": "hand", "sweeps": 2})")},
          "sample_time");
  refuses(reach + Words{write("c.json", R"({"type": "operational_space", "frame": "hand", "sweeps": 5})")},
          "expected 2, 3 or 4");
  refuses(reach + Words{write("c.json", R"({"type": "operational_space", "frame": "foot"})")}, "foot");
  const Recording limited = recording(
      {"arm7", "--duration", "1", "--limits", "events", "--integrator", "rk45", "--step", "0.01", "--initial",
       write("i.json", R"({"q": [0, 1, 0, 1, 0, 0, 0], "v": [0, 3, 0, 0, 0, 0, 0]})")});
  const Model arm = testing::shipped("arm7");
  for (const JointStop& stop : joint_stops(arm))
    for (std::size_t i = 0; i < limited.size(); ++i)
      EXPECT_LT(stop.side * (limited.row(i)[std::size_t(1 + stop.q)] - stop.bound), 1e-9);
}

TEST_F(SimulateCommand, TasksInLevelsAndOtherCoordinates) {
  const std::string bent = write("b.json", R"({"q": [0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1]})");
  const Words reach{"arm7", "--duration", "2", "--initial", bent, "--every", "0.5", "--controllers"};
  const Model model = testing::shipped("arm7");
  const auto end = [&](const std::string& controllers) {
    const Recording r = recording(reach + Words{write("c.json", controllers)});
    return pose(model, r.row(r.size() - 1).subspan(1, 7), "hand");
  };
  const auto at =
      end(R"({"type": "tasks", "levels": [[{"frame": "hand", "euler": "zyx", "angles": [0.3, 0.2, 0.1],
    "position": [0.4, 0.1, 0.5]}]], "sample_time": 0.001})");
  EXPECT_NEAR(at.position.x, 0.4, 1e-3);
  EXPECT_NEAR(at.position.y, 0.1, 1e-3);
  EXPECT_NEAR(at.position.z, 0.5, 1e-3);
  const auto y = EulerAngles("zyx").of(at);
  EXPECT_NEAR(y[0], 0.3, 1e-3);
  EXPECT_NEAR(y[1], 0.2, 1e-3);
  EXPECT_NEAR(y[2], 0.1, 1e-3);
  // The first level has its way; without anything to touch, a force of 10 N drives the row against its damping.
  const auto two = end(R"({"type": "tasks", "levels": [[{"frame": "hand", "rows": ["x", "y"],
    "position": [0.4, 0.1, 0]}], [{"frame": "hand", "rows": "orientation"}]]})");
  EXPECT_NEAR(two.position.x, 0.4, 1e-3);
  EXPECT_NEAR(two.position.y, 0.1, 1e-3);
  const auto start = pose(model, std::vector<double>{0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1}, "hand");
  const auto pushed = end(R"({"type": "tasks", "levels": [[{"frame": "hand", "rows": "position",
    "press": [{"row": 2, "force": -1, "damping": 20}]}]], "posture_damping": 5})");
  EXPECT_NEAR(pushed.position.x, start.position.x, 1e-3);
  EXPECT_LT(pushed.position.z, start.position.z - 1e-4);
  const auto wrong = [&](const std::string& levels, const std::string& what) {
    refuses(reach + Words{write("c.json", R"({"type": "tasks", "levels": )" + levels + "}")}, what);
  };
  wrong("[]", "list of levels");
  wrong(R"([[{"frame": "hand", "rows": ["u"]}]])", "is no row");
  wrong(R"([[{"frame": "hand", "rows": ["x", "x"]}]])", "has \"x\" twice");
  wrong(R"([[{"frame": "hand", "press": [{"row": 0, "force": 1}, {"row": 0, "force": 2}]}]])", "two pushes");
  refuses(reach + Words{write("c.json", R"({"type": "gravity_compensation", "sample_time": -1})")}, "c.json");
  wrong(R"([[{"frame": "hand", "rows": "position", "euler": "zyx"}]])", "all six rows");
  wrong(R"([[{"frame": "hand", "euler": "zzx"}]])", "sequence");
  wrong(R"([[{"frame": "hand", "angles": [0, 0, 0]}]])", "go with");
  wrong(R"([[{"frame": "hand", "press": [{"row": 6, "force": 1}]}]])", "0 to 5");
  wrong(
      R"([[{"frame": "hand", "rows": "position"}], [{"frame": "hand", "press": [{"row": 0, "force": 1}]}]])",
      "first level");
}

TEST_F(SimulateCommand, DiagonalizedVelocities) {
  const std::string initial = write("i.json", R"({"q": [1.2, -0.7], "v": [0.5, 1]})");
  const Words common = pendulum + Words{"--initial", initial, "--damping"};
  const Recording v = recording(common), nu = recording(common + Words{"--velocities", "nu"}),
                  xi = recording(common + Words{"--velocities", "xi"});
  bool same = true;
  for (int i = 1; i < 5; ++i) {
    EXPECT_NEAR(nu.row(100)[i], v.row(100)[i], 1e-5);
    EXPECT_NEAR(xi.row(100)[i], v.row(100)[i], 1e-5);
    same = same && nu.row(100)[i] == v.row(100)[i];
  }
  EXPECT_FALSE(same);
  refuses(common + Words{"--velocities", "mu"}, "--velocities");
  refuses(common + Words{"--velocities", "nu", "--integrator", "variational"}, "momenta");
  refuses(common + Words{"--velocities", "nu", "--monte-carlo", "2"}, "one run");
  refuses({"four_bar", "--duration", "1", "--velocities", "nu"}, "trees");
  // Every nu falls as it is told, and so does the energy of motion, by exp(-2 gain t).
  const Recording still =
      recording(pendulum + Words{"--initial", initial, "--controllers",
                                 write("c.json", R"({"type": "decoupled_rates", "gains": 3})")});
  const auto column = std::size_t(still.find("kinetic_energy"));
  EXPECT_NEAR(still.row(100)[column], still.row(0)[column] * std::exp(-2 * 3 * 1.0), 1e-6);
  refuses(pendulum + Words{"--controllers", write("c.json", R"({"type": "decoupled_rates"})")}, "gains");
  refuses(pendulum + Words{"--controllers",
                           write("c.json", R"({"type": "decoupled_rates", "gains": 1, "compensate": 2})")},
          "compensate");
}

TEST_F(SimulateCommand, SmoothReferencesAreFollowed) {
  const Recording r =
      recording(pendulum + Words{"--initial", write("i.json", R"({"q": [0.1, 0.2]})"), "--controllers",
                                 write("c.json", R"({"type": "computed_torque", "kp": 1, "kd": 1,
    "reference": {"times": [0, 1], "q": [[0.1, 0.2], [0.5, -0.3]], "v": [[0, 0], [1, 0]], "a": [[0, 0], [0, 2]]}})")});
  EXPECT_NEAR(r.row(100)[1], 0.5, 1e-6);
  EXPECT_NEAR(r.row(100)[2], -0.3, 1e-6);
  EXPECT_NEAR(r.row(100)[3], 1, 1e-5);
}

TEST_F(SimulateCommand, MonteCarloGivesTheSameBitsOnAnyNumberOfThreads) {
  const std::string d =
      write("d.json", R"({"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [0.5, 2]}},
                                            "torque": {"joint1": {"normal": [0, 1]}}, "v": {"joint2": {"uniform": [-1, 1]}}})");
  const Words common = pendulum + Words{"--monte-carlo", "40", "--seed", "7", "--distributions", d};
  const Ran one = run(common + Words{"--threads", "1"}), four = run(common + Words{"--threads", "4"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, four.out);
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 41);
  EXPECT_NE(one.out.find("draw:mass:rod2"), std::string::npos);
  EXPECT_NE(run(pendulum + Words{"--monte-carlo", "40", "--seed", "8", "--distributions", d}).out, one.out);
  // A mass that can be negative: those runs fail, are reported, and the others are there.
  const std::string bad = write("b.json", R"({"mass": {"rod2": {"uniform": [-1, 1]}}})");
  const Ran some = run(pendulum + Words{"--monte-carlo", "20", "--distributions", bad});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.err.find("of 20 runs failed"), std::string::npos) << some.err;
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 21);
  EXPECT_NE(some.out.find("mass"), std::string::npos);
}

/// Plain steps go many runs at once; force elements, even none of them, one after the other.
TEST_F(SimulateCommand, MonteCarloRunsTogetherAreThoseAlone) {
  const std::string d =
      write("d.json", R"({"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [-0.1, 2]}},
                                            "torque": {"joint1": {"normal": [0, 1]}}, "v": {"joint2": {"uniform": [-1, 1]}}})");
  const Words common{
      "double_pendulum", "--duration", "1", "--step", "0.007", "--monte-carlo", "37", "--distributions", d};
  for (const char* integrator : {"euler", "symplectic_euler", "rk4"}) {
    const Words plain = common + Words{"--damping", "--integrator", integrator};
    const Ran together = run(plain), alone = run(plain + Words{"--forces", write("f.json", "{}")});
    ASSERT_EQ(together.code, 0) << together.err;
    ASSERT_EQ(together.err, alone.err);
    std::istringstream a(together.out), b(alone.out);
    int numbers = 0;
    for (std::string x, y; std::getline(a, x) && std::getline(b, y);) {
      std::istringstream one(x), other(y);
      for (std::string p, q; std::getline(one, p, ',') && std::getline(other, q, ',');) {
        char* end = nullptr;
        const double value = std::strtod(p.c_str(), &end);
        if (p.empty() || *end != 0 || !std::isfinite(value)) {
          EXPECT_EQ(p, q);
        } else {
          EXPECT_NEAR(value, std::strtod(q.c_str(), nullptr), 1e-9 * (1 + std::abs(value))) << integrator;
          ++numbers;
        }
      }
    }
    EXPECT_GT(numbers, 37 * 10);
  }
}

TEST_F(SimulateCommand, PlotsAndBinaryFiles) {
  const Ran ran = run(pendulum + Words{"--out", path("a.npz"), "--plot", path("a.svg")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(content(path("a.svg")).rfind("<svg", 0), 0u);
  EXPECT_NE(content(path("a.svg")).find("q:joint2"), std::string::npos);
  EXPECT_EQ(content(path("a.npz")).rfind("PK", 0), 0u);
  EXPECT_EQ(run(pendulum + Words{"--out", path("a.h5"), "--plot", path("a.png")}).code, 0);
  EXPECT_EQ(content(path("a.png")).substr(1, 3), "PNG");
  EXPECT_EQ(run(pendulum + Words{"--plot", path("b.png")}).code, 0);  // rows to stdout
  EXPECT_EQ(content(path("b.png")).substr(1, 3), "PNG");
  EXPECT_FALSE(fs::exists(path("a.npz.part")));
}

TEST_F(SimulateCommand, CtrlCFinishesTheFile) {
  for (const char* ending : {"csv", "npz", "h5"}) {
    const std::string out = path(std::string("x.") + ending);
    const pid_t child = start(endless + Words{"--out", out}, out + ".part");
    kill(child, SIGINT);
    EXPECT_EQ(wait_for(child), 1);
    EXPECT_FALSE(fs::exists(out + ".part"));
    const Recording r = read_recording(out, format_of(out));
    EXPECT_GT(r.size(), 10u);
    if (std::string(ending) != "csv") continue;
    const Ran whole = run({"arm7", "--duration", "0.2", "--step", "0.001", "--every", "0.01"});
    EXPECT_EQ(content(out).rfind(whole.out, 0), 0u);  // as a short run has them
  }
}

TEST_F(SimulateCommand, AKillLeavesEarlierFilesAndRowsReadable) {
  const std::string out = path("x.csv");
  EXPECT_EQ(run({"arm7", "--duration", "0.05", "--step", "0.001", "--out", out}).code, 0);
  const std::string earlier = content(out);
  const pid_t child = start(endless + Words{"--out", out}, out + ".part");
  refuses(endless + Words{"--out", out}, "another run is writing it");
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_EQ(content(out), earlier);
  const Recording part = read_recording(out + ".part", FileFormat::csv);
  ASSERT_GT(part.size(), 10u);
  const double reached = part.row(part.size() - 1)[0];
  // And goes on from there, to what a run without the kill gives.
  const std::string duration = std::to_string(int(reached) + 1);
  const Words again{"arm7", "--duration", duration, "--step", "0.001", "--every", "0.01"};
  const Ran resumed = run(again + Words{"--out", out, "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(run(again + Words{"--out", path("whole.csv")}).code, 0);
  EXPECT_EQ(content(out), content(path("whole.csv")));
}

TEST_F(SimulateCommand, AFullDiskIsReportedAndLeavesWhatWasThere) {
  if (fs::exists("/dev/full")) {
    refuses(pendulum + Words{"--out", "/dev/full"}, "cannot be written", 1);
    const Ran ran = shell(line(pendulum) + " > /dev/full");
    EXPECT_EQ(ran.code, 1);
    fs::create_symlink("/dev/full", path("full.svg"));
    refuses(pendulum + Words{"--out", path("rows.csv"), "--plot", path("full.svg")}, "--plot", 1);
    EXPECT_TRUE(fs::exists(path("rows.csv")));  // only the picture is missing
  }
  // A limit on file sizes stands for the disk: 64 blocks of 512 or 1024 bytes.
  const std::string out = path("x.csv");
  EXPECT_EQ(run(pendulum + Words{"--out", out}).code, 0);
  const std::string earlier = content(out);
  const Ran full = shell("trap '' XFSZ; ulimit -f 64; " + line(endless + Words{"--out", out}));
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_NE(full.err.find("cannot be written"), std::string::npos) << full.err;
  EXPECT_EQ(content(out), earlier);
  EXPECT_GT(read_recording(out + ".part", FileFormat::csv).size(), 10u);
  EXPECT_EQ(content(out + ".part").back(), '\n');
}

TEST_F(SimulateCommand, AMotionThatFailsKeepsItsRows) {
  const std::string out = path("x.csv");
  const Ran ran = run({"arm7", "--duration", "100", "--step", "0.5", "--integrator", "euler", "--initial",
                       write("i.json", R"({"q": [0.1, 1, 0.2, 1, 0, 0.5, 0], "v": [5, 5, 5, 5, 5, 5, 5]})"),
                       "--out", out});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_NE(ran.err.find("finite"), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists(out));
  EXPECT_GT(read_recording(out + ".part", FileFormat::csv).size(), 1u);
  // Within a step of rk4 a joint that has nothing to move would be blamed.
  const Ran within = run({"double_pendulum", "--duration", "100", "--step", "5", "--initial",
                          write("i.json", R"({"q": [1, 0.5], "v": [3, 0]})")});
  EXPECT_EQ(within.code, 1);
  EXPECT_NE(within.err.find("no longer finite at t ="), std::string::npos) << within.err;
}

}  // namespace
}  // namespace articula

#endif  // ARTICULA_PROGRAM
