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

/// Ours and theirs, by peer.
struct Contenders {
  std::vector<Entry> ours;
  std::vector<std::pair<std::string, std::vector<Entry>>> theirs;
};
/// What cannot take part is named on the page.
Contenders contenders(const Robot& robot, bool matrices, const Peers& peers, Page& page);
/// A peer's way to do what one of ours does.
struct Way {
  std::string peer;
  const Entry* entry;
};
/// Those whose results agree with ours. Up to 1e-8 of the largest number, or it is said on the page; beyond 1e-4 they
/// are not timed, and the run fails.
std::vector<Way> agreeing(const Robot& robot, const Entry& ours, const Contenders& all, Page& page);

/// Every algorithm of ours, with whoever else has it, if `peers_wanted`.
std::vector<Raced> race_all(const Robot& robot, bool matrices, const Options& options, const Peers& peers,
                            Page& page, const std::function<bool(const std::string&)>& peers_wanted);

nlohmann::json to_json(const Robot& robot, const Raced& raced);

}  // namespace articula::bench
