#include "articula/dynamics/fd1_to_fd4.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"

namespace articula {

NamedForwardDynamics::NamedForwardDynamics(const Model& model)
    : Workspace<double>(model, {.side = true, .factor = true, .keep_D = true, .solve = true}),
      mimics_(model),
      extra_(make_arrays(n_, model.tree<double>())),
      alpha_(model.body_count()),
      unit_(mimics_.count() > 0 ? model.tree<double>().nv : 0) {}

void NamedForwardDynamics::compute(Algorithm algorithm, In<double> q, In<double> v, In<double> tau,
                                   Out<double> a, Wrenches<double> wrenches) {
  static constexpr const char* names[] = {"forward_dynamics_fd1", "forward_dynamics_fd2",
                                          "forward_dynamics_fd3", "forward_dynamics_fd4"};
  const char* const name = names[static_cast<int>(algorithm)];
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "tau", tau.size(), model_.nv());
  check(name, "a", a.size(), model_.nv());
  const double* const forces = check_wrenches(name, wrenches);
  const Tree<double>& t = tree();
  const std::size_t nv = t.nv;
  n_.alpha = reinterpret_cast<double*>(alpha_.data());
  double* const full = full_result(a);
  has_alpha_ = false;
  if (!(kernel_set().operators->fd[static_cast<int>(algorithm)](t, full_q(q), full_v(v), full_tau(tau),
                                                                forces, m_, n_, full) > 0))
    throw_singular(model_, name, m_.inv_D);
  if (mimics_.count() > 0) {
    for (int row = 0; row < mimics_.count(); ++row) {
      mimics_.unit_force(row, unit_.data());
      kernels<double>().solve(t, m_, unit_.data(), mimics_.response(row));
    }
    mimics_.factor(name);
    std::copy_n(full, nv, unit_.data());
    mimics_.apply(full);
    mimics_.take_own(full, a);
    // What the mimic joints' forces change, carried outward: phi* H* (difference).
    if (algorithm == Algorithm::fd2) {
      for (std::size_t i = 0; i < nv; ++i) unit_[i] = full[i] - unit_[i];
      Sweep<double> s;
      s.outward = true;
      s.H_times = unit_.data();
      s.z = n_.a;
      kernel_set().in<double>().sweeps->sweep(t, m_, s);
      for (std::size_t i = 0; i < 6 * alpha_.size(); ++i) n_.alpha[i] += s.z[i];
    }
  }
  has_alpha_ = algorithm == Algorithm::fd2;
}

std::span<const Spatial<double>> NamedForwardDynamics::link_accelerations() const {
  if (!has_alpha_)
    throw ArgumentError("link_accelerations: only forward_dynamics_fd2 finds them; call it first");
  return alpha_;
}

Spatial<double> NamedForwardDynamics::tip_acceleration(int frame) const {
  const auto alpha = link_accelerations();
  const int frames = static_cast<int>(model_.frames().size());
  if (frame < 0 || frame >= frames)
    throw ArgumentError(
        fmt::format("tip_acceleration: frame {} of model '{}', which has {}", frame, model_.name(), frames));
  const Frame& f = model_.frames()[frame];
  if (f.body < 0) return {{0, 0, 0}, {0, 0, 0}};
  const double* x = slot(m_.x, f.body + 1, int(body::count));
  const auto R = gather<block, Mat3<double>>(x + block * body::R);
  const auto w = gather<block, Vec3<double>>(x + block * body::w);
  const Vec3<double> l = R * (model_.bodies()[f.body].link_axes * f.placement.p);
  Spatial<double> tip = star(Phi<double>{l}) * alpha[f.body];  // (5.7): phi*(1,0) alpha(1) + a(0)
  tip.v += cross(w, cross(w, l));
  return tip;
}

namespace {
std::vector<double> once(NamedForwardDynamics::Algorithm algorithm, const Model& model, In<double> q,
                         In<double> v, In<double> tau) {
  NamedForwardDynamics work(model);
  std::vector<double> a(model.nv());
  work.compute(algorithm, q, v, tau, a, {});
  return a;
}
}  // namespace
std::vector<double> forward_dynamics_fd1(const Model& model, In<double> q, In<double> v, In<double> tau) {
  return once(NamedForwardDynamics::Algorithm::fd1, model, q, v, tau);
}
std::vector<double> forward_dynamics_fd2(const Model& model, In<double> q, In<double> v, In<double> tau) {
  return once(NamedForwardDynamics::Algorithm::fd2, model, q, v, tau);
}
std::vector<double> forward_dynamics_fd3(const Model& model, In<double> q, In<double> v, In<double> tau) {
  return once(NamedForwardDynamics::Algorithm::fd3, model, q, v, tau);
}
std::vector<double> forward_dynamics_fd4(const Model& model, In<double> q, In<double> v, In<double> tau) {
  return once(NamedForwardDynamics::Algorithm::fd4, model, q, v, tau);
}

}  // namespace articula
