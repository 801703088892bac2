#include "articula/batch/one_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "articula/batch/listed_work.hpp"
#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/task_space.hpp"

namespace articula {

namespace {

template <class S>
Wrenches<S> per_body(std::span<const S> x) {
  return {reinterpret_cast<const Spatial<S>*>(x.data()), x.size() / 6};
}
}  // namespace

template <class S>
struct OneState<S>::Work {
  explicit Work(const Model& m) : model(m) {}
  Model model;
  std::optional<InverseDynamics<S>> inverse;
  std::optional<ForwardDynamics<S>> forward;
  std::optional<MassMatrix<S>> mass;
  std::optional<MassFactor<S>> factor;
  std::optional<Kinematics<S>> kinematics;
  std::optional<LinearizedInverse<S>> linearized_inverse;
  std::optional<LinearizedForward<S>> linearized_forward;
  std::optional<ListedWork<S>> listed;
  // double alone
  std::optional<NamedForwardDynamics> named;
  std::optional<Coriolis> coriolis;
  std::optional<DiagonalizedDynamics> diagonalized;
  std::optional<TaskSpace> space;
  std::vector<int> frames_of_space;
  std::array<std::vector<double>, 4> in;
  std::array<std::vector<double>, 7> out;
  std::string remark;

  template <class W>
  W& made(std::optional<W>& work) {
    remark.clear();
    if (!work) work.emplace(model);
    return *work;
  }
  void space_of(std::span<const int> frames) {
    remark.clear();
    if (space && std::ranges::equal(frames, frames_of_space)) return;
    std::vector<Task> tasks;
    for (const int frame : frames) {
      frame_on_body(model, frame);  // checks
      tasks.push_back(pose_task(model, model.frames()[frame].name));
    }
    space.emplace(model, tasks);
    frames_of_space.assign(frames.begin(), frames.end());
  }

