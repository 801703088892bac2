#include "articula/task_space/swept_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/model/configuration.hpp"

#undef ARTICULA_ISA
#define ARTICULA_ISA swept_text  // compiled here alone
#include "articula/kernels/swept_text.hpp"
#include "articula/spatial/finite.hpp"

namespace articula {

using namespace swept_text;

struct SweptControl::Sweeps {
  Sweeps(const Model& model, std::string_view frame, int sweeps, const SingularityOptions& options);
  void command(const MotionTarget& target, const MotionGains& gains);

  const Model model;
  const Tree<double>& tree = model.tree<double>();
  const int wanted;
  int last = 0;  // sweeps of the last tick; 0: there is none to take terms of
  const FrameOnBody<double> at;
  SingularityOptions options;
  std::vector<SweptBody<double>> bodies;
  std::vector<Spatial<double>> G;
  std::vector<double> inv_D, nu, posture, Omega;
  RankSolve solve{6};
  Swept<double> m;
};

namespace {

int checked_frame(const Model& model, std::string_view frame, int sweeps) {
  if (sweeps < 2 || sweeps > 4)
    throw ArgumentError(fmt::format("SweptControl: {} sweeps, expected 2, 3 or 4", sweeps));
  if (model.has_mimics())
    throw ArgumentError(
        fmt::format("SweptControl: model '{}' has mimic joints; take TaskController", model.name()));
  return pose_task(model, frame).frame;
}

}  // namespace

SweptControl::Sweeps::Sweeps(const Model& given, std::string_view frame, int sweeps,
                             const SingularityOptions& singular)
    : model(given),
      wanted(sweeps),
      at(frame_on_body<double>(given, checked_frame(given, frame, sweeps))),
      options(singular),
      bodies(tree.slots()),
      G(tree.nv),
      inv_D(6 * static_cast<std::size_t>(tree.nv)),
      nu(tree.nv),
      posture(tree.nv),
      Omega(36),
      m{bodies.data(), G.data(), inv_D.data(), nu.data(), posture.data()} {
  if (options.activation == 0) options.activation = model.mass() > 0 ? 0.05 / model.mass() : 0.05;
  for (int k = 1; k < tree.slots(); ++k) {
    const double* const c = tree.constants_of(k);
    const auto u = gather<block, Vec3<double>>(c + block * constant::u),
               w = gather<block, Vec3<double>>(c + block * constant::w);
    bodies[k].M = {c[block * constant::m], gather<block, Vec3<double>>(c + block * constant::mp),
                   plus_diagonal(symmetric_product(u, w), c[block * constant::lambda])};
  }
  for (int k = at.slot; k != 0; k = tree.index[k].inboard) bodies[k].on_way = true;
  bodies[0].R = Mat3<double>::identity();
  bodies[0].alpha_p = bodies[0].alpha_0 = {{0, 0, 0}, -tree.gravity};
}

/// F of the frame's body from Lambda (u - beta_0'), which the third sweep has left at it.
void SweptControl::Sweeps::command(const MotionTarget& target, const MotionGains& gains) {
  SweptBody<double>& body = bodies[at.slot];
  const Vec3<double> r = at.p, w = body.V.w;
  const Spatial<double> V = turned(body.R, star(Phi<double>{r}) * body.V);
  Spatial<double> beta = star(Phi<double>{r}) * body.alpha_0;
  beta.v += cross(w, cross(w, r));  // a(0)
  beta = turned(body.R, beta);
  beta.v += tree.gravity;
  const Spatial<double> rest = motion_command({body.R * at.R, body.p + body.R * r}, V, target, gains) - beta;
  // Omega(0) = B* Omega B (60), in world axes
  const auto Omega0 = turned(body.R, shifted_outward(Phi<double>{r}, body.Omega));
  for (int c = 0; c < 6; ++c) {
    Spatial<double> unit{{0, 0, 0}, {0, 0, 0}};
    numbers_of(unit)[c] = 1;
    const Spatial<double> column = Omega0 * unit;
    for (int i = 0; i < 6; ++i) Omega[6 * i + c] = numbers_of(column)[i];
  }
  Spatial<double> F;
  solve.solve(Omega.data(), options);
  solve.times(numbers_of(rest), numbers_of(F));
  body.F = Phi<double>{r} * turned(star(body.R), F);
}

SweptControl::SweptControl(const Model& model, std::string_view frame, int sweeps,
                           const SingularityOptions& options)
    : sweeps_(std::make_unique<Sweeps>(model, frame, sweeps, options)) {}
SweptControl::~SweptControl() = default;
SweptControl::SweptControl(SweptControl&&) noexcept = default;
SweptControl& SweptControl::operator=(SweptControl&&) noexcept = default;

void SweptControl::reset() { sweeps_->last = 0; }
int SweptControl::last_sweeps() const { return sweeps_->last; }

void SweptControl::torques(In<double> q, In<double> v, const MotionTarget& target, const MotionGains& gains,
                           const PostureGains& posture, Out<double> tau) {
  Sweeps& s = *sweeps_;
  const auto check = [&](const char* what, std::size_t size, int expected) {
    if (size != static_cast<std::size_t>(expected))
      throw ArgumentError(fmt::format("SweptControl: torques: {} has {} numbers, model '{}' needs {}", what,
                                      size, s.model.name(), expected));
  };
  check("q", q.size(), s.model.nq());
  check("v", v.size(), s.model.nv());
  check("the posture", posture.wanted.size(), s.model.nq());
  check("tau", tau.size(), s.model.nv());
  difference(s.model, q, posture.wanted, s.posture);
  for (std::size_t i = 0; i < v.size(); ++i)
    s.posture[i] = posture.stiffness * s.posture[i] - posture.damping * v[i];
  const int sweeps = s.last == 0 ? 4 : s.wanted;
  s.last = 0;  // should this tick fail
  double pivot;
  if (sweeps == 4) {
    sweep_out<false>(s.tree, q.data(), v.data(), s.m);
    pivot = sweep_in<false, false>(s.tree, q.data(), s.m, tau.data());
  } else if (sweeps == 3) {
    pivot = sweep_in<true, false>(s.tree, q.data(), s.m, tau.data());
  } else {
    pivot = sweep_in<true, true>(s.tree, q.data(), s.m, tau.data());
  }
  if (!(pivot > 0)) throw_singular(s.model, "operational space", s.inv_D.data());
  sweep_out<true>(s.tree, q.data(), v.data(), s.m);
  s.command(target, gains);
  if (sweeps != 2) sweep_force(s.tree, s.at.slot, s.m, tau.data());
  double sum = 0;
  for (const double x : tau) sum += x;
  if (!std::isfinite(sum)) {
    const double factors[] = {gains.stiffness,       gains.damping,     gains.turning_stiffness,
                              gains.turning_damping, posture.stiffness, posture.damping};
    const Spatial<double> motion[] = {{target.position, {}}, target.velocity, target.acceleration};
    if (!are_finite(q, v, posture.wanted, factors, std::span(numbers_of(target.rotation), 9)) ||
        !are_finite(std::span<const Spatial<double>>(motion)))
      throw ArgumentError("SweptControl: torques: the arguments are not finite numbers");
    throw SingularError("SweptControl: torques: the results are not finite; q or v is too large");
  }
  s.last = sweeps;
}

}  // namespace articula
