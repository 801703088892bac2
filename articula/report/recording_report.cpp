#include "articula/report/recording_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace articula {

namespace {

/// Rows that go to the page: each `stride`th, and the last.
std::vector<std::size_t> chosen_rows(std::size_t rows, std::size_t most) {
  const std::size_t stride = most > 1 && rows > most ? (rows + most - 2) / (most - 1) : 1;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < rows; i += stride) out.push_back(i);
  if (!out.empty() && out.back() + 1 != rows) out.push_back(rows - 1);
  return out;
}

class Reader {
 public:
  Reader(const Recording& recording, std::size_t most)
      : recording_(recording), rows_(chosen_rows(recording.size(), most)) {}

  const std::vector<std::size_t>& rows() const { return rows_; }
  std::vector<double> column(int index) const {
    std::vector<double> out;
    out.reserve(rows_.size());
    for (const std::size_t i : rows_) out.push_back(recording_.row(i)[static_cast<std::size_t>(index)]);
    return out;
  }
  /// The numbers of these columns, sample after sample.
  std::vector<double> table(const std::vector<Column>& columns) const {
    std::vector<int> at;
    for (const auto& column : columns) {
      at.push_back(recording_.find(column.name));
      if (at.back() < 0)
        throw ArgumentError(fmt::format("report_of: the recording has no column '{}'", column.name));
    }
    std::vector<double> out;
    out.reserve(rows_.size() * at.size());
    for (const std::size_t i : rows_)
      for (const int k : at) out.push_back(recording_.row(i)[static_cast<std::size_t>(k)]);
    return out;
  }

 private:
  const Recording& recording_;
  std::vector<std::size_t> rows_;
};

bool all_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

std::string in_words(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string printed_unit(const std::string& unit) {
  if (unit == "1") return "";
  std::string out = unit;
  if (const std::size_t square = out.find("^2"); square != out.npos) out.replace(square, 2, "²");
  return out;
}

/// Plot and name of a column that is not a joint's: "linear_momentum.x" is x of the linear momentum.
std::pair<std::string, std::string> place_of(const std::string& column) {
  if (column == "energy_change" || column == "constraint_drift") return {"drift", in_words(column)};
  if (column.ends_with("_energy")) return {"energy", in_words(column.substr(0, column.size() - 7))};
  const std::size_t dot = column.find('.');
  if (dot == column.npos) return {in_words(column), in_words(column)};
  return {in_words(column.substr(0, dot)), column.substr(dot + 1)};
}

/// Neither a joint's nor for going on.
bool is_other(const std::string& name) {
  for (const char* prefix : {"q:", "v:", "tau:"})
    if (name.starts_with(prefix)) return false;
  return name != "time" && !is_bookkeeping(name);
}

}  // namespace

bool is_bookkeeping(std::string_view column) {
  return column == "next_step" || column.starts_with("sample.") || column.starts_with("held.");
}

Report report_of(const Recording& recording, const Model& model, std::span<const LinkShapes> shapes,
                 std::size_t most_samples) {
  const Reader reader(recording, most_samples);
  Report report;
  report.title = model.name();
  for (const auto& [key, value] : recording.about)
    if (key == "integrator") report.subtitle = value;
  report.times = reader.table({{"time", "s"}});
  if (reader.rows().size() < recording.size())
    report.notes.push_back(
        fmt::format("The page holds {} of the recording's {} rows.", reader.rows().size(), recording.size()));
  const auto q = reader.table(coordinate_columns(model)), v = reader.table(velocity_columns(model));
  std::vector<double> tau;
  const auto forces = velocity_columns(model, "tau", true);
  if (!forces.empty() && recording.find(forces[0].name) >= 0) tau = reader.table(forces);
  if (all_zero(tau)) tau.clear();
  add_motion(report, model, {.q = q, .v = v, .tau = tau, .totals = false}, shapes);
  for (std::size_t k = 0; k < recording.columns.size(); ++k) {
    const Column& column = recording.columns[k];
    if (!is_other(column.name)) continue;
    auto values = reader.column(static_cast<int>(k));
    // What this run has none of: springs, driven joints, quaternions.
    const bool may_be_absent =
        column.name == "stored_energy" || column.name == "power" || column.name == "constraint_drift";
    if (may_be_absent && all_zero(values)) continue;
    auto [group, name] = place_of(column.name);
    report.series.push_back(
        {std::move(group), std::move(name), printed_unit(column.unit), std::move(values)});
  }
  return report;
}

}  // namespace articula
