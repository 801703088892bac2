// What a run of articula_bench makes: a page of Markdown, its numbers as JSON, pictures, and what was wrong.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/contest.hpp"
#include "bench/measure.hpp"

namespace articula::bench {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows{};
  std::string markdown() const {
    std::string s;
    const auto line = [&](const std::vector<std::string>& cells) {
      for (const auto& cell : cells) s += "| " + cell + " ";
      s += "|\n";
    };
    line(head);
    line(std::vector<std::string>(head.size(), "---"));
    for (const auto& row : rows) line(row);
    return s + "\n";
  }
};

struct Picture {
  std::string file, svg, words;
};

struct Page {
  std::string text;
  nlohmann::json numbers = nlohmann::json::object();  // by section
  std::vector<Picture> pictures{};
  std::vector<std::string> differences{};  // results that do not agree
  std::vector<std::string> behind{};       // where a peer is faster
  std::vector<std::string> apart{};        // results that agree less well than usual, and were raced
  std::vector<std::string> left_out{};     // what was not measured, and why

  /// Once, however many sections say it.
  static void note(std::vector<std::string>& list, const std::string& line) {
    if (std::find(list.begin(), list.end(), line) == list.end()) list.push_back(line);
  }
  void write(const std::string& words) { text += words + "\n\n"; }
  void write(const Table& table) { text += table.markdown(); }
  void draw(Picture picture) {
    write(fmt::format("![{}]({})", picture.words, picture.file));
    pictures.push_back(std::move(picture));
  }
};

struct Options {
  std::vector<std::string> robots;
  std::vector<int> chains;
  Effort effort{};
  bool quick = false;
};

// The sections, each with a file of its own.
void robots_section(const Options& options, const Peers& peers, Page& page);
void chains_section(const Options& options, const Peers& peers, Page& page);
void batch_section(const Options& options, const Peers& peers, Page& page);
void simulation_section(const Options& options, const Peers& peers, Page& page);
void closed_chains_section(const Options& options, const Peers& peers, Page& page);
void linearization_section(const Options& options, const Peers& peers, Page& page);
void operational_space_section(const Options& options, const Peers& peers, Page& page);
void operators_section(const Options& options, const Peers& peers, Page& page);

/// One core for this thread; the others, for threads that it is about to start.
void stay_on_one_core();
void use_other_cores();

inline std::string count(double x) { return fmt::format("{:.0f}", x); }

}  // namespace articula::bench
