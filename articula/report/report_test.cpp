#include "articula/report/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "articula/dynamics/kinematics.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/report/json_text.hpp"
#include "articula/report/link_shapes.hpp"
#include "articula/report/page.hpp"
#include "articula/report/recording_report.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Numbers packed in base 64.
template <class T>
std::vector<T> unpacked(const std::string& text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

/// What a page holds.
json data_in(const std::string& page) {
  const std::string opening = "type=\"application/json\">";
  const std::size_t from = page.find(opening) + opening.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

struct RandomRun {
  Model model;
  std::vector<double> times, q, v, tau;
};
RandomRun random_run(Rng& rng, Base base, int samples) {
  RandomOptions options;
  options.mimic = 0.2;
  RandomRun run{Model(random_spec(rng, options), {.base = base}), {}, {}, {}, {}};
  for (int i = 0; i < samples; ++i) {
    const State s = random_state(rng, run.model);
    run.times.push_back(0.1 * i);
    run.q.insert(run.q.end(), s.q.begin(), s.q.end());
    run.v.insert(run.v.end(), s.v.begin(), s.v.end());
    run.tau.insert(run.tau.end(), s.tau.begin(), s.tau.end());
  }
  return run;
}

TEST(JsonText, EscapesWhatHtmlOrUtf8WouldStumbleOn) {
  const std::string hostile = "</script><!-- \"&\\ \x01\x7f \xc3\xa9 \xff \xed\xa0\x80 \xf0\x9f\x98\x80";
  JsonText text;
  text.begin_object().entry(hostile, hostile).key("list").begin_list().value(1.5).value(NAN).null();
  const double few[] = {0.1, -INFINITY, 1e300};
  text.values(few).value(true).begin_object().end_object().end_list().end_object();
  const std::string out = text.take();
  EXPECT_EQ(out.find('<'), std::string::npos);
  EXPECT_EQ(out.find('&'), std::string::npos);
  const json read = json::parse(out);
  const std::string cleaned =
      "</script><!-- \"&\\ \x01\x7f \xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
      "\xf0\x9f\x98\x80";
  EXPECT_EQ(read.at(cleaned), cleaned);
  EXPECT_EQ(read["list"], json::parse("[1.5, null, null, [0.1, null, 1e300], true, {}]"));
}

TEST(JsonText, PackedNumbersComeBack) {
  for (int n = 0; n < 8; ++n) {
    std::vector<float> numbers;
    for (int i = 0; i < n; ++i) numbers.push_back(std::sqrt(2.f) * (i - 3));
    JsonText text;
    text.packed(std::span(numbers));
    EXPECT_EQ(unpacked<float>(json::parse(text.take())), numbers);
  }
}

TEST(Report, PosesAndTotalsAreTheLibrarys) {
  Rng rng(11);
  for (int i = 0; i < 12; ++i) {
    const RandomRun run = random_run(rng, i % 2 ? Base::free : Base::fixed, 4);
    Report report;
    report.times = run.times;
    add_motion(report, run.model, {run.q, run.v, {}, "p/"});
    const auto& links = run.model.spec().links;
    ASSERT_EQ(report.links.size(), links.size()) << "welded links too";
    Kinematics<> kinematics(run.model);
    std::map<std::string, std::vector<double>> curve;
    for (const auto& series : report.series) curve[series.group + "/" + series.name] = series.values;
    for (int s = 0; s < 4; ++s) {
      kinematics.update(std::span(run.q).subspan(s * run.model.nq(), run.model.nq()),
                        std::span(run.v).subspan(s * run.model.nv(), run.model.nv()));
      for (std::size_t k = 0; k < links.size(); ++k) {
        const auto pose = kinematics.pose(run.model.frame(links[k].name));
        const auto& poses = report.links[k].poses;
        const float* at = poses.data() + (poses.size() == 7 ? 0 : 7 * s);
        const Vec3<double> off = pose.position - Vec3<double>{at[0], at[1], at[2]};
        EXPECT_LT(dot(off, off), 1e-10) << links[k].name;
        const Mat3<double> R = rotation(Quaternion<double>{at[3], at[4], at[5], at[6]});
        for (int e = 0; e < 9; ++e) EXPECT_NEAR(numbers_of(R)[e], numbers_of(pose.rotation)[e], 1e-6);
      }
      const auto totals = kinematics.totals();
      EXPECT_EQ(curve.at("energy/p/kinetic")[s], totals.kinetic);
      EXPECT_EQ(curve.at("energy/p/total")[s], totals.kinetic + totals.potential);
      EXPECT_EQ(curve.at("linear momentum/p/z")[s], totals.momentum.v.z);
    }
    std::size_t positions = 0;
    for (const auto& series : report.series) positions += series.group == "position";
    EXPECT_EQ(positions, static_cast<std::size_t>(run.model.nq()));
    for (const auto& joint : report.joints) EXPECT_EQ(report.links[joint.link].name.substr(0, 2), "p/");
  }
}

TEST(Report, RecordingsBecomePages) {
  Rng rng(21);
  const Model model(random_spec(rng), {.base = Base::free});
  Simulator simulator(model);
  simulator.q = random_state(rng, model).q;
  Recorder recorder(simulator);
  Recording recording;
  recording.columns = recorder.columns();
  recording.about = {{"integrator", "rk4"}};
  std::vector<double> row(recording.columns.size());
  for (int i = 0; i <= 100; ++i) {
    if (i > 0) simulator.step(1e-3);
    recorder.row(row);
    recording.numbers.insert(recording.numbers.end(), row.begin(), row.end());
  }
  const Report report = report_of(recording, model);
  EXPECT_EQ(report.subtitle, "rk4");
  EXPECT_EQ(report.times, recording.values(0));
  EXPECT_TRUE(report.notes.empty());
  std::map<std::string, std::vector<double>> curve;
  for (const auto& series : report.series) curve[series.group + "/" + series.name] = series.values;
  EXPECT_EQ(curve.at("energy/total"), recording.values(recording.find("total_energy")));
  EXPECT_EQ(curve.at("drift/energy change"), recording.values(recording.find("energy_change")));
  EXPECT_EQ(curve.at("linear momentum/z"), recording.values(recording.find("linear_momentum.z")));
  for (const auto& series : report.series) EXPECT_NE(series.group, "torque") << "nothing drives it";
  if (has_page()) {
    EXPECT_NO_THROW(report_html(report));
  }
  // Thinned: the first row, the last, and few between.
  const Report thin = report_of(recording, model, {}, 10);
  EXPECT_LE(thin.times.size(), 11u);
  EXPECT_EQ(thin.times.front(), 0);
  EXPECT_EQ(thin.times.back(), report.times.back());
  EXPECT_EQ(thin.notes.size(), 1u);
  recording.columns[1].name = "other";
  EXPECT_THROW(report_of(recording, model), ArgumentError);
}

TEST(Report, WrongSizesAreRefusedAndNothingIsAdded) {
  Rng rng(3);
  const RandomRun run = random_run(rng, Base::fixed, 3);
  Report report;
  report.times = {0, 1, 2};
  const auto half = std::span(run.q).first(run.q.size() - 1);
  EXPECT_THROW(add_motion(report, run.model, {half, run.v, run.tau}), ArgumentError);
  EXPECT_THROW(add_motion(report, run.model, {run.q, std::span(run.v).first(1), {}}), ArgumentError);
  EXPECT_THROW(add_motion(report, run.model, {run.q, {}, std::span(run.tau).first(1)}), ArgumentError);
  EXPECT_TRUE(report.links.empty() && report.series.empty() && report.joints.empty());
}

TEST(Report, ImpossibleReportsAreRefused) {
  Report sound;
  sound.times = {0, 1};
  sound.links.push_back({"a", {}, std::vector<float>(14)});
  const auto refused = [&](auto change) {
    Report report = sound;
    change(report);
    EXPECT_THROW(report_html(report), ArgumentError);
  };
  refused([](Report& r) { r.times = {0, 0}; });
  refused([](Report& r) { r.times = {1, 0}; });
  refused([](Report& r) { r.times[1] = NAN; });
  refused([](Report& r) { r.series.push_back({"g", "n", "m", {1}}); });
  refused([](Report& r) { r.links[0].poses.pop_back(); });
  refused([](Report& r) { r.joints.push_back({"j", JointKind::revolute, 1, {1, 0, 0}}); });
  refused([](Report& r) { r.forces.push_back({"f", {{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}}}); });
}

TEST(Report, ThePageHoldsEverything) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string hostile = "</script><script>alert(1)</script><!--";
  Report report;
  report.title = hostile;
  report.notes = {hostile};
  report.times = {0, 0.5};
  auto mesh = std::make_shared<TriangleMesh>(TriangleMesh{hostile, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}});
  Shape shape;
  shape.kind = ShapeKind::mesh;
  shape.mesh = mesh;
  report.links.push_back({hostile, {shape, shape}, std::vector<float>(14, 0.5f)});
  report.links.push_back({"still", {}, std::vector<float>(7)});
  report.joints.push_back({hostile, JointKind::prismatic, 0, {0, 0, 1}});
  report.series.push_back({"drift", hostile, "J", {1e-17, -2}, 0});
  report.forces.push_back({"contact", {{1, 2, 3}, {4, 5, 6}}, {{NAN, 0, 0}, {0, 0, 9}}});
  const std::string page = report_html(report);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("@ARTICULA_DATA@"), std::string::npos);
  const json data = data_in(page);
  EXPECT_EQ(data["title"], hostile);
  EXPECT_EQ(data["meshes"].size(), 1u) << "shared meshes are written once";
  EXPECT_EQ(unpacked<std::uint32_t>(data["meshes"][0]["corners"]), mesh->corners);
  EXPECT_EQ(unpacked<double>(data["series"][0]["values"]), report.series[0].values);
  EXPECT_EQ(unpacked<float>(data["links"][0]["poses"]), report.links[0].poses);
  EXPECT_EQ(unpacked<float>(data["forces"][0]["points"])[4], 5);
  EXPECT_TRUE(std::isnan(unpacked<float>(data["forces"][0]["forces"])[0]));
}

