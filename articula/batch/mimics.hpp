// Between a model's own numbers and full ones, in which mimic joints have numbers of their own; for lanes of states, or
// one. Only for articula/batch/*.cpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "articula/kernels/description.hpp"
#include "articula/model/model.hpp"

namespace articula::batching {

/// What the numbers of an argument or result are: mimic joints have none of their own, and are filled in or added up.
/// columns: any number of rows with one number per velocity each, as of a Jacobian; rows: one of any length per velocity.
enum class Numbers { coordinates, velocities, forces, matrix, columns, rows, other };

inline Numbers numbers_of_part(const Part& part) {
  if (part.planes != Extent::one) return Numbers::other;
  if (part.columns == Extent::nv) return part.rows == Extent::nv ? Numbers::matrix : Numbers::columns;
  return part.rows != Extent::nv       ? Numbers::other
         : part.columns == Extent::one ? Numbers::forces
                                       : Numbers::rows;
}
/// How many numbers one with n in the model's own velocities has in full ones.
inline std::size_t full_size(const Model& model, Numbers kind, std::size_t n) {
  const std::size_t full = model.full_velocities().size(), nv = model.nv();
  return kind == Numbers::matrix ? full * full : nv == 0 ? 0 : n / nv * full;
}

/// Mimic joints' own numbers, from those that they follow.
template <class S>
void expand(const Model& model, Numbers kind, std::size_t lanes, const S* own, S* full) {
  const auto map = kind == Numbers::coordinates ? model.full_coordinates() : model.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i)
    for (std::size_t s = 0; s < lanes; ++s)
      full[i * lanes + s] = static_cast<S>(map[i].multiplier) * own[map[i].source * lanes + s] +
                            (kind == Numbers::coordinates ? static_cast<S>(map[i].offset) : 0);
}

/// Sums over joints and those that mimic them; n: numbers of the result.
template <class S>
void reduce(const Model& model, Numbers kind, std::size_t n, std::size_t lanes, const S* full, S* own) {
  const auto map = model.full_velocities();
  const std::size_t all = map.size(), nv = model.nv();
  std::fill_n(own, n * lanes, S(0));
  const auto add = [&](double multiplier, std::size_t from, std::size_t to, std::size_t numbers) {
    for (std::size_t i = 0; i < numbers; ++i) own[to + i] += static_cast<S>(multiplier) * full[from + i];
  };
  const std::size_t others = n / nv;  // rows of columns, or numbers of a row
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t source = map[i].source;
    if (kind == Numbers::matrix)
      for (std::size_t j = 0; j < all; ++j)
        add(map[i].multiplier * map[j].multiplier, (i * all + j) * lanes,
            (source * nv + map[j].source) * lanes, lanes);
    else if (kind == Numbers::rows)
      add(map[i].multiplier, i * others * lanes, source * others * lanes, others * lanes);
    else
      for (std::size_t r = 0; r < others; ++r)
        add(map[i].multiplier, (r * all + i) * lanes, (r * nv + source) * lanes, lanes);
  }
}

}  // namespace articula::batching
