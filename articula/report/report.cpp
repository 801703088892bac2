#include "articula/report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "articula/report/page.hpp"
#include "articula/report/page_json.hpp"

namespace articula {

namespace {

void check(const Report& report) {
  const std::size_t samples = report.times.size();
  for (std::size_t i = 0; i < samples; ++i)
    if (!std::isfinite(report.times[i]) || (i > 0 && !(report.times[i] > report.times[i - 1])))
      throw ArgumentError(
          fmt::format("report_html: times[{}] is {}; expected finite, increasing times", i, report.times[i]));
  const auto wrong = [&](const char* what, const std::string& name, std::size_t size) {
    throw ArgumentError(fmt::format("report_html: {} '{}' has {} values; expected {}, one a sample", what,
                                    name, size, samples));
  };
  for (const auto& s : report.series)
    if (s.values.size() != samples) wrong("series", s.name, s.values.size());
  for (const auto& f : report.forces)
    if (f.points.size() != samples || f.forces.size() != samples)
      wrong("force", f.name, f.points.size() != samples ? f.points.size() : f.forces.size());
  for (const auto& link : report.links) {
    if (link.twin < -1 || link.twin >= static_cast<int>(report.links.size()))
      throw ArgumentError(fmt::format("report_html: link '{}' is the twin of link {}; there are {}",
                                      link.name, link.twin, report.links.size()));
    if (link.poses.size() != 7 * samples && link.poses.size() != 7)
      throw ArgumentError(
          fmt::format("report_html: link '{}' has {} numbers of poses; expected 7 for each of {} "
                      "samples, or 7",
                      link.name, link.poses.size(), samples));
  }
  for (const auto& joint : report.joints)
    if (joint.link < 0 || static_cast<std::size_t>(joint.link) >= report.links.size())
      throw ArgumentError(fmt::format("report_html: joint '{}' moves link {}; there are {}", joint.name,
                                      joint.link, report.links.size()));
}

std::vector<float> packed_vectors(std::span<const Vec3<double>> vectors) {
  std::vector<float> out;
  out.reserve(3 * vectors.size());
  for (const auto& a : vectors)
    for (const double x : {a.x, a.y, a.z}) out.push_back(static_cast<float>(x));
  return out;
}

std::string data_of(const Report& report) {
  JsonText json;
  json.begin_object().entry("kind", "report").entry("title", report.title).entry("subtitle", report.subtitle);
  json.key("notes").begin_list();
  for (const auto& note : report.notes) json.value(note);
  json.end_list();
  write_mechanism(json, report.links, report.joints);
  json.key("times").packed(std::span(report.times)).key("series").begin_list();
  for (const auto& s : report.series) {
    json.begin_object().entry("group", s.group).entry("name", s.name).entry("unit", s.unit);
    json.entry("joint", s.joint).key("values").packed(std::span(s.values));
    if (s.compared) json.entry("compared", true);
    json.end_object();
  }
  json.end_list().key("forces").begin_list();
  for (const auto& f : report.forces) {
    const auto points = packed_vectors(f.points), forces = packed_vectors(f.forces);
    json.begin_object().entry("name", f.name).key("points").packed(std::span(points));
    json.key("forces").packed(std::span(forces)).end_object();
  }
  json.end_list().end_object();
  return json.take();
}

}  // namespace

std::string report_html(const Report& report) {
  check(report);
  return page_with(data_of(report));
}

void write_report(const Report& report, const std::string& path) {
  const std::string page = report_html(report);
  const std::string part = fmt::format("{}.{}.part", path, getpid());
  std::ofstream file(part, std::ios::binary);
  file << page;
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
    std::remove(part.c_str());
    throw Error(fmt::format("{}: the report cannot be written", path));
  }
}

}  // namespace articula
