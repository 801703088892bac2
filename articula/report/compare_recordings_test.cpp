#include "articula/report/compare_recordings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/rotation.hpp"

namespace articula {
namespace {

/// A body that floats and has an arm of one joint, at these times, the joint at f(t) and the body turned by g(t) about z.
template <class F, class G>
Recording recorded(const Model& model, const std::vector<double>& times, F f, G g) {
  Recording out;
  out.columns = {{"time", "s"}};
  for (const auto& columns : {coordinate_columns(model), velocity_columns(model)})
    out.columns.insert(out.columns.end(), columns.begin(), columns.end());
  out.columns.push_back({"kinetic_energy", "J"});
  for (const double t : times) {
    std::vector<double> q(model.nq()), v(model.nv());
    neutral(model, q);
    q[2] = std::sin(g(t) / 2), q[3] = std::cos(g(t) / 2);
    q[7] = f(t), v[6] = 1;
    out.numbers.push_back(t);
    out.numbers.insert(out.numbers.end(), q.begin(), q.end());
    out.numbers.insert(out.numbers.end(), v.begin(), v.end());
    out.numbers.push_back(2 * f(t));
  }
  return out;
}

Model floating_arm() { return Model(make_chain(1, 3), {.base = Base::free}); }

const ReportSeries& curve(const Report& report, const std::string& group, const std::string& name,
                          bool compared) {
  for (const ReportSeries& s : report.series)
    if (s.group == group && s.name == name && s.compared == compared) return s;
  ADD_FAILURE() << group << " " << name;
  return report.series.at(0);
}

TEST(CompareRecordings, InterpolatesOnTheManifoldAndSubtracts) {
  const Model model = floating_arm();
  const auto f = [](double t) { return 0.5 * t; };
  const auto zero = [](double) { return 0.0; };
  const Recording first = recorded(model, {0, 0.25, 0.5, 0.75, 1, 1.25}, f, zero);
  // Half as often, until 1 s; the quaternion turns evenly, once with the other sign.
  Recording second = recorded(
      model, {0, 0.5, 1}, [](double t) { return 2 * t; }, [](double t) { return 2 * t; });
  for (int i = 1; i <= 4; ++i) second.numbers[second.columns.size() + i] *= -1;
  const Report report = compare_recordings({first, "a.csv"}, {second, "b.csv"}, model);
  ASSERT_EQ(report.times.size(), 6u);
  const Joint& joint = model.joints()[1];
  const auto& there = curve(report, "position", joint.name, true).values;
  const auto& less = curve(report, "position difference", joint.name, false).values;
  const auto& turn = curve(report, "position difference", model.joints()[0].name + " wz", false);
  const auto& energy = curve(report, "energy difference", "kinetic", false).values;
  EXPECT_EQ(turn.unit, "rad");
  EXPECT_EQ(turn.joint, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    const double t = report.times[i];
    EXPECT_NEAR(there[i], 2 * t, 1e-15);
    EXPECT_NEAR(less[i], 1.5 * t, 1e-15);
    EXPECT_NEAR(turn.values[i], 2 * t, 1e-12) << "the shorter way, at constant speed";
    EXPECT_NEAR(energy[i], 3 * t, 1e-14);
  }
  EXPECT_TRUE(std::isnan(there[5]) && std::isnan(less[5]) && std::isnan(energy[5])) << "the second has ended";
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("b.csv"), std::string::npos);

  // Twins of all links, where the library has them at the second's coordinates, and staying at the end.
  const std::size_t links = report.links.size() / 2;
  for (std::size_t i = 0; i < links; ++i) {
    EXPECT_EQ(report.links[i].twin, -1);
    EXPECT_EQ(report.links[links + i].twin, static_cast<int>(i));
    const auto& poses = report.links[links + i].poses;
    if (poses.size() > 7)
      for (int k = 0; k < 7; ++k) EXPECT_EQ(poses[5 * 7 + k], poses[4 * 7 + k]);
  }
  const float z = report.links[links].poses[7 + 5], w = report.links[links].poses[7 + 6];
  EXPECT_NEAR(2 * std::atan2(z, w), 0.5, 1e-6) << "at 0.25 s, between two rows";

  // Each curve is followed by the one that it is compared with; differences come after their group.
  for (std::size_t i = 1; i < report.series.size(); ++i)
    if (report.series[i].compared) EXPECT_EQ(report.series[i].name, report.series[i - 1].name);
  EXPECT_EQ(report.subtitle, "a.csv; dashed, see-through: b.csv");
  if (has_page()) EXPECT_NE(report_html(report).find("\"twin\":0"), std::string::npos);
}

TEST(CompareRecordings, ARecordingDiffersByNothingFromItself) {
  const Model model = floating_arm();
  const auto f = [](double t) { return std::sin(t); };
  const Recording run = recorded(model, {0, 0.1, 0.2}, f, f);
  for (const ReportSeries& s : compare_recordings({run, "a"}, {run, "b"}, model).series)
    if (s.group.ends_with(" difference"))
      for (const double x : s.values) EXPECT_NEAR(x, 0, 1e-15) << s.group;
}

/// What a call complains of.
std::string complaint(const Recording& a, const Recording& b, const Model& model) {
  try {
    compare_recordings({a, "a.csv"}, {b, "b.csv"}, model);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(CompareRecordings, WhatDoesNotMatchIsSaid) {
  const Model model = floating_arm();
  const auto zero = [](double) { return 0.0; };
  const Recording a = recorded(model, {0, 1}, zero, zero);
  const auto says = [&](const Recording& b, const char* what) {
    const std::string told = complaint(a, b, model), back = complaint(b, a, model);
    EXPECT_NE(told.find(what), std::string::npos) << told;
    EXPECT_NE(back.find(what), std::string::npos) << back;
  };
  Recording b = a;
  b.columns.back().name = "something";
  says(b, "columns differ");
  b = a;
  b.columns.back().name = "next_step";
  says(b, "columns differ");
  b = a;
  b.about = {{"model", "other"}};
  EXPECT_EQ(complaint(a, b, model), "nothing") << "one does not say";
  Recording c = a;
  c.about = {{"model", "this"}};
  EXPECT_NE(complaint(c, b, model).find("different models: model 'this' in a.csv, 'other' in b.csv"),
            std::string::npos);
  says(recorded(model, {2, 3}, zero, zero), "no time in common");
  says(recorded(model, {0, 0}, zero, zero), "expected increasing");
  says(recorded(model, {0, NAN}, zero, zero), "expected increasing");
  says(recorded(model, {}, zero, zero), "no rows");
  const Model other(make_chain(3, 1));
  EXPECT_NE(complaint(a, a, other).find("no column"), std::string::npos);
}

}  // namespace
}  // namespace articula
