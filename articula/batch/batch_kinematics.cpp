// Kinematics, sums over bodies, and the Coriolis matrix of many states.
#include "articula/batch/data.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

using batching::numbers;

template <class S>
void Batch<S>::pose(std::span<const int> frames, In<S> q, Out<S> poses) {
  Data& d = *data_;
  for (const int frame : frames) frame_on_body(d.model, frame);  // checks
  if (d.one_by_one(q))
    return d.call_one_by_one("pose", {d.q(q)}, {d.other("poses", poses, 12 * frames.size())},
                             [&](OneState<S>& one, const auto* in, const auto* out) {
                               for (std::size_t i = 0; i < frames.size(); ++i)
                                 one.pose(frames[i], in[0], out[0].subspan(12 * i, 9),
                                          out[0].subspan(12 * i + 9, 3));
                             });
  if (frames.size() == 1) {
    const FrameOnBody<S> at = frame_on_body<S>(d.model, frames[0]);
    return d.call("pose", {d.q(q)}, {d.other("poses", poses, 12)},
                  [&](auto& w, const S* const* in, S* const* out) {
                    d.set->motion->pose_at(d.base(), in[0], at, w.path, out[0]);
                  });
  }
  d.call("pose", {d.q(q)}, {d.other("poses", poses, 12 * frames.size())},
         [&](auto& w, const S* const* in, S* const* out) {
           d.set->batch->velocities(d.base(), in[0], nullptr, w.m);
           S* to = out[0];
           for (const int frame : frames) {
             d.set->motion->pose(w.m, frame_on_body<S>(d.model, frame), to);
             to += 12 * d.table->lanes;
           }
         });
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> pose_of_frame) {
  pose(std::span(&frame, 1), q, pose_of_frame);
}
template <class S>
void Batch<S>::pose(int frame, In<S> q, Out<S> rotation, Out<S> position) {
  Data& d = *data_;
  const FrameOnBody<S> at = frame_on_body<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "pose", {d.q(q)}, {d.other("rotation", rotation, 9), d.other("position", position, 3)},
        [&](OneState<S>& one, const auto* in, const auto* out) { one.pose(frame, in[0], out[0], out[1]); });
  d.call("pose", {d.q(q)}, {d.other("rotation", rotation, 9), d.other("position", position, 3)},
         [&](auto& w, const S* const* in, S* const* out) {
           alignas(64) S both[12 * most_lanes<S>];
           d.set->motion->pose_at(d.base(), in[0], at, w.path, both);
           std::copy_n(both, 9 * d.table->lanes, out[0]);
           std::copy_n(both + 9 * d.table->lanes, 3 * d.table->lanes, out[1]);
         });
}
template <class S>
void Batch<S>::frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = frame_on_body<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("frame_velocity", {d.q(q), d.v("v", v)}, {d.other("velocity", velocity, 6)},
                             [&](OneState<S>& one, const auto* in, const auto* out) {
                               one.frame_velocity(frame, in[0], in[1], out[0], axes);
                             });
  d.call("frame_velocity", {d.q(q), d.v("v", v)}, {d.other("velocity", velocity, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.set->batch->velocities(d.base(), in[0], in[1], w.m);
           d.set->motion->velocity(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = frame_on_body<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("frame_acceleration", {d.q(q), d.v("v", v), d.v("a", a)},
                             {d.other("acceleration", acceleration, 6)},
                             [&](OneState<S>& one, const auto* in, const auto* out) {
                               one.frame_acceleration(frame, in[0], in[1], in[2], out[0], axes);
                             });
  d.call("frame_acceleration", {d.q(q), d.v("v", v), d.v("a", a)}, {d.other("acceleration", acceleration, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.set->batch->kinematics(d.base(), in[0], in[1], in[2], w.m);
           d.set->motion->acceleration(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = frame_on_body<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one("jacobian_dot_v", {d.q(q), d.v("v", v)},
                             {d.other("acceleration", acceleration, 6)},
                             [&](OneState<S>& one, const auto* in, const auto* out) {
                               one.jacobian_dot_v(frame, in[0], in[1], out[0], axes);
                             });
  d.call("jacobian_dot_v", {d.q(q), d.v("v", v)}, {d.other("acceleration", acceleration, 6)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.set->batch->kinematics(d.base(), in[0], in[1], nullptr, w.m);
           d.set->motion->acceleration(w.m, at, axes, out[0]);
         });
}
template <class S>
void Batch<S>::jacobian(int frame, In<S> q, Out<S> matrix, Axes axes) {
  Data& d = *data_;
  const FrameOnBody<S> at = frame_on_body<S>(d.model, frame);
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "jacobian", {d.q(q)}, {d.other("jacobian", matrix, 6 * static_cast<std::size_t>(d.model.nv()))},
        [&](OneState<S>& one, const auto* in, const auto* out) { one.jacobian(frame, in[0], out[0], axes); });
  d.call("jacobian", {d.q(q)}, {d.columns_of("jacobian", matrix)},
         [&](auto& w, const S* const* in, S* const* out) {
           d.set->motion->jacobian_at(d.base(), in[0], at, axes, w.path, out[0]);
         });
}

// A model without mass has its centre, momentum and potential energy at zero, as one state has it.
template <class S>
void Batch<S>::energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential) {
  Data& d = *data_;
  if (d.one_by_one(q))
    return d.call_one_by_one("energies", {d.q(q), d.v("v", v)},
                             {d.other("kinetic", kinetic, 1), d.other("potential", potential, 1)},
                             [](OneState<S>& one, const auto* in, const auto* out) {
                               one.energies(in[0], in[1], out[0], out[1]);
                             });
  d.call("energies", {d.q(q), d.v("v", v)},
         {d.other("kinetic", kinetic, 1), d.other("potential", potential, 1)},
         [&](auto& w, const S* const* in, S* const* out) { d.energies_of(w, in[0], in[1], out[0], out[1]); });
}
template <class S>
void Batch<S>::kinetic_energy(In<S> q, In<S> v, Out<S> energy) {
  Data& d = *data_;
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "kinetic_energy", {d.q(q), d.v("v", v)}, {d.other("energy", energy, 1)},
        [](OneState<S>& one, const auto* in, const auto* out) { one.kinetic_energy(in[0], in[1], out[0]); });
  d.call("kinetic_energy", {d.q(q), d.v("v", v)}, {d.other("energy", energy, 1)},
         [&](auto& w, const S* const* in, S* const* out) {
           alignas(64) S potential[most_lanes<S>];
           d.energies_of(w, in[0], in[1], out[0], potential);
         });
}
template <class S>
void Batch<S>::potential_energy(In<S> q, Out<S> energy) {
  Data& d = *data_;
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "potential_energy", {d.q(q)}, {d.other("energy", energy, 1)},
        [](OneState<S>& one, const auto* in, const auto* out) { one.potential_energy(in[0], out[0]); });
  d.call(
      "potential_energy", {d.q(q)}, {d.other("energy", energy, 1)},
      [&](auto& w, const S* const* in, S* const* out) { d.energies_of(w, in[0], nullptr, nullptr, out[0]); });
}
template <class S>
void Batch<S>::center_of_mass(In<S> q, Out<S> center) {
  Data& d = *data_;
  const bool massless = !(d.model.mass() > 0);
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "center_of_mass", {d.q(q)}, {d.other("center", center, 3)},
        [&](OneState<S>& one, const auto* in, const auto* out) { one.center_of_mass(in[0], out[0]); });
  d.call_with_model_inertias("center_of_mass", {d.q(q)}, {d.other("center", center, 3)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               d.set->batch->velocities(d.base(), in[0], nullptr, w.m);
                               d.set->motion->totals(d.base(), w.m, false, out[0], nullptr);
                               if (massless) std::fill_n(out[0], 3 * d.table->lanes, S(0));
                             });
}
template <class S>
void Batch<S>::momentum(In<S> q, In<S> v, Out<S> momentum_of_all) {
  Data& d = *data_;
  const bool massless = !(d.model.mass() > 0);
  if (d.one_by_one(q))
    return d.call_one_by_one(
        "momentum", {d.q(q), d.v("v", v)}, {d.other("momentum", momentum_of_all, 6)},
        [&](OneState<S>& one, const auto* in, const auto* out) { one.momentum(in[0], in[1], out[0]); });
  d.call_with_model_inertias("momentum", {d.q(q), d.v("v", v)}, {d.other("momentum", momentum_of_all, 6)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               d.set->batch->kinematics(d.base(), in[0], in[1], nullptr, w.m);
                               alignas(64) S center[3 * most_lanes<S>];
                               d.set->motion->totals(d.base(), w.m, true, center, out[0]);
                               if (massless) std::fill_n(out[0], 6 * d.table->lanes, S(0));
                             });
}
template <class S>
void Batch<S>::centroidal_map(In<S> q, Out<S> map) {
  Data& d = *data_;
  d.call_with_model_inertias("centroidal_map", {d.q(q)}, {d.columns_of("map", map)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               d.set->motion->centroidal_map(d.base(), in[0], w.m, out[0]);
                             });
}

template <class S>
void Batch<S>::coriolis(const char* function, bool rate, In<S> q, In<S> v, Out<S> matrix) {
  Data& d = *data_;
  const std::size_t n = d.base().nv, lanes = d.table->lanes;
  for (auto& w : d.workers) {
    if (w.coriolis_memory.size()) continue;
    CoriolisMemory<Pack<S, most_lanes<S>>> m;
    w.coriolis_memory = make_arrays(m, d.base());
    w.coriolis = retyped<S>(m);
  }
  d.call_with_model_inertias(function, {d.q(q), d.v("v", v)}, {d.matrix("matrix", matrix)},
                             [&](auto& w, const S* const* in, S* const* out) {
                               S* const C = out[0];
                               d.set->motion->coriolis_matrix(d.base(), in[0], in[1], w.m, w.coriolis, C);
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

template <class S>
void Batch<S>::listed(int number, std::span<const std::span<const S>> in, In<S> wrenches, int frame,
                      Axes axes, std::span<const std::span<S>> out) {
  using batching::Numbers;
  Data& d = *data_;
  const ListedKernel& kernel = d.set_of_kernels->listed[number];
  const std::size_t vectors = kernel.uses.size(), parts = kernel.parts.size();
  // The vectors in the order of `uses`, then external forces; q first.
  typename Data::Input from[batching::most_inputs];
  typename Data::Output to[batching::most_outputs];
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::span<const S> x = in[static_cast<int>(kernel.uses[i])];
    from[i] = kernel.uses[i] == Argument::q ? d.q(x) : d.v("a vector", x);
    if (is_joint_force(kernel.uses[i])) from[i] = d.own(from[i]);
  }
  const bool forces = kernel.external_forces && !wrenches.empty();
  if (forces) from[vectors] = d.wrenches(wrenches);
  const std::size_t states = std::max<std::size_t>(1, d.count_of(kernel.name, from[0].x));
  bool matrices = d.model.has_mimics() && kernel.mimics == Mimics::tied;
  for (std::size_t i = 0; i < parts; ++i) {
    const Numbers kind = batching::numbers_of_part(kernel.parts[i]);
    matrices = matrices || kind == Numbers::matrix || kind == Numbers::rows;
    to[i] = {kernel.parts[i].key, out[i], kernel.mimics == Mimics::tied ? Numbers::other : kind,
             out[i].size() / states};
  }
  const batching::ListOf<typename Data::Input> inputs(from, vectors + (forces ? 1 : 0));
  const batching::ListOf<typename Data::Output> outputs(to, parts);
  if (d.one_by_one(in[0]) || (matrices && d.matrices_one_by_one(in[0])))
    return d.call_one_by_one(kernel.name, inputs, outputs,
                             [&](OneState<S>& one, const auto* x, const auto* y) {
                               std::array<std::span<const S>, argument_count> by_name{};
                               for (std::size_t i = 0; i < vectors; ++i)
                                 by_name[static_cast<int>(kernel.uses[i])] = x[i];
                               one.listed(number, by_name, forces ? x[vectors] : std::span<const S>(), frame,
                                          axes, std::span(y, parts));
                             });
  KernelCall<S> call;
  call.axes = axes;
  if (kernel.frames != FramesNeeded::none) call.frame = frame_on_body<S>(d.model, frame);
  const ListedIn<S>& in_lanes = kernel.template in<S>();
  const bool varied = d.varied && kernel.of_inertias;
  const auto run = varied ? in_lanes.varied : in_lanes.many;
  d.call(kernel.name, inputs, outputs, [&](auto& w, const S* const* x, S* const* y) {
    KernelCall<S> c = call;
    for (std::size_t i = 0; i < vectors; ++i) c.in[static_cast<int>(kernel.uses[i])] = x[i];
    if (forces) c.wrenches = x[vectors];
    std::copy_n(y, parts, c.out);
    run(varied ? w.tree : d.base(), c, w.m, w.smallest);
  });
}

#define ARTICULA_INSTANTIATE(S)                                                              \
  template void Batch<S>::pose(std::span<const int>, In<S>, Out<S>);                         \
  template void Batch<S>::pose(int, In<S>, Out<S>);                                          \
  template void Batch<S>::frame_velocity(int, In<S>, In<S>, Out<S>, Axes);                   \
  template void Batch<S>::frame_acceleration(int, In<S>, In<S>, In<S>, Out<S>, Axes);        \
  template void Batch<S>::jacobian_dot_v(int, In<S>, In<S>, Out<S>, Axes);                   \
  template void Batch<S>::jacobian(int, In<S>, Out<S>, Axes);                                \
  template void Batch<S>::pose(int, In<S>, Out<S>, Out<S>);                                  \
  template void Batch<S>::energies(In<S>, In<S>, Out<S>, Out<S>);                            \
  template void Batch<S>::kinetic_energy(In<S>, In<S>, Out<S>);                              \
  template void Batch<S>::potential_energy(In<S>, Out<S>);                                   \
  template void Batch<S>::center_of_mass(In<S>, Out<S>);                                     \
  template void Batch<S>::momentum(In<S>, In<S>, Out<S>);                                    \
  template void Batch<S>::listed(int, std::span<const std::span<const S>>, In<S>, int, Axes, \
                                 std::span<const std::span<S>>);                             \
  template void Batch<S>::centroidal_map(In<S>, Out<S>);                                     \
  template void Batch<S>::coriolis(const char*, bool, In<S>, In<S>, Out<S>);                 \
  template void Batch<S>::coriolis_matrix(In<S>, In<S>, Out<S>);                             \
  template void Batch<S>::mass_matrix_rate(In<S>, In<S>, Out<S>);
ARTICULA_INSTANTIATE(double)
ARTICULA_INSTANTIATE(float)
#undef ARTICULA_INSTANTIATE

}  // namespace articula
