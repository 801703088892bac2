// Operational space of models with mimic joints: the recursions know one coordinate per hinge, so that here
// the frames' Jacobians are formed, and M^-1 J* is solved for row by row.
#pragma once

#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/task_space/task_space.hpp"

namespace articula {

struct TaskSpace::DenseRoute {
  DenseRoute(const Model& model, const TaskSpace& space)
      : model(model),
        kinematics(model),
        factor(model),
        inverse(model),
        weightless(model.with_gravity({0, 0, 0})),
        mass(model) {
    for (const Placed& task : space.tasks_)
      if (task.frame == static_cast<int>(frames.size())) frames.push_back(task.task.frame);
    const std::size_t nv = model.nv(), m = frames.size();
    for (auto* x : {&J, &X}) x->resize(6 * m * nv);
    for (auto* x : {&gravity_acceleration, &coriolis_acceleration}) x->resize(6 * m);
    blocks_.resize(task_block * m * m);
    for (auto* x : {&G, &C}) x->resize(nv);
    M.resize(nv * nv);
    // A frame of each body, to read its axes from; bodies without one carry no task and no axes.
    frame_of_slot.assign(model.body_count() + 1, -1);
    for (std::size_t f = 0; f < model.frames().size(); ++f)
      if (model.frames()[f].body >= 0) frame_of_slot[model.frames()[f].body + 1] = static_cast<int>(f);
  }
  void update(std::span<const double> q, const double* v) {
    const std::size_t nv = model.nv(), m = frames.size();
    if (v)
      kinematics.update(q, std::span(v, nv));
    else
      kinematics.update(q);
    factor.factor(q);
    mass_matrix(mass, q, std::span<double>(M));
    articula::gravity_forces(inverse, q, std::span<double>(G));
    if (v)
      articula::bias_forces(weightless, q, std::span(v, nv), std::span<double>(C));
    else
      std::fill(C.begin(), C.end(), 0.0);
    for (std::size_t i = 0; i < m; ++i) {
      kinematics.jacobian(frames[i], std::span(J).subspan(6 * i * nv, 6 * nv));
      for (int r = 0; r < 6; ++r)
        factor.solve(std::span(J).subspan((6 * i + r) * nv, nv), std::span(X).subspan((6 * i + r) * nv, nv));
    }
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j)
        for (int a = 0; a < 6; ++a)
          for (int b = 0; b < 6; ++b)
            blocks_[task_block * (i * m + j) + task_lanes * a + b] =
                product(J.data() + (6 * i + a) * nv, X.data() + (6 * j + b) * nv);
    const Vec3<double> up = -model.gravity();
    for (std::size_t i = 0; i < m; ++i) {
      for (int r = 0; r < 6; ++r) {
        gravity_acceleration[6 * i + r] = -product(X.data() + (6 * i + r) * nv, G.data());
        coriolis_acceleration[6 * i + r] = -product(X.data() + (6 * i + r) * nv, C.data());
      }
      gravity_acceleration[6 * i + 3] += up.x;
      gravity_acceleration[6 * i + 4] += up.y;
      gravity_acceleration[6 * i + 5] += up.z;
    }
  }
  double product(const double* a, const double* b) const {
    double sum = 0;
    for (int i = 0; i < model.nv(); ++i) sum += a[i] * b[i];
    return sum;
  }
  const double* blocks() const { return blocks_.data(); }
  const double* fall(std::size_t i) const { return gravity_acceleration.data() + 6 * i; }
  const double* coriolis(std::size_t i) const { return coriolis_acceleration.data() + 6 * i; }
  void bias(std::size_t i, double* out) const { scatter<1>(kinematics.acceleration(frames[i]), out); }
  Mat3<double> body_axes(int slot) const {
    if (slot == 0) return Mat3<double>::identity();
    const int f = frame_of_slot[slot];
    const Frame& frame = model.frames()[f];
    return kinematics.pose(f).rotation * star(model.bodies()[slot - 1].link_axes * frame.placement.R);
  }
  Vec3<double> angular_velocity(int slot) const {
    return slot == 0 ? Vec3<double>{0, 0, 0} : kinematics.velocity(frame_of_slot[slot]).w;
  }
  FramePose<double> pose(int frame) const { return kinematics.pose(frame); }
  void velocities(const double* v, double* out) const {
    for (std::size_t i = 0; i < 6 * frames.size(); ++i) out[i] = product(J.data() + i * model.nv(), v);
  }
  void forces(const double* F, double* tau) const { combine(J, F, tau); }
  void rates(const double* F, double* v) const { combine(X, F, v); }
  void combine(const std::vector<double>& rows, const double* F, double* out) const {
    const int nv = model.nv();
    std::fill(out, out + nv, 0.0);
    for (std::size_t i = 0; i < 6 * frames.size(); ++i)
      for (int c = 0; c < nv; ++c) out[c] += rows[i * nv + c] * F[i];
  }
  void accelerations(const double* tau, double* out) const {
    for (std::size_t i = 0; i < 6 * frames.size(); ++i) out[i] = product(X.data() + i * model.nv(), tau);
  }
  void gravity_forces(std::span<double> tau) const { std::copy(G.begin(), G.end(), tau.begin()); }
  void coriolis_forces(std::span<double> tau) const { std::copy(C.begin(), C.end(), tau.begin()); }
  void times_mass(std::span<const double> a, std::span<double> tau) const {
    for (std::size_t i = 0; i < tau.size(); ++i) tau[i] = product(M.data() + i * tau.size(), a.data());
  }

  Model model;
  Kinematics<> kinematics;
  MassFactor<> factor;
  InverseDynamics<> inverse, weightless;
  MassMatrix<> mass;
  std::vector<int> frames, frame_of_slot;
  std::vector<double> J, X, blocks_, gravity_acceleration, coriolis_acceleration, G, C, M;
};

}  // namespace articula
