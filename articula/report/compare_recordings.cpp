#include "articula/report/compare_recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/model/configuration.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/report/page_json.hpp"

namespace articula {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string about(const Recording& recording, std::string_view key) {
  for (const auto& [name, value] : recording.about)
    if (name == key) return value;
  return "";
}

void check_match(const NamedRecording& first, const NamedRecording& second) {
  for (const char* key : {"model", "joints"}) {
    const std::string a = about(first.recording, key), b = about(second.recording, key);
    if (!a.empty() && !b.empty() && a != b)
      throw ArgumentError(
          fmt::format("compare: the recordings are of different models: {} '{}' in {}, '{}' in {}", key, a,
                      first.name, b, second.name));
  }
  const auto check_columns = [](const NamedRecording& one, const NamedRecording& other) {
    for (const Column& column : one.recording.columns)
      if (!is_bookkeeping(column.name) && other.recording.find(column.name) < 0)
        throw ArgumentError(fmt::format("compare: the columns differ: {} has '{}', {} has not", one.name,
                                        column.name, other.name));
  };
  check_columns(first, second);
  check_columns(second, first);
  for (const NamedRecording* one : {&first, &second}) {
    if (one->recording.size() == 0) throw ArgumentError(fmt::format("compare: {} has no rows", one->name));
    for (std::size_t i = 0; i < one->recording.size(); ++i)
      if (const double t = one->recording.row(i)[0];
          !std::isfinite(t) || (i > 0 && !(t > one->recording.row(i - 1)[0])))
        throw ArgumentError(fmt::format("compare: {}: the time of row {} is {}; expected increasing ones",
                                        one->name, i + 1, t));
  }
}

/// A recording at other times: coordinates on the way of constant velocity between two rows, all else on a straight
/// line; the first and the last row before and after.
class Resampler {
 public:
  Resampler(const Recording& recording, const Model& model, const std::string& name)
      : recording_(recording), model_(model), q0_(std::size_t(model.nq())), q1_(q0_), q_(q0_) {
    for (const Column& column : coordinate_columns(model)) {
      at_.push_back(recording.find(column.name));
      if (at_.back() < 0)
        throw ArgumentError(fmt::format("compare: {} has no column '{}'", name, column.name));
    }
  }

  Recording at(std::span<const double> times) {
    Recording out{recording_.columns, {}, recording_.about};
    out.numbers.reserve(times.size() * recording_.columns.size());
    std::size_t row = 0;
    for (const double t : times) {
      while (row + 1 < recording_.size() && recording_.row(row + 1)[0] <= t) ++row;
      append(row, t, out.numbers);
    }
    return out;
  }
  /// The coordinates of a row, in the model's order.
  void coordinates(std::span<const double> row, std::span<double> q) const {
    for (std::size_t i = 0; i < at_.size(); ++i) q[i] = row[std::size_t(at_[i])];
  }

