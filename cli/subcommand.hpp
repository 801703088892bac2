// What the subcommands share: how they are entered, and how they say what went wrong.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace articula::cli {

enum ExitCode : int { done = 0, impossible = 1, wrong_input = 2 };

/// The command line or an input file is wrong: exit 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The result cannot be computed or written: exit 1.
struct ComputationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The words that the program was started with, for commands that are to be repeated.
std::vector<std::string>& command_words();

/// One subcommand: its options, which parsing fills, and what it then does. Each is made in a file of its
/// own.
struct Subcommand {
  CLI::App* app;
  std::function<ExitCode()> run;
};
Subcommand add_info(CLI::App& program);
Subcommand add_check(CLI::App& program);
Subcommand add_eval(CLI::App& program);
Subcommand add_operators(CLI::App& program);
Subcommand add_count(CLI::App& program);
Subcommand add_bench(CLI::App& program);
Subcommand add_simulate(CLI::App& program);
Subcommand add_report(CLI::App& program);
Subcommand add_view(CLI::App& program);
Subcommand add_convert(CLI::App& program);
Subcommand add_covariance(CLI::App& program);
Subcommand add_rollout(CLI::App& program);
Subcommand add_merge(CLI::App& program);
Subcommand add_status(CLI::App& program);
Subcommand add_doctor(CLI::App& program);
Subcommand add_completion(CLI::App& program);

}  // namespace articula::cli
