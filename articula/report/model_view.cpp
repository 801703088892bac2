#include "articula/report/model_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/loops/constrained_operational_space.hpp"
#include "articula/loops/inverse_kinematics.hpp"
#include "articula/report/page.hpp"
#include "articula/report/page_json.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace {

constexpr int largest_matrix = 400;  // freedoms; beyond, the heat map would be megabytes for every step

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

}  // namespace

struct ModelView::Parts {
  Parts(const Model& m, std::span<const LinkShapes> shapes, ViewOptions options)
      : model(m),
        title(options.title.empty() ? m.name() : std::move(options.title)),
        notes(std::move(options.notes)),
        sliders(sliders_of(m)),
        frame(tip_frame(m)),
        kinematics(m),
        matrix(m),
        factor(m),
        ik(std::make_unique<InverseKinematics>(m, std::move(options.constraints))) {
    append_mechanism(model, shapes, "", links, joints);
    std::unordered_map<std::string_view, int> frames;
    for (std::size_t i = 0; i < model.frames().size(); ++i)
      frames.emplace(model.frames()[i].name, static_cast<int>(i));
    for (const auto& link : model.spec().links) frame_of_link.push_back(frames.at(link.name));
    begin_at(std::move(options.q));
  }
  void begin_at(std::vector<double> q);
  std::vector<double> configuration(const ViewRequest& request);
  void close(std::span<double> q) const {
    if (!ik->close(q))
      throw ArgumentError(fmt::format("view: the loops cannot be closed from here: {}", ik->worst_loop(q)));
  }
  void check_frame(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= model.frames().size())
      throw ArgumentError(fmt::format("view: frame {}; the model has {}", index, model.frames().size()));
  }
  void write_poses(JsonText& json);
  void write_matrix(JsonText& json, std::span<const double> q);
  void write_factor(JsonText& json);
  void write_ellipsoid(JsonText& json, int index, std::span<const double> q);
  dense::Matrix inertia_inverse(int index, std::span<const double> q);
  OperationalEllipsoid ellipsoid(int index, std::span<const double> q);
  std::string state(const ViewRequest& request);
  std::string data(bool live);

  Model model;
  std::string title;
  std::vector<std::string> notes;
  std::vector<Slider> sliders;
  int frame;
  Kinematics<> kinematics;
  MassMatrix<> matrix;
  MassFactor<> factor;
  std::unique_ptr<InverseKinematics> ik;
  std::vector<ReportLink> links;
  std::vector<ReportJoint> joints;
  std::vector<int> frame_of_link;
};

/// Puts the sliders to the first configuration, with loops closed if that can be.
void ModelView::Parts::begin_at(std::vector<double> q) {
  std::vector<double> first;
  for (const Slider& s : sliders) first.push_back(s.value);
  if (q.empty()) q = configuration_of(model, first);
  if (!ik->close(q)) {
    notes.push_back(
        fmt::format("Loops are shown open, they cannot be closed at the start: {}.", ik->worst_loop(q)));
    ik = std::make_unique<InverseKinematics>(model);
  }
  const std::vector<double> values = slider_values(model, q);
  for (std::size_t i = 0; i < sliders.size(); ++i) {
    Slider& s = sliders[i];
    s.value = values[i];
    s.lower = std::min(s.lower, s.value), s.upper = std::max(s.upper, s.value);
  }
}

/// What the sliders say, moved as it is asked for.
std::vector<double> ModelView::Parts::configuration(const ViewRequest& request) {
  std::vector<double> q = configuration_of(model, request.values);
  close(q);
  if (request.move) {
    const auto [slider, to] = *request.move;
    if (slider < 0 || static_cast<std::size_t>(slider) >= sliders.size())
      throw ArgumentError(fmt::format("view: slider {}; there are {}", slider, sliders.size()));
    std::vector<double> values = request.values;
    values[static_cast<std::size_t>(slider)] = to;
    ik->set_joint(sliders[static_cast<std::size_t>(slider)].joint, configuration_of(model, values), q);
  }
  if (request.drag) {
    FrameTarget target{.frame = request.frame, .position = request.drag->position};
    if (request.drag->turn) target.rotation = rotation(*request.drag->turn);
    ik->reach(target, q);
  }
  return q;
}

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

