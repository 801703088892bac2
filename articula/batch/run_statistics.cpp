#include "articula/batch/run_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <system_error>

#include "articula/error.hpp"

namespace articula {

// --- quantiles ------------------------------------------------------------------------------------------------------
namespace {
constexpr double compression = 400;
/// k1: a cluster may reach from q to where this is larger by one.
double scale(double q) {
  return compression / (2 * std::numbers::pi) * std::asin(std::clamp(2 * q - 1, -1.0, 1.0));
}
}  // namespace

QuantileDigest::QuantileDigest(std::vector<double> values) : weight_(double(values.size())) {
  std::ranges::sort(values);
  for (const double x : values) clusters_.push_back({x, 1, x, x});
  compress();
}
QuantileDigest QuantileDigest::of(std::vector<Cluster> clusters) {
  QuantileDigest out;
  out.clusters_ = std::move(clusters);
  for (const Cluster& c : out.clusters_) out.weight_ += c.weight;
  return out;
}

void QuantileDigest::join(const QuantileDigest& later) {
  std::vector<Cluster> all;
  all.reserve(clusters_.size() + later.clusters_.size());
  std::ranges::merge(clusters_, later.clusters_, std::back_inserter(all),
                     [](const Cluster& a, const Cluster& b) { return a.mean < b.mean; });
  clusters_ = std::move(all);
  weight_ += later.weight_;
  compress();
}

void QuantileDigest::compress() {
  if (double(clusters_.size()) <= compression) return;
  std::vector<Cluster> out;
  double before = 0, limit = 0;
  for (const Cluster& c : clusters_) {
    if (!out.empty() && scale((before + out.back().weight + c.weight) / weight_) <= limit) {
      Cluster& to = out.back();
      to.weight += c.weight;
      to.mean += (c.mean - to.mean) * c.weight / to.weight;
      to.least = std::min(to.least, c.least), to.largest = std::max(to.largest, c.largest);
      continue;
    }
    if (!out.empty()) before += out.back().weight;
    limit = scale(before / weight_) + 1;
    out.push_back(c);
  }
  // Rounding may have turned two neighbours.
  std::ranges::stable_sort(out, {}, &Cluster::mean);
  clusters_ = std::move(out);
}

QuantileDigest::Quantile QuantileDigest::at(double q) const {
  if (clusters_.empty()) return {NAN, NAN, NAN};
  // The value of rank ceil(q n), counted from one.
  const double rank = std::max(1.0, std::ceil(q * weight_));
  Quantile out{};
  // Straight lines between the clusters' middles.
  double before = 0;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& c = clusters_[i];
    const double middle = before + (c.weight + 1) / 2;
    if (rank <= middle || i + 1 == clusters_.size()) {
      const bool past = rank > middle;
      const double low = past ? middle : i > 0 ? before + (1 - clusters_[i - 1].weight) / 2 : 1;
      const double high = past ? before + c.weight : middle;
      const double at_low = past ? c.mean : i > 0 ? clusters_[i - 1].mean : c.least;
      const double at_high = past ? c.largest : c.mean;
      out.value = high > low ? at_low + (at_high - at_low) * (rank - low) / (high - low) : at_high;
      break;
    }
    before += c.weight;
  }
  // At least as many values as clusters that end there are at or below an end; at most those that begin below it.
  auto ends = clusters_, begins = clusters_;
  std::ranges::sort(ends, {}, &Cluster::largest);
  std::ranges::sort(begins, {}, &Cluster::least);
  double sum = 0;
  for (const Cluster& c : ends)
    if ((sum += c.weight) >= rank) {
      out.largest = c.largest;
      break;
    }
  sum = 0;
  for (const Cluster& c : begins) {
    out.least = c.least;
    if ((sum += c.weight) >= rank) break;
  }
  out.value = std::clamp(out.value, out.least, out.largest);
  return out;
}

// --- histograms -----------------------------------------------------------------------------------------------------
double DyadicHistogram::width() const { return counts_.empty() ? 0 : std::ldexp(1.0, exponent); }

