#include "articula/dynamics/kinematics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/kernels/tables.hpp"

namespace articula {

template <class S>
Kinematics<S>::Kinematics(const Model& model)
    : Workspace<S>(model, {.motion = true}),
      state_(static_cast<std::size_t>(this->tree().nq) + this->tree().nv),
      path_(longest_path(this->tree())),
      full_J_(model.has_mimics() ? 6 * static_cast<std::size_t>(this->tree().nv) : 0) {
  frames_.reserve(model.frames().size());
  for (std::size_t i = 0; i < model.frames().size(); ++i)
    frames_.push_back(frame_on_body<S>(model, static_cast<int>(i)));
}

template <class S>
void Kinematics<S>::update(In<S> q) {
  this->check("kinematics", "q", q.size(), this->model_.nq());
  kernels<S>().velocities(this->tree(), this->full_q(q), nullptr, this->m_);
  level_ = 1;
}
template <class S>
void Kinematics<S>::update(In<S> q, In<S> v) {
  move(q, v);
  kernels<S>().velocities(this->tree(), state_.data(), state_.data() + this->tree().nq, this->m_);
  level_ = 2;
}
template <class S>
void Kinematics<S>::update(In<S> q, In<S> v, In<S> a) {
  this->check("kinematics", "a", a.size(), this->model_.nv());
  move(q, v);
  accelerate(this->full_a(a));
}
template <class S>
void Kinematics<S>::update_drift(In<S> q, In<S> v) {
  move(q, v);
  accelerate(nullptr);
}
template <class S>
void Kinematics<S>::move(std::span<const S> q, std::span<const S> v) {
  this->check("kinematics", "q", q.size(), this->model_.nq());
  this->check("kinematics", "v", v.size(), this->model_.nv());
  const Tree<S>& tree = this->tree();
  std::copy_n(this->full_q(q), tree.nq, state_.data());
  const S* const full_v = std::copy_n(this->full_v(v), tree.nv, state_.data() + tree.nq) - tree.nv;
  rotor_energy_ = 0;
  if (!tree.has_armature) return;
  for (int i = 0; i < tree.nv; ++i) rotor_energy_ += tree.armature[i] * full_v[i] * full_v[i] / 2;
}

template <class S>
void Kinematics<S>::accelerate(const S* full_a) const {
  kernels<S>().kinematics(this->tree(), state_.data(), state_.data() + this->tree().nq, full_a, this->m_);
  level_ = 3;
}

template <class S>
void Kinematics<S>::require(bool available, const char* what) const {
  if (!available)
    throw ArgumentError(
        fmt::format("kinematics: {} asked for, but update() was not called with what it needs", what));
}

namespace {
void check_frame(const Model& model, int frame, std::size_t count) {
  if (frame >= 0 && static_cast<std::size_t>(frame) < count) return;
  throw ArgumentError(
      fmt::format("kinematics: frame {} does not exist, model '{}' has {}", frame, model.name(), count));
}
}  // namespace

template <class S>
FrameOnBody<S> frame_on_body(const Model& model, int frame) {
  check_frame(model, frame, model.frames().size());
  const Frame& f = model.frames()[frame];
  const Mat3<double> link = f.body < 0 ? Mat3<double>::identity() : model.bodies()[f.body].link_axes;
  const Mat3<double> R = f.body < 0 ? f.placement.R : link * f.placement.R;
  const Vec3<double> p = f.body < 0 ? f.placement.p : link * f.placement.p;
  return {f.body < 0 ? 0 : f.body + 1,
          {S(R.xx), S(R.xy), S(R.xz), S(R.yx), S(R.yy), S(R.yz), S(R.zx), S(R.zy), S(R.zz)},
          {S(p.x), S(p.y), S(p.z)}};
}
template FrameOnBody<double> frame_on_body(const Model&, int);
template FrameOnBody<float> frame_on_body(const Model&, int);

template <class S>
const FrameOnBody<S>& Kinematics<S>::on_body(int frame) const {
  check_frame(this->model_, frame, frames_.size());
  return frames_[frame];
}
template <class S>
PlacedFrame<S> Kinematics<S>::place(int frame) const {
  require(level_ >= 1, "a pose");
  return place_frame(this->m_, on_body(frame));
}

template <class S>
FramePose<S> Kinematics<S>::pose(int frame) const {
  const PlacedFrame<S> f = place(frame);
  return {f.R, origin_of_body(this->m_, f.slot) + f.r};
}

template <class S>
Spatial<S> Kinematics<S>::velocity(int frame, Axes axes) const {
  const PlacedFrame<S> f = place(frame);
  require(level_ >= 2, "a velocity");
  return articula::frame_velocity(this->m_, f, axes);
}

template <class S>
Spatial<S> Kinematics<S>::acceleration(int frame, Axes axes) const {
  const PlacedFrame<S> f = place(frame);
  require(level_ >= 2, "an acceleration");
  if (level_ == 2) accelerate(nullptr);  // rarely asked for, and a third of update(q, v)'s time
  return frame_acceleration(this->m_, f, axes);
}

template <class S>
void Kinematics<S>::jacobian(int frame, Out<S> J, Axes axes) const {
  const int nv = this->model_.nv();
  this->check("jacobian", "J", J.size(), static_cast<std::size_t>(6) * nv);
  const PlacedFrame<S> f = place(frame);
  std::fill(J.begin(), J.end(), S(0));
  const auto full = this->model_.full_velocities();
  const bool mimics = this->model_.has_mimics();
  frame_jacobian(
      this->tree(), this->m_, f, axes, [&](int i, const Spatial<S>& column) __attribute__((always_inline)) {
        S* const to = J.data() + (mimics ? full[i].source : i);
        const S times = mimics ? static_cast<S>(full[i].multiplier) : S(1);
        const auto add = [&](int r, const S& x) __attribute__((always_inline)) {
          to[static_cast<std::size_t>(r) * nv] += times * x;
        };
        add(0, column.w.x), add(1, column.w.y), add(2, column.w.z);
        add(3, column.v.x), add(4, column.v.y), add(5, column.v.z);
      });
}

template <class S>
FramePose<S> Kinematics<S>::pose(int frame, In<S> q) {
  this->check("pose", "q", q.size(), this->model_.nq());
  const FrameOnBody<S>& at = on_body(frame);
  S x[12];
  kernels<S>().pose_at(this->tree(), this->full_q(q), at, path_.memory(), x);
  return {{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]}, {x[9], x[10], x[11]}};
}

