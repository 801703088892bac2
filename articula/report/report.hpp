// A recorded run as one HTML page that opens from disk without a network: plots and the moving mechanism.
//
//   Report report;
//   report.title = "A pendulum falls";
//   report.times = times;
//   add_motion(report, model, {.q = q, .v = v}, read_urdf_visuals("pendulum.urdf").links);
//   write_report(report, "pendulum.html");
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/files/shapes.hpp"
#include "articula/model/model.hpp"

namespace articula {

/// A curve: one value per sample. Curves of a group share a plot (groups appear in the order of their first
/// curve); NaN leaves a gap.
struct ReportSeries {
  std::string group, name, unit;
  std::vector<double> values;
  int joint = -1;         // in Report::joints, or -1: of the whole mechanism
  bool compared = false;  // of another run: dashed, in the colour of the group's curve of the same name
};

/// A force that is drawn as an arrow: where it acts and how large it is, world axes, for each sample; NaN
/// where there is none.
struct ReportForce {
  std::string name;
  std::vector<Vec3<double>> points, forces;
};

struct ReportLink {
  std::string name;
  std::vector<Shape> shapes;
  std::vector<float> poses;  // x y z qx qy qz qw for each sample; or once, for what does not move
  int twin = -1;             // of another run: the link here that it is; drawn see-through
};

struct ReportJoint {
  std::string name;
  JointKind kind;
  int link;           // in Report::links: the one that it moves, at whose origin it is
  Vec3<double> axis;  // in that link's axes
};

struct Report {
  std::string title, subtitle;
  std::vector<std::string> notes;  // what a reader should know, one line each
  std::vector<double> times;       // seconds, increasing
  std::vector<ReportLink> links;
  std::vector<ReportJoint> joints;
  std::vector<ReportSeries> series;
  std::vector<ReportForce> forces;
};

/// What was recorded of a model: sample after sample, nq or nv numbers each. v and tau may be empty.
struct RecordedMotion {
  std::span<const double> q, v, tau;
  std::string prefix{};  // before every name, where several mechanisms share a page ("left/")
  bool totals = true;    // curves of energies and momentum, computed here
};

/// Adds a mechanism to the page: links with their poses at every sample of `report.times`, joints, and curves
/// of coordinates ("position"), velocities and torques; with velocities also energies, momentum, and, where
/// there are no torques, the drift of the total energy. Links that `shapes` does not mention are drawn as
/// capsules. Throws ArgumentError if sizes do not match, and leaves the report as it was.
void add_motion(Report& report, const Model& model, const RecordedMotion& motion,
                std::span<const LinkShapes> shapes = {});

/// The page as text. Throws ArgumentError if curves, poses or forces do not have one value per sample, or
/// times do not increase; Error if the library was built without the page.
std::string report_html(const Report& report);
/// Writes the page to a file, whole or not at all.
void write_report(const Report& report, const std::string& path);

/// Whether the library was built with the page (Node.js was there): without it, the three functions that make
/// pages throw an Error that says so.
bool has_page();

}  // namespace articula
