#include "articula/linearization/second_order.hpp"
#include "articula/spatial/numbers.hpp"

#include "articula/kernels/tables.hpp"
#include "articula/model/configuration.hpp"

namespace articula {

SecondOrder::SecondOrder(const Model& model)
    : Workspace<double>(model, {.motion = true}),
      forward_(model),
      x_(static_cast<std::size_t>(tree().slots()) * body::count),
      vectors_(static_cast<std::size_t>(tree().nq) + 6 * static_cast<std::size_t>(tree().nv)),
      wrenches_(6 * static_cast<std::size_t>(tree().bodies)),
      levers_(9 * static_cast<std::size_t>(tree().bodies)),
      q_dot_(model.nq()),
      a_(model.nv()),
      first_a_(model.nv()),
      second_a_(model.nv()),
      right_(model.nv()),
      zeros_(model.nv()) {
  arrays_ = make_arrays(lin_, tree(), LinearizationNeeds{});
  lin_.k.x = x_.data();
}

void SecondOrder::check_direction(const char* function, const Direction& direction) const {
  check(function, "direction dq", direction.dq.size(), model_.nv());
  check(function, "direction dv", direction.dv.size(), model_.nv());
  check(function, "direction da or dtau", direction.last.size(), model_.nv());
}

/// x + d eps, in full velocities.
void SecondOrder::lift(D* to, In<double> x, In<double> d) const {
  const auto map = model_.full_velocities();
  for (int i = 0; i < tree().nv; ++i) {
    const auto [source, multiplier, offset] = model_.has_mimics() ? map[i] : Model::FullVelocity{i, 1.0, 0.0};
    to[i] = {x[source] * multiplier, d.empty() ? 0.0 : d[source] * multiplier};
  }
}

void SecondOrder::inverse(In<double> q, In<double> v, In<double> a, const Direction& first,
                          const Direction& second, Out<double> ddtau,
                          const LinearizationOptions<double>& options) {
  constexpr const char* name = "twice_perturbed_inverse";
  check(name, "q", q.size(), model_.nq());
  check(name, "v", v.size(), model_.nv());
  check(name, "a", a.size(), model_.nv());
  check(name, "ddtau", ddtau.size(), model_.nv());
  check_direction(name, first);
  check_direction(name, second);
  const double* const wrenches = check_wrenches(name, options.wrenches);
  coordinate_rates(model_, q, second.dq, q_dot_);
  const Tree<double>& tree = this->tree();
  D *const fq = vectors_.data(), *const fv = fq + tree.nq, *const fa = fv + tree.nv, *const dq = fa + tree.nv,
           *const dv = dq + tree.nv, *const da = dv + tree.nv, *const out = da + tree.nv;
  const auto map = model_.full_coordinates();
  for (int i = 0; i < tree.nq; ++i) {
    const auto [source, multiplier, offset] = model_.has_mimics() ? map[i] : Model::FullVelocity{i, 1.0, 0.0};
    fq[i] = {q[source] * multiplier + offset, q_dot_[source] * multiplier};
  }
  lift(fv, v, second.dv);
  lift(fa, a, second.last);
  lift(dq, first.dq, {});
  lift(dv, first.dv, {});
  lift(da, first.last, {});
  ExternalForces<D> external{nullptr, options.held};
  if (wrenches) {
    // Forces held in body axes turn with their body, others only move with it.
    const bool world = options.held == HeldIn::world_axes, levers = world && !options.levers.empty();
    if (levers) check(name, "levers (one per body)", options.levers.size(), tree.bodies);
    if (!world || levers) kernels<double>().velocities(tree, full_q(q), full_v(second.dq), m_);
    for (int k = 0; k < tree.bodies; ++k) {
      const Spatial<double> w = gather<1, Spatial<double>>(wrenches + 6 * k);
      const Vec3<double> turn =
          !world || levers ? gather<1, Vec3<double>>(m_.V + 6 * (k + 1)) : Vec3<double>{0, 0, 0};
      Spatial<double> moved{{0, 0, 0}, {0, 0, 0}};
      if (!world) moved = {cross(turn, w.w), cross(turn, w.v)};
      if (levers) {  // d (r x F) = (turn x r) x F, and d (r F*) = (turn x r) F*
        const Mat3<double>& L = options.levers[k];
        const Mat3<double> dL = cross(turn, L);
        moved.w = {dL.yz - dL.zy, dL.zx - dL.xz, dL.xy - dL.yx};
        const double *const x = numbers_of(L), *const d = numbers_of(dL);
        for (int i = 0; i < 9; ++i) levers_[9 * k + i] = {x[i], d[i]};
      }
      const double *const x = numbers_of(w), *const d = numbers_of(moved);
      for (int i = 0; i < 6; ++i) wrenches_[6 * k + i] = {x[i], d[i]};
    }
    external.wrenches = wrenches_.data();
    if (levers) external.levers = levers_.data();
  }
  kernel_set().second_order->perturbed_inverse(tree, fq, fv, fa, dq, dv, da, external, lin_, out);
  // Damping is linear in v: it has no second derivative.
  for (double& x : ddtau) x = 0;
  const auto velocities = model_.full_velocities();
  for (int i = 0; i < tree.nv; ++i) {
    const auto [source, multiplier, offset] =
        model_.has_mimics() ? velocities[i] : Model::FullVelocity{i, 1.0, 0.0};
    ddtau[source] += multiplier * out[i].d;
  }
}

void SecondOrder::forward(In<double> q, In<double> v, In<double> tau, const Direction& first,
                          const Direction& second, Out<double> dda,
                          const LinearizationOptions<double>& options) {
  constexpr const char* name = "twice_perturbed_forward";
  check(name, "dda", dda.size(), model_.nv());
  check_direction(name, first);
  check_direction(name, second);
  // tau(q, v, a(q, v, tau)) = tau, differentiated along the first and then the second direction:
  // 0 = tau''[first, second] + M dda, with each direction's own da.
  perturbed_forward(forward_, q, v, tau, first.dq, first.dv, first.last, first_a_, options);
  perturbed_forward(forward_, q, v, tau, second.dq, second.dv, second.last, second_a_, options);
  forward_.acceleration(a_);
  inverse(q, v, a_, {first.dq, first.dv, first_a_}, {second.dq, second.dv, second_a_}, right_, options);
  for (double& x : right_) x = -x;
  perturbed_forward(forward_, q, v, tau, zeros_, zeros_, right_, dda, options);
}

}  // namespace articula
