// The articula program. Exit codes: 0 done, 1 the computation could not be done, 2 the command line or an
// input file is wrong; every error is one line on stderr.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "articula/error.hpp"
#include "cli/messages.hpp"
#include "cli/output.hpp"
#include "cli/stop.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {
namespace {

/// A closed stdin, stdout or stderr must not become the next file that is opened. Reads find the end, writes
/// fail.
void occupy_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    while (fcntl(fd, F_GETFD) < 0)
      if (open("/dev/null", O_RDONLY) < 0) break;
}

/// Functions that may not throw, those of std::filesystem among them, end here where memory is short.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view line = "articula: ended by an error inside; is there not enough memory?\n";
  remove_unfinished();
  (void)!write(STDERR_FILENO, line.data(), line.size());
  _exit(impossible);
}

/// What the program prints when nothing is asked of it.
constexpr const char* first_commands =
    "articula " ARTICULA_VERSION
    ": dynamics of robots and other jointed bodies. First commands, on a shipped model:\n\n"
    "  articula info arm7                         what a robot consists of; or a file: articula info "
    "robot.urdf\n"
    "  articula view arm7                         the robot in the browser\n"
    "  echo '{\"q\": [0.3, -0.5]}' | articula eval double_pendulum mass_matrix gravity_forces\n"
    "                                             numbers at a state\n"
    "  articula simulate double_pendulum --duration 5 --report motion.html\n"
    "                                             motion, as a page with plots\n"
    "  articula check robot.urdf                  what is wrong in a file, with its lines\n\n"
    "articula --help lists all commands, articula COMMAND --help explains one, articula doctor looks at this "
    "machine.\n";

constexpr struct {
  std::string_view name;
  Subcommand (*add)(CLI::App& program);
} subcommands[] = {{"info", add_info},
                   {"check", add_check},
                   {"eval", add_eval},
                   {"operators", add_operators},
                   {"count", add_count},
                   {"bench", add_bench},
                   {"simulate", add_simulate},
                   {"report", add_report},
                   {"view", add_view},
                   {"convert", add_convert},
                   {"covariance", add_covariance},
                   {"rollout", add_rollout},
                   {"merge", add_merge},
                   {"status", add_status},
                   {"doctor", add_doctor},
                   {"completion", add_completion}};

/// The one that is named, alone, and none for the version: to enter the options of all takes longer than most
/// commands. Else all of them, as completion needs them.
std::vector<Subcommand> add_subcommands(CLI::App& program, std::string_view named) {
  const bool some = named == "--version" ||
                    (named != "completion" && std::any_of(std::begin(subcommands), std::end(subcommands),
                                                          [&](auto& s) { return s.name == named; }));
  std::vector<Subcommand> added;
  for (const auto& s : subcommands)
    if (!some || s.name == named) added.push_back(s.add(program));
  return added;
}

ExitCode complain(ExitCode code, std::string_view message) {
  say_line(message);
  return code;
}

std::string unknown_subcommand(std::string_view given, const std::vector<Subcommand>& all) {
  std::string known;
  for (const auto& s : all) known += (known.empty() ? "" : ", ") + s.app->get_name();
  return fmt::format("unknown subcommand '{}'; known: {} (see articula --help)", given, known);
}

/// CLI11 takes -.5 for an option, and so it would expressions such as -phi and -(phi - I).
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out(argv + 1, argv + argc);
  const bool expressions = !out.empty() && out[0] == "operators";
  for (auto& arg : out) {
    if (arg.size() < 3 || arg[0] != '-') continue;
    const auto next = static_cast<unsigned char>(arg[1]);
    if (next == '.' && std::isdigit(static_cast<unsigned char>(arg[2]))) arg.insert(1, "0");
    if (expressions && (std::isalpha(next) || next == '(')) arg.insert(0, " ");
  }
  std::reverse(out.begin(), out.end());  // as CLI11 wants a list
  return out;
}

ExitCode run(int argc, char** argv) {
  CLI::App program("Articula: dynamics of jointed bodies by the spatial operator algebra.", "articula");
  program.set_version_flag("--version", "articula " ARTICULA_VERSION, "Print the version and exit");
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.require_subcommand(1);
  program.footer(
      "MODEL is a URDF, MJCF or SDF file, chain:N[:SEED] (a built-in random chain) or the name of a shipped "
      "model.\n"
      "Exit codes: 0 done, 1 the computation could not be done, 2 the command line or an input file is "
      "wrong.\n\n"
      "Example:\n  articula info quadruped --base free\n\nSee articula SUBCOMMAND --help.");
  const std::vector<Subcommand> all = add_subcommands(program, argc > 1 ? argv[1] : "");
  if (argc == 1) {
    std::fputs(first_commands, stdout);
    std::fflush(stdout);
    return complain(wrong_input, "a subcommand is required (see articula --help)");
  }

  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(all.begin(), all.end(), [&](const auto& s) { return s.app->get_name() == argv[1]; }))
    return complain(wrong_input, unknown_subcommand(argv[1], all));
  const Subcommand* chosen = nullptr;
  const auto find_chosen = [&] {
    for (const auto& s : all)
      if (s.app->parsed()) chosen = &s;
  };
  try {
    program.parse(arguments(argc, argv));
    find_chosen();
  } catch (const CLI::Success& asked) {  // --help, --version
    program.exit(asked);
    return std::fflush(stdout) == 0 ? done : complain(impossible, "standard output cannot be written");
  } catch (const CLI::ParseError& error) {
    find_chosen();
    const std::string name = chosen ? "articula " + chosen->app->get_name() : "articula";
    return complain(wrong_input, fmt::format("{} (see {} --help)", error.what(), name));
  }
  return chosen->run();
}

ExitCode run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const InputError& error) {
    return complain(wrong_input, error.what());
  } catch (const ModelError& error) {
    return complain(wrong_input, error.what());
  } catch (const ArgumentError& error) {
    return complain(wrong_input, error.what());
  } catch (const std::bad_alloc&) {
    return complain(impossible, "not enough memory");
  } catch (const std::exception& error) {  // SingularError, ComputationError
    return complain(impossible, error.what());
  }
}

}  // namespace
}  // namespace articula::cli

int main(int argc, char** argv) {
  std::set_terminate(articula::cli::end_without_memory);
  articula::cli::occupy_standard_streams();
  articula::cli::command_words().assign(argv, argv + argc);
  return articula::cli::run_and_report(argc, argv);
}
