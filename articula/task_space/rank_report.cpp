// Lost directions in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/task_space/task_space.hpp"

namespace articula {

namespace {
std::string direction(const Vec3<double>& x) {
  const double size = std::sqrt(dot(x, x));
  const auto number = [&](double a) { return std::abs(a / size) < 5e-4 ? 0.0 : a / size; };
  return fmt::format("({:.3f}, {:.3f}, {:.3f})", number(x.x), number(x.y), number(x.z));
}
/// "moving 'hand' along (..)"; nothing for a motion that is none.
std::string words_for(const std::string& frame, const Spatial<double>& x) {
  const double turn = std::sqrt(dot(x.w, x.w)), move = std::sqrt(dot(x.v, x.v));
  if (turn < 1e-3 && move < 1e-3) return {};
  if (turn < 1e-3) return fmt::format("moving '{}' along {}", frame, direction(x.v));
  if (move < 1e-3) return fmt::format("turning '{}' about {}", frame, direction(x.w));
  return fmt::format("turning '{}' about {} while moving it along {}, {:.3g} m/rad", frame, direction(x.w),
                     direction(x.v), move / turn);
}

/// Another basis of the same space, with as many zeros as there are other vectors in each: of a space that is
/// lost as a whole, eigenvectors are any mixture. Elimination with full pivoting, then unit length.
void make_readable(std::vector<std::vector<double>>& basis) {
  for (std::size_t r = 0; r < basis.size(); ++r) {
    std::size_t row = r, column = 0;
    for (std::size_t i = r; i < basis.size(); ++i)
      for (std::size_t c = 0; c < basis[i].size(); ++c)
        if (std::abs(basis[i][c]) > std::abs(basis[row][column])) row = i, column = c;
    std::swap(basis[r], basis[row]);
    for (std::size_t i = 0; i < basis.size(); ++i) {
      if (i == r) continue;
      const double share = basis[i][column] / basis[r][column];
      for (std::size_t c = 0; c < basis[i].size(); ++c) basis[i][c] -= share * basis[r][c];
      basis[i][column] = 0;
    }
  }
  for (auto& x : basis) {
    double size = 0;
    for (const double number : x) size += number * number;
    for (double& number : x) number /= std::sqrt(size);
  }
}
}  // namespace

RankReport TaskSpace::rank_report() {
  require_update("rank_report");
  RankSolve& solve = solved();
  RankReport report{solve.rank(), rows_, {}, {}, {}};
  const auto values = solve.eigenvalues();
  report.inverse_inertias.assign(values.begin(), values.end());
  // Ascending eigenvalues: those that are lost as a whole come first.
  std::vector<std::vector<double>> directions;
  bool whole = true;
  for (int i = 0; i < rows_ && solve.lost(i) > 1e-9; ++i) {
    if (whole && solve.lost(i) < 1 - 1e-9) {
      whole = false;
      make_readable(directions);
    }
    const auto d = solve.eigenvector(i);
    directions.emplace_back(d.begin(), d.end());
  }
  if (whole) make_readable(directions);
  std::vector<double> y(rows_);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    std::vector<double>& d = directions[i];
    // An eigenvector's sign is arbitrary: the largest component is shown positive.
    if (*std::max_element(d.begin(), d.end()) < -*std::min_element(d.begin(), d.end()))
      for (double& x : d) x = -x;
    RankReport::Lost lost{0, solve.lost(static_cast<int>(i)), d, {}};
    times_omega(d, y);
    for (int r = 0; r < rows_; ++r) lost.inverse_inertia += d[r] * y[r];
    lost.inverse_inertia = std::max(lost.inverse_inertia, 0.0);  // but for rounding it is
    for (const Placed& placed : tasks_) {
      Spatial<double> x{{0, 0, 0}, {0, 0, 0}};
      for (std::size_t r = 0; r < placed.task.rows.size(); ++r) {
        const auto& row = placed.task.rows[r];
        x += Spatial<double>{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}} * d[placed.first_row + r];
      }
      const std::string words = words_for(model_.frames()[placed.task.frame].name, x);
      if (words.empty()) continue;
      lost.words += (lost.words.empty() ? "" : " with ") + words +
                    (placed.task.axes == Task::world_axes
                         ? ", world axes"
                         : fmt::format(", axes of '{}'", model_.frames()[placed.task.axes].name));
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
