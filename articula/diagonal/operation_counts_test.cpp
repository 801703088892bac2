#include "articula/diagonal/operation_counts.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "articula/dynamics/forward_dynamics.hpp"
#include "tests/support/random_models.hpp"

namespace articula {
namespace {

using namespace articula::testing;

TEST(Counted, CountsEachOperationAndFoldsConstants) {
  const auto x = Counted::variable(3), y = Counted::variable(4);
  Counted::tally() = {};
  EXPECT_DOUBLE_EQ((x * y + x - y / x).value, 12 + 3 - 4 / 3.0);
  EXPECT_EQ(Counted::tally(), (Tally{1, 2, 1, 0, 0, 0}));
  Counted::tally() = {};
  EXPECT_DOUBLE_EQ((square_root(y) * 2.0).value, 4);
  sincos(x);
  reciprocal(x);
  EXPECT_EQ(Counted::tally(), (Tally{1, 0, 1, 1, 1, 0}));
  Counted::folding() = true;
  Counted::tally() = {};
  const Counted sum = x * 0.0 + y * 1.0 + (-1.0) * x + Counted(2) * 3.0;  // y - x + 6: two additions are left
  EXPECT_DOUBLE_EQ(sum.value, 7);
  EXPECT_EQ(Counted::tally(), (Tally{0, 2, 0, 0, 0, 0}));
  Counted::folding() = false;
}

TEST(OperationCounts, FitIsExactOrRefused) {
  std::vector<long> values, cubic;
  for (int n = 4; n <= 16; n += 2)
    values.push_back(n * (n + 1) / 2 + 7), cubic.push_back((n * n * n - n) / 6 - 3 * n);
  Polynomial p;
  ASSERT_TRUE(fit(values, 4, 2, p));
  EXPECT_EQ(p.text(), "1/2 n^2 + 1/2 n + 7");
  EXPECT_EQ(p(11), 73);
  ASSERT_TRUE(fit(cubic, 4, 2, p));
  EXPECT_EQ(p.text(), "1/6 n^3 - 19/6 n");
  values.back() += 1;
  EXPECT_FALSE(fit(values, 4, 2, p));
}

/// DIAG Table 2: its rows add up to its totals (with 13 N for the "43 N" of z+), and our parts to ours.
TEST(OperationCounts, PartsOfTheDiagonalizedEquations) {
  for (const std::string form : {"nu", "xi"}) {
    const char* const whole = form == "nu" ? "normalized" : "unnormalized";
    for (const auto axes : {ChainAxes::general, ChainAxes::perpendicular}) {
      std::array<double, 2> M{}, A{};
      for (const TableRow& row : diagonal_table()) {
        if (row.form[0] != '\0' && row.form != form) continue;
        const bool special = axes == ChainAxes::perpendicular;
        for (int i = 0; i < 2; ++i) {
          M[i] += special ? row.special_multiplications[i] : row.multiplications[i];
          A[i] += special ? row.special_additions[i] : row.additions[i];
        }
      }
      for (const PublishedCount& p : published_counts()) {
        if (p.algorithm != whole || p.axes != axes) continue;
        for (int i = 0; i < 2; ++i) {
          EXPECT_EQ(M[i], p.multiplications[i]) << whole << i;
          EXPECT_EQ(A[i], p.additions[i]) << whole << i;
        }
      }
      const Model model(counting_chain(8, ChainKind::revolute, axes));
      long products = 0, sums = 0;
      for (const std::string stage :
           {"table2_articulated", "table2_rates_", "table2_coriolis_", "table2_forces_"}) {
        const Tally t =
            count_operations(model, stage + (stage.back() == '_' ? form : ""), Counting::customized);
        EXPECT_GT(t.multiplications, 0) << stage;
        products += t.multiplications + t.divisions, sums += t.additions;
      }
      const Tally t = count_operations(model, whole, Counting::customized);
      EXPECT_EQ(t.multiplications + t.divisions, products + (form == "nu" ? 0 : 8));  // nu' and xi' are left
      EXPECT_EQ(t.additions, sums + 8);
    }
  }
}

/// The formulas hold for lengths that they were not made from.
TEST(OperationCounts, FormulasReproduceOtherLengths) {
  for (const ChainKind kind : {ChainKind::revolute, ChainKind::prismatic})
    for (const Counting how : {Counting::executed, Counting::customized})
      for (const auto& a : counted_algorithms()) {
        // P is put together again from P+ there: of constants, so that rounding decides which zeros are left out.
        if (std::string_view(a.name) == "normalized_printed" && kind == ChainKind::prismatic &&
            how == Counting::customized)
          continue;
        const CountFormula f = count_formula(a.name, kind, ChainAxes::general, how);
        for (const int n : {7, 21}) {
          const Tally t = count_operations(Model(counting_chain(n, kind, ChainAxes::general)), a.name, how);
          EXPECT_NEAR(f.multiplications(n), t.multiplications, 1e-6) << a.name << " n = " << n;
          EXPECT_NEAR(f.additions(n), t.additions, 1e-6) << a.name << " n = " << n;
        }
      }
}

TEST(OperationCounts, DoNotDependOnData) {
  Rng rng(3);
  const Model model(random_spec(rng), {.base = Base::free});
  for (const auto& a : counted_algorithms()) EXPECT_EQ(count_operations(model, a.name).branches, 0) << a.name;
  EXPECT_THROW(count_operations(model, "no_such"), ArgumentError);
}

/// Counts may not rise above count_limits.txt without a change of that file (`articula count --limits` writes
/// it).
TEST(OperationCounts, StayWithinTheCommittedTable) {
  std::ifstream file(ARTICULA_SOURCE_DIR "/articula/diagonal/count_limits.txt");
  ASSERT_TRUE(file) << "articula/diagonal/count_limits.txt";
  std::string line, algorithm, kind, axes, how;
  int lines = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    int n = 0;
    long multiplications = 0, additions = 0;
    ASSERT_TRUE(words >> algorithm >> kind >> axes >> how >> n >> multiplications >> additions) << line;
    const std::map<std::string, ChainKind> kinds{
        {"revolute", ChainKind::revolute}, {"prismatic", ChainKind::prismatic}, {"mixed", ChainKind::mixed}};
    const Tally t = count_operations(
        Model(counting_chain(n, kinds.at(kind),
                             axes == "general" ? ChainAxes::general : ChainAxes::perpendicular)),
        algorithm, how == "executed" ? Counting::executed : Counting::customized);
    EXPECT_LE(t.multiplications + t.divisions, multiplications) << line;
    EXPECT_LE(t.additions, additions) << line;
    ++lines;
  }
  EXPECT_GE(lines, 3 * static_cast<int>(counted_algorithms().size()));
}

/// DIAG Tables 2 and 3: at or below the paper's totals.
TEST(OperationCounts, DiagonalizedEquationsAreWithinThePaper) {
  for (const auto& p : published_counts()) {
    if (p.algorithm != "normalized" && p.algorithm != "unnormalized") continue;
    if (p.axes != ChainAxes::general) continue;
    for (const int n : {6, 7, 12}) {
      const Tally t = count_operations(Model(counting_chain(n, ChainKind::revolute, p.axes)), p.algorithm,
                                       Counting::executed);
      EXPECT_LE(t.multiplications + t.divisions + t.additions, p.total(n)) << p.algorithm << ", n = " << n;
    }
  }
}

}  // namespace
}  // namespace articula
