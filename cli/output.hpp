// Where results go: stdout, or a file that appears only when it is complete. And how JSON is laid out.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "articula/model/model.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

/// Keys stay in the order in which they were entered.
using Json = nlohmann::ordered_json;

/// The destination of --out. A file is written under a temporary name beside it and renamed by finish(); if
/// that is not reached, or on SIGINT, SIGTERM or SIGHUP, the temporary file is removed and an older file
/// stays as it was.
class Output {
 public:
  /// "-": stdout. Throws InputError at once if the file cannot be made.
  /// `option` names the file in messages.
  explicit Output(const std::string& path, const std::string& option = "--out");
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  /// Throws ComputationError if something could not be written.
  void finish();

 private:
  std::string path_, option_, temporary_;
  int fd_ = 1;
};

/// Throws as Output would, and leaves nothing: for files that are written at the end of a long run.
void check_writable(const std::string& path, const std::string& option);

void add_out_option(CLI::App& app, std::string& out);

/// Appends JSON as text: lists of numbers in one line, matrices one row per line, every double to the last
/// bit.
void append(const Json& value, int indent, std::string& text);
/// The end of a document, `"results": [of(0), of(1), ..]}`. What the library finds wrong with a state names it.
void append_results(std::size_t states, const std::function<Json(std::size_t)>& of, std::string& text);

/// "1 link", "2 links".
std::string count_of(std::size_t n, const char* what);

/// The "model" of every JSON result.
Json describe_model(const Model& model);

}  // namespace articula::cli