/// J M^-1 J* of a frame, M^-1 that of the closed mechanism if there are loops.
dense::Matrix ModelView::Parts::inertia_inverse(int index, std::span<const double> q) {
  const int frames[] = {index};
  dense::Matrix Omega(6, 6);
  if (ConstrainedDynamics* const loops = ik->loops()) {
    const std::vector<double> at_rest(static_cast<std::size_t>(model.nv()));
    return dense::view(constrained_operational_space(*loops, q, at_rest, frames).omega, 6, 6);
  }
  factor.frame_inertia_inverse(frames, Omega.numbers());
  return Omega;
}

OperationalEllipsoid ModelView::Parts::ellipsoid(int index, std::span<const double> q) {
  const dense::Matrix Omega = inertia_inverse(index, q);
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

void ModelView::Parts::write_ellipsoid(JsonText& json, int index, std::span<const double> q) {
  const OperationalEllipsoid e = ellipsoid(index, q);
  json.key("ellipsoid").begin_object().key("centre").begin_list();
  json.value(e.centre.x).value(e.centre.y).value(e.centre.z).end_list();
  const double axes[] = {e.axes.xx, e.axes.yx, e.axes.zx, e.axes.xy, e.axes.yy,
                         e.axes.zy, e.axes.xz, e.axes.yz, e.axes.zz};
  json.key("axes").values(axes).key("inverseMass").values(e.inverse_mass).entry("rank", e.rank).end_object();
}

std::string ModelView::Parts::state(const ViewRequest& request) {
  check_frame(request.frame);
  const std::vector<double> q = configuration(request);
  kinematics.update(q);
  const FramePose<double> at = kinematics.pose(request.frame);
  const Quaternion<double> turn = quaternion(at.rotation);
  JsonText json;
  json.begin_object();
  // Sliders that nothing has moved stay as they are, to the last bit.
  const bool moved = ik->loops() || request.move || request.drag;
  json.key("values").values(moved ? slider_values(model, q) : request.values);
  json.key("position").values(std::span(numbers_of(at.position), 3));
  json.key("quaternion").begin_list().value(turn.x).value(turn.y).value(turn.z).value(turn.w).end_list();
  write_poses(json);
  write_matrix(json, q);
  std::string error;
  if (model.nv() > 0) {
    try {
      factor.factor(q);
      write_factor(json);
      write_ellipsoid(json, request.frame, q);
    } catch (const SingularError& singular) {
      error = singular.what();
    }
  }
  json.entry("frame", request.frame);
  if (!error.empty()) json.entry("error", error);
  json.end_object();
  return json.take();
}

std::string ModelView::Parts::data(bool live) {
  JsonText json;
  json.begin_object()
      .entry("kind", "view")
      .entry("title", title)
      .entry("subtitle", "")
      .entry("live", live)
      .entry("closed", ik->loops() != nullptr);
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
  text += ",\"state\":" + state({first, frame}) + "}";
  return text;
}

ModelView::ModelView(const Model& model, std::span<const LinkShapes> shapes, ViewOptions options)
    : parts_(std::make_unique<Parts>(model, shapes, std::move(options))) {}
ModelView::~ModelView() = default;
ModelView::ModelView(ModelView&&) noexcept = default;

const Model& ModelView::model() const { return parts_->model; }
const std::string& ModelView::title() const { return parts_->title; }
const std::vector<std::string>& ModelView::notes() const { return parts_->notes; }
const std::vector<Slider>& ModelView::sliders() const { return parts_->sliders; }
int ModelView::first_frame() const { return parts_->frame; }

bool ModelView::closed() const { return parts_->ik->loops() != nullptr; }

std::string ModelView::state_json(const ViewRequest& request) { return parts_->state(request); }
std::string ModelView::state_json(std::span<const double> values, int frame) {
  return parts_->state({{values.begin(), values.end()}, frame});
}

OperationalEllipsoid ModelView::ellipsoid(std::span<const double> values, int frame) {
  parts_->check_frame(frame);
  const auto q = parts_->configuration({{values.begin(), values.end()}, frame});
  parts_->kinematics.update(q);
  parts_->factor.factor(q);
  return parts_->ellipsoid(frame, q);
}

std::string ModelView::page(bool live) { return page_with(parts_->data(live)); }

}  // namespace articula
