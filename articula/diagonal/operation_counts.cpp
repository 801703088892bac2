#include "articula/diagonal/operation_counts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "articula/diagonal/counted_texts.hpp"
#include "articula/model/chain.hpp"

namespace articula {

namespace {

const std::vector<counting::Entry>& entries() {
  static const std::vector<counting::Entry> all = [] {
    auto list = counting::dynamics_entries();
    for (const auto& entry : counting::linearization_entries()) list.push_back(entry);
    return list;
  }();
  return all;
}

/// Folding for as long as it lives.
class Folding {
 public:
  explicit Folding(bool on) : before_(std::exchange(Counted::folding(), on)) {}
  ~Folding() { Counted::folding() = before_; }
  Folding(const Folding&) = delete;
  Folding& operator=(const Folding&) = delete;

 private:
  bool before_;
};

}  // namespace

const std::vector<CountedAlgorithm>& counted_algorithms() {
  static const std::vector<CountedAlgorithm> all = [] {
    std::vector<CountedAlgorithm> list;
    for (const auto& entry : entries()) list.push_back({entry.name, entry.what});
    return list;
  }();
  return all;
}

Tally count_operations(const Model& model, std::string_view algorithm, Counting how) {
  const bool stage = algorithm.starts_with("table2_");
  for (const auto& entry : stage ? counting::diagonal_stages() : entries()) {
    if (algorithm != entry.name) continue;
    counting::Bench bench(model);
    const Folding folding(how == Counting::customized);
    entry.before(bench);
    const Tally outside = std::exchange(Counted::tally(), Tally{});
    entry.run(bench);
    return std::exchange(Counted::tally(), outside);
  }
  std::string known;
  for (const auto& entry : entries()) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  throw ArgumentError(fmt::format("count_operations: unknown algorithm '{}'; known: {}", algorithm, known));
}

// --- formulas ----------------------------------------------------------------------------------------
ModelSpec counting_chain(int joints, ChainKind kind, ChainAxes axes) {
  ModelSpec spec = make_chain(joints);
  // A quarter turn about x and back, by turns, written exactly: zeros and ones.
  const Mat3<double> quarter[2] = {{1, 0, 0, 0, 0, -1, 0, 1, 0}, {1, 0, 0, 0, 0, 1, 0, -1, 0}};
  int k = 0;
  for (JointSpec& joint : spec.joints) {
    if (kind == ChainKind::prismatic || (kind == ChainKind::mixed && k % 2 == 1))
      joint.kind = JointKind::prismatic;
    if (axes == ChainAxes::perpendicular) {
      joint.axis = {0, 0, 1};
      joint.placement = {quarter[k % 2], {0.4, 0, 0}};
    }
    ++k;
  }
  return spec;
}

double Polynomial::operator()(double n) const {
  double sum = 0;
  for (int i = 3; i >= 0; --i) sum = sum * n + double(c[i].numerator) / double(c[i].denominator);
  return sum;
}
std::string Polynomial::text() const {
  std::string out;
  for (int i = 3; i >= 0; --i) {
    long up = c[i].numerator;
    if (up == 0) continue;
    out += out.empty() ? (up < 0 ? "-" : "") : (up < 0 ? " - " : " + ");
    up = std::labs(up);
    const std::string power = i == 0 ? "" : i == 1 ? "n" : fmt::format("n^{}", i);
    if (i == 0 || up != 1 || c[i].denominator != 1) out += fmt::format("{}", up);
    if (c[i].denominator != 1) out += fmt::format("/{}", c[i].denominator);
    if (i > 0) out += (up != 1 || c[i].denominator != 1 ? " " : "") + power;
  }
  return out.empty() ? "0" : out;
}

bool fit(const std::vector<long>& values, int first, int step, Polynomial& out) {
  if (values.size() < 6) throw ArgumentError("fit: expected at least six values");
  std::vector<std::vector<long>> differences{values};
  for (int order = 1; order <= 4; ++order) {
    const auto& last = differences.back();
    std::vector<long> next(last.size() - 1);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = last[i + 1] - last[i];
    differences.push_back(next);
  }
  for (const long x : differences[4])
    if (x != 0) return false;
  // Newton's form: sum over j of difference_j / (j! step^j) prod over i < j of (n - first - i step), all over
  // one denominator.
  const long denominator = 6L * step * step * step;
  long factor = denominator, c[4] = {}, product[4] = {1, 0, 0, 0};
  for (int j = 0; j < 4; ++j) {
    if (j > 0) {
      factor /= j * step;
      const long root = first + (j - 1) * step;
      for (int i = 3; i >= 0; --i) product[i] = (i > 0 ? product[i - 1] : 0) - root * product[i];
    }
    for (int i = 0; i < 4; ++i) c[i] += differences[j][0] * factor * product[i];
  }
  for (int i = 0; i < 4; ++i) {
    const long common = std::gcd(c[i], denominator);
    out.c[i] = {c[i] / common, denominator / common};
  }
  return true;
}

CountFormula count_formula(std::string_view algorithm, ChainKind kind, ChainAxes axes, Counting how) {
  constexpr int first = 4, step = 2, last = 16;  // even numbers: mixed chains repeat every second joint
  std::vector<long> values[5];
  for (int n = first; n <= last; n += step) {
    const Tally t = count_operations(Model(counting_chain(n, kind, axes)), algorithm, how);
    const long counts[5] = {t.multiplications, t.additions, t.divisions, t.square_roots, t.sines_cosines};
    for (int i = 0; i < 5; ++i) values[i].push_back(counts[i]);
  }
  CountFormula formula;
  formula.algorithm = algorithm;
  Polynomial* const to[5] = {&formula.multiplications, &formula.additions, &formula.divisions,
                             &formula.square_roots, &formula.sines_cosines};
  for (int i = 0; i < 5; ++i)
    if (!fit(values[i], first, step, *to[i]))
      throw ArgumentError(
          fmt::format("count_formula: the counts of {} are no polynomial of degree 3 in n", algorithm));
  return formula;
}

// --- what the papers print (docs/math.md 11) ---------------------------------------------------------
double PublishedCount::total(double n) const {
  return value(multiplications, n) + (total_only ? 0 : value(additions, n));
}
const std::vector<PublishedCount>& published_counts() {
  constexpr auto general = ChainAxes::general, special = ChainAxes::perpendicular;
  constexpr double third = 1.0 / 3, sixth = 1.0 / 6;
  static const std::vector<PublishedCount> all{
      {"inverse_dynamics",
       "DIAG section 6 (Kozlowski 1993)",
       general,
       false,
       {-161, 142, 0, 0},
       {-135, 109, 0, 0}},
      {"inverse_dynamics",
       "DIAG section 6 (Kozlowski 1993)",
       special,
       false,
       {-117, 104, 0, 0},
       {-102, 87, 0, 0}},
      {"linearized_1", "LIN", general, false, {-159, 320, 0, 0}, {-149, 303, 0, 0}},
      {"linearized_2", "LIN", general, false, {-132, 333, 21, 0}, {-145, 302.5, 23.5, 0}},
      {"linearized_3",
       "LIN",
       general,
       false,
       {-153, 952 * third, 1.5, sixth},
       {-147, 1805 * sixth, 1, sixth}},
      {"linearized_4",
       "LIN",
       general,
       false,
       {-132, 998 * third, 21.5, 17 * sixth},
       {-145, 1819 * sixth, 20, 17 * sixth}},
      {"linearized_4_numerical",
       "LIN",
       general,
       false,
       {-132, 998 * third, 21.5, 17 * sixth},
       {-145, 1819 * sixth, 20, 17 * sixth}},
      {"linearized_5", "LIN", general, false, {-129, 259, 0, 0}, {-123, 232, 0, 0}},
      {"linearized_6", "LIN", general, false, {-225, 781, 36, 0}, {-255, 773, 33, 0}},
      {"linearized_6_printed", "LIN", general, false, {-225, 781, 36, 0}, {-255, 773, 33, 0}},
      {"normalized", "DIAG Table 2", general, false, {-462, 605, 0, 0}, {-448, 530, 0, 0}},
      {"normalized", "DIAG Table 2", special, false, {-381, 406, 0, 0}, {-359, 376, 0, 0}},
      {"normalized_printed", "DIAG Table 2", general, false, {-462, 605, 0, 0}, {-448, 530, 0, 0}},
      {"normalized_printed", "DIAG Table 2", special, false, {-381, 406, 0, 0}, {-359, 376, 0, 0}},
      {"unnormalized", "DIAG Table 2", general, false, {-319, 500, 0, 0}, {-286, 426, 0, 0}},
      {"unnormalized", "DIAG Table 2", special, false, {-238, 314, 0, 0}, {-218, 284, 0, 0}},
      {"forward_dynamics",
       "Kalman filtering and smoothing (Kozlowski 1993)",
       general,
       true,
       {-503, 477, 0, 0},
       {}},
      {"forward_dynamics", "Brandl, Johanni, Otter 1986", general, true, {-420, 470, 0, 0}, {}},
      {"forward_dynamics", "articulated body (Featherstone 1987)", general, true, {-526, 579, 0, 0}, {}},
      {"forward_dynamics", "Walker-Orin 1982, first", general, true, {-33, 1183 * sixth, 130.5, third}, {}},
      {"forward_dynamics", "Walker-Orin 1982, second", general, true, {-33, 1567 * sixth, 66.5, third}, {}},
      {"forward_dynamics", "Walker-Orin 1982, third", general, true, {-113, 2149 * sixth, 21.5, sixth}, {}},
      {"forward_dynamics", "Walker-Orin 1982, fourth", general, true, {-31, 207, 132.5, 0}, {}},
      {"forward_dynamics",
       "numerical solution (Kozlowski 1992)",
       general,
       true,
       {-395, 2047 * sixth, 20.5, third},
       {}},
  };
  return all;
}

const std::vector<TableRow>& diagonal_table() {
  // P, G, .. as they are printed; "43 N" of z+ among the unnormalized ones, where the column's total needs 13 N.
  static const std::vector<TableRow> all = {
      {"P", "table2_articulated", "", {-108, 101}, {-105, 94}, {-58, 51}, {-64, 53}},
      {"G", "table2_articulated", "", {-1, 5}, {0, 0}, {-1, 5}, {0, 0}},
      {"psi", "table2_articulated", "", {-1, 44}, {-1, 19}, {-1, 12}, {-1, 5}},
      {"V+", "table2_rates", "", {-12, 6}, {-12, 6}, {-4, 2}, {-4, 2}},
      {"V", "table2_rates", "", {-29, 16}, {-17, 9}, {-16, 8}, {-9, 5}},
      {"z", "table2_forces", "", {-12, 6}, {-12, 6}, {-4, 2}, {-4, 2}},
      {"b", "table2_coriolis", "", {-43, 59}, {-27, 40}, {-53, 55}, {-35, 38}},
      {"X", "table2_coriolis", "", {-12, 18}, {0, 0}, {-12, 18}, {0, 0}},
      {"lambda", "table2_coriolis", "", {-6, 159}, {-6, 171}, {-6, 95}, {-6, 113}},
      {"th'", "table2_rates", "nu", {-10, 7}, {-10, 6}, {-11, 7}, {-11, 6}},
      {"eps", "table2_forces", "nu", {0, 1}, {-1, 1}, {0, 1}, {-1, 1}},
      {"z+", "table2_forces", "nu", {-4, 23}, {-8, 15}, {-3, 14}, {-7, 10}},
      {"y", "table2_coriolis", "nu", {-223, 158}, {-249, 162}, {-211, 134}, {-217, 140}},
      {"C(th, nu)", "table2_coriolis", "nu", {-1, 2}, {0, 0}, {-1, 2}, {0, 0}},
      {"nu'", "", "nu", {0, 0}, {0, 1}, {0, 0}, {0, 1}},
      {"th'", "table2_rates", "xi", {-8, 5}, {-8, 5}, {-9, 5}, {-9, 5}},
      {"kappa", "table2_forces", "xi", {0, 0}, {-1, 1}, {0, 0}, {-1, 1}},
      {"z+", "table2_forces", "xi", {-4, 21}, {-8, 13}, {-3, 13}, {-7, 9}},
      {"y", "table2_coriolis", "xi", {-83, 59}, {-89, 61}, {-71, 47}, {-78, 50}},
      {"C(th, xi)", "table2_coriolis", "xi", {0, 0}, {0, 0}, {0, 0}, {0, 0}},
      {"xi'", "", "xi", {0, 1}, {0, 1}, {0, 1}, {0, 1}},
  };
  return all;
}

}  // namespace articula
