#include "articula/dynamics/textbook.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>

#include "articula/spatial/rigid_motion.hpp"

namespace articula {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

Eigen::Matrix3d eigen(const Mat3<double>& m) {
  Eigen::Matrix3d x;
  x << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return x;
}
Vector6 eigen(const Spatial<double>& x) {
  Vector6 y;
  y << x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z;
  return y;
}
/// Ad_T = [[R, 0], [p~ R, R]]
Matrix6 Ad(const Pose& T) {
  Matrix6 x = Matrix6::Zero();
  x.topLeftCorner<3, 3>() = x.bottomRightCorner<3, 3>() = eigen(T.R);
  x.bottomLeftCorner<3, 3>() = eigen(tilde(T.p) * T.R);
  return x;
}
/// [ad_V] = [[w~, 0], [v~, w~]]
Matrix6 ad(const Vector6& V) {
  Matrix6 x = Matrix6::Zero();
  x.topLeftCorner<3, 3>() = x.bottomRightCorner<3, 3>() = eigen(tilde(Vec3<double>{V[0], V[1], V[2]}));
  x.bottomLeftCorner<3, 3>() = eigen(tilde(Vec3<double>{V[3], V[4], V[5]}));
  return x;
}

struct Link {
  int inboard;  // body, or -1
  int v, freedoms;
  Matrix A;      // 6 x freedoms
  Matrix6 G;     // (9.52)
  Matrix6 to_i;  // Ad(T_i,i-1)
};

/// The joint's displacement in its own axes, for joints with several freedoms.
template <class J>
Pose displacement(const double* q, double pitch) {
  Pose x;
  if constexpr (J::quaternion)
    x.R = rotation(Quaternion<double>{q[0], q[1], q[2], q[3]});
  else if constexpr (J::angle >= 0)
    x.R = turned_about_z(Mat3<double>::identity(), sincos(q[J::angle]));
  x.p = J::slide(q, pitch);
  return x;
}

std::vector<Link> links_of(const Model& model, const std::vector<double>& q) {
  const Tree<double>& tree = model.tree<double>();
  const auto constants = [&](int k, int component) { return tree.constants_of(k) + block * component; };
  std::vector<Link> links;
  std::vector<Pose> centre(tree.slots());  // {i} in the body's axes at O_i; slot 0: the base frame {0}
  for (int k = 1; k < tree.slots(); ++k) {
    const BodyIndex& b = tree.index[k];
    const double m = *constants(k, constant::m);
    const auto mp = gather<block, Vec3<double>>(constants(k, constant::mp));
    if (m > 0) centre[k].p = mp * (1 / m);
    const auto u = gather<block, Vec3<double>>(constants(k, constant::u)),
               w = gather<block, Vec3<double>>(constants(k, constant::w));
    const Sym3<double> at_O = plus_diagonal(symmetric_product(u, w), *constants(k, constant::lambda));
    Link link{b.inboard - 1, b.v, 0, {}, Matrix6::Zero(), {}};
    link.G.topLeftCorner<3, 3>() = eigen(full(at_O - minus_tilde_tilde(centre[k].p, mp * 0.5)));
    link.G.bottomRightCorner<3, 3>() = m * Eigen::Matrix3d::Identity();
    const Pose zero{
        turned_about_z(gather<block, Mat3<double>>(constants(k, constant::E)), sincos(tree.offset[k])),
        gather<block, Vec3<double>>(constants(k, constant::l))};
    const Pose M_i = inverse(centre[b.inboard]) * zero * centre[k];  // M_(i-1,i)     (9.39)
    visit(b.kind, [&](auto j) {
      using J = decltype(j);
      link.freedoms = J::nv;
      link.A.resize(6, J::nv);
      const auto axes = Mat3<double>::identity();
      for_each_index<J::nv>([&](auto i) {
        link.A.col(i.value) =
            Ad(inverse(centre[k])) *
            eigen(spatial(HingeMap<J, double>{axes, tree.pitch[k]}.template row<i.value>()));
      });
      Pose T;  // T_(i-1,i)     (9.50), (9.53)
      if constexpr (J::nv == 1) {
        const Vector6 x = link.A.col(0) * q[b.q];
        const RigidMotion e = exp_motion({{x[0], x[1], x[2]}, {x[3], x[4], x[5]}});
        T = M_i * Pose{rotation(e.turn), e.shift};
      } else {
        T = M_i * inverse(centre[k]) * displacement<J>(q.data() + b.q, tree.pitch[k]) * centre[k];
      }
      link.to_i = Ad(inverse(T));
    });
    links.push_back(std::move(link));
  }
  return links;
}

/// Arguments in full coordinates, with sizes checked.
std::vector<double> expanded(const Model& model, const char* function, const char* name, In<double> x,
                             bool is_q) {
  const std::size_t size = is_q ? model.nq() : model.nv();
  if (x.size() != size)
    throw ArgumentError(fmt::format("{}: {} has {} numbers, model '{}' needs {}", function, name, x.size(),
                                    model.name(), size));
  std::vector<double> full;
  for (const auto& f : is_q ? model.full_coordinates() : model.full_velocities())
    full.push_back(f.multiplier * x[f.source] + (is_q ? f.offset : 0));
  return full;
}
std::vector<double> reduced(const Model& model, const Vector& full) {
  std::vector<double> own(model.nv());
  const auto map = model.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i) own[map[i].source] += map[i].multiplier * full[i];
  return own;
}
Vector6 base_acceleration(const Model& model) {
  const Vec3<double> g = model.gravity();
  return eigen(Spatial<double>{{0, 0, 0}, -g});  // V'_0 = (0, -g): MR9 prints +g (docs/math.md 12)
}
TextbookMatrix stored(const Matrix& m) {
  TextbookMatrix x{static_cast<int>(m.rows()), static_cast<int>(m.cols()), {}};
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) x.numbers.push_back(m(i, j));
  return x;
}
std::vector<double> stored(const Vector& v) { return {v.data(), v.data() + v.size()}; }

}  // namespace

