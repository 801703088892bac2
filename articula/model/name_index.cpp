#include "articula/model/name_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace articula {

/// Only the five diagonals about the main one can hold a number below three, and most names differ so early
/// that a few rows tell.
int edits_up_to_two(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  const int rows = int(a.size()), columns = int(b.size());
  if (std::abs(rows - columns) > 2) return 3;
  std::array<int, 5> band;  // band[d]: column row + d - 2
  for (int d = 0; d < 5; ++d) band[d] = d < 2 ? 3 : d - 2;
  for (int i = 1; i <= rows; ++i) {
    std::array<int, 5> next;
    next.fill(3);
    for (int d = 0; d < 5; ++d) {
      const int j = i + d - 2;
      if (j < 0 || j > columns) continue;
      if (j == 0) {
        next[d] = std::min(3, i);
        continue;
      }
      const int changed = band[d] + (a[i - 1] != b[j - 1]);
      const int removed = d < 4 ? band[d + 1] + 1 : 3, added = d > 0 ? next[d - 1] + 1 : 3;
      next[d] = std::min({3, changed, removed, added});
    }
    band = next;
    if (*std::min_element(band.begin(), band.end()) == 3) return 3;
  }
  return band[columns - rows + 2];
}

std::string NameIndex::suggestion(std::string_view name) const {
  if (index_.size() > 2000 || name.size() > 60) return "";
  std::string_view best;
  int fewest = 3;
  for (const auto& [known, index] : index_) {
    if (known.size() > name.size() + 2 || name.size() > known.size() + 2) continue;
    const int n = edits_up_to_two(name, known);
    if (n < fewest && n < int(known.size())) best = known, fewest = n;
  }
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

}  // namespace articula
