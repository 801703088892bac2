// Tables of articula count, and those that need no options.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "articula/diagonal/operation_counts.hpp"

namespace articula::cli {

struct CountTable {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};
std::string as_markdown(const CountTable& t);
std::string as_text(const CountTable& t);
/// "142n-161"
std::string short_formula(const std::array<double, 4>& c);
/// Multiplications, divisions and additions.
double total(const CountFormula& f, double n);

/// Forward dynamics of all kinds by total number of operations (DIAG Table 3).
CountTable classical_table();
/// DIAG Table 2, row by row, and what our text takes for groups of its rows; form: nu or xi.
CountTable diagonal_parts_table(const std::string& form);

}  // namespace articula::cli
