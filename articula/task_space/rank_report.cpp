// Lost directions in words.
#include <fmt/format.h>

#include <cmath>

#include "articula/task_space/task_space.hpp"

namespace articula {

namespace {
std::string triple(Vec3<double> x) {
  const double size = std::sqrt(dot(x, x));
  // The sign of an eigenvector is arbitrary: the largest component is shown positive.
  const double big = std::abs(x.x) >= std::abs(x.y) && std::abs(x.x) >= std::abs(x.z) ? x.x
                     : std::abs(x.y) >= std::abs(x.z)                                 ? x.y
                                                                                      : x.z;
  x = x * ((big < 0 ? -1 : 1) / size);
  const auto number = [](double a) { return std::abs(a) < 5e-4 ? 0.0 : a; };
  return fmt::format("({:.3f}, {:.3f}, {:.3f})", number(x.x), number(x.y), number(x.z));
}
}  // namespace

RankReport TaskSpace::rank_report() {
  require_update("rank_report");
  RankSolve& solve = solved();
  RankReport report{solve.rank(), rows_, {}, {}, {}};
  const auto values = solve.eigenvalues();
  report.inverse_inertias.assign(values.begin(), values.end());
  for (int i = 0; i < rows_; ++i) {
    const double share = solve.lost(i);
    if (!(share > 1e-9)) continue;
    const auto d = solve.eigenvector(i);
    RankReport::Lost lost{values[i], share, {d.begin(), d.end()}, {}};
    for (const Placed& placed : tasks_) {
      Spatial<double> x{{0, 0, 0}, {0, 0, 0}};
      for (std::size_t r = 0; r < placed.task.rows.size(); ++r) {
        const auto& row = placed.task.rows[r];
        x += Spatial<double>{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}} * d[placed.first_row + r];
      }
      const double turn = std::sqrt(dot(x.w, x.w)), move = std::sqrt(dot(x.v, x.v));
      if (turn < 1e-3 && move < 1e-3) continue;
      if (!lost.words.empty()) lost.words += " with ";
      const std::string& name = model_.frames()[placed.task.frame].name;
      if (turn < 1e-3)
        lost.words += fmt::format("moving '{}' along {}", name, triple(x.v));
      else if (move < 1e-3)
        lost.words += fmt::format("turning '{}' about {}", name, triple(x.w));
      else
        lost.words += fmt::format("turning '{}' about {} while moving it along {}, {:.3g} m/rad", name,
                                  triple(x.w), triple(dot(x.w, x.v) < 0 ? -x.v : x.v), move / turn);
      lost.words += placed.task.axes == Task::world_axes
                        ? ", world axes"
                        : fmt::format(", axes of '{}'", model_.frames()[placed.task.axes].name);
    }
    report.lost.push_back(std::move(lost));
  }
  report.words = fmt::format("rank {} of {}", report.rank, report.rows);
  for (const RankReport::Lost& lost : report.lost)
    report.words +=
        fmt::format("; {}: {} (inverse inertia {:.2g})",
                    lost.share > 1 - 1e-9 ? "lost" : fmt::format("{:.0f} % lost", 100 * lost.share),
                    lost.words, lost.inverse_inertia);
  return report;
}

}  // namespace articula
