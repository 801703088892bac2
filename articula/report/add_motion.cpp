#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "articula/dynamics/kinematics.hpp"
#include "articula/model/joint_kinds.hpp"
#include "articula/report/link_shapes.hpp"
#include "articula/report/page_json.hpp"

namespace articula {

namespace {

void check_size(const char* what, std::size_t size, std::size_t samples, int per_sample) {
  const std::size_t expected = samples * static_cast<std::size_t>(per_sample);
  if (size != expected)
    throw ArgumentError(fmt::format("add_motion: {} has {} numbers; expected {} samples of {}, {} in all",
                                    what, size, samples, per_sample, expected));
}

/// One curve out of a table of samples.
std::vector<double> column(std::span<const double> table, int columns, int index) {
  std::vector<double> out;
  for (std::size_t i = static_cast<std::size_t>(index); i < table.size();
       i += static_cast<std::size_t>(columns))
    out.push_back(table[i]);
  return out;
}

/// Which of the joints' own numbers a table holds.
struct JointTable {
  const char* group;
  std::span<const double> numbers;
  int columns;
  int Joint::*index;
  int Joint::*count;
  std::string (*name)(const Joint&, int);
  std::string_view (*unit)(const Joint&, int);
};

void add_joint_curves(Report& report, const Model& model, int first_joint, const std::string& prefix,
                      const JointTable& table, bool skip_zero_free = false) {
  if (table.numbers.empty()) return;
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    for (int k = 0; k < joint.*table.count; ++k) {
      auto values = column(table.numbers, table.columns, joint.*table.index + k);
      const bool zero = std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
      if (skip_zero_free && zero && joint.kind == JointKind::free)
        continue;  // nothing pushes a floating base
      report.series.push_back({table.group, prefix + table.name(joint, k), std::string(table.unit(joint, k)),
                               std::move(values), first_joint + static_cast<int>(j)});
    }
  }
}

/// Energies and momentum at each sample, as they come.
struct TotalCurves {
  std::vector<double> kinetic, potential, total, drift;
  std::vector<double> linear[3], angular[3];

  void add(const Totals<double>& t) {
    kinetic.push_back(t.kinetic);
    potential.push_back(t.potential);
    total.push_back(t.kinetic + t.potential);
    drift.push_back(total.back() - total.front());
    const auto &p = t.momentum.v, &h = t.momentum.w;
    const double l[] = {p.x, p.y, p.z}, a[] = {h.x, h.y, h.z};
    for (int i = 0; i < 3; ++i) linear[i].push_back(l[i]), angular[i].push_back(a[i]);
  }

  void add_to(Report& report, const std::string& prefix, bool undriven) {
    const auto add = [&](const char* group, const std::string& name, const char* unit,
                         std::vector<double>& values) {
      report.series.push_back({group, prefix + name, unit, std::move(values)});
    };
    add("energy", "kinetic", "J", kinetic);
    add("energy", "potential", "J", potential);
    add("energy", "total", "J", total);
    for (int i = 0; i < 3; ++i) add("linear momentum", std::string(1, "xyz"[i]), "kg m/s", linear[i]);
    for (int i = 0; i < 3; ++i) add("angular momentum", std::string(1, "xyz"[i]), "kg m²/s", angular[i]);
    if (undriven) add("drift", "total energy − first", "J", drift);
  }
};

}  // namespace

void append_mechanism(const Model& model, std::span<const LinkShapes> shapes, const std::string& prefix,
                      std::vector<ReportLink>& links, std::vector<ReportJoint>& joints) {
  const ModelSpec& spec = model.spec();
  std::vector<LinkShapes> drawn = link_shapes(spec, shapes);
  std::unordered_map<std::string_view, int> index;
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    index.emplace(spec.links[i].name, static_cast<int>(links.size()));
    links.push_back({prefix + spec.links[i].name, std::move(drawn[i].shapes), {}});
  }
  for (const Joint& joint : model.joints())
    joints.push_back(
        {prefix + joint.name, joint.kind, index.at(model.bodies()[joint.body].name), joint.axis});
}

void add_motion(Report& report, const Model& model, const RecordedMotion& motion,
                std::span<const LinkShapes> shapes) {
  const std::size_t samples = report.times.size();
  check_size("q", motion.q.size(), samples, model.nq());
  if (!motion.v.empty()) check_size("v", motion.v.size(), samples, model.nv());
  if (!motion.tau.empty()) check_size("tau", motion.tau.size(), samples, model.nv());

  Report added = report;  // nothing is half added if the kinematics refuses a sample
  const int first_joint = static_cast<int>(added.joints.size());
  const std::size_t first_link = added.links.size();
  append_mechanism(model, shapes, motion.prefix, added.links, added.joints);

  std::unordered_map<std::string_view, int> frames;
  for (std::size_t i = 0; i < model.frames().size(); ++i)
    frames.emplace(model.frames()[i].name, static_cast<int>(i));
  std::vector<int> frame_of;  // each link's
  for (const auto& link : model.spec().links) frame_of.push_back(frames.at(link.name));

  Kinematics<> kinematics(model);
  const bool moves = !motion.v.empty() && motion.totals;
  TotalCurves curves;
  for (std::size_t s = 0; s < samples; ++s) {
    const auto q = motion.q.subspan(s * model.nq(), model.nq());
    if (moves) {
      kinematics.update(q, motion.v.subspan(s * model.nv(), model.nv()));
      curves.add(kinematics.totals());
    } else {
      kinematics.update(q);
    }
    for (std::size_t i = 0; i < frame_of.size(); ++i) {
      if (s > 0 && model.frames()[frame_of[i]].body < 0) continue;  // it stays where it is
      const auto pose = kinematics.pose(frame_of[i]);
      append_pose(pose.rotation, pose.position, added.links[first_link + i].poses);
    }
  }

  const auto unit_q = [](const Joint& j, int k) { return coordinate_unit(j.kind, k); };
  const auto unit_v = [](const Joint& j, int k) -> std::string_view {
    return is_angular(j.kind, k) ? "rad/s" : "m/s";
  };
  const auto unit_tau = [](const Joint& j, int k) -> std::string_view {
    return is_angular(j.kind, k) ? "N m" : "N";
  };
  const auto add = [&](const JointTable& table, bool skip_zero_free = false) {
    add_joint_curves(added, model, first_joint, motion.prefix, table, skip_zero_free);
  };
  add({"position", motion.q, model.nq(), &Joint::q_index, &Joint::nq, coordinate_name, unit_q});
  add({"velocity", motion.v, model.nv(), &Joint::v_index, &Joint::nv, velocity_name, unit_v});
  add({"torque", motion.tau, model.nv(), &Joint::v_index, &Joint::nv, velocity_name, unit_tau}, true);
  if (moves && samples > 0) curves.add_to(added, motion.prefix, motion.tau.empty());
  report = std::move(added);
}

}  // namespace articula