template <class S>
void Kinematics<S>::jacobian(int frame, In<S> q, Out<S> J, Axes axes) {
  const std::size_t nv = this->model_.nv();
  this->check("jacobian", "q", q.size(), this->model_.nq());
  this->check("jacobian", "J", J.size(), 6 * nv);
  const FrameOnBody<S>& at = on_body(frame);
  const bool mimics = full_J_.size() > 0;
  S* const full_J = mimics ? full_J_.data() : J.data();
  kernels<S>().jacobian_at(this->tree(), this->full_q(q), at, axes, path_.memory(), full_J);
  if (!mimics) return;
  std::fill(J.begin(), J.end(), S(0));
  const auto map = this->model_.full_velocities();
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t i = 0; i < map.size(); ++i)
      J[r * nv + map[i].source] += static_cast<S>(map[i].multiplier) * full_J[r * map.size() + i];
}

template <class S>
Totals<S> Kinematics<S>::totals() {
  require(level_ >= 1, "totals");
  Totals<S> t = kernels<S>().totals(this->tree(), this->m_, level_ >= 2);
  if (!(t.mass > 0)) t.center_of_mass = {0, 0, 0}, t.momentum = {{0, 0, 0}, {0, 0, 0}}, t.potential = 0;
  if (level_ >= 2) t.kinetic += rotor_energy_;
  return t;
}

FramePose<double> pose(const Model& model, In<double> q, std::string_view frame) {
  Kinematics<> work(model);
  return work.pose(model.frame(frame), q);
}
Spatial<double> frame_velocity(const Model& model, In<double> q, In<double> v, std::string_view frame) {
  Kinematics<> work(model);
  work.update(q, v);
  return work.velocity(model.frame(frame));
}
std::vector<double> jacobian(const Model& model, In<double> q, std::string_view frame, Axes axes) {
  Kinematics<> work(model);
  std::vector<double> J(static_cast<std::size_t>(6) * model.nv());
  work.jacobian(model.frame(frame), q, J, axes);
  return J;
}
Totals<double> totals(const Model& model, In<double> q, In<double> v) {
  Kinematics<> work(model);
  work.update(q, v);
  return work.totals();
}

template class Kinematics<double>;
template class Kinematics<float>;

}  // namespace articula
