// A chain on a fixed base as URDF: for peers that read models from files only. Nothing is nested, however
// long it is.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "bench/contest.hpp"

namespace articula::bench {

using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

inline std::string words(const double* x, int n) { return fmt::format("{}", fmt::join(x, x + n, " ")); }

/// Moments about principal axes, and those axes: not every peer finds them to the last digits.
inline std::pair<Eigen::Vector3d, Eigen::Matrix3d> principal(const double* I) {
  Eigen::Matrix3d full;
  full << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> found(full);
  Eigen::Matrix3d axes = found.eigenvectors();
  if (axes.determinant() < 0) axes.col(0) *= -1;
  return {found.eigenvalues(), axes};
}

inline std::string urdf_text(const PeerModel& model) {
  const auto origin = [](const Eigen::Matrix3d& R, const double* p) {
    const Eigen::Vector3d ypr = R.eulerAngles(2, 1, 0);
    const double rpy[] = {ypr[2], ypr[1], ypr[0]};
    return fmt::format("<origin xyz='{}' rpy='{}'/>", words(p, 3), words(rpy, 3));
  };
  std::string s = "<robot name='chain'><link name='world'/>\n";
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const PeerBody& b = model.bodies[k];
    if (b.kind == PeerBody::Kind::free) throw std::runtime_error("a free base is not written");
    const auto [moments, axes] = principal(b.inertia);
    s += fmt::format(
        "<link name='{}'><inertial>{}<mass value='{}'/><inertia ixx='{}' iyy='{}' izz='{}' ixy='0' ixz='0' "
        "iyz='0'/></inertial></link>\n<joint name='{}' type='{}'>{}<parent link='{}'/><child "
        "link='{}'/><axis "
        "xyz='{}'/><limit lower='-100' upper='100' effort='1000' velocity='1000'/></joint>\n",
        b.name, origin(axes, b.com), b.mass, moments[0], moments[1], moments[2], model.joints[k],
        b.kind == PeerBody::Kind::prismatic ? "prismatic" : "revolute",
        origin(Eigen::Map<const RowMajor3>(b.R), b.p), b.inboard < 0 ? "world" : model.bodies[b.inboard].name,
        b.name, words(b.axis, 3));
  }
  const PeerModel::Point& f = model.frame;
  if (f.name != model.bodies[f.body].name)
    s += fmt::format(
        "<link name='{0}'/><joint name='{0}_joint' type='fixed'>{1}<parent link='{2}'/><child "
        "link='{0}'/></joint>\n",
        f.name, origin(Eigen::Map<const RowMajor3>(f.R), f.p), model.bodies[f.body].name);
  return s + "</robot>\n";
}

/// A file for as long as it lives.
struct TemporaryFile {
  std::string name;
  TemporaryFile(const std::string& text, const char* ending)
      : name(fmt::format("{}/articula_bench_{}.{}", P_tmpdir, getpid(), ending)) {
    std::ofstream(name) << text;
  }
  ~TemporaryFile() { std::remove(name.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace articula::bench
