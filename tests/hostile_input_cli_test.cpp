// Input made to hurt: nested without end, names that write on the terminal, values of megabytes, other
// encodings.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <string>

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

class HostileInput : public CommandLine {};

/// Every command that reads JSON, with the option that the file's name goes behind.
const std::vector<Words>& readers_of_json() {
  static const std::vector<Words> all{
      {"eval", "FILE", "grasp"},
      {"check", "FILE"},
      {"simulate", "FILE", "--duration", "0.01"},
      {"eval", "double_pendulum", "mass_matrix", "--states", "FILE"},
      {"operators", "double_pendulum", "phi*x", "--states", "FILE"},
      {"simulate", "double_pendulum", "--duration", "0.01", "--initial", "FILE"},
      {"simulate", "double_pendulum", "--duration", "0.01", "--forces", "FILE"},
      {"simulate", "double_pendulum", "--duration", "0.01", "--controllers", "FILE"},
      {"simulate", "double_pendulum", "--duration", "0.01", "--monte-carlo", "2", "--distributions", "FILE"}};
  return all;
}
Words with_file(Words words, const std::string& file) {
  std::replace(words.begin(), words.end(), std::string("FILE"), file);
  return words;
}

/// No byte that a terminal would obey, but ends of lines.
void expect_harmless(const std::string& text) {
  for (const char c : text)
    EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f))
        << int(c) << " in " << text;
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << "a control sequence in one character: " << text;
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << "writing from right to left: " << text;
}

std::string robot_with(const std::string& name) {
  return "<robot name=\"r" + name + "\"><link name=\"a" + name + "\"/><link name=\"b" + name +
         "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
         "iyz=\"0\"/>"
         "</inertial></link><joint name=\"j" +
         name + "\" type=\"continuous\"><parent link=\"a" + name + "\"/><child link=\"b" + name +
         "\"/><axis xyz=\"0 0 1\"/></joint></robot>";
}

