// The options of the program and its subcommands: what it uses of CLI11, under CLI11's names, without its text, of
// which every file that includes it would compile two thousand functions anew.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace articula::cli::options {

/// What an option accepts: these words, or whole numbers in this range.
struct Check {
  std::vector<std::string> words;
  int least = 0, most = 0;
};
inline Check IsMember(std::initializer_list<const char*> words) { return {{words.begin(), words.end()}}; }
inline Check Range(int least, int most) { return {{}, least, most}; }

/// What help, completion and the manual say of an option.
struct OptionDescription {
  std::vector<std::string> names;  // with their hyphens; one without: a place on the command line
  std::string description, value;  // the value's name; empty: a flag
  std::vector<std::string> words;  // values that can be given, or some of them
};
struct Description {
  std::string name, description, footer;
  std::vector<OptionDescription> options;
  std::vector<Description> subcommands;
};

class Option {
 public:
  explicit Option(::CLI::Option* real) : real_(real) {}
  Option* required(bool yes = true);
  Option* type_name(const std::string& name);
  Option* capture_default_str();
  Option* check(const Check& accepted);
  Option* expected(int count);
  Option* expected(int least, int most);
  Option* allow_extra_args(bool yes);
  /// Values that completion offers; others may be given.
  Option* suggest(std::function<std::vector<std::string>()> words);
  OptionDescription describe() const;

 private:
  ::CLI::Option* real_;
  std::function<std::vector<std::string>()> words_;
};

/// --help or --version was asked for: the text to print.
struct Success {
  std::string text;
};
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class App {
 public:
  App(const std::string& description, const std::string& name);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  App* add_subcommand(const std::string& name, const std::string& description);
  /// T: std::string, int, std::uint64_t, double, std::optional<double>, std::vector of double or std::string; others
  /// are to be entered at the end of options.cpp.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  Option* get_option(const std::string& name);
  void set_version_flag(const std::string& name, const std::string& version, const std::string& description);
  void set_help_flag(const std::string& name, const std::string& description);
  void require_subcommand(int count);
  void footer(const std::string& text);

  /// The arguments, last one first. Throws Success and ParseError.
  void parse(std::vector<std::string> arguments);
  /// Prints.
  void exit(const Success& asked) const;
  bool parsed() const;
  std::string get_name() const;
  Description describe() const;

 private:
  explicit App(::CLI::App* real);
  Option* kept(::CLI::Option* real);
  std::unique_ptr<::CLI::App> own_;  // of the program
  ::CLI::App* real_;
  std::deque<std::unique_ptr<App>> subcommands_;
  std::deque<Option> options_;
};

}  // namespace articula::cli::options

namespace articula::cli {
namespace CLI = options;
}