TEST(Report, TheTemplateNeedsNoNetworkAndIsSmall) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string page(page_template());
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_EQ(page.find("href=\"http"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Report, FilesAreWrittenWholeOrNotAtAll) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const fs::path folder = fs::temp_directory_path() / ("articula_report_" + std::to_string(getpid()));
  fs::create_directories(folder / "taken.html");
  Report report;
  report.times = {0};
  write_report(report, (folder / "a.html").string());
  EXPECT_GT(fs::file_size(folder / "a.html"), 100'000u);
  EXPECT_THROW(write_report(report, (folder / "no/such/folder.html").string()), Error);
  EXPECT_THROW(write_report(report, (folder / "taken.html").string()), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "nothing half written";
  fs::remove_all(folder);
}

TEST(LinkShapes, EveryLinkWithMassOrChildrenIsDrawn) {
  Rng rng(8);
  for (int i = 0; i < 20; ++i) {
    const ModelSpec spec = random_spec(rng);
    const auto shapes = link_shapes(spec);
    ASSERT_EQ(shapes.size(), spec.links.size());
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      EXPECT_EQ(shapes[k].link, spec.links[k].name);
      EXPECT_FALSE(shapes[k].shapes.empty());
      for (const auto& shape : shapes[k].shapes)
        EXPECT_TRUE(std::isfinite(shape.placement.R.xx) && std::isfinite(shape.length) &&
                    (shape.radius > 0 || shape.kind == ShapeKind::box));
    }
  }
  // An object that floats is the box of its inertia.
  ModelSpec object;
  object.add_link({.name = "crate", .mass = {12, {0, 0, 1}, {4 + 9, 1 + 9, 1 + 4, 0, 0, 0}}});  // sides 1 2 3
  object.add_joint({.name = "floats", .kind = JointKind::free, .parent = "world", .child = "crate"});
  const Shape crate = link_shapes(object)[0].shapes.at(0);
  EXPECT_EQ(crate.kind, ShapeKind::box);
  EXPECT_NEAR(crate.size.x * crate.size.y * crate.size.z, 6, 1e-12);
  EXPECT_NEAR(std::abs(crate.placement.R.zx), 1, 1e-12) << "its longest side stands";
  EXPECT_NEAR(crate.size.x, 3, 1e-12);
  EXPECT_EQ(crate.placement.p.z, 1);
  EXPECT_EQ(with_prefix(link_shapes(object), "left/")[0].link, "left/crate");
  // What is given stays.
  const ModelSpec chain = make_chain(3);
  Shape box;
  const std::vector<LinkShapes> given{{chain.links[1].name, {box}}};
  EXPECT_EQ(link_shapes(chain, given)[1].shapes[0].kind, ShapeKind::box);
}

}  // namespace
}  // namespace articula::testing
