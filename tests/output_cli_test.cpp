// --out: the file is whole, or as it was.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <csignal>

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

class OutputFiles : public CommandLine {};

TEST_F(OutputFiles, OutFilesAppearWholeOrNotAtAll) {
  const std::string file = "double_pendulum", out = path("out.json");
  const Words words{"eval", file, "bias_forces", "--out", out};
  const Ran good = run(words, R"({"q": [1, 1], "v": [1, 0]})");
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.out, "");
  const std::string first = content(out);
  EXPECT_EQ(first, run({"eval", file, "bias_forces", "--out", "-"}, R"({"q": [1, 1], "v": [1, 0]})").out);
  EXPECT_EQ(run(words, R"({"q": [1, 1], "v": [1e300, 0]})").code, 1);
  EXPECT_EQ(run(words, R"({"q": [1, 1]})").code, 2);
  EXPECT_EQ(Json::parse(content(out)), Json::parse(first));  // the failed run left the file alone
  // Ended by a signal while it waits for its states.
  const Ran ended = shell(
      "mkfifo pipe; sleep 30 > pipe & feeder=$!; " + quoted(ARTICULA_PROGRAM) + " eval " + quoted(file) +
      " bias_forces --out new.json < pipe & job=$!; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; "
      "ls *.part > /dev/null 2>&1 && break; done; ls *.part; kill -TERM $job; wait $job; code=$?; "
      "kill $feeder; exit $code");
  EXPECT_EQ(ended.code, 128 + SIGTERM) << ended.err;
  EXPECT_NE(ended.out.find("new.json"), std::string::npos) << ended.out << ended.err;  // it had begun
  Words left;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (const std::string name = entry.path().filename(); name[0] != '.') left.push_back(name);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (Words{"out.json", "pipe"}));
}

/// What a killed run leaves is removed by the next one into that file; what belongs to someone is not.
TEST_F(OutputFiles, AbandonedFilesAreRemoved) {
  const std::string out = path("out.json"), gone = out + ".999999999.0.part", here = out + ".1.0.part",
                    other = path("out.json2.999999999.0.part");
  for (const auto& name : {gone, here, other}) std::ofstream(name) << "x";
  ASSERT_EQ(run({"eval", "double_pendulum", "gravity_forces", "--out", out}, R"({"q": [1, 1]})").code, 0);
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(here));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(out));
}

}  // namespace
}  // namespace articula::testing

#endif
