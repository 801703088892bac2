// Running the program as users do: its output, its exit code, its one line of error.
#pragma once

#ifdef ARTICULA_PROGRAM

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace articula::testing {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

/// In a child, before the program starts: whoever runs the tests may have told them to ignore some (nohup, a shell's
/// background), which the program would go on to do.
inline void heed_signals() {
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) signal(s, SIG_DFL);
}

/// A shell line's exit code and what it prints.
struct Printed {
  int code;
  std::string out;
};
inline Printed printed(const std::string& line) {
  FILE* pipe = popen(line.c_str(), "r");
  Printed printed{-1, {}};
  std::array<char, 4096> chunk;
  while (pipe && std::fgets(chunk.data(), chunk.size(), pipe)) printed.out += chunk.data();
  if (pipe) printed.code = WEXITSTATUS(pclose(pipe));
  return printed;
}

struct Ran {
  int code;
  std::string out, err;
};

class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::path(::testing::TempDir()) / ("articula_cli_" + std::to_string(getpid()) + "_" + test->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string quoted(const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }
  /// A shell line, with stdin from a text.
  Ran shell(const std::string& line, const std::string& input = "") const {
    const std::string in = write(".in", input);
    const int status = std::system(("cd " + quoted(folder_.string()) + " && { " + line + "; } <" +
                                    quoted(in) + " >" + quoted(path(".out")) + " 2>" + quoted(path(".err")))
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(path(".out")), content(path(".err"))};
  }
  Ran run(const Words& words, const std::string& input = "") const {
    std::string line = quoted(ARTICULA_PROGRAM);
    for (const auto& word : words) line += " " + quoted(word);
    return shell(line, input);
  }
  /// The JSON of a run that must succeed without a word on stderr.
  Json json(const Words& words, const std::string& input = "") const {
    const Ran ran = run(words, input);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return Json::parse(ran.out, nullptr, false);
  }
  Json result(const Words& words, const std::string& input) const {
    const Json all = json(words, input);
    EXPECT_EQ(all["results"].size(), 1u);
    return all["results"][0];
  }
  /// Fails with this exit code, nothing on stdout, and one line on stderr that has all of the words.
  void expect_failure(int code, const Words& words, const std::string& input, const Words& said) const {
    const Ran ran = run(words, input);
    std::string line;
    for (const auto& word : words) line += word + " ";
    EXPECT_EQ(ran.code, code) << line << "< " << input << "\n" << ran.err;
    EXPECT_EQ(ran.out, "") << line;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << line << ran.err;
    EXPECT_EQ(ran.err.rfind("articula: ", 0), 0u) << ran.err;
    for (const auto& word : said)
      EXPECT_NE(ran.err.find(word), std::string::npos)
          << line << "\nexpected '" << word << "' in: " << ran.err;
  }

  fs::path folder_;
};

}  // namespace articula::testing

#endif
