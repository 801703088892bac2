// Ours and the peers' entries of one model, compared and raced.
#pragma once

#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

struct Raced {
  std::string algorithm;
  double ns = 0;
  std::optional<std::pair<long, long>> operations{};  // multiplications (with divisions), additions
  std::size_t bytes = 0;
  std::map<std::string, double> peers{};  // ns by name, the fastest of its ways
};

/// Every algorithm of ours, with whoever else has it; results are compared first, those that differ are named
/// on the page and not timed. Only those that `wanted` returns true for.
std::vector<Raced> race_all(const Robot& robot, bool matrices, const Options& options, const Peers& peers,
                            Page& page, const std::function<bool(const std::string&)>& peers_wanted);

nlohmann::json to_json(const Robot& robot, const Raced& raced);

}  // namespace articula::bench