void DyadicHistogram::widen(int to) {
  while (exponent < to) {
    const std::int64_t first = first_ >> 1;
    std::vector<std::uint64_t> wider(
        std::size_t(((first_ + std::int64_t(counts_.size()) - 1) >> 1) - first + 1), 0);
    for (std::size_t i = 0; i < counts_.size(); ++i)
      wider[std::size_t(((first_ + std::int64_t(i)) >> 1) - first)] += counts_[i];
    counts_ = std::move(wider), first_ = first;
    ++exponent;
  }
}
void DyadicHistogram::cover(std::int64_t low, std::int64_t high) {
  const std::int64_t begin = std::min(low, first_),
                     end = std::max(high, first_ + std::int64_t(counts_.size()) - 1);
  counts_.insert(counts_.begin(), std::size_t(first_ - begin), 0);
  first_ = begin;
  counts_.resize(std::size_t(end - begin + 1));
}
void DyadicHistogram::add(double x) {
  if (!counts_.empty()) {  // most values are among those that are there
    const double place = std::floor(std::ldexp(x, -exponent)) - double(first_);
    if (place >= 0 && place < double(counts_.size())) return void(++counts_[std::size_t(place)]);
  }
  DyadicHistogram one;
  // The finest bins in which multiples are whole numbers: those of the last bit.
  one.exponent = std::max(x == 0 ? -1000 : std::ilogb(x) - 52, -1000);
  one.first_ = std::int64_t(std::floor(std::ldexp(x, -one.exponent)));
  one.counts_ = {1};
  join(one);
}
void DyadicHistogram::join(const DyadicHistogram& other) {
  if (other.counts_.empty()) return;
  if (counts_.empty()) return void(*this = other);
  DyadicHistogram second = other;
  for (int to = std::max(exponent, second.exponent);; ++to) {
    widen(to), second.widen(to);
    const std::int64_t low = std::min(first_, second.first_),
                       high = std::max(first_ + std::int64_t(counts_.size()),
                                       second.first_ + std::int64_t(second.counts_.size()));
    if (high - low <= most) break;
  }
  cover(second.first_, second.first_ + std::int64_t(second.counts_.size()) - 1);
  for (std::size_t i = 0; i < second.counts_.size(); ++i)
    counts_[std::size_t(second.first_ - first_) + i] += second.counts_[i];
}

// --- all columns ----------------------------------------------------------------------------------------------------
RunStatistics::RunStatistics(std::size_t columns)
    : columns_(columns),
      mean_(columns),
      moments_(columns * (columns + 1) / 2),
      digests_(columns),
      histograms_(columns) {}

RunStatistics::RunStatistics(std::size_t columns, std::span<const double> rows, std::uint64_t failed)
    : RunStatistics(columns) {
  std::vector<std::span<const double>> good;
  for (std::size_t at = 0; columns > 0 && at + columns <= rows.size(); at += columns) {
    const auto row = rows.subspan(at, columns);
    if (std::ranges::all_of(row, [](double x) { return std::isfinite(x); }))
      good.push_back(row);
    else
      ++failed;
  }
  count_ = good.size(), failed_ = failed;
  if (good.empty()) return;
  for (const auto row : good)
    for (std::size_t i = 0; i < columns; ++i) mean_[i] += row[i];
  for (double& x : mean_) x /= double(count_);
  std::vector<double> difference(columns), values(count_);
  for (const auto row : good) {
    for (std::size_t i = 0; i < columns; ++i) difference[i] = row[i] - mean_[i];
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j <= i; ++j) moment(i, j) += difference[i] * difference[j];
  }
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t k = 0; k < good.size(); ++k) values[k] = good[k][i];
    for (const double x : values) histograms_[i].add(x);
    digests_[i] = QuantileDigest(values);
  }
}

/// Chan, Golub and LeVeque: the moments of two samples as one.
void RunStatistics::join(const RunStatistics& later) {
  failed_ += later.failed_;
  if (later.count_ == 0) return;
  const double mine = double(count_), theirs = double(later.count_), all = mine + theirs;
  std::vector<double> difference(columns_);
  for (std::size_t i = 0; i < columns_; ++i) difference[i] = later.mean_[i] - mean_[i];
  for (std::size_t i = 0; i < columns_; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      moment(i, j) +=
          later.moments_[i * (i + 1) / 2 + j] + difference[i] * difference[j] * (mine * theirs / all);
    mean_[i] += difference[i] * (theirs / all);
    digests_[i].join(later.digests_[i]);
    histograms_[i].join(later.histograms_[i]);
  }
  count_ += later.count_;
}

double RunStatistics::covariance(std::size_t i, std::size_t j) const {
  if (i < j) std::swap(i, j);
  return count_ > 1 ? moments_[i * (i + 1) / 2 + j] / double(count_ - 1) : 0;
}

std::string RunStatistics::text() const {
  std::string out = fmt::format("{} {} {}\n", columns_, count_, failed_);
  for (const auto* list : {&mean_, &moments_}) out += fmt::format("{}\n", fmt::join(*list, " "));
  for (std::size_t i = 0; i < columns_; ++i) {
    const DyadicHistogram& h = histograms_[i];
    out += fmt::format("{} {} {} {}\n", h.exponent, h.first_, h.counts_.size(), fmt::join(h.counts_, " "));
    out += fmt::format("{}", digests_[i].clusters().size());
    for (const auto& c : digests_[i].clusters()) {
      out += fmt::format(" {} {}", c.weight, c.mean);
      if (c.weight > 1) out += fmt::format(" {} {}", c.least, c.largest);
    }
    out += '\n';
  }
  return out;
}

