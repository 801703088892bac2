// Products that do not fit must not compile, and must say why in one line.
#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

/// What the compiler says about `code`, and whether it accepts it.
std::pair<bool, std::string> compile(const std::string& code) {
  const auto file =
      std::filesystem::temp_directory_path() / ("articula_snippet_" + std::to_string(getpid()) + ".cpp");
  std::ofstream(file) << "#include \"articula/operators/expression.hpp\"\nusing namespace "
                         "articula::operators;\nauto f() { return "
                      << code << "; }\n";
  const std::string command =
      "c++ -std=c++20 -fsyntax-only -I'" ARTICULA_SOURCE_DIR "' '" + file.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string said;
  std::array<char, 4096> chunk;
  while (pipe && std::fgets(chunk.data(), chunk.size(), pipe)) said += chunk.data();
  const bool accepted = pipe && pclose(pipe) == 0;
  std::filesystem::remove(file);
  return {accepted, said};
}

TEST(CompileErrors, GoodProductsCompile) {
  if (std::system("c++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no c++ here";
  for (const char* good :
       {"H * phi * M * star(phi) * star(H)", "star(Id - H * psi * K) * inv(D)", "-2.0 * star(E) * a_g",
        "star(B(\"a\")) * star(phi)", "H * phi * (M * star(phi) * a_bias + b_bias)"}) {
    const auto [accepted, said] = compile(good);
    EXPECT_TRUE(accepted) << good << '\n' << said;
  }
}

TEST(CompileErrors, BadOnesSayWhyInOneLine) {
  if (std::system("c++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no c++ here";
  struct Bad {
    const char *code, *message;
  };
  for (const Bad& bad :
       {Bad{"phi * H",
            "operators do not fit: the left one takes body vectors, the right one gives joint vectors"},
        Bad{"H * phi * D",
            "operators do not fit: the left one takes body vectors, the right one gives joint vectors"},
        Bad{"D * phi",
            "operators do not fit: the left one takes joint vectors, the right one gives body vectors"},
        Bad{"star(B(\"a\")) * star(E) * phi", "operators do not fit: the left one takes base vectors"},
        Bad{"H + phi", "operators do not fit: a sum needs two operators between the same spaces"},
        Bad{"Id + H", "operators do not fit: a sum with Id needs an operator from a space to itself"},
        Bad{"inv(H)", "inv() needs an operator from a space to itself"},
        Bad{"star(a_bias)", "star() is for operators, not for vectors"},
        Bad{"a_bias * phi", "operators do not fit: a vector can only stand on the right of a product"}}) {
    const auto [accepted, said] = compile(bad.code);
    EXPECT_FALSE(accepted) << bad.code;
    EXPECT_NE(said.find(bad.message), std::string::npos) << bad.code << '\n' << said;
    std::size_t errors = 0;
    for (std::size_t at = 0; (at = said.find("error:", at)) != std::string::npos; ++at) ++errors;
    EXPECT_EQ(errors, 1u) << bad.code << '\n' << said;
  }
}

}  // namespace