  /// Arguments and results in double: themselves, or copies.
  std::span<const double> wide(int i, std::span<const S> x) {
    if constexpr (std::is_same_v<S, double>) {
      return x;
    } else {
      in[i].assign(x.begin(), x.end());
      return in[i];
    }
  }
  std::span<double> room(int i, std::span<S> x) {
    if constexpr (std::is_same_v<S, double>) {
      return x;
    } else {
      out[i].resize(x.size());
      return out[i];
    }
  }
  /// JPL88's FD2, with accelerations of bodies and frames.
  const NamedForwardDynamics& fd2(In<S> q, In<S> v, In<S> tau, In<S> wrenches) {
    out[0].resize(static_cast<std::size_t>(model.nv()));
    made(named).compute(NamedForwardDynamics::Algorithm::fd2, wide(0, q), wide(1, v), wide(2, tau), out[0],
                        per_body<double>(wide(3, wrenches)));
    return *named;
  }
  void narrow(int i, std::span<S> x) {
    if constexpr (!std::is_same_v<S, double>)
      for (std::size_t c = 0; c < x.size(); ++c) x[c] = static_cast<S>(out[i][c]);
  }
};

namespace {
/// A result of a fixed number of numbers.
template <class T>
void put(const char* function, const T& numbers, std::size_t n, auto out) {
  if (out.size() != n)
    throw ArgumentError(std::string(function) + ": the result has room for " + std::to_string(out.size()) +
                        " numbers, expected " + std::to_string(n));
  std::copy_n(numbers_of(numbers), n, out.begin());
}
template <class S>
void put_number(const char* function, S x, std::span<S> out) {
  put(function, Vec3<S>{x, x, x}, 1, out);
}
}  // namespace

template <class S>
OneState<S>::OneState(const Model& model) : work_(std::make_unique<Work>(model)) {}
template <class S>
OneState<S>::~OneState() = default;
template <class S>
OneState<S>::OneState(OneState&&) noexcept = default;
template <class S>
OneState<S>& OneState<S>::operator=(OneState&&) noexcept = default;
template <class S>
const Model& OneState<S>::model() const {
  return work_->model;
}
template <class S>
const std::string& OneState<S>::remark() const {
  return work_->remark;
}

template <class S>
void OneState<S>::reserve() {
  work_->made(work_->inverse);
  work_->made(work_->forward);
  work_->made(work_->kinematics);
}

// --- dynamics
template <class S>
void OneState<S>::inverse_dynamics(In<S> q, In<S> v, In<S> a, Out<S> tau, In<S> wrenches) {
  work_->made(work_->inverse).compute(q, v, a, tau, per_body(wrenches));
}
template <class S>
void OneState<S>::forward_dynamics(In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches) {
  work_->made(work_->forward).compute(q, v, tau, a, per_body(wrenches));
}
template <class S>
void OneState<S>::forward_dynamics_fd(int number, In<S> q, In<S> v, In<S> tau, Out<S> a, In<S> wrenches) {
  if (number < 1 || number > 4) throw ArgumentError("forward_dynamics_fd: the papers have FD1 to FD4");
  Work& w = *work_;
  w.made(w.named).compute(static_cast<NamedForwardDynamics::Algorithm>(number - 1), w.wide(0, q),
                          w.wide(1, v), w.wide(2, tau), w.room(0, a), per_body<double>(w.wide(3, wrenches)));
  w.narrow(0, a);
}
template <class S>
void OneState<S>::body_accelerations(In<S> q, In<S> v, In<S> tau, Out<S> alpha, In<S> wrenches) {
  Work& w = *work_;
  const std::size_t bodies = static_cast<std::size_t>(w.model.body_count());
  if (alpha.size() != 6 * bodies)
    throw ArgumentError(
        fmt::format("body_accelerations: alpha has {} numbers, model '{}' has {} bodies with 6 each",
                    alpha.size(), w.model.name(), bodies));
  const NamedForwardDynamics& found = w.fd2(q, v, tau, wrenches);
  for (std::size_t i = 0; i < 6 * bodies; ++i)
    alpha[i] = static_cast<S>(numbers_of(found.link_accelerations()[i / 6])[i % 6]);
}
template <class S>
void OneState<S>::tip_acceleration(int frame, In<S> q, In<S> v, In<S> tau, Out<S> alpha, In<S> wrenches) {
  put("tip_acceleration", work_->fd2(q, v, tau, wrenches).tip_acceleration(frame), 6, alpha);
}
template <class S>
void OneState<S>::bias_forces(In<S> q, In<S> v, Out<S> tau, In<S> wrenches) {
  work_->made(work_->inverse).compute_bias(q, v, tau, per_body(wrenches));
}
template <class S>
void OneState<S>::gravity_forces(In<S> q, Out<S> tau) {
  work_->made(work_->inverse).compute_gravity(q, tau);
}
template <class S>
void OneState<S>::mass_matrix(In<S> q, Out<S> matrix) {
  work_->made(work_->mass).compute(q, matrix);
}
template <class S>
void OneState<S>::inverse_mass_matrix(In<S> q, Out<S> matrix) {
  articula::inverse_mass_matrix(work_->made(work_->factor), q, matrix);
}
template <class S>
void OneState<S>::coriolis_matrix(In<S> q, In<S> v, Out<S> C) {
  Work& w = *work_;
  w.made(w.coriolis).compute(w.wide(0, q), w.wide(1, v), w.room(0, C));
  w.narrow(0, C);
}
template <class S>
void OneState<S>::mass_matrix_rate(In<S> q, In<S> v, Out<S> dM_dt) {
  Work& w = *work_;
  w.made(w.coriolis).compute_mass_matrix_rate(w.wide(0, q), w.wide(1, v), w.room(0, dM_dt));
  w.narrow(0, dM_dt);
}
template <class S>
void OneState<S>::christoffel_symbols(In<S> q, Out<S> gamma) {
  Work& w = *work_;
  w.made(w.coriolis).compute_christoffel(w.wide(0, q), w.room(0, gamma));
  w.narrow(0, gamma);
}

// --- sums over all bodies, and frames
template <class S>
void OneState<S>::energies(In<S> q, In<S> v, Out<S> kinetic, Out<S> potential) {
  auto& k = work_->made(work_->kinematics);
  k.update(q, v);
  const Totals<S> sums = k.totals();
  put_number<S>("energies", sums.kinetic, kinetic);
  put_number<S>("energies", sums.potential, potential);
}
template <class S>
void OneState<S>::kinetic_energy(In<S> q, In<S> v, Out<S> energy) {
  auto& k = work_->made(work_->kinematics);
  k.update(q, v);
  put_number<S>("kinetic_energy", k.totals().kinetic, energy);
}
template <class S>
void OneState<S>::potential_energy(In<S> q, Out<S> energy) {
  auto& k = work_->made(work_->kinematics);
  k.update(q);
  put_number<S>("potential_energy", k.totals().potential, energy);
}
template <class S>
void OneState<S>::center_of_mass(In<S> q, Out<S> center) {
  auto& k = work_->made(work_->kinematics);
  k.update(q);
  put("center_of_mass", k.totals().center_of_mass, 3, center);
}
template <class S>
void OneState<S>::momentum(In<S> q, In<S> v, Out<S> momentum_of_all) {
  auto& k = work_->made(work_->kinematics);
  k.update(q, v);
  put("momentum", k.totals().momentum, 6, momentum_of_all);
}
template <class S>
void OneState<S>::centroidal_map(In<S> q, Out<S> map) {
  work_->made(work_->mass).compute_centroidal_map(q, map);
}
template <class S>
void OneState<S>::pose(int frame, In<S> q, Out<S> rotation, Out<S> position) {
  const FramePose<S> at = work_->made(work_->kinematics).pose(frame, q);
  put("pose", at.rotation, 9, rotation);
  put("pose", at.position, 3, position);
}
template <class S>
void OneState<S>::frame_velocity(int frame, In<S> q, In<S> v, Out<S> velocity, Axes axes) {
  auto& k = work_->made(work_->kinematics);
  k.update(q, v);
  put("frame_velocity", k.velocity(frame, axes), 6, velocity);
}
template <class S>
void OneState<S>::frame_acceleration(int frame, In<S> q, In<S> v, In<S> a, Out<S> acceleration, Axes axes) {
  auto& k = work_->made(work_->kinematics);
  k.update(q, v, a);
  put("frame_acceleration", k.acceleration(frame, axes), 6, acceleration);
}
template <class S>
void OneState<S>::jacobian_dot_v(int frame, In<S> q, In<S> v, Out<S> acceleration, Axes axes) {
  auto& k = work_->made(work_->kinematics);
  k.update_drift(q, v);
  put("jacobian_dot_v", k.acceleration(frame, axes), 6, acceleration);
}
template <class S>
void OneState<S>::jacobian(int frame, In<S> q, Out<S> matrix, Axes axes) {
  work_->made(work_->kinematics).jacobian(frame, q, matrix, axes);
}

// --- linearizations
template <class S>
void OneState<S>::linearized_inverse(In<S> q, In<S> v, In<S> a, Out<S> dq, Out<S> dv, Out<S> da,
                                     const Options& o) {
  work_->made(work_->linearized_inverse).matrices(q, v, a, dq, dv, da, o);
}
template <class S>
void OneState<S>::linearized_forward(In<S> q, In<S> v, In<S> tau, Out<S> dq, Out<S> dv, Out<S> dtau,
                                     const Options& o) {
  work_->made(work_->linearized_forward).matrices(q, v, tau, dq, dv, dtau, o);
}
template <class S>
void OneState<S>::perturbed_inverse(In<S> q, In<S> v, In<S> a, In<S> dq, In<S> dv, In<S> da, Out<S> dtau,
                                    const Options& o) {
  work_->made(work_->linearized_inverse).perturb(q, v, a, dq, dv, da, dtau, o);
}
template <class S>
void OneState<S>::perturbed_forward(In<S> q, In<S> v, In<S> tau, In<S> dq, In<S> dv, In<S> dtau, Out<S> da,
                                    const Options& o) {
  work_->made(work_->linearized_forward).perturb(q, v, tau, dq, dv, dtau, da, o);
}
template <class S>
void OneState<S>::inverse_gradient(In<S> q, In<S> v, In<S> a, In<S> weights, Out<S> by_q, Out<S> by_v,
                                   Out<S> by_a, const Options& o) {
  work_->made(work_->linearized_inverse).gradient(q, v, a, weights, by_q, by_v, by_a, o);
}
template <class S>
void OneState<S>::forward_gradient(In<S> q, In<S> v, In<S> tau, In<S> weights, Out<S> by_q, Out<S> by_v,
                                   Out<S> by_tau, const Options& o) {
  work_->made(work_->linearized_forward).gradient(q, v, tau, weights, by_q, by_v, by_tau, o);
}

// --- operational space, diagonalized dynamics
template <class S>
void OneState<S>::operational_space(std::span<const int> frames, In<S> q, In<S> v, Out<S> omega,
                                    Out<S> lambda, Out<S> coriolis, Out<S> gravity, Out<S> jacobian_bar,
                                    Out<S> rank) {
  Work& w = *work_;
  w.space_of(frames);
  TaskSpace& space = *w.space;
  space.update(w.wide(0, q), w.wide(1, v));
  space.omega(w.room(0, omega));
  space.lambda(w.room(1, lambda));
  space.coriolis(w.room(2, coriolis));
  space.gravity(w.room(3, gravity));
  space.jacobian_bar(w.room(4, jacobian_bar));
  int i = 0;
  for (const Out<S> x : {omega, lambda, coriolis, gravity, jacobian_bar}) w.narrow(i++, x);
  put_number<S>("operational_space", static_cast<S>(space.rank()), rank);
  if (space.rank() < space.rows()) w.remark = "operational_space: " + space.rank_report().words;
}
template <class S>
void OneState<S>::diagonalized(In<S> q, In<S> v, In<S> tau, Out<S> nu, Out<S> epsilon, Out<S> coriolis_nu,
                               Out<S> xi, Out<S> kappa, Out<S> coriolis_xi, Out<S> D, In<S> wrenches,
                               bool printed) {
  Work& w = *work_;
  auto& d = w.made(w.diagonalized);
  const Wrenches<double> forces = per_body<double>(w.wide(3, wrenches));
  d.update(w.wide(0, q));
  d.rates_to_nu(w.wide(1, v), w.room(0, nu));
  d.forces_to_epsilon(w.wide(2, tau), w.room(1, epsilon));
  if (printed)
    d.coriolis_nu_printed(w.room(0, nu), w.room(2, coriolis_nu), forces);
  else
    d.coriolis_nu(w.room(0, nu), w.room(2, coriolis_nu), forces);
  d.rates_to_xi(w.wide(1, v), w.room(3, xi));
  d.forces_to_kappa(w.wide(2, tau), w.room(4, kappa));
  d.coriolis_xi(w.room(3, xi), w.room(5, coriolis_xi), forces);
  d.D(w.room(6, D));
  int i = 0;
  for (const Out<S> x : {nu, epsilon, coriolis_nu, xi, kappa, coriolis_xi, D}) w.narrow(i++, x);
}

template <class S>
void OneState<S>::listed(int number, std::span<const std::span<const S>> in, In<S> wrenches, int frame,
                         Axes axes, std::span<const std::span<S>> out) {
  work_->made(work_->listed).run(number, in, wrenches, frame, axes, out);
}

template class OneState<double>;
template class OneState<float>;

}  // namespace articula
