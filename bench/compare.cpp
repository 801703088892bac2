#include "bench/compare.hpp"

#include <cmath>

#include "articula/diagonal/operation_counts.hpp"

namespace articula::bench {

namespace {

/// Of results, relative to their largest number: well-conditioned ones agree to the first; beyond the second it is not
/// the same quantity.
constexpr double alike = 1e-8, different = 1e-4;
constexpr int largest_count = 200;  // counting numbers are slow

/// Of two results, relative to the largest number; infinite if they cannot be compared.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return HUGE_VAL;
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return HUGE_VAL;
    apart = std::max(apart, std::abs(x[i] - y[i]));
    size = std::max(size, std::abs(x[i]));
  }
  return apart / std::max(size, 1e-300);
}

/// Names joined by + are done one after the other.
std::optional<std::pair<long, long>> operations(const Robot& robot, const std::string& counted) {
  if (counted.empty()) return {};
  const int n = robot.model.nv();
  if (n > largest_count && (!robot.is_chain() || n < 4)) return {};
  std::pair<long, long> sum{0, 0};
  for (std::size_t at = 0; at <= counted.size();) {
    const std::size_t end = std::min(counted.find('+', at), counted.size());
    const std::string name = counted.substr(at, end - at);
    if (n > largest_count) {
      const auto f = count_formula(name, ChainKind::revolute, ChainAxes::general, Counting::executed);
      sum.first += std::lround(f.multiplications(n) + f.divisions(n));
      sum.second += std::lround(f.additions(n));
    } else {
      const Tally t = count_operations(robot.model, name);
      sum.first += t.multiplications + t.divisions;
      sum.second += t.additions;
    }
    at = end + 1;
  }
  return sum;
}

}  // namespace

Contenders contenders(const Robot& robot, bool matrices, const Peers& peers, Page& page) {
  Contenders all;
  std::vector<std::string> left_out;
  all.ours = our_entries(robot, matrices, left_out);
  if (const auto model = peers.empty() ? std::nullopt : peer_model(robot)) {
    for (const auto& peer : peers) try {
        all.theirs.emplace_back(peer->name(), peer->entries(*model));
      } catch (const std::exception& error) {
        left_out.push_back(fmt::format("{}, {}: {}", robot.name, peer->name(), error.what()));
      }
  } else if (!peers.empty()) {
    left_out.push_back(fmt::format("{}, all peers: it has {}", robot.name,
                                   robot.model.has_mimics() ? "mimic joints, which they are not given"
                                                            : "joints that not all of them have"));
  }
  for (const std::string& line : left_out) Page::note(page.left_out, line);
  return all;
}

std::vector<Way> agreeing(const Robot& robot, const Entry& ours, const Contenders& all, Page& page) {
  std::vector<Way> ways;
  for (const auto& [name, entries] : all.theirs)
    for (const Entry& t : entries) {
      if (t.algorithm != ours.algorithm) continue;
      double apart = 0;
      for (int i = 0; t.result && i < state_count; ++i) {
        const std::vector<double> result = t.result(i);
        if (!result.empty()) apart = std::max(apart, difference(ours.result(i), result));
      }
      const std::string words =
          fmt::format("{}: {} of {} differs by {:.1e}", robot.name, ours.algorithm, name, apart);
      if (apart > different) {
        Page::note(page.differences, words);
        continue;
      }
      if (apart > alike) Page::note(page.apart, words);
      ways.push_back({name, &t});
    }
  return ways;
}

std::vector<Raced> race_all(const Robot& robot, bool matrices, const Options& options, const Peers& peers,
                            Page& page, const std::function<bool(const std::string&)>& peers_wanted) {
  std::vector<Raced> rows;
  const Contenders all = contenders(robot, matrices, peers, page);
  for (const Entry& e : all.ours) try {
      Raced raced{e.algorithm, 0, operations(robot, e.counted), e.bytes};
      std::vector<Way> ways;
      if (peers_wanted(e.algorithm)) ways = agreeing(robot, e, all, page);
      std::vector<std::function<void(long)>> runs{e.run};
      for (const Way& way : ways) runs.push_back(way.entry->run);
      const std::vector<double> ns = race(runs, options.effort);
      raced.ns = ns[0];
      for (std::size_t i = 1; i < ns.size(); ++i) {
        const auto [at, added] = raced.peers.emplace(ways[i - 1].peer, ns[i]);
        if (!added) at->second = std::min(at->second, ns[i]);
      }
      for (const auto& [name, peer_ns] : raced.peers)
        if (peer_ns < raced.ns)
          page.behind.push_back(fmt::format("{}, {}: {} {:.0f} ns, Articula {:.0f} ns", robot.name,
                                            e.algorithm, name, peer_ns, raced.ns));
      rows.push_back(std::move(raced));
    } catch (const std::exception& error) {
      Page::note(page.left_out, fmt::format("{}, {}: {}", robot.name, e.algorithm, error.what()));
    }
  return rows;
}

nlohmann::json to_json(const Robot& robot, const Raced& r) {
  nlohmann::json row{{"model", robot.name},
                     {"nv", robot.model.nv()},
                     {"bodies", robot.model.body_count()},
                     {"algorithm", r.algorithm},
                     {"ns", r.ns},
                     {"ns_per_body", r.ns / robot.model.body_count()},
                     {"workspace_bytes", r.bytes},
                     {"peers", r.peers}};
  row["multiplications"] = r.operations ? nlohmann::json(r.operations->first) : nlohmann::json();
  row["additions"] = r.operations ? nlohmann::json(r.operations->second) : nlohmann::json();
  return row;
}

}  // namespace articula::bench