namespace {

[[noreturn]] void damaged() { throw ArgumentError("statistics of a block are damaged"); }
bool is_sound(const QuantileDigest::Cluster& c) {
  return std::isfinite(c.weight) && c.weight >= 1 && std::isfinite(c.mean) && c.least <= c.largest &&
         std::isfinite(c.least) && std::isfinite(c.largest);
}
/// Such that joining it with others cannot overflow.
bool is_sound(const DyadicHistogram& h) {
  return std::abs(h.exponent) <= 1100 && std::abs(double(h.first_)) <= 0x1p60;
}

}  // namespace

RunStatistics RunStatistics::of(std::string_view text, std::size_t columns) {
  const char *at = text.data(), *const last = at + text.size();
  const auto skip = [&] {
    while (at != last && (*at == ' ' || *at == '\n')) ++at;
  };
  const auto number = [&](auto& x) {
    skip();
    const auto [end, error] = std::from_chars(at, last, x);
    if (error != std::errc{} || (end != last && *end != ' ' && *end != '\n')) damaged();
    at = end;
  };
  const auto size = [&](std::size_t most) {
    std::size_t n = 0;
    number(n);
    if (n > most) damaged();
    return n;
  };
  // No more memory than the text has words for.
  if (size(text.size()) != columns || columns * (columns + 1) / 2 > text.size()) damaged();
  RunStatistics out(columns);
  number(out.count_), number(out.failed_);
  for (auto* list : {&out.mean_, &out.moments_})
    for (double& x : *list) number(x);
  for (std::size_t i = 0; i < out.columns_; ++i) {
    DyadicHistogram& h = out.histograms_[i];
    number(h.exponent), number(h.first_);
    h.counts_.resize(size(DyadicHistogram::most));
    for (auto& n : h.counts_) number(n);
    if (!is_sound(h)) damaged();
    std::vector<QuantileDigest::Cluster> clusters(size(text.size()));
    for (auto& c : clusters) {
      number(c.weight), number(c.mean);
      c.least = c.largest = c.mean;
      if (c.weight > 1) number(c.least), number(c.largest);
      if (!is_sound(c)) damaged();
    }
    out.digests_[i] = QuantileDigest::of(std::move(clusters));
  }
  if (skip(); at != last) damaged();
  return out;
}

std::string RunStatistics::describe(std::span<const std::string> columns) const {
  nlohmann::ordered_json out{
      {"runs", count_ + failed_}, {"failed", failed_}, {"columns", nlohmann::ordered_json::object()}};
  for (std::size_t i = 0; i < columns_; ++i) {
    nlohmann::ordered_json quantiles = nlohmann::ordered_json::object();
    for (const char* q :
         {"0", "0.001", "0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99", "0.999", "1"}) {
      const auto found = digests_[i].at(std::strtod(q, nullptr));
      quantiles[q] = {found.value, found.least, found.largest};
    }
    const DyadicHistogram& h = histograms_[i];
    out["columns"][columns[i]] = {
        {"mean", mean_[i]},
        {"deviation", std::sqrt(covariance(i, i))},
        {"quantiles", quantiles},
        {"histogram", {{"begin", h.begin()}, {"width", h.width()}, {"counts", h.counts_}}}};
  }
  auto& matrix = out["covariance"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < columns_; ++i) {
    std::vector<double> row(columns_);
    for (std::size_t j = 0; j < columns_; ++j) row[j] = covariance(i, j);
    matrix.push_back(row);
  }
  // A line for each column and each row of the matrix.
  std::string text =
      fmt::format("{{\"runs\": {}, \"failed\": {},\n \"columns\": {{", count_ + failed_, failed_);
  const auto dump = [](const auto& x) {
    return x.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  const char* comma = "\n  ";
  for (const auto& [name, entry] : out["columns"].items())
    text += comma + dump(nlohmann::ordered_json(name)) + ": " + dump(entry), comma = ",\n  ";
  text += "},\n \"covariance\": [";
  comma = "\n  ";
  for (const auto& row : matrix) text += comma + dump(row), comma = ",\n  ";
  return text + "]}\n";
}

// --- the tree -------------------------------------------------------------------------------------------------------
void StatisticsTree::add(RunStatistics part, std::uint64_t leaves) {
  // As in counting in binary: two parts of one size become one of twice the size.
  while (!parts_.empty() && parts_.back().second == leaves) {
    parts_.back().first.join(part);
    part = std::move(parts_.back().first);
    parts_.pop_back();
    leaves *= 2;
  }
  parts_.emplace_back(std::move(part), leaves);
}
RunStatistics StatisticsTree::result(std::size_t columns) {
  if (parts_.empty()) return RunStatistics(columns);
  // What is left has sizes that fall: the last ones first, as they would be joined within a larger part.
  RunStatistics out = std::move(parts_.back().first);
  parts_.pop_back();
  for (; !parts_.empty(); parts_.pop_back()) {
    parts_.back().first.join(out);
    out = std::move(parts_.back().first);
  }
  return out;
}

}  // namespace articula
