#include "cli/count_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace articula::cli {

std::string as_markdown(const CountTable& t) {
  const auto line = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string text = fmt::format("### {}\n\n", t.title) + line(t.head) + "|";
  for (std::size_t i = 0; i < t.head.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : t.rows) text += line(row);
  return text + "\n";
}
std::string as_text(const CountTable& t) {
  std::vector<std::size_t> width(t.head.size());
  const auto widen = [&](const auto& row) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  };
  widen(t.head);
  for (const auto& row : t.rows) widen(row);
  const auto line = [&](const auto& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], width[i]) : row[i];
    return text + "\n";
  };
  std::string text = t.title + "\n" + line(t.head);
  for (const auto& row : t.rows) text += line(row);
  return text + "\n";
}

std::string short_formula(const std::array<double, 4>& c) {
  std::string text;
  for (int i = 3; i >= 0; --i) {
    if (c[i] == 0) continue;
    const char* power[] = {"", "n", "n^2", "n^3"};
    text += fmt::format("{}{:.6g}{}", c[i] < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + "),
                        std::abs(c[i]), i > 0 ? std::string(" ") + power[i] : "");
  }
  return text;
}
double total(const CountFormula& f, double n) {
  return f.multiplications(n) + f.divisions(n) + f.additions(n);
}

CountTable classical_table() {
  CountTable t;
  t.title = "forward dynamics, all operations, general revolute chain (DIAG Table 3)";
  t.head = {"method", "formula", "n = 6", "n = 7", "n = 12"};
  const auto row = [&](const std::string& name, const std::string& formula, auto&& value) {
    t.rows.push_back({name, formula});
    for (const int n : {6, 7, 12}) t.rows.back().push_back(fmt::format("{}", std::lround(value(n))));
  };
  for (const char* how : {"executed", "customized"})
    for (const char* name : {"forward_dynamics", "normalized", "unnormalized"}) {
      const auto f = count_formula(name, ChainKind::revolute, ChainAxes::general,
                                   how[0] == 'e' ? Counting::executed : Counting::customized);
      Polynomial sum;  // linear with whole coefficients
      for (int i = 0; i < 4; ++i)
        sum.c[i].numerator =
            f.multiplications.c[i].numerator + f.divisions.c[i].numerator + f.additions.c[i].numerator;
      row(fmt::format("Articula, {}, {}", name, how), sum.text(), sum);
    }
  for (const auto& p : published_counts()) {
    if (p.axes != ChainAxes::general) continue;
    if (!p.total_only && p.algorithm != "normalized" && p.algorithm != "unnormalized") continue;
    std::array<double, 4> sum = p.multiplications;
    for (int i = 0; i < 4; ++i) sum[i] += p.total_only ? 0 : p.additions[i];
    row(p.total_only ? p.source : fmt::format("{}, {}", p.source, p.algorithm), short_formula(sum),
        [&](double n) { return p.total(n); });
  }
  return t;
}

CountTable diagonal_parts_table(const std::string& form) {
  CountTable t;
  t.title = fmt::format("{}, customized, by the rows of DIAG Table 2: general and special revolute chains",
                        form == "nu" ? "normalized" : "unnormalized");
  t.head = {"rows", "multiplications", "additions", "special, multiplications", "special, additions"};
  const auto text = [](const std::array<int, 2>& c) -> std::string {
    if (c[0] == 0 && c[1] == 0) return "0";
    return short_formula({double(c[0]), double(c[1]), 0, 0});
  };
  const auto plus = [](std::array<int, 2>& sum, const std::array<int, 2>& c) {
    sum[0] += c[0], sum[1] += c[1];
  };
  for (const char* const stage :
       {"table2_articulated", "table2_rates", "table2_coriolis", "table2_forces", ""}) {
    TableRow sum{"", stage, "", {}, {}, {}, {}};
    for (const TableRow& row : diagonal_table()) {
      if (row.stage != std::string_view(stage) || (row.form[0] != '\0' && row.form != form)) continue;
      t.rows.push_back({fmt::format("paper: {}", row.name), text(row.multiplications), text(row.additions),
                        text(row.special_multiplications), text(row.special_additions)});
      plus(sum.multiplications, row.multiplications), plus(sum.additions, row.additions);
      plus(sum.special_multiplications, row.special_multiplications);
      plus(sum.special_additions, row.special_additions);
    }
    if (stage[0] == '\0') continue;
    t.rows.push_back({"paper, together", text(sum.multiplications), text(sum.additions),
                      text(sum.special_multiplications), text(sum.special_additions)});
    const std::string name = stage + (stage == std::string_view("table2_articulated") ? "" : "_" + form);
    std::vector<std::string> ours{"Articula, these rows"};
    for (const ChainAxes axes : {ChainAxes::general, ChainAxes::perpendicular}) {
      const CountFormula f = count_formula(name, ChainKind::revolute, axes, Counting::customized);
      Polynomial products = f.multiplications;
      for (int i = 0; i < 4; ++i)
        products.c[i].numerator += f.divisions.c[i].numerator;  // whole coefficients
      ours.push_back(products.text()), ours.push_back(f.additions.text());
    }
    t.rows.push_back(std::move(ours));
  }
  return t;
}

}  // namespace articula::cli
