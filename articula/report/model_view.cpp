#include "articula/report/model_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/report/page.hpp"
#include "articula/report/page_json.hpp"
#include "articula/spatial/dense.hpp"

namespace articula {

namespace {

constexpr int largest_matrix = 400;  // freedoms; beyond, the heat map would be megabytes for every step
constexpr double pi = std::numbers::pi;

/// The first frame of the longest branch's last body that is a link.
int tip_frame(const Model& model) {
  std::vector<int> depth(model.bodies().size());
  int deepest = -1;
  for (std::size_t k = 0; k < depth.size(); ++k) {
    const int inboard = model.bodies()[k].inboard;
    depth[k] = inboard < 0 ? 1 : depth[inboard] + 1;
    if (deepest < 0 || depth[k] > depth[deepest]) deepest = static_cast<int>(k);
  }
  int found = 0;
  double furthest = -1;
  for (std::size_t i = 0; i < model.frames().size(); ++i) {
    const Frame& frame = model.frames()[i];
    const double distance = std::sqrt(dot(frame.placement.p, frame.placement.p));
    if (frame.body == deepest && distance > furthest) found = static_cast<int>(i), furthest = distance;
  }
  return found;
}

void add_sliders(std::vector<Slider>& out, int index, const Joint& joint) {
  const auto add = [&](const char* label, const char* unit, double lower, double upper) {
    out.push_back({index, label, unit, lower, upper, std::clamp(0.0, lower, upper)});
  };
  const auto add_limited = [&](const char* label, const char* unit, double range) {
    const double lower = joint.limits.lower[0], upper = joint.limits.upper[0];
    const bool l = std::isfinite(lower), u = std::isfinite(upper);
    add(label, unit,
        l   ? lower
        : u ? std::min(-range, upper - range)
            : -range,
        u   ? upper
        : l ? std::max(range, lower + range)
            : range);
  };
  const auto add_angles = [&] {
    add("roll", "rad", -pi, pi);
    add("pitch", "rad", -pi / 2, pi / 2);
    add("yaw", "rad", -pi, pi);
  };
  switch (joint.kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
    case JointKind::continuous:
    case JointKind::helical:
      return add_limited("angle", "rad", pi);
    case JointKind::prismatic:
      return add_limited("shift", "m", 1);
    case JointKind::cylindrical:
      add("angle", "rad", -pi, pi);
      return add("shift", "m", -1, 1);
    case JointKind::universal:
      add("first angle", "rad", -pi, pi);
      return add("second angle", "rad", -pi, pi);
    case JointKind::planar:
      add("angle", "rad", -pi, pi);
      add("x", "m", -2, 2);
      return add("y", "m", -2, 2);
    case JointKind::spherical:
      return add_angles();
    case JointKind::free:
      add_angles();
      for (const char* label : {"x", "y", "z"}) add(label, "m", -2, 2);
  }
}

}  // namespace

std::vector<Slider> sliders_of(const Model& model) {
  std::vector<Slider> out;
  for (std::size_t j = 0; j < model.joints().size(); ++j)
    if (model.joints()[j].nq > 0) add_sliders(out, static_cast<int>(j), model.joints()[j]);
  return out;
}

std::vector<double> configuration_of(const Model& model, std::span<const double> values) {
  std::size_t expected = 0;
  for (const Joint& joint : model.joints()) expected += joint.nq > 0 ? nv_of(joint.kind) : 0;
  if (values.size() != expected)
    throw ArgumentError(
        fmt::format("configuration_of: {} values; expected {}, one a slider", values.size(), expected));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw ArgumentError(fmt::format("configuration_of: values[{}] is not finite", i));
  std::vector<double> q(model.nq());
  const double* value = values.data();
  for (const Joint& joint : model.joints()) {
    if (joint.nq == 0) continue;
    double* at = q.data() + joint.q_index;
    if (joint.kind == JointKind::spherical || joint.kind == JointKind::free) {
      const auto turn = quaternion(rotation_from_rpy(value[0], value[1], value[2]));
      at[0] = turn.x, at[1] = turn.y, at[2] = turn.z, at[3] = turn.w;
      if (joint.kind == JointKind::free) std::copy_n(value + 3, 3, at + 4);
    } else {
      std::copy_n(value, joint.nq, at);
    }
    value += nv_of(joint.kind);
  }
  return q;
}

struct ModelView::Parts {
  Parts(const Model& m, std::span<const LinkShapes> shapes, std::vector<std::string> lines,
        std::function<void(std::span<double>)> fitting)
      : model(m),
        fit(std::move(fitting)),
        notes(std::move(lines)),
        sliders(sliders_of(m)),
        frame(tip_frame(m)),
        kinematics(m),
        matrix(m),
        factor(m) {
    append_mechanism(model, shapes, "", links, joints);
    std::unordered_map<std::string_view, int> frames;
    for (std::size_t i = 0; i < model.frames().size(); ++i)
      frames.emplace(model.frames()[i].name, static_cast<int>(i));
    for (const auto& link : model.spec().links) frame_of_link.push_back(frames.at(link.name));
  }