TEST_F(HostileInput, DeepJsonIsRefusedEverywhere) {
  std::string deep = "{\"arms\": ", lists;
  for (int i = 0; i < 106'000; ++i) lists += '[';
  deep += lists + std::string(lists.size(), ']') + "}";
  std::string objects;
  for (int i = 0; i < 106'000; ++i) objects += "{\"a\":";
  objects += "1" + std::string(106'000, '}');
  const std::string files[] = {write("lists.json", deep), write("objects.json", objects),
                               write("open.json", lists), write("half.json", deep.substr(0, 100'000))};
  for (const Words& words : readers_of_json())
    for (const std::string& file : files) expect_failure(2, with_file(words, file), "", {"100 deep"});
}

TEST_F(HostileInput, NamesDoNotReachTheTerminalAsTheyAre) {
  const std::string evil =
      "\x1b]0;title\x07\x1b[2J\x7f\xc2\x9b"
      "31m\xe2\x80\xae";
  const std::string model = write("evil.urdf", robot_with(evil));
  for (const Words& words :
       {Words{"info", model}, Words{"info", model, "--json"}, Words{"check", model},
        Words{"eval", model, "mass_matrix"}, Words{"eval", model, "pose", "--frame", "x"},
        Words{"eval", model, evil}, Words{"info", evil}, Words{evil}, Words{"info", "--" + evil},
        Words{"operators", model, "nothing" + evil}, Words{"count", model},
        Words{"eval", "double_pendulum", "pose", "--frame", evil}}) {
    const Ran ran = run(words, R"({"q": [0], "v": [0], "x\u001b[2J": 1})");
    expect_harmless(ran.out);
    expect_harmless(ran.err);
  }
  const std::string keys = write("keys.json", R"({"\u001b[2J\u009b\u202e\n": 1})");
  for (const Words& words : readers_of_json()) {
    const Ran ran = run(with_file(words, keys));
    expect_harmless(ran.err);
    if (words[words.size() - 2] != "--controllers")  // which misses its "type" first
      EXPECT_NE(ran.err.find("\\u001b"), std::string::npos) << "one sees what was there: " << ran.err;
  }
}

TEST_F(HostileInput, ANewlineInANameDoesNotMakeTwoLines) {
  const std::string model = write("lines.urdf", robot_with("&#10;x: error: invented"));
  const Ran checked = run({"check", model}), told = run({"info", model});
  EXPECT_EQ(checked.out.find("\nx: error"), std::string::npos) << checked.out;
  EXPECT_EQ(told.out.find("\nx: error"), std::string::npos) << told.out;
  expect_failure(2, {"eval", model, "pose", "--frame", "y\nz"}, "{}", {"y\\nz"});
}

TEST_F(HostileInput, HugeKeysAndValuesAreShortened) {
  const std::string huge(400'000, 'k');
  std::string list = "[0";
  for (int i = 0; i < 60'000; ++i) list += ", 12345";
  list += "]";
  std::string many = "{\"q\": [0, 0], \"v\": [0, 0]";
  for (int i = 0; i < 20'000; ++i) many += ", \"key" + std::to_string(i) + "\": 1";
  many += "}";
  std::vector<std::string> files{
      write("key.json", "{\"" + huge + "\": 1}"),
      write("key_twice.json", "{\"" + huge + "\": 1, \"" + huge + "\": 1}"),
      write("text.json", "{\"q\": \"" + huge + "\", \"gravity\": \"" + huge + "\"}"),
      write("list.json", "{\"q\": " + list + ", \"name\": " + list + ", \"gravity\": [" + list + ", 1, 2]}"),
      write("many.json", many),
      write("broken.json", "{\"q\": \"" + huge),
      write("word.json", huge)};
  for (const Words& words : readers_of_json())
    for (const std::string& file : files) {
      const Ran ran = run(with_file(words, file));
      EXPECT_LT(ran.err.size(), 5000u) << words[0] << " " << file << ": " << ran.err.substr(0, 300);
    }
  expect_failure(2, {"eval", "double_pendulum", huge.substr(0, 100'000)}, "{}", {"bytes)"});
  const Ran named = run({"info", write("huge.urdf", robot_with(huge))});
  EXPECT_EQ(named.code, 0);
  const Ran wrong = run({"eval", path("huge.urdf"), "pose", "--frame", "x"}, "{\"q\": [0]}");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_LT(wrong.err.size(), 5000u);
}

TEST_F(HostileInput, NamesInOtherEncodings) {
  const std::string model = write("latin.urdf", robot_with("\xe9l\xe8ve"));  // ISO 8859-1
  const Ran told = run({"info", model, "--json"});
  EXPECT_EQ(told.code, 0);
  EXPECT_NE(told.err.find("it is read as Latin-1"), std::string::npos) << told.err;
  EXPECT_EQ(Json::parse(told.out)["model"]["joints"][0]["name"], "j\xc3\xa9l\xc3\xa8ve");
  const Ran value = run({"eval", model, "mass_matrix"}, R"({"q": [0]})");
  EXPECT_EQ(Json::parse(value.out)["results"][0]["mass_matrix"][0][0], 1);
  EXPECT_NE(run({"info", model}).out.find("j\xc3\xa9l\xc3\xa8ve"), std::string::npos);
  EXPECT_EQ(run({"check", model}).code, 1);
  // The same in UTF-8 stays as it is.
  const std::string unicode = write("unicode.urdf", robot_with("\xc3\xa9\xe6\x9c\xba\xf0\x9f\xa4\x96"));
  EXPECT_EQ(json({"info", unicode, "--json"})["model"]["joints"][0]["name"],
            "j\xc3\xa9\xe6\x9c\xba\xf0\x9f\xa4\x96");
  EXPECT_NE(run({"info", unicode}).out.find("j\xc3\xa9\xe6\x9c\xba\xf0\x9f\xa4\x96"), std::string::npos);
}

}  // namespace
}  // namespace articula::testing

#endif