 private:
  void append(std::size_t row, double t, std::vector<double>& out) {
    const auto a = recording_.row(row), b = recording_.row(std::min(row + 1, recording_.size() - 1));
    const double part = b[0] > a[0] ? std::clamp((t - a[0]) / (b[0] - a[0]), 0.0, 1.0) : 0;
    const std::size_t first = out.size();
    for (std::size_t k = 0; k < a.size(); ++k) out.push_back(part == 0 ? a[k] : a[k] + part * (b[k] - a[k]));
    out[first] = t;
    if (part == 0) return;
    coordinates(a, q0_), coordinates(b, q1_);
    interpolate(model_, q0_, q1_, part, q_);
    for (std::size_t i = 0; i < at_.size(); ++i) out[first + std::size_t(at_[i])] = q_[i];
  }
  const Recording& recording_;
  const Model& model_;
  std::vector<int> at_;
  std::vector<double> q0_, q1_, q_;
};

/// difference(first, second) of the coordinates, a curve for each velocity.
std::vector<ReportSeries> way_between(const Model& model, const Resampler& columns, const Recording& first,
                                      const Recording& second) {
  std::vector<ReportSeries> out;
  for (std::size_t j = 0; j < model.joints().size(); ++j)
    for (int k = 0; k < model.joints()[j].nv; ++k) {
      const Joint& joint = model.joints()[j];
      out.push_back({"position difference",
                     velocity_name(joint, k),
                     is_angular(joint.kind, k) ? "rad" : "m",
                     {},
                     static_cast<int>(j)});
    }
  std::vector<double> a(std::size_t(model.nq())), b(a), way(std::size_t(model.nv()));
  std::vector<std::size_t> from;  // the velocity of each curve
  for (const Joint& joint : model.joints())
    for (int k = 0; k < joint.nv; ++k) from.push_back(std::size_t(joint.v_index + k));
  for (std::size_t i = 0; i < first.size(); ++i) {
    columns.coordinates(first.row(i), a), columns.coordinates(second.row(i), b);
    difference(model, a, b, way);
    for (std::size_t s = 0; s < out.size(); ++s) out[s].values.push_back(way[from[s]]);
  }
  return out;
}

bool same_curve(const ReportSeries& a, const ReportSeries& b) {
  return a.group == b.group && a.name == b.name && a.joint == b.joint && a.unit == b.unit;
}

/// The first's curves, each followed by the second's; after each group the differences.
std::vector<ReportSeries> paired(std::vector<ReportSeries> first, std::vector<ReportSeries> second,
                                 std::vector<ReportSeries> position) {
  std::vector<ReportSeries> out;
  std::vector<std::string> groups;
  for (const auto* series : {&first, &second})
    for (const ReportSeries& s : *series)
      if (std::find(groups.begin(), groups.end(), s.group) == groups.end()) groups.push_back(s.group);
  for (const std::string& group : groups) {
    std::vector<ReportSeries> differences;
    if (group == "position") differences.swap(position);
    for (ReportSeries& s : first) {
      if (s.group != group) continue;
      const auto twin =
          std::find_if(second.begin(), second.end(), [&](const auto& other) { return same_curve(s, other); });
      if (twin != second.end() && group != "position") {
        differences.push_back({group + " difference", s.name, s.unit, twin->values, s.joint});
        for (std::size_t i = 0; i < s.values.size(); ++i) differences.back().values[i] -= s.values[i];
      }
      out.push_back(std::move(s));
      if (twin == second.end()) continue;
      out.push_back(std::move(*twin));
      second.erase(twin);
    }
    for (ReportSeries& s : second)  // joint forces that the first run has none of
      if (s.group == group) out.push_back(std::move(s));
    std::erase_if(second, [&](const auto& s) { return s.group == group || s.group.empty(); });
    for (ReportSeries& s : differences) out.push_back(std::move(s));
  }
  return out;
}

}  // namespace

Report compare_recordings(const NamedRecording& first, const NamedRecording& second, const Model& model,
                          std::span<const LinkShapes> shapes, std::size_t most_samples) {
  check_match(first, second);
  Report report = report_of(first.recording, model, shapes, most_samples);
  const std::vector<double>& times = report.times;
  const double begin = second.recording.row(0)[0], end = second.recording.row(second.recording.size() - 1)[0];
  if (end < times.front() || begin > times.back())
    throw ArgumentError(
        fmt::format("compare: {} is from {} to {} s, {} from {} to {} s: they have no time in common",
                    first.name, times.front(), times.back(), second.name, begin, end));
  Resampler one(first.recording, model, first.name), other(second.recording, model, second.name);
  const Recording a = one.at(times), b = other.at(times);
  Report beside = report_of(b, model, shapes, times.size());
  std::vector<ReportSeries> position = way_between(model, one, a, b);
  for (auto* series : {&beside.series, &position})
    for (ReportSeries& s : *series)
      for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i] < begin || times[i] > end) s.values[i] = nothing;
  for (ReportSeries& s : beside.series) s.compared = true;
  for (std::size_t i = 0; i < beside.links.size(); ++i) {
    beside.links[i].twin = static_cast<int>(i);
    report.links.push_back(std::move(beside.links[i]));
  }
  report.series = paired(std::move(report.series), std::move(beside.series), std::move(position));
  report.subtitle = fmt::format("{}; dashed, see-through: {}", first.name, second.name);
  if (begin > times.front() || end < times.back())
    report.notes.push_back(fmt::format("{} is from {} to {} s: beyond, its mechanism stays where it is.",
                                       second.name, begin, end));
  return report;
}

}  // namespace articula
