// MJCF on the command line: every command takes it, states and gravity are the file's, convert writes it.
#include <gtest/gtest.h>

#include "tests/support/command_line.hpp"

namespace articula {
namespace {

using testing::Json;
using testing::Ran;

class MjcfOnTheCommandLine : public testing::CommandLine {
 protected:
  std::string pendulum() const {
    return write(
        "pendulum.xml",
        R"(<mujoco model="p"><option gravity="0 0 -2"/><worldbody><body name="bob"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -1" mass="3" diaginertia="1 1 1"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.1"/></body></worldbody>
<keyframe><key name="side" qpos="1.5707963267948966"/></keyframe><sensor/></mujoco>)");
  }
  double gravity_force(const Ran& ran) const {
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out)["results"][0]["gravity_forces"][0].get<double>();
  }
};

TEST_F(MjcfOnTheCommandLine, InfoCheckEvalSimulateView) {
  const std::string model = pendulum();
  const Ran info = run({"info", model});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("gravity 0 0 -2"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("qpos0, side"), std::string::npos) << info.out;
  const Ran check = run({"check", model});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_NE(check.out.find("pendulum.xml:3: note: ignored: <sensor>"), std::string::npos) << check.out;
  const Ran side = run({"info", model, "--state", "side"});
  EXPECT_NEAR(gravity_force(run({"eval", model, "gravity_forces"}, side.out)), 6, 1e-12);
  EXPECT_NEAR(gravity_force(run({"eval", model, "gravity_forces", "--gravity", "0", "0", "-9.81"}, side.out)),
              29.43, 1e-12);
  const Ran unknown = run({"info", model, "--state", "up"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("has the states qpos0, side"), std::string::npos) << unknown.err;
  EXPECT_EQ(run({"simulate", model, "--duration", "0.01"}).code, 0);
  EXPECT_EQ(run({"view", model, "--out", path("page.html")}).code, 0);
}

TEST_F(MjcfOnTheCommandLine, ConvertThereAndBack) {
  const std::string written = path("arm.mjcf"), back = path("back.urdf");
  const Ran there = run({"convert", "puma560", written});
  EXPECT_EQ(there.code, 0) << there.err;
  EXPECT_EQ(run({"convert", written, back}).code, 0);
  const std::string state = R"({"q": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})";
  const Json first =
      Json::parse(run({"eval", "puma560", "mass_matrix"}, state).out)["results"][0]["mass_matrix"];
  for (const std::string& file : {written, back}) {
    const Json other =
        Json::parse(run({"eval", file, "mass_matrix"}, state).out)["results"][0]["mass_matrix"];
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) EXPECT_NEAR(other[i][j].get<double>(), first[i][j].get<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace articula
