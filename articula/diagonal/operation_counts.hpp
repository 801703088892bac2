// Exact operation counts: the kernels' own texts run with a counting number (spatial/counted.hpp), and
// polynomials in the number of joints that reproduce them. docs/counts.md.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/model.hpp"
#include "articula/spatial/counted.hpp"

namespace articula {

/// executed: every operation of the text, as the compiled kernels do it. customized: operations with zeros,
/// ones and other numbers known when the model is built are left out, the convention of DIAG section 6.
enum class Counting { executed, customized };

struct CountedAlgorithm {
  std::string name;  // "forward_dynamics", ...
  std::string what;
};
const std::vector<CountedAlgorithm>& counted_algorithms();

/// Operations of one call of a kernel on a model (in full coordinates: mimic joints as hinges of their own).
/// They do not depend on the state. Throws ArgumentError for an unknown algorithm, with the known ones.
Tally count_operations(const Model& model, std::string_view algorithm, Counting how = Counting::executed);

// --- formulas in n -----------------------------------------------------------------------------------
/// Serial chains of n joints: all revolute, all prismatic, or revolute and prismatic by turns; joint axes and
/// offsets anyhow, or each axis perpendicular to the one before with the offset along x (DIAG's "special"
/// manipulators). Inertias are general.
enum class ChainKind { revolute, prismatic, mixed };
enum class ChainAxes { general, perpendicular };
ModelSpec counting_chain(int joints, ChainKind kind, ChainAxes axes);

/// c[0] + c[1] n + c[2] n^2 + c[3] n^3 with rational coefficients.
struct Polynomial {
  struct Fraction {
    long numerator = 0, denominator = 1;
  };
  std::array<Fraction, 4> c{};
  double operator()(double n) const;
  std::string text() const;  // "11/2 n^2 + 3 n - 5"
};
/// The polynomial of degree at most 3 through all of values[i] at n = first + step i, or false if there is
/// none. At least six values: some are left to check.
bool fit(const std::vector<long>& values, int first, int step, Polynomial& out);

struct CountFormula {
  std::string algorithm;
  Polynomial multiplications, additions, divisions, square_roots, sines_cosines;  // divisions apart
};
/// For chains of four joints and more (fewer have more of their operations at the ends). Throws ArgumentError
/// where the counts are no polynomial.
CountFormula count_formula(std::string_view algorithm, ChainKind kind, ChainAxes axes, Counting how);

/// What a paper prints for an algorithm: multiplications (divisions included) and additions as polynomials in
/// n. Where only the total is printed, it is under `multiplications` and `total_only` is true.
struct PublishedCount {
  std::string algorithm;  // ours that it is to be compared with
  std::string source;
  ChainAxes axes;
  bool total_only;
  std::array<double, 4> multiplications, additions;  // coefficients of 1, n, n^2, n^3
  double total(double n) const;
  double value(const std::array<double, 4>& c, double n) const {
    return c[0] + n * (c[1] + n * (c[2] + n * c[3]));
  }
};
const std::vector<PublishedCount>& published_counts();

/// DIAG Table 2, row by row: c[0] + c[1] n, for manipulators in general and for special ones. stage: what of ours has this
/// row in it (count_operations and count_formula know it, with _nu or _xi behind it but for table2_articulated); rows of
/// both forms have form "".
struct TableRow {
  const char *name, *stage, *form;
  std::array<int, 2> multiplications, additions, special_multiplications, special_additions;
};
const std::vector<TableRow>& diagonal_table();

}  // namespace articula
