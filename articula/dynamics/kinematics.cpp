#include "articula/dynamics/kinematics.hpp"

#include <fmt/format.h>

#include "articula/dynamics/kernels.hpp"

namespace articula {

namespace {
template <class S>
Mat3<S> cast(const Mat3<double>& m) {
  return {S(m.xx), S(m.xy), S(m.xz), S(m.yx), S(m.yy), S(m.yz), S(m.zx), S(m.zy), S(m.zz)};
}
template <class S>
Spatial<S> load6(const S* p) {
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}};
}
}  // namespace

template <class S>
Kinematics<S>::Kinematics(const Model& model) : Workspace<S>(model, {.motion = true}) {}

template <class S>
void Kinematics<S>::update(In<S> q) {
  this->check("kinematics", "q", q.size(), this->model_.nq());
  kernels<S>().kinematics(this->tree(), this->full_q(q), nullptr, nullptr, this->m_);
  level_ = 1;
}
template <class S>
void Kinematics<S>::update(In<S> q, In<S> v) {
  move(q, v, nullptr);
}
template <class S>
void Kinematics<S>::update(In<S> q, In<S> v, In<S> a) {
  this->check("kinematics", "a", a.size(), this->model_.nv());
  move(q, v, this->full_a(a));
}
template <class S>
void Kinematics<S>::move(std::span<const S> q, std::span<const S> v, const S* full_a) {
  this->check("kinematics", "q", q.size(), this->model_.nq());
  this->check("kinematics", "v", v.size(), this->model_.nv());
  const S* const full_v = this->full_v(v);
  kernels<S>().kinematics(this->tree(), this->full_q(q), full_v, full_a, this->m_);
  rotor_energy_ = 0;
  for (int i = 0; i < this->tree().nv; ++i)
    rotor_energy_ += this->tree().armature[i] * full_v[i] * full_v[i] / 2;
  level_ = 2;
}

template <class S>
void Kinematics<S>::require(bool available, const char* what) const {
  if (!available)
    throw ArgumentError(
        fmt::format("kinematics: {} asked for, but update() was not called with what it needs", what));
}

template <class S>
Vec3<S> Kinematics<S>::origin(int slot) const {
  const S* p = this->m_.p + 3 * slot;
  return {p[0], p[1], p[2]};
}

template <class S>
typename Kinematics<S>::Placed Kinematics<S>::place(int frame) const {
  require(level_ >= 1, "a pose");
  if (frame < 0 || frame >= static_cast<int>(this->model_.frames().size()))
    throw ArgumentError(fmt::format("kinematics: frame {} does not exist, model '{}' has {}", frame,
                                    this->model_.name(), this->model_.frames().size()));
  const Frame& f = this->model_.frames()[frame];
  const Vec3<S> p{S(f.placement.p.x), S(f.placement.p.y), S(f.placement.p.z)};
  if (f.body < 0) return {0, cast<S>(f.placement.R), p};
  const S* x = slot(this->m_.x, f.body + 1, int(body::count)) + block * body::R;
  const Mat3<S> body_axes{x[0],         x[block],     x[2 * block], x[3 * block], x[4 * block],
                          x[5 * block], x[6 * block], x[7 * block], x[8 * block]};
  const Mat3<S> link = body_axes * cast<S>(this->model_.bodies()[f.body].link_axes);
  return {f.body + 1, link * cast<S>(f.placement.R), link * p};
}

template <class S>
FramePose<S> Kinematics<S>::pose(int frame) const {
  const Placed f = place(frame);
  return {f.R, origin(f.slot) + f.r};
}

template <class S>
Spatial<S> Kinematics<S>::velocity(int frame, Axes axes) const {
  const Placed f = place(frame);
  require(level_ >= 2, "a velocity");
  const Spatial<S> V = load6(this->m_.V + 6 * f.slot);
  if (axes == Axes::spatial) return star(Phi<S>{-origin(f.slot)}) * V;
  const Spatial<S> at_frame = star(Phi<S>{f.r}) * V;
  if (axes == Axes::world) return at_frame;
  return {star_times(f.R, at_frame.w), star_times(f.R, at_frame.v)};
}

template <class S>
Spatial<S> Kinematics<S>::acceleration(int frame, Axes axes) const {
  const Placed f = place(frame);
  require(level_ >= 2, "an acceleration");
  const Spatial<S> V = load6(this->m_.V + 6 * f.slot), alpha = load6(this->m_.alpha + 6 * f.slot);
  if (axes == Axes::spatial) {
    // V_s = (w, v - p' x ... ) with p fixed in space: d/dt (v - w x p) = v' - w' x p - w x v
    const Vec3<S> p = origin(f.slot);
    return {alpha.w, alpha.v - cross(alpha.w, p) - cross(V.w, V.v)};
  }
  const Spatial<S> world{alpha.w, alpha.v + cross(alpha.w, f.r) + cross(V.w, cross(V.w, f.r))};
  if (axes == Axes::world) return world;
  const Vec3<S> v = V.v + cross(V.w, f.r);  // d/dt (R* x) = R* (x' - w x x)
  return {star_times(f.R, world.w), star_times(f.R, world.v - cross(V.w, v))};
}

template <class S>
void Kinematics<S>::jacobian(int frame, Out<S> J, Axes axes) const {
  const int nv = this->model_.nv();
  this->check("jacobian", "J", J.size(), static_cast<std::size_t>(6) * nv);
  const Placed f = place(frame);
  for (S& x : J) x = 0;
  const Tree<S>& tree = this->tree();
  Vec3<S> to_point =
      f.r;  // from O_k; summed up, not subtracted: a point far from the world's origin loses nothing
  const auto full = this->model_.full_velocities();
  for (int k = f.slot; k > 0; k = tree.index[k].inboard) {
    const BodyIndex& b = tree.index[k];
    const S* x = slot(this->m_.x, k, int(body::count)) + block * body::R;
    const Mat3<S> R{x[0],         x[block],     x[2 * block], x[3 * block], x[4 * block],
                    x[5 * block], x[6 * block], x[7 * block], x[8 * block]};
    if (axes == Axes::spatial) to_point = -origin(k);
    visit(b.kind, [&](auto j) {
      using Kind = decltype(j);
      const HingeMap<Kind, S> H{R, tree.pitch[k]};
      for_each_index<Kind::nv>([&](auto i) {
        Spatial<S> c = star(Phi<S>{to_point}) * spatial(H.template row<i.value>());
        if (axes == Axes::local) c = {star_times(f.R, c.w), star_times(f.R, c.v)};
        const auto& own = full[b.v + i.value];
        const S* n = &c.w.x;
        for (int r = 0; r < 6; ++r)
          J[static_cast<std::size_t>(r) * nv + own.source] += static_cast<S>(own.multiplier) * n[r];
      });
    });
    to_point += Vec3<S>{x[(body::l - body::R) * block], x[(body::l - body::R + 1) * block],
                        x[(body::l - body::R + 2) * block]};
  }
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
  work.update(q);
  return work.pose(model.frame(frame));
}
Spatial<double> frame_velocity(const Model& model, In<double> q, In<double> v, std::string_view frame) {
  Kinematics<> work(model);
  work.update(q, v);
  return work.velocity(model.frame(frame));
}
std::vector<double> jacobian(const Model& model, In<double> q, std::string_view frame, Axes axes) {
  Kinematics<> work(model);
  work.update(q);
  std::vector<double> J(static_cast<std::size_t>(6) * model.nv());
  work.jacobian(model.frame(frame), J, axes);
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