  std::vector<double> configuration(std::span<const double> values) const {
    std::vector<double> q = configuration_of(model, values);
    if (fit) fit(q);
    return q;
  }
  void check_frame(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= model.frames().size())
      throw ArgumentError(fmt::format("view: frame {}; the model has {}", index, model.frames().size()));
  }
  void write_poses(JsonText& json);
  void write_matrix(JsonText& json, std::span<const double> q);
  void write_factor(JsonText& json);
  void write_ellipsoid(JsonText& json, int index);
  OperationalEllipsoid ellipsoid(int index);
  std::string state(std::span<const double> values, int index);
  std::string data(bool live);

  Model model;
  std::function<void(std::span<double>)> fit;
  std::vector<std::string> notes;
  std::vector<Slider> sliders;
  int frame;
  Kinematics<> kinematics;
  MassMatrix<> matrix;
  MassFactor<> factor;
  std::vector<ReportLink> links;
  std::vector<ReportJoint> joints;
  std::vector<int> frame_of_link;
};

void ModelView::Parts::write_poses(JsonText& json) {
  std::vector<float> poses;
  for (const int f : frame_of_link) {
    const auto pose = kinematics.pose(f);
    append_pose(pose.rotation, pose.position, poses);
  }
  json.key("poses").packed(std::span(poses));
}

void ModelView::Parts::write_matrix(JsonText& json, std::span<const double> q) {
  json.key("massMatrix");
  if (model.nv() > largest_matrix) return void(json.null());
  std::vector<double> M(static_cast<std::size_t>(model.nv()) * model.nv());
  matrix.compute(q, M);
  json.packed(std::span(M));
}

/// D of every joint by its eigenvalues: a small one is a joint that has next to nothing to move.
void ModelView::Parts::write_factor(JsonText& json) {
  json.key("D").begin_list();
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const auto D = factor.D(static_cast<int>(j));
    json.values(dense::SymmetricEigen(dense::View{D.numbers, D.freedoms, D.freedoms, D.freedoms}).values);
  }
  json.end_list();
  const auto weakest = factor.weakest_joint();
  json.key("weakest").begin_object().entry("joint", weakest.joint).entry("pivot", weakest.pivot);
  json.entry("largest", weakest.largest_pivot).end_object();
  json.entry("logDeterminant", factor.log_determinant());
}

OperationalEllipsoid ModelView::Parts::ellipsoid(int index) {
  dense::Matrix Omega(6, 6);
  const int frames[] = {index};
  factor.frame_inertia_inverse(frames, Omega.numbers());
  // Rotation and translation in one measure, so that a rank can be told: lengths in the mechanism's own size.
  const double turning = Omega(0, 0) + Omega(1, 1) + Omega(2, 2),
               moving = Omega(3, 3) + Omega(4, 4) + Omega(5, 5);
  const double length = turning > 0 && moving > 0 ? std::sqrt(moving / turning) : 1;
  dense::Matrix scaled = Omega;
  scaled.block(0, 0, 3, 6) *= length;
  scaled.block(0, 0, 6, 3) *= length;
  const std::vector<double> all = dense::SymmetricEigen(scaled).values;
  const double least = 1e-10 * std::max(all[5], 0.0);
  const dense::PrincipalAxes linear(
      {Omega(3, 3), Omega(4, 4), Omega(5, 5), Omega(3, 4), Omega(3, 5), Omega(4, 5)});
  OperationalEllipsoid out;
  out.centre = kinematics.pose(index).position;
  const Mat3<double> ascending = linear.rotation();
  out.axes = from_columns(column_z(ascending), column_y(ascending), -column_x(ascending));
  for (int i = 0; i < 3; ++i) {
    const double value = linear.values[2 - i];
    out.inverse_mass[i] = value > 1e-10 * linear.values[2] ? value : 0;
  }
  out.rank = static_cast<int>(std::count_if(all.begin(), all.end(), [least](double x) { return x > least; }));
  return out;
}

