// What the program says of itself: first commands, completion, manual, doctor.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

class OfItself : public CommandLine {
 protected:
  /// What bash offers after these words.
  std::string offered(const std::string& words) {
    return shell("source ./bash; COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _articula; echo \"${COMPREPLY[@]}\"")
        .out;
  }
  /// Runs a line with bash, which /bin/sh may not be.
  Ran shell(const std::string& line) const {
    write("line", line);
    return CommandLine::shell("bash ./line");
  }
};

TEST_F(OfItself, FirstCommandsWork) {
  const Ran ran = run({});
  EXPECT_EQ(ran.code, 2);  // nothing was asked
  EXPECT_EQ(ran.err, "articula: a subcommand is required (see articula --help)\n");
  for (const char* word : {"info", "view", "eval", "simulate", "check"})
    EXPECT_NE(ran.out.find(std::string("articula ") + word), std::string::npos) << word;
  EXPECT_EQ(shell("echo '{\"q\": [0.3, -0.5]}' | " + quoted(ARTICULA_PROGRAM) +
                  " eval double_pendulum mass_matrix gravity_forces")
                .code,
            0);
}

TEST_F(OfItself, BashCompletes) {
  write("bash", run({"completion", "bash"}).out);
  EXPECT_EQ(offered("articula sim"), "simulate\n");
  EXPECT_EQ(offered("articula eval --format ''"), "json ndjson npz h5\n");
  EXPECT_EQ(offered("articula eval arm7 inverse_d"), "inverse_dynamics_screws inverse_dynamics\n");
  EXPECT_EQ(offered("articula info quad"), "quadruped\n");
  EXPECT_EQ(offered("articula simulate x --dura"), "--duration\n");
  write("some.urdf", "");
  EXPECT_EQ(offered("articula info some"), "some.urdf\n");
}

TEST_F(OfItself, OtherShellsAndTroffTakeIt) {
  for (const std::string what : {"zsh", "fish", "man"}) {
    const Ran ran = run({"completion", what});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_GT(ran.out.size(), 4000u);
    EXPECT_NE(ran.out.find("simulate"), std::string::npos);
    write(what, ran.out);
  }
  for (const std::string line : {"zsh -n ./zsh", "fish -n ./fish", "groff -man -ww -Tutf8 ./man"}) {
    const std::string program = line.substr(0, line.find(' '));
    if (shell("command -v " + program).code != 0) continue;
    const Ran ran = shell(line);
    EXPECT_EQ(ran.code, 0) << line << ran.err;
    EXPECT_EQ(ran.err, "") << line;
  }
  expect_failure(2, {"completion", "csh"}, "", {"csh"});
}

TEST_F(OfItself, DoctorKnowsTheMachine) {
  const Json found = json({"doctor", "--json"});
  for (const char* key : {"version", "instruction set", "models", "GPU", "GPU compiler", "GPU cache",
                          "peers of bench", "missing"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_NE(found["models"].get<std::string>().find("arm7"), std::string::npos);
  EXPECT_NE(run({"doctor"}).out.find("instruction set"), std::string::npos);
}

}  // namespace
}  // namespace articula::testing

#endif
