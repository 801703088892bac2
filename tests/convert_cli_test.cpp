// articula convert: formats, edits, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/command_line.hpp"

#ifdef ARTICULA_PROGRAM

namespace articula {
namespace {

using testing::Json;
using testing::Ran;
using testing::Words;

class ConvertOnTheCommandLine : public testing::CommandLine {
 protected:
  void convert(const Words& words) const {
    Words all{"convert"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = run(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out, "");
  }
  Json mass_matrix(const std::string& model, const std::string& state) const {
    return result({"eval", model, "mass_matrix"}, state)["mass_matrix"];
  }
  int nv(const std::string& model) const { return json({"info", model, "--json"})["model"]["nv"]; }
  static void expect_near(const Json& a, const Json& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t c = 0; c < a[r].size(); ++c)
        EXPECT_NEAR(a[r][c].get<double>(), b[r][c].get<double>(), tolerance) << r << " " << c;
  }
  static std::string state(int n) {
    Json q = Json::array();
    for (int i = 0; i < n; ++i) q.push_back(0.1 + 0.2 * i);
    return Json{{"q", q}}.dump();
  }
};

TEST_F(ConvertOnTheCommandLine, ThereAndBackAgain) {
  for (const char* name : {"puma560", "hand", "arm7", "humanoid"}) {
    const std::string sdf = path("m.sdf"), urdf = path("m.urdf");
    convert({name, sdf});
    convert({sdf, urdf});
    const int n = nv(name);
    const Json original = mass_matrix(name, state(n));
    expect_near(mass_matrix(sdf, state(n)), original, 1e-12);
    expect_near(mass_matrix(urdf, state(n)), original, 1e-12);
    EXPECT_EQ(run({"check", sdf}).out.find("error"), std::string::npos);
  }
  const Ran printed = run({"convert", "puma560", "-", "--format", "sdf"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(nv(write("printed", printed.out)), 6);  // told by content
}

TEST_F(ConvertOnTheCommandLine, Edits) {
  const std::string out = path("m.urdf");
  // Locked: the block of the mass matrix.
  convert({"double_pendulum", out, "--lock", "joint1=0.3"});
  const Json whole = mass_matrix("double_pendulum", R"({"q": [0.3, 0.7]})");
  EXPECT_NEAR(mass_matrix(out, R"({"q": [0.7]})")[0][0].get<double>(), whole[1][1].get<double>(), 1e-14);
  // A rotor on the diagonal.
  convert({"double_pendulum", out, "--rotor", "joint2=0.001,10"});
  EXPECT_NEAR(mass_matrix(out, R"({"q": [0.3, 0.7]})")[1][1].get<double>(), whole[1][1].get<double>() + 0.1,
              1e-14);
  // A point mass where a frame is, one metre out.
  convert({"double_pendulum", out, "--frame", "end=rod2,0,0,1", "--payload", "end=2", "--lock", "joint1=0"});
  const Json bare = mass_matrix("double_pendulum", R"({"q": [0, 0]})");
  EXPECT_NEAR(mass_matrix(out, R"({"q": [0]})")[0][0].get<double>(), bare[1][1].get<double>() + 2, 1e-13);
  // Another model on a frame, with a prefix, renamed; the payload by its centre and inertia.
  convert({"double_pendulum", out, "--attach", "left_=double_pendulum@rod2", "--rename", "left_joint1=wrist",
           "--payload", "left_rod2=1,0,0,0.1,0.1,0.1,0.1,0,0,0"});
  EXPECT_EQ(nv(out), 4);
  EXPECT_NE(content(out).find("\"wrist\""), std::string::npos);
  convert({"double_pendulum", out, "--scale", "2,1"});
  EXPECT_NEAR(mass_matrix(out, R"({"q": [0.3, 0.7]})")[1][1].get<double>(), 4 * whole[1][1].get<double>(),
              1e-13);
  convert({"double_pendulum", out, "--remove", "rod2"});
  EXPECT_EQ(nv(out), 1);
  convert({"quadruped", out, "--root", "lf_shank"});
  const int n = nv("quadruped");
  EXPECT_EQ(nv(out), n);
  Json q = Json::array({0, 0, 0, 1, 0, 0, 0}), v = Json::array({0, 0, 0, 1, 2, 3});
  for (int i = 0; i < n; ++i) q.push_back(0), v.push_back(0);
  const auto energy = [&](const std::string& model) {
    return result({"eval", model, "kinetic_energy", "--base", "free"},
                  Json{{"q", q}, {"v", v}}.dump())["kinetic_energy"]
        .get<double>();
  };
  EXPECT_NEAR(energy(out), energy("quadruped"), 1e-11);
}

TEST_F(ConvertOnTheCommandLine, WhatIsWrong) {
  const std::string out = write("old.urdf", "old");
  const auto wrong = [&](const Words& words, const Words& said) {
    Words all{"convert", "double_pendulum", out};
    all.insert(all.end(), words.begin(), words.end());
    expect_failure(2, all, "", said);
    EXPECT_EQ(content(out), "old");
  };
  wrong({"--lock", "joint1"}, {"--lock", "JOINT=VALUE"});
  wrong({"--lock", "joint1=x"}, {"--lock", "JOINT=VALUE"});
  wrong({"--lock", "joint1=1,2"}, {"joint 'joint1'", "1 coordinate"});
  wrong({"--lock", "joint3=1"}, {"no joint 'joint3'", "did you mean 'joint"});
  wrong({"--attach", "double_pendulum"}, {"--attach", "MODEL@FRAME"});
  wrong({"--attach", "double_pendulum@rod2"}, {"prefix"});
  wrong({"--attach", "nothing.urdf@rod2"}, {"nothing.urdf"});
  wrong({"--payload", "rod2=1,2"}, {"--payload", "FRAME=MASS"});
  wrong({"--payload", "link9=1"}, {"no link or frame 'link9'"});
  wrong({"--payload", "rod2=-1"}, {"payload", "mass -1"});
  wrong({"--remove", "link9"}, {"no link 'link9'"});
  wrong({"--root", "link9"}, {"no link 'link9'"});
  wrong({"--rename", "rod1=rod2"}, {"'rod2'"});
  wrong({"--rename", "nothing=x"}, {"nothing"});
  wrong({"--scale", "0"}, {"scales"});
  wrong({"--scale", "1,2,3"}, {"--scale", "LENGTH"});
  wrong({"--frame", "tip=rod2,1"}, {"--frame", "NAME=LINK"});
  wrong({"--rotor", "joint1=-1"}, {"rotor"});
  wrong({"--format", "step"}, {"--format step", ".urdf"});
  expect_failure(2, {"convert", "double_pendulum", path("m.step")}, "", {"ending", ".urdf", ".sdf"});
  expect_failure(2, {"convert", "double_pendulum", "-"}, "", {"--format"});
  expect_failure(2, {"convert", "double_pendulum"}, "", {"OUT"});
  expect_failure(2, {"convert", "four_bar", path("m.urdf")}, "", {"scene"});
  EXPECT_FALSE(std::filesystem::exists(path("m.urdf")));
}

/// A loop is a joint of SDF, and nothing in URDF.
TEST_F(ConvertOnTheCommandLine, LoopsThatUrdfCannotSay) {
  std::string text = "<sdf version='1.9'><model name='m'>";
  for (const char* name : {"a", "b", "c"})
    text += "<link name='" + std::string(name) + "'><inertial/></link>";
  for (const char* ends : {"ab", "ac", "bc"})
    text += "<joint name='" + std::string(ends) + "' type='ball'><parent>" + ends[0] + "</parent><child>" +
            ends[1] + "</child></joint>";
  const std::string loop = write("loop.sdf", text + "</model></sdf>");
  EXPECT_EQ(run({"convert", loop, path("again.sdf")}).code, 0);
  expect_failure(2, {"convert", loop, path("m.urdf")}, "", {"loops", "URDF cannot say"});
}

/// A parallelogram of SDF swings, and stays closed.
TEST_F(ConvertOnTheCommandLine, LoopsOfFilesMoveAsConstraints) {
  std::string text = "<sdf version='1.9'><model name='bars'>";
  for (const auto& [name, pose] : {std::pair("base", "0 0 0"), std::pair("l", "0 0 1"),
                                   std::pair("r", "1 0 1"), std::pair("top", "0.5 0 2")})
    text += fmt::format("<link name='{}'><pose>{} 0 0 0</pose><inertial/></link>", name, pose);
  for (const auto& [name, parent, child, pose] :
       {std::tuple("bl", "base", "l", "0 0 -1"), std::tuple("br", "base", "r", "0 0 -1"),
        std::tuple("lt", "l", "top", "-0.5 0 0"), std::tuple("rt", "r", "top", "0.5 0 0")})
    text += fmt::format(
        "<joint name='{}' type='revolute'><parent>{}</parent><child>{}</child><pose>{} 0 0 0</pose>"
        "<axis><xyz>0 1 0</xyz></axis></joint>",
        name, parent, child, pose);
  const std::string bars = write("bars.sdf", text + "</model></sdf>");
  const Ran info = run({"info", bars});
  EXPECT_NE(info.out.find("rt: revolute between r and top"), std::string::npos) << info.out;
  const Ran eval =
      run({"eval", bars, "diagonalized"}, R"({"q": [0, 0, 0], "v": [0, 0, 0], "tau": [0, 0, 0]})");
  EXPECT_NE(eval.err.find("1 loop"), std::string::npos) << eval.err;
  const Ran ran = run({"simulate", bars, "--duration", "0.5", "--step", "0.001", "--every", "0.5",
                       "--gravity", "3", "0", "-9.81"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
    return out;
  };
  std::istringstream lines(ran.out);
  std::string line, last;
  std::getline(lines, line);
  while (line.starts_with('#')) std::getline(lines, line);
  const auto names = cells(line);
  while (std::getline(lines, line)) last = line;
  const auto values = cells(last);
  const auto value = [&](const std::string& name) {
    return std::stod(values.at(std::size_t(std::find(names.begin(), names.end(), name) - names.begin())));
  };
  EXPECT_GT(std::abs(value("q:bl")), 0.1);
  EXPECT_NEAR(value("q:bl"), value("q:br"), 1e-9);  // parallel
  EXPECT_NEAR(value("q:lt"), -value("q:bl"), 1e-9);
  EXPECT_NEAR(value("energy_change"), 0, 1e-6);
}

TEST_F(ConvertOnTheCommandLine, DrakeAgrees) {
  std::string files;
  for (const char* name : {"puma560", "hand", "arm7", "humanoid", "quadruped", "planar_2r"}) {
    convert({name, path(std::string(name) + ".sdf")});
    files += " " + path(std::string(name) + ".sdf");
  }
  const auto compared = testing::printed(
      "python3 " ARTICULA_SOURCE_DIR "/tools/compare_sdf.py " ARTICULA_PROGRAM + files + " 2>&1");
  if (compared.code == 77) GTEST_SKIP() << "there is no Drake: pip install drake";
  EXPECT_EQ(compared.code, 0) << compared.out;
  EXPECT_NE(compared.out.find("agree"), std::string::npos) << compared.out;
}

}  // namespace
}  // namespace articula

#endif
