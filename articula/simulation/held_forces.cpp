#include "articula/simulation/held_forces.hpp"

#include "articula/kernels/tables.hpp"

namespace articula {

HeldForces::HeldForces(const Model& model)
    : Workspace<double>(model, {.motion = true}),
      axes_at_start_(model.body_count()),
      levers_(model.body_count()),
      wrenches_(model.body_count()) {}

void HeldForces::place(In<double> q) { kernels<double>().velocities(tree(), full_q(q), nullptr, m_); }
Mat3<double> HeldForces::axes(int k) const {
  const double* const x = slot(m_.x, k + 1, int(body::count)) + block * body::R;
  return {x[0],         x[block],     x[2 * block], x[3 * block], x[4 * block],
          x[5 * block], x[6 * block], x[7 * block], x[8 * block]};
}

void HeldForces::start(const char* function, In<double> q, const LinearizationOptions<double>& options) {
  check_wrenches(function, options.wrenches);
  if (!options.levers.empty())
    check(function, "levers (one per body)", options.levers.size(), model_.body_count());
  given_ = now_ = options;
  turn_ = !options.wrenches.empty() && (options.held == HeldIn::body_axes || !options.levers.empty());
  if (!turn_) return;
  place(q);
  for (int k = 0; k < model_.body_count(); ++k) axes_at_start_[k] = axes(k);
}

const LinearizationOptions<double>& HeldForces::at(In<double> q) {
  if (!turn_) return now_;
  place(q);
  for (int k = 0; k < model_.body_count(); ++k) {
    const Mat3<double> turn = axes(k) * star(axes_at_start_[k]);
    const Spatial<double>& w = given_.wrenches[k];
    if (given_.held == HeldIn::body_axes) {
      wrenches_[k] = {turn * w.w, turn * w.v};
      continue;
    }
    // The moment r x F of a lever r F* is the axial vector of its skew part; r turns, F does not.
    const auto moment = [](const Mat3<double>& L) {
      return Vec3<double>{L.yz - L.zy, L.zx - L.xz, L.xy - L.yx};
    };
    levers_[k] = turn * given_.levers[k];
    wrenches_[k] = {w.w + moment(levers_[k]) - moment(given_.levers[k]), w.v};
  }
  now_.wrenches = wrenches_;
  if (given_.held == HeldIn::world_axes) now_.levers = levers_;
  return now_;
}

}  // namespace articula
