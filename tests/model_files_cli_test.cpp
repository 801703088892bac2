// Models on the command line: what loads with a warning, what --strict makes of it, packages and xacro.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "tests/support/command_line.hpp"
#include "tests/support/slowness.hpp"

namespace articula {
namespace {

using testing::Json;
using testing::Ran;
using testing::Words;

class ModelFilesOnTheCommandLine : public testing::CommandLine {
 protected:
  /// Two links and no mass, as many makers' arms have it.
  std::string massless() const {
    return write("arm.urdf", R"(<robot name="arm">
<link name="base"/><link name="upper"/><link name="tip"/>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="tip"/><origin xyz="1 0 0"/>
  <axis xyz="0 1 0"/></joint>
</robot>
)");
  }
};

TEST_F(ModelFilesOnTheCommandLine, ArmsWithoutMass) {
  const std::string arm = massless(), state = R"({"q": [0.1, 0.2], "v": [1, 2], "a": [3, 4], "tau": [0, 0]})";
  const Ran works =
      run({"eval", arm, "pose", "jacobian", "inverse_dynamics", "mass_matrix", "--frame", "tip"}, state);
  EXPECT_EQ(works.code, 0) << works.err;
  EXPECT_NE(works.err.find("arm.urdf:3: warning: joint 'shoulder' has no inertia to move"), std::string::npos)
      << works.err;
  const Json result = Json::parse(works.out)["results"][0];
  for (const Json& x : result["inverse_dynamics"]) EXPECT_NEAR(x.get<double>(), 0, 1e-25);
  EXPECT_NEAR(result["jacobian"][5][0].get<double>(), -std::cos(0.1), 1e-15);
  const Ran fails = run({"eval", arm, "forward_dynamics"}, state);
  EXPECT_NE(fails.code, 0);
  EXPECT_NE(fails.err.find("joint 'elbow'"), std::string::npos) << fails.err;
  EXPECT_EQ(run({"info", arm}).code, 0);
  EXPECT_EQ(run({"check", arm}).code, 1);
}

TEST_F(ModelFilesOnTheCommandLine, StrictRefusesWhatCheckTells) {
  const std::string arm = massless();
  const Ran info = run({"info", arm, "--strict"});
  EXPECT_EQ(info.code, 2) << info.out;
  EXPECT_NE(info.err.find("warning: joint 'shoulder'"), std::string::npos) << info.err;
  EXPECT_NE(info.err.find("1 more"), std::string::npos) << info.err;
  EXPECT_EQ(run({"eval", arm, "mass_matrix", "--strict"}, R"({"q": [0, 0]})").code, 2);
  const std::string scene = write("s.json", R"({"arms": [{"name": "one", "model": "arm.urdf"}]})");
  EXPECT_EQ(run({"check", scene, "--strict"}).code, 2);
  EXPECT_NE(run({"check", scene}).code, 2);
  const Ran sound = run({"info", "puma560", "--strict"});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_EQ(sound.err, "");
}

TEST_F(ModelFilesOnTheCommandLine, Packages) {
  EXPECT_EQ(run({"info", "puma560", "--package", "meshes=/tmp"}).code, 0);
  for (const char* wrong : {"meshes", "=x", "meshes="})
    expect_failure(2, {"info", "puma560", "--package", wrong}, "", {"--package", "NAME=FOLDER"});
}

TEST_F(ModelFilesOnTheCommandLine, FilesNeedNoEnding) {
  const std::string text = content(ARTICULA_SOURCE_DIR "/models/planar_2r.urdf");
  EXPECT_EQ(run({"info", write("planar", text)}).code, 0);
  EXPECT_EQ(run({"info", "-"}, text).code, 0);
  expect_failure(2, {"info", "nobody"}, "", {"shipped:", "arm7", "scenes:", "four_bar"});
}

/// Latin-1 names reach JSON as UTF-8.
TEST_F(ModelFilesOnTheCommandLine, Latin1) {
  const std::string file = write("l.urdf", "<robot name=\"r\"><link name=\"gr\xfcn\"/></robot>");
  const Ran info = run({"info", file, "--json"});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(Json::parse(info.out)["links"][0]["name"], "gr\xc3\xbcn");
  EXPECT_EQ(run({"check", file}).code, 1);
}

TEST_F(ModelFilesOnTheCommandLine, ManyWrongParentsAreToldAtOnce) {
  std::string text = "<robot name=\"r\"><link name=\"link_0\"/>\n";
  for (int i = 1; i <= 1900; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name=\"link_" + n + "\"/><joint name=\"j" + n +
            "\" type=\"continuous\"><parent link=\"lonk_" + n + "\"/><child link=\"link_" + n +
            "\"/></joint>\n";
  }
  const auto seconds = [] {  // of the processor, whoever else is on the machine
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    return double(used.ru_utime.tv_sec) + 1e-6 * double(used.ru_utime.tv_usec);
  };
  const double before = seconds();
  const Ran check = run({"check", write("wrong.urdf", text + "</robot>")});
  EXPECT_LT(seconds() - before,
            3 * testing::slowness);  // 16 when every name was compared with every other in full
  EXPECT_EQ(check.code, 1);
  EXPECT_NE(check.out.find("did you mean 'link_7'?"), std::string::npos);
}

}  // namespace
}  // namespace articula
