// Between a model's own numbers and full ones, in which mimic joints have numbers of their own; for lanes of states, or
// one. Only for articula/batch/*.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "articula/kernels/description.hpp"
#include "articula/model/model.hpp"

namespace articula::batching {

/// What the numbers of an argument or result are: mimic joints have none of their own, and are filled in or added up.
/// columns, three_columns: six rows, as of a Jacobian, or three.
enum class Numbers { coordinates, velocities, forces, matrix, columns, three_columns, other };

inline Numbers numbers_of_part(const Part& part) {
  if (part.columns == Extent::nv)
    return part.rows == Extent::nv      ? Numbers::matrix
           : part.rows == Extent::six   ? Numbers::columns
           : part.rows == Extent::three ? Numbers::three_columns
                                        : Numbers::other;
  return part.rows == Extent::nv && part.columns == Extent::one ? Numbers::forces : Numbers::other;
}
inline std::size_t rows_of(Numbers kind, std::size_t nv) {
  return kind == Numbers::matrix ? nv : kind == Numbers::columns ? 6 : kind == Numbers::three_columns ? 3 : 1;
}
/// How many numbers it has in full coordinates.
inline std::size_t full_size(Numbers kind, std::size_t full_nv) { return rows_of(kind, full_nv) * full_nv; }

/// Mimic joints' own numbers, from those that they follow.
template <class S>
void expand(const Model& model, Numbers kind, std::size_t lanes, const S* own, S* full) {
  const auto map = kind == Numbers::coordinates ? model.full_coordinates() : model.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i)
    for (std::size_t s = 0; s < lanes; ++s)
      full[i * lanes + s] = static_cast<S>(map[i].multiplier) * own[map[i].source * lanes + s] +
                            (kind == Numbers::coordinates ? static_cast<S>(map[i].offset) : 0);
}

/// Sums over joints and those that mimic them.
template <class S>
void reduce(const Model& model, Numbers kind, std::size_t lanes, const S* full, S* own) {
  const auto map = model.full_velocities();
  const std::size_t n = map.size(), nv = model.nv();
  const std::size_t rows = rows_of(kind, nv);
  std::fill_n(own, rows * nv * lanes, S(0));
  for (std::size_t i = 0; i < n; ++i) {
    if (kind != Numbers::matrix) {
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t s = 0; s < lanes; ++s)
          own[(r * nv + map[i].source) * lanes + s] +=
              static_cast<S>(map[i].multiplier) * full[(r * n + i) * lanes + s];
      continue;
    }
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t s = 0; s < lanes; ++s)
        own[(map[i].source * nv + map[j].source) * lanes + s] +=
            static_cast<S>(map[i].multiplier * map[j].multiplier) * full[(i * n + j) * lanes + s];
  }
}

}  // namespace articula::batching
