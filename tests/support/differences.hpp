// Derivatives along the configuration manifold by central differences with Richardson extrapolation, and
// helpers for matrices kept row by row.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "articula/dynamics/kinematics.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

using Vector = std::vector<double>;

/// d/dt f(t) at 0. The error is of order h^6, and rounding / h.
inline Vector derivative(const std::function<Vector(double)>& f, double h = 0.01) {
  Vector D[3];
  for (int level = 0; level < 3; ++level, h /= 2) {
    D[level] = f(h);
    const Vector minus = f(-h);
    for (std::size_t i = 0; i < minus.size(); ++i) D[level][i] = (D[level][i] - minus[i]) / (2 * h);
  }
  for (std::size_t i = 0; i < D[0].size(); ++i) {
    const double first = (4 * D[1][i] - D[0][i]) / 3, second = (4 * D[2][i] - D[1][i]) / 3;
    D[0][i] = (16 * second - first) / 15;
  }
  return D[0];
}
inline Vector scaled(std::span<const double> x, double s) {
  Vector out(x.begin(), x.end());
  for (double& e : out) e *= s;
  return out;
}
inline Vector sum(std::span<const double> x, std::span<const double> y, double s = 1) {
  Vector out(x.begin(), x.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += s * y[i];
  return out;
}
/// m x for a square matrix row by row, and its adjoint.
inline Vector product(std::span<const double> m, std::span<const double> x) {
  Vector out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) out[i] += m[i * x.size() + j] * x[j];
  return out;
}
inline Vector star_product(std::span<const double> m, std::span<const double> x) {
  Vector out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) out[i] += m[j * x.size() + i] * x[j];
  return out;
}
inline Vector unit(std::size_t n, std::size_t i) {
  Vector out(n);
  out[i] = 1;
  return out;
}
/// The matrix whose column i is column(unit vector i).
inline Vector columns(std::size_t n, const std::function<Vector(const Vector&)>& column) {
  Vector out(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    const Vector c = column(unit(n, j));
    for (std::size_t i = 0; i < n; ++i) out[i * n + j] = c[i];
  }
  return out;
}

/// The joints' damping by velocity; a mimic joint's acts on its source.
inline Vector damping_of(const Model& model) {
  Vector out(model.nv());
  for (const Joint& joint : model.joints())
    for (int i = 0; i < (joint.mimics >= 0 ? 1 : joint.nv); ++i)
      out[joint.v_index + i] +=
          joint.damping[i] * (joint.mimics >= 0 ? joint.multiplier * joint.multiplier : 1);
  return out;
}
/// x + s damping v.
inline Vector with_damping(const Model& model, std::span<const double> x, std::span<const double> v,
                           double s) {
  Vector out = damping_of(model);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] + s * out[i] * v[i];
  return out;
}

/// External forces that turn with their bodies, from q to another configuration. Bodies without a frame
/// (crosses of universal joints) must have none.
inline std::vector<Spatial<double>> turned(const Model& model, std::span<const double> q,
                                           std::span<const double> other,
                                           std::span<const Spatial<double>> wrenches) {
  Kinematics<double> at(model), to(model);
  at.update(q);
  to.update(other);
  std::vector<Spatial<double>> out(wrenches.begin(), wrenches.end());
  for (std::size_t f = 0; f < model.frames().size(); ++f) {
    const int body = model.frames()[f].body;
    if (body < 0) continue;
    const Mat3<double> R = to.pose(int(f)).rotation * star(at.pose(int(f)).rotation);
    out[body] = {R * wrenches[body].w, R * wrenches[body].v};
  }
  return out;
}
/// External forces that keep their world components at points of their bodies, r from the joint origin at q,
/// in another configuration; given and returned at the joint origins.
inline std::vector<Spatial<double>> moved(const Model& model, std::span<const double> q,
                                          std::span<const double> other,
                                          std::span<const Spatial<double>> wrenches,
                                          std::span<const Vec3<double>> r) {
  Kinematics<double> at(model), to(model);
  at.update(q);
  to.update(other);
  std::vector<Spatial<double>> out(wrenches.begin(), wrenches.end());
  for (std::size_t f = 0; f < model.frames().size(); ++f) {
    const int body = model.frames()[f].body;
    if (body < 0) continue;
    const Mat3<double> R = to.pose(int(f)).rotation * star(at.pose(int(f)).rotation);
    out[body].w = wrenches[body].w + cross(R * r[body] - r[body], wrenches[body].v);
  }
  return out;
}
/// Points of the bodies where external forces act, and the levers r F* that the linearizations take.
struct Points {
  Points(const Model& model, std::span<const Spatial<double>> wrenches) {
    Rng rng(23);
    for (int i = 0; i < model.body_count(); ++i) {
      r.push_back(rng.vector());
      levers.push_back(lever(r.back(), wrenches[i].v));
    }
  }
  static Mat3<double> lever(const Vec3<double>& r, const Vec3<double>& F) {
    return {r.x * F.x, r.x * F.y, r.x * F.z, r.y * F.x, r.y * F.y,
            r.y * F.z, r.z * F.x, r.z * F.y, r.z * F.z};
  }
  std::span<const Mat3<double>> levers_if(bool wanted) const {
    return wanted ? std::span<const Mat3<double>>(levers) : std::span<const Mat3<double>>();
  }
  std::vector<Mat3<double>> moved_levers(const Model& model, std::span<const double> q,
                                         std::span<const double> other,
                                         std::span<const Spatial<double>> wrenches) const {
    Kinematics<double> at(model), to(model);
    at.update(q);
    to.update(other);
    std::vector<Mat3<double>> out = levers;
    for (std::size_t f = 0; f < model.frames().size(); ++f) {
      const int body = model.frames()[f].body;
      if (body < 0) continue;
      out[body] =
          lever(to.pose(int(f)).rotation * star_times(at.pose(int(f)).rotation, r[body]), wrenches[body].v);
    }
    return out;
  }
  std::vector<Vec3<double>> r;
  std::vector<Mat3<double>> levers;
};
/// Takes away the external forces of bodies without a frame.
inline void keep_framed(const Model& model, std::vector<Spatial<double>>& wrenches) {
  std::vector<bool> framed(wrenches.size());
  for (const Frame& frame : model.frames())
    if (frame.body >= 0) framed[frame.body] = true;
  for (std::size_t i = 0; i < wrenches.size(); ++i)
    if (!framed[i]) wrenches[i] = {{0, 0, 0}, {0, 0, 0}};
}

}  // namespace articula::testing
