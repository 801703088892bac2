// Kinematics, sums over bodies, and the Coriolis matrix of many states.
#include "articula/batch/data.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

using batching::numbers;

namespace {
template <class S>
FrameOnBody<S> place_of(const Model& model, int frame) {
  const FrameOnBody<double> f = frame_on_body(model, frame);
  FrameOnBody<S> out{f.slot, {}, {}};
  const double* const R = &f.R.xx;
  for (int i = 0; i < 9; ++i) numbers_of(out.R)[i] = static_cast<S>(R[i]);
  out.p = {static_cast<S>(f.p.x), static_cast<S>(f.p.y), static_cast<S>(f.p.z)};
  return out;
}
template <class S>
void put(const Spatial<S>& x, std::span<S> out) {
  std::copy_n(&x.w.x, 3, out.data());
  std::copy_n(&x.v.x, 3, out.data() + 3);
}
}  // namespace

template <class S>
void Batch<S>::pose(std::span<const int> frames, In<S> q, Out<S> poses) {
  Data& d = *data_;
  for (const int frame : frames) frame_on_body(d.model, frame);  // checks
  if (d.one_by_one(q))
    return d.call_one_by_one("pose", {d.q(q)}, {d.other("poses", poses, 12 * frames.size())},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               const bool one = frames.size() == 1;
                               if (!one) k.update(in[0]);
                               for (std::size_t i = 0; i < frames.size(); ++i) {
                                 const FramePose<S> at = one ? k.pose(frames[i], in[0]) : k.pose(frames[i]);
                                 std::copy_n(&at.rotation.xx, 9, out[0].data() + 12 * i);
                                 std::copy_n(&at.position.x, 3, out[0].data() + 12 * i + 9);
                               }
                             });
  if (frames.size() == 1) {
    const FrameOnBody<S> at = place_of<S>(d.model, frames[0]);
    return d.call("pose", {d.q(q)}, {d.other("poses", poses, 12)},
                  [&](auto& w, const S* const* in, S* const* out) {
                    kernel_set().in<S>().motion->pose_at(d.base(), in[0], at, w.path, out[0]);
                  });
  }
  d.call("pose", {d.q(q)}, {d.other("poses", poses, 12 * frames.size())},
         [&](auto& w, const S* const* in, S* const* out) {
           kernel_set().in<S>().batch->kinematics(d.base(), in[0], nullptr, nullptr, w.m);
           S* to = out[0];
           for (const int frame : frames) {
             kernel_set().in<S>().motion->pose(w.m, place_of<S>(d.model, frame), to);
             to += 12 * d.table->lanes;
           }
         });
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> pose_of_frame) {
  pose(std::span(&frame, 1), q, pose_of_frame);
}
template <class S>
void Batch<S>::frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = place_of<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("frame_velocity", {d.q(q), d.v("v", v)}, {d.other("velocity", velocity, 6)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0], in[1]);
                               put(k.velocity(frame, axes), out[0]);
                             });
  d.call("frame_velocity", {d.q(q), d.v("v", v)}, {d.other("velocity", velocity, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           kernel_set().in<S>().batch->kinematics(d.base(), in[0], in[1], nullptr, w.m);
           kernel_set().in<S>().motion->velocity(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = place_of<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("frame_acceleration", {d.q(q), d.v("v", v), d.v("a", a)},
                             {d.other("acceleration", acceleration, 6)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0], in[1], in[2]);
                               put(k.acceleration(frame, axes), out[0]);
                             });
  d.call("frame_acceleration", {d.q(q), d.v("v", v), d.v("a", a)}, {d.other("acceleration", acceleration, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           kernel_set().in<S>().batch->kinematics(d.base(), in[0], in[1], in[2], w.m);
           kernel_set().in<S>().motion->acceleration(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = place_of<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("jacobian_dot_v", {d.q(q), d.v("v", v)},
                             {d.other("acceleration", acceleration, 6)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0], in[1]);
                               put(k.acceleration(frame, axes), out[0]);
                             });
  d.call("jacobian_dot_v", {d.q(q), d.v("v", v)}, {d.other("acceleration", acceleration, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           kernel_set().in<S>().batch->kinematics(d.base(), in[0], in[1], nullptr, w.m);
           kernel_set().in<S>().motion->acceleration(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::jacobian(int frame, In<S> q, Out<S> matrix, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = place_of<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("jacobian", {d.q(q)},
                             {d.other("jacobian", matrix, 6 * static_cast<std::size_t>(d.model.nv()))},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.jacobian(frame, in[0], out[0], axes);
                             });
  d.call("jacobian", {d.q(q)}, {d.columns_of("jacobian", matrix)},
         [&](auto& w, const S* const* in, S* const* out) {
           kernel_set().in<S>().motion->jacobian_at(d.base(), in[0], at, axes, w.path, out[0]);
         });
}

// A model without mass has its centre, momentum and potential energy at zero, as one state has it.
template <class S>
void Batch<S>::energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential) {
  Data& d = *data_;
  const bool massless = !d.varied && !(d.model.mass() > 0);
  if (d.one_by_one(q))
    return d.call_one_by_one("energies", {d.q(q), d.v("v", v)},
                             {d.other("kinetic", kinetic, 1), d.other("potential", potential, 1)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0], in[1]);
                               const Totals<S> sums = k.totals();
                               out[0][0] = sums.kinetic;
                               out[1][0] = sums.potential;
                             });
  d.call("energies", {d.q(q), d.v("v", v)},
         {d.other("kinetic", kinetic, 1), d.other("potential", potential, 1)},
         [&](auto& w, const S* const* in, S* const* out) {
           const Tree<S>& tree = w.tree;
           d.table->kinematics(tree, in[0], in[1], nullptr, w.m);
           d.table->energies(tree, w.m, out[0], out[1]);
           if (massless) std::fill_n(out[1], d.table->lanes, S(0));
           for (int i = 0; tree.has_armature && i < tree.nv; ++i)
             for (int s = 0; s < d.table->lanes; ++s) {
               const int at = i * d.table->lanes + s;
               out[0][s] += tree.armature[d.varied ? at : i] * in[1][at] * in[1][at] / 2;
             }
         });
}
template <class S>
void Batch<S>::center_of_mass(In<S> q, Out<S> center) {
  Data& d = *data_;
  const bool massless = !(d.model.mass() > 0);
  if (d.one_by_one(q))
    return d.call_one_by_one("center_of_mass", {d.q(q)}, {d.other("center", center, 3)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0]);
                               const Totals<S> sums = k.totals();
                               std::copy_n(&sums.center_of_mass.x, 3, out[0].data());
                             });
  d.call_with_model_inertias("center_of_mass", {d.q(q)}, {d.other("center", center, 3)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               kernel_set().in<S>().batch->kinematics(d.base(), in[0], nullptr, nullptr, w.m);
                               kernel_set().in<S>().motion->totals(d.base(), w.m, false, out[0], nullptr);
                               if (massless) std::fill_n(out[0], 3 * d.table->lanes, S(0));
                             });
}
template <class S>
void Batch<S>::momentum(In<S> q, In<S> v, Out<S> momentum_of_all) {
  Data& d = *data_;
  const bool massless = !(d.model.mass() > 0);
  if (d.one_by_one(q))
    return d.call_one_by_one("momentum", {d.q(q), d.v("v", v)}, {d.other("momentum", momentum_of_all, 6)},
                             [&](int w, const auto* in, const auto* out) {
                               auto& k = d.one(d.workers[w].kinematics);
                               k.update(in[0], in[1]);
                               put(k.totals().momentum, out[0]);
                             });
  d.call_with_model_inertias("momentum", {d.q(q), d.v("v", v)}, {d.other("momentum", momentum_of_all, 6)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               kernel_set().in<S>().batch->kinematics(d.base(), in[0], in[1], nullptr, w.m);
                               alignas(64) S center[3 * most_lanes];
                               kernel_set().in<S>().motion->totals(d.base(), w.m, true, center, out[0]);
                               if (massless) std::fill_n(out[0], 6 * d.table->lanes, S(0));
                             });
}
template <class S>
void Batch<S>::centroidal_map(In<S> q, Out<S> map) {
  Data& d = *data_;
  d.call_with_model_inertias("centroidal_map", {d.q(q)}, {d.columns_of("map", map)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               kernel_set().in<S>().motion->centroidal_map(d.base(), in[0], w.m, out[0]);
                             });
}

template <class S>
void Batch<S>::coriolis(const char* function, bool rate, In<S> q, In<S> v, Out<S> matrix) {
  Data& d = *data_;
  const std::size_t room = coriolis_room(d.base().slots(), d.base().nv), n = d.base().nv,
                    lanes = d.table->lanes;
  for (auto& w : d.workers)
    if (w.coriolis.size() < room) w.coriolis = AlignedArray<Pack<S, most_lanes>>(room);
  d.call_with_model_inertias(function, {d.q(q), d.v("v", v)}, {d.matrix("matrix", matrix)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               S* const C = out[0];
                               kernel_set().in<S>().motion->coriolis_matrix(d.base(), in[0], in[1], w.m,
                                                                            numbers(w.coriolis), C);
                               for (std::size_t i = 0; rate && i < n; ++i)
                                 for (std::size_t j = 0; j <= i; ++j)
                                   for (std::size_t s = 0; s < lanes; ++s) {
                                     S &ij = C[(i * n + j) * lanes + s], &ji = C[(j * n + i) * lanes + s];
                                     ij = ji = ij + ji;
                                   }
                             });
}
template <class S>
void Batch<S>::coriolis_matrix(In<S> q, In<S> v, Out<S> C) {
  coriolis("coriolis_matrix", false, q, v, C);
}
template <class S>
void Batch<S>::mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt) {
  coriolis("mass_matrix_rate", true, q, v, dM_dt);
}

#define ARTICULA_INSTANTIATE(S)                                                       \
  template void Batch<S>::pose(std::span<const int>, In<S>, Out<S>);                  \
  template void Batch<S>::pose(int, In<S>, Out<S>);                                   \
  template void Batch<S>::frame_velocity(int, In<S>, In<S>, Out<S>, Axes);            \
  template void Batch<S>::frame_acceleration(int, In<S>, In<S>, In<S>, Out<S>, Axes); \
  template void Batch<S>::jacobian_dot_v(int, In<S>, In<S>, Out<S>, Axes);            \
  template void Batch<S>::jacobian(int, In<S>, Out<S>, Axes);                         \
  template void Batch<S>::energies(In<S>, In<S>, Out<S>, Out<S>);                     \
  template void Batch<S>::center_of_mass(In<S>, Out<S>);                              \
  template void Batch<S>::momentum(In<S>, In<S>, Out<S>);                             \
  template void Batch<S>::centroidal_map(In<S>, Out<S>);                              \
  template void Batch<S>::coriolis(const char*, bool, In<S>, In<S>, Out<S>);          \
  template void Batch<S>::coriolis_matrix(In<S>, In<S>, Out<S>);                      \
  template void Batch<S>::mass_matrix_rate(In<S>, In<S>, Out<S>);
ARTICULA_INSTANTIATE(double)
ARTICULA_INSTANTIATE(float)
#undef ARTICULA_INSTANTIATE

}  // namespace articula