std::vector<double> inverse_dynamics_screws(const Model& model, In<double> q, In<double> v, In<double> a) {
  constexpr const char* name = "inverse_dynamics_screws";
  const auto th_d = expanded(model, name, "v", v, false), th_dd = expanded(model, name, "a", a, false);
  const auto links = links_of(model, expanded(model, name, "q", q, true));
  const std::size_t n = links.size();
  std::vector<Vector6> V(n), V_d(n), F(n);
  Vector tau = Vector::Zero(static_cast<long>(th_d.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = links[i];
    const Vector6 A_v = link.A * Eigen::Map<const Vector>(th_d.data() + link.v, link.freedoms);
    const Vector6 A_a = link.A * Eigen::Map<const Vector>(th_dd.data() + link.v, link.freedoms);
    const bool on_base = link.inboard < 0;
    V[i] = (on_base ? Vector6::Zero() : Vector6(link.to_i * V[link.inboard])) + A_v;  // (9.54)
    V_d[i] = link.to_i * (on_base ? base_acceleration(model) : V_d[link.inboard]) +   // (9.55)
             ad(V[i]) * A_v + A_a;
    F[i] = link.G * V_d[i] - ad(V[i]).transpose() * (link.G * V[i]);  // (9.56), own part
  }
  const Tree<double>& tree = model.tree<double>();
  for (std::size_t i = n; i-- > 0;) {
    const Link& link = links[i];
    tau.segment(link.v, link.freedoms) = link.A.transpose() * F[i];          // (9.57)
    if (link.inboard >= 0) F[link.inboard] += link.to_i.transpose() * F[i];  // (9.56), from outboard
  }
  for (int i = 0; i < tree.nv; ++i) tau[i] += tree.armature[i] * th_dd[i];
  return reduced(model, tau);
}

ClosedForm closed_form(const Model& model, In<double> q, In<double> v) {
  const auto th_d = expanded(model, "closed_form", "v", v, false);
  const auto links = links_of(model, expanded(model, "closed_form", "q", q, true));
  const long n = static_cast<long>(links.size()), nv = static_cast<long>(th_d.size());
  Matrix A = Matrix::Zero(6 * n, nv), G = Matrix::Zero(6 * n, 6 * n), Gamma = G, ad_A_v = G, ad_V = G;
  Vector base = Vector::Zero(6 * n);
  const Eigen::Map<const Vector> rates(th_d.data(), nv);
  for (long i = 0; i < n; ++i) {
    const Link& link = links[i];
    A.block(6 * i, link.v, 6, link.freedoms) = link.A;                                     // (9.64)
    G.block<6, 6>(6 * i, 6 * i) = link.G;                                                  // (9.65)
    ad_A_v.block<6, 6>(6 * i, 6 * i) = ad(link.A * rates.segment(link.v, link.freedoms));  // (9.67)
    if (link.inboard >= 0)
      Gamma.block<6, 6>(6 * i, 6 * link.inboard) = link.to_i;  // (9.68)
    else
      base.segment<6>(6 * i) = link.to_i * base_acceleration(model);  // (9.70)
  }
  // Gamma is nilpotent and block lower triangular, so its sum of powers (9.76) is a forward substitution.
  const Matrix L = (Matrix::Identity(6 * n, 6 * n) - Gamma)
                       .triangularView<Eigen::UnitLower>()
                       .solve(Matrix::Identity(6 * n, 6 * n));
  const Vector V = L * (A * rates);  // (9.77), base at rest
  for (long i = 0; i < n; ++i) ad_V.block<6, 6>(6 * i, 6 * i) = ad(V.segment<6>(6 * i));  // (9.66)
  const Matrix LA = L * A;
  Matrix mass = LA.transpose() * G * LA;  // (9.82)
  for (long i = 0; i < nv; ++i) mass(i, i) += model.tree<double>().armature[i];
  // (9.83), with the sign of ad_(A th') that (9.55) asks for: [V_i, A th'] = -[A th', Gamma V]. MR9 prints a
  // plus.
  const Vector c = LA.transpose() * (-(G * L * ad_A_v * Gamma) - ad_V.transpose() * G) * V;
  const Vector g = LA.transpose() * G * L * base;  // (9.84)
  // Mimic joints: M = S^T M_full S.
  Matrix S = Matrix::Zero(nv, model.nv());
  const auto map = model.full_velocities();
  for (long i = 0; i < nv; ++i) S(i, map[i].source) = map[i].multiplier;
  return {stored(A),
          stored(G),
          stored(Gamma),
          stored(L),
          stored(ad_A_v),
          stored(ad_V),
          stored(V),
          stored(base),
          stored(Matrix(S.transpose() * mass * S)),
          stored(Vector(S.transpose() * c)),
          stored(Vector(S.transpose() * g))};
}

std::vector<double> get_joint_accel(const Model& model, In<double> q, In<double> v, In<double> tau,
                                    In<double> tau_external) {
  expanded(model, "get_joint_accel", "tau", tau, false);
  if (!tau_external.empty()) expanded(model, "get_joint_accel", "tau_external", tau_external, false);
  const long nv = model.nv();
  const std::vector<double> zero(nv);
  const auto gamma = inverse_dynamics_screws(model, q, v, zero);
  Vector c(nv);
  for (long i = 0; i < nv; ++i) c[i] = tau[i] - gamma[i] - (tau_external.empty() ? 0 : tau_external[i]);
  const auto M = closed_form(model, q, zero).mass_matrix;
  const Eigen::Map<const Matrix> mass(M.numbers.data(), nv, nv);  // symmetric: rows or columns
  return stored(Vector(Eigen::LLT<Matrix>(mass).solve(c)));
}

}  // namespace articula