void ModelView::Parts::write_ellipsoid(JsonText& json, int index) {
  const OperationalEllipsoid e = ellipsoid(index);
  json.key("ellipsoid").begin_object().key("centre").begin_list();
  json.value(e.centre.x).value(e.centre.y).value(e.centre.z).end_list();
  const double axes[] = {e.axes.xx, e.axes.yx, e.axes.zx, e.axes.xy, e.axes.yy,
                         e.axes.zy, e.axes.xz, e.axes.yz, e.axes.zz};
  json.key("axes").values(axes).key("inverseMass").values(e.inverse_mass).entry("rank", e.rank).end_object();
}

std::string ModelView::Parts::state(std::span<const double> values, int index) {
  check_frame(index);
  const std::vector<double> q = configuration(values);
  kinematics.update(q);
  JsonText json;
  json.begin_object();
  write_poses(json);
  write_matrix(json, q);
  std::string error;
  if (model.nv() > 0) {
    try {
      factor.factor(q);
      write_factor(json);
      write_ellipsoid(json, index);
    } catch (const SingularError& singular) {
      error = singular.what();
    }
  }
  json.entry("frame", index);
  if (!error.empty()) json.entry("error", error);
  json.end_object();
  return json.take();
}

std::string ModelView::Parts::data(bool live) {
  JsonText json;
  json.begin_object()
      .entry("kind", "view")
      .entry("title", model.name())
      .entry("subtitle", "")
      .entry("live", live);
  json.key("notes").begin_list();
  for (const auto& note : notes) json.value(note);
  json.end_list();
  write_mechanism(json, links, joints);
  json.key("sliders").begin_list();
  for (const auto& s : sliders)
    json.begin_object()
        .entry("joint", s.joint)
        .entry("label", s.label)
        .entry("unit", s.unit)
        .entry("lower", s.lower)
        .entry("upper", s.upper)
        .entry("value", s.value)
        .end_object();
  json.end_list().key("velocities").begin_list();
  for (const auto& joint : model.joints())
    for (int k = 0; k < joint.nv; ++k) json.value(velocity_name(joint, k));
  json.end_list().key("frames").begin_list();
  for (const auto& f : model.frames()) json.value(f.name);
  json.end_list();
  std::vector<double> first;
  for (const auto& s : sliders) first.push_back(s.value);
  // The state is JSON already.
  std::string text = json.take();
  text += ",\"state\":" + state(first, frame) + "}";
  return text;
}

ModelView::ModelView(const Model& model, std::span<const LinkShapes> shapes, std::vector<std::string> notes,
                     std::function<void(std::span<double>)> fit)
    : parts_(std::make_unique<Parts>(model, shapes, std::move(notes), std::move(fit))) {}
ModelView::~ModelView() = default;

const Model& ModelView::model() const { return parts_->model; }
const std::vector<Slider>& ModelView::sliders() const { return parts_->sliders; }
int ModelView::first_frame() const { return parts_->frame; }

std::string ModelView::state_json(std::span<const double> values, int frame) {
  return parts_->state(values, frame);
}

OperationalEllipsoid ModelView::ellipsoid(std::span<const double> values, int frame) {
  parts_->check_frame(frame);
  const auto q = parts_->configuration(values);
  parts_->kinematics.update(q);
  parts_->factor.factor(q);
  return parts_->ellipsoid(frame);
}

std::string ModelView::page(bool live) { return page_with(parts_->data(live)); }

}  // namespace articula
