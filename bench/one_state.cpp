// One state at a time: every algorithm on robots, and those of O(n) on chains.
#include "bench/compare.hpp"
#include "bench/log_plot.hpp"

namespace articula::bench {

namespace {

std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Only peers that have something on these rows get a column.
std::vector<std::string> columns_of(const std::vector<Raced>& rows, const Peers& peers) {
  std::vector<std::string> names;
  for (const auto& peer : peers)
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Raced& r) { return r.peers.count(peer->name()) > 0; }))
      names.push_back(peer->name());
  return names;
}

}  // namespace

void robots_section(const Options& options, const Peers& peers, Page& page) {
  page.write("## One state");
  page.write(
      "Nanoseconds per call; in brackets how many times faster Articula is. Multiplications (divisions "
      "included) and "
      "additions are exact counts of the kernel's text (`articula count`); bytes are the heap memory of the "
      "algorithm's "
      "workspace, made once. A peer's time is that of its fastest way. Not every library fills as much: "
      "Articula fills "
      "both triangles of symmetric matrices, and KDL's poses and velocities are those of the last body "
      "alone.");
  std::vector<Ratio> ratios;
  for (const std::string& argument : options.robots) {
    const Robot robot = load(argument);
    const auto rows = race_all(robot, true, options, peers, page, [](const auto&) { return true; });
    page.write(fmt::format("### {}: {} joint velocities, {} bodies", robot.name, robot.model.nv(),
                           robot.model.body_count()));
    Table table{{"algorithm", "ns", "ns per body", "multiplications", "additions", "bytes"}};
    const auto names = columns_of(rows, peers);
    table.head.insert(table.head.end(), names.begin(), names.end());
    for (const Raced& r : rows) {
      auto& row = table.rows.emplace_back();
      row = {words(r.algorithm),
             fmt::format("{:.0f}", r.ns),
             fmt::format("{:.1f}", r.ns / robot.model.body_count()),
             r.operations ? fmt::format("{}", r.operations->first) : "",
             r.operations ? fmt::format("{}", r.operations->second) : "",
             r.bytes > 0 ? fmt::format("{}", r.bytes) : ""};
      for (const auto& name : names) {
        const auto at = r.peers.find(name);
        row.push_back(at == r.peers.end() ? ""
                                          : fmt::format("{:.0f} ({:.1f})", at->second, at->second / r.ns));
        if (at != r.peers.end()) ratios.push_back({robot.name, words(r.algorithm), name, at->second / r.ns});
      }
      page.numbers["one_state"].push_back(to_json(robot, r));
    }
    page.write(table);
  }
  if (!ratios.empty())
    page.draw({"performance_ratios.svg", ratio_plot("times faster", ratios), "times faster than each peer"});
}

void chains_section(const Options& options, const Peers& peers, Page& page) {
  page.write("## Long chains");
  page.write(
      "Random serial chains of n revolute joints: nanoseconds per link. Peers take part up to 300 links, in "
      "inverse and "
      "forward dynamics.");
  const std::vector<std::string> shown{"inverse_dynamics", "forward_dynamics"};
  Table table{{"algorithm"}};
  std::map<std::string, std::map<int, std::string>> cells;
  std::vector<std::string> order;
  std::vector<Curve> curves;
  const auto put = [&](const std::string& row, int n, double ns, bool drawn) {
    if (cells.find(row) == cells.end()) order.push_back(row);
    cells[row][n] = fmt::format("{:.1f}", ns / n);
    if (!drawn) return;
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.name == row; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), {row, {}});
    curve->points.emplace_back(n, ns);
  };
  std::map<int, std::size_t> bytes;
  for (const int n : options.chains) {
    table.head.push_back(fmt::format("n = {}", n));
    const Robot robot = load(fmt::format("chain:{}", n));
    const Peers none;
    Options more = options;  // for calls of many milliseconds
    if (n >= 10000 && !options.quick) more.effort.total *= 8;
    const auto rows = race_all(
        robot, false, more, n <= 300 ? peers : none, page,
        [&](const std::string& name) { return std::find(shown.begin(), shown.end(), name) != shown.end(); });
    for (const Raced& r : rows) {
      const bool drawn = std::find(shown.begin(), shown.end(), r.algorithm) != shown.end();
      put(words(r.algorithm), n, r.ns, drawn);
      for (const auto& [peer, ns] : r.peers) put(words(r.algorithm) + ", " + peer, n, ns, true);
      if (r.algorithm == "forward_dynamics") bytes[n] = r.bytes;
      page.numbers["chains"].push_back(to_json(robot, r));
    }
  }
  for (const auto& name : order) {
    auto& row = table.rows.emplace_back();
    row.push_back(name);
    for (const int n : options.chains) row.push_back(cells[name][n]);
  }
  auto& last = table.rows.emplace_back();
  last.push_back("bytes per link of forward dynamics' workspace");
  for (const int n : options.chains)
    last.push_back(fmt::format("{}", bytes[n] / static_cast<std::size_t>(n)));
  page.write(table);
  page.draw({"performance_chains.svg", log_plot("links of a revolute chain", "nanoseconds per call", curves),
             "time against the length of a chain"});
}

}  // namespace articula::bench
