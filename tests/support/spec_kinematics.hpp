// Poses and mass matrix straight from a specification of one-freedom joints, the slow and obvious way: an
// independent check of the readers. Joints must come parents first.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula::testing {

inline Eigen::Matrix3d to_eigen(const Mat3<double>& m) {
  Eigen::Matrix3d out;
  out << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return out;
}
inline Eigen::Vector3d to_eigen(const Vec3<double>& v) { return {v.x, v.y, v.z}; }
inline Eigen::Matrix3d to_eigen(const Sym3<double>& m) { return to_eigen(full(m)); }
inline Eigen::Isometry3d to_eigen(const Pose& pose) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = to_eigen(pose.R);
  out.translation() = to_eigen(pose.p);
  return out;
}

struct SpecKinematics {
  std::map<std::string, Eigen::Isometry3d> pose;          // by link and frame, in the world
  std::map<std::string, Eigen::Matrix<double, 6, -1>> J;  // by link: (w, v) of the link's origin, world axes
};

/// q in the order of spec.joints, fixed ones left out.
inline SpecKinematics kinematics_of(const ModelSpec& spec, const std::vector<double>& q) {
  SpecKinematics out;
  const Eigen::Index n = Eigen::Index(q.size());
  for (const auto& link : spec.links) {
    bool root = true;
    for (const auto& joint : spec.joints) root &= joint.child != link.name;
    if (root) out.pose[link.name].setIdentity(), out.J[link.name].setZero(6, n);
  }
  Eigen::Index next = 0;
  for (const auto& joint : spec.joints) {
    const Eigen::Isometry3d inboard = out.pose.at(joint.parent), at = inboard * to_eigen(joint.placement);
    Eigen::Isometry3d motion = Eigen::Isometry3d::Identity();
    Eigen::Matrix<double, 6, 1> screw = Eigen::Matrix<double, 6, 1>::Zero();
    const Eigen::Vector3d axis = to_eigen(joint.axis), h = at.linear() * axis;
    const bool moves = joint.kind != JointKind::fixed;
    const double x = moves ? q.at(std::size_t(next)) : 0;
    if (joint.kind == JointKind::prismatic) {
      motion.translation() = axis * x;
      screw.tail<3>() = h;
    } else if (moves) {
      const double pitch = joint.kind == JointKind::helical ? joint.pitch : 0;
      motion.linear() = Eigen::AngleAxisd(x, axis).toRotationMatrix();
      motion.translation() = axis * (pitch * x);
      screw << h, h * pitch;
    }
    out.pose[joint.child] = at * motion;
    Eigen::Matrix<double, 6, -1> J = out.J.at(joint.parent);
    const Eigen::Vector3d l = out.pose[joint.child].translation() - inboard.translation();
    for (Eigen::Index c = 0; c < n; ++c) {
      const Eigen::Vector3d w = J.col(c).head<3>();
      J.col(c).tail<3>() += w.cross(l);
    }
    if (moves) J.col(next++) += screw;
    out.J[joint.child] = J;
  }
  for (const auto& frame : spec.frames)
    out.pose[frame.name] = out.pose.at(frame.link) * to_eigen(frame.placement);
  return out;
}

/// Sum of J* M J over the links, and the armatures.
inline Eigen::MatrixXd mass_matrix_of(const ModelSpec& spec, const std::vector<double>& q) {
  const SpecKinematics k = kinematics_of(spec, q);
  const Eigen::Index n = Eigen::Index(q.size());
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  for (const auto& link : spec.links) {
    const Eigen::Matrix3d R = k.pose.at(link.name).linear();
    const Eigen::Vector3d c = R * to_eigen(link.mass.center_of_mass);
    const Eigen::MatrixXd Jw = k.J.at(link.name).topRows<3>();
    Eigen::MatrixXd Jc = k.J.at(link.name).bottomRows<3>();
    for (Eigen::Index i = 0; i < n; ++i) Jc.col(i) += Eigen::Vector3d(Jw.col(i)).cross(c);
    M += Jw.transpose() * R * to_eigen(link.mass.inertia) * R.transpose() * Jw +
         link.mass.mass * Jc.transpose() * Jc;
  }
  Eigen::Index next = 0;
  for (const auto& joint : spec.joints) {
    if (joint.kind == JointKind::fixed) continue;
    M(next, next) += joint.armature[0];
    ++next;
  }
  return M;
}

}  // namespace articula::testing
