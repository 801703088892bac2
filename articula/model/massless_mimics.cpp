// Joints without inertia where some joints follow others.
#include <Eigen/Dense>
#include <cmath>

#include "articula/model/massless_verdicts.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using V6 = Spatial<double>;

/// Above this many freedoms mimic groups are judged by a simpler rule instead of their dense mass matrix.
constexpr int dense_limit = 300;

/// How the rows depend on the independent velocities: row = multiplier * column.
struct Reduction {
  std::vector<int> column;
  std::vector<double> multiplier;
  int columns = 0;
};

Reduction reduction_of(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture) {
  Reduction out;
  out.column.resize(posture.rows.size());
  out.multiplier.assign(posture.rows.size(), 1);
  std::vector<int> row_of_joint(spec.joints.size(), -1);
  for (std::size_t r = 0; r < posture.rows.size(); ++r) {
    const int j = posture.rows[r].joint;
    if (j >= 0 && tree.mimic_source[std::size_t(j)] >= 0) continue;
    if (j >= 0) row_of_joint[std::size_t(j)] = int(r);
    out.column[r] = out.columns++;
  }
  for (std::size_t r = 0; r < posture.rows.size(); ++r) {
    const int j = posture.rows[r].joint;
    if (j < 0 || tree.mimic_source[std::size_t(j)] < 0) continue;
    out.column[r] = out.column[std::size_t(row_of_joint[std::size_t(tree.mimic_source[std::size_t(j)])])];
    out.multiplier[r] = tree.mimic_multiplier[std::size_t(j)];
  }
  return out;
}

/// The mass matrix of the independent velocities, dense: the sum of J* M J over the bodies, and the
/// armatures. `noise` is what rounding can have left on its diagonal: what the sum would be if nothing
/// cancelled, times a rounding.
struct DenseMass {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd noise;
};
/// A link's Jacobian, and bounds on what its columns were summed from.
struct LinkJacobian {
  Eigen::MatrixXd J;
  Eigen::VectorXd turning, sliding;
};

LinkJacobian jacobian_of(const LinkJacobian* inboard, const PlacedLink& placed, const Posture& posture,
                         const Reduction& reduction) {
  const Eigen::Index n = reduction.columns;
  LinkJacobian out{Eigen::MatrixXd::Zero(6, n), Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)};
  if (inboard) {
    out = *inboard;
    for (Eigen::Index c = 0; c < n; ++c) {
      const V3 shift = cross(V3{out.J(0, c), out.J(1, c), out.J(2, c)}, placed.l);
      out.J.col(c).tail<3>() += Eigen::Vector3d(shift.x, shift.y, shift.z);
      out.sliding(c) += out.turning(c) * norm(placed.l);
    }
  }
  for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
    const std::size_t row = std::size_t(r);
    const V6 h = posture.rows[row].h * reduction.multiplier[row];
    const Eigen::Index c = reduction.column[row];
    out.J.col(c) += Eigen::Matrix<double, 6, 1>(h.w.x, h.w.y, h.w.z, h.v.x, h.v.y, h.v.z);
    out.turning(c) += norm(h.w);
    out.sliding(c) += norm(h.v);
  }
  return out;
}

DenseMass dense_mass(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture,
                     const Reduction& reduction) {
  const Eigen::Index n = reduction.columns;
  DenseMass out{Eigen::MatrixXd::Zero(n, n), Eigen::VectorXd::Zero(n)};
  for (std::size_t r = 0; r < posture.rows.size(); ++r) {
    const double ratio = reduction.multiplier[r];
    out.matrix.diagonal()(reduction.column[r]) += posture.rows[r].armature * ratio * ratio;
  }
  std::vector<LinkJacobian> jacobians(spec.links.size());
  for (const int link : tree.order) {
    const std::size_t k = std::size_t(link);
    const int parent = tree.parent_link[k];
    jacobians[k] = jacobian_of(parent < 0 ? nullptr : &jacobians[std::size_t(parent)], posture.links[k],
                               posture, reduction);
    const auto& [J, turning, sliding] = jacobians[k];
    const Inertia<double> M = inertia_of(spec.links[k].mass, posture.links[k].R);
    Eigen::MatrixXd MJ(6, n);
    for (Eigen::Index c = 0; c < n; ++c) {
      const V6 f = M * V6{{J(0, c), J(1, c), J(2, c)}, {J(3, c), J(4, c), J(5, c)}};
      MJ.col(c) << f.w.x, f.w.y, f.w.z, f.v.x, f.v.y, f.v.z;
    }
    out.matrix.noalias() += J.transpose() * MJ;
    const double trace = std::abs(M.J.xx) + std::abs(M.J.yy) + std::abs(M.J.zz);
    out.noise += unit_roundoff * (trace * turning.cwiseAbs2() + std::abs(M.m) * sliding.cwiseAbs2());
  }
  return out;
}

/// Pivots of the dense matrix, tips first as the sweep does it: which independent velocities have no inertia?
std::vector<bool> singular_columns(DenseMass mass) {
  const Eigen::Index n = mass.matrix.rows();
  std::vector<bool> singular(std::size_t(n), false);
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    const double d = mass.matrix(k, k);
    singular[std::size_t(k)] = !(std::abs(d) > roundings_that_are_zero * mass.noise(k));
    if (singular[std::size_t(k)] || k == 0) continue;
    const Eigen::VectorXd G = mass.matrix.col(k).head(k) / d;
    mass.matrix.topLeftCorner(k, k).noalias() -= G * (d * G.transpose());
    mass.noise.head(k) += G.cwiseAbs2() * (mass.noise(k) + unit_roundoff * d);
  }
  return singular;
}

}  // namespace

void judge_mimic_groups(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture,
                        std::vector<Verdict>& verdicts) {
  const std::size_t rows = posture.rows.size();
  const Reduction reduction = reduction_of(spec, tree, posture);
  std::vector<bool> singular(std::size_t(reduction.columns), true);
  if (reduction.columns <= dense_limit && int(rows) <= 2 * dense_limit &&
      spec.links.size() <= std::size_t(4) * dense_limit) {
    singular = singular_columns(dense_mass(spec, tree, posture, reduction));
  } else {
    for (std::size_t r = 0; r < rows; ++r)
      if (!verdicts[r].massless) singular[std::size_t(reduction.column[r])] = false;
  }
  std::vector<double> scale(std::size_t(reduction.columns), 0.0);
  for (std::size_t r = 0; r < rows; ++r)
    scale[std::size_t(reduction.column[r])] +=
        reduction.multiplier[r] * reduction.multiplier[r] * verdicts[r].scale;
  for (std::size_t r = 0; r < rows; ++r) {
    const int joint = posture.rows[r].joint;
    const bool independent = joint < 0 || tree.mimic_source[std::size_t(joint)] < 0;
    verdicts[r].massless = independent && singular[std::size_t(reduction.column[r])];
    verdicts[r].scale = scale[std::size_t(reduction.column[r])];
  }
}

}  // namespace articula
