#include "articula/dynamics/textbook.hpp"

#include <fmt/format.h>

#include "articula/spatial/dense.hpp"
#include "articula/spatial/rigid_motion.hpp"

namespace articula {

namespace {

using dense::matrix, dense::Matrix, dense::View;

/// [[a, 0], [b, a]]
Matrix lower_blocks(const Mat3<double>& a, const Mat3<double>& b) {
  Matrix x(6, 6);
  x.block(0, 0, 3, 3) = x.block(3, 3, 3, 3) = matrix(a);
  x.block(3, 0, 3, 3) = matrix(b);
  return x;
}
/// Ad_T = [[R, 0], [p~ R, R]]
Matrix Ad(const Pose& T) { return lower_blocks(T.R, tilde(T.p) * T.R); }
/// [ad_V] = [[w~, 0], [v~, w~]]
Matrix ad(const View& V) {
  const Spatial<double> x = dense::spatial(V);
  return lower_blocks(tilde(x.w), tilde(x.v));
}

struct Link {
  int inboard;  // body, or -1
  int v, freedoms;
  Matrix A;     // 6 x freedoms
  Matrix G;     // (9.52)
  Matrix to_i;  // Ad(T_i,i-1)
  Pose centre;  // {i} in the body's axes at O_i
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
    Link link{b.inboard - 1, b.v, 0, {}, Matrix(6, 6), {}, centre[k]};
    link.G.block(0, 0, 3, 3) = matrix(full(at_O - minus_tilde_tilde(centre[k].p, mp * 0.5)));
    link.G.block(3, 3, 3, 3) = m * Matrix::identity(3);
    const Pose zero{
        turned_about_z(gather<block, Mat3<double>>(constants(k, constant::E)), sincos(tree.offset[k])),
        gather<block, Vec3<double>>(constants(k, constant::l))};
    const Pose M_i = inverse(centre[b.inboard]) * zero * centre[k];  // M_(i-1,i)     (9.39)
    visit(b.kind, [&](auto j) {
      using J = decltype(j);
      link.freedoms = J::nv;
      link.A = Matrix(6, J::nv);
      const auto axes = Mat3<double>::identity();
      for_each_index<J::nv>([&](auto i) {
        link.A.block(0, i.value, 6, 1) =
            Ad(inverse(centre[k])) *
            dense::column(spatial(HingeMap<J, double>{axes, tree.pitch[k]}.template row<i.value>()));
      });
      Pose T;  // T_(i-1,i)     (9.50), (9.53)
      if constexpr (J::nv == 1) {
        const RigidMotion e = exp_motion(dense::spatial(link.A) * q[b.q]);
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
std::vector<double> reduced(const Model& model, const Matrix& full) {
  std::vector<double> own(model.nv());
  const auto map = model.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i) own[map[i].source] += map[i].multiplier * full[i];
  return own;
}
Matrix base_acceleration(const Model& model, const BaseAndTip& ends) {
  const Vec3<double> g = model.gravity();
  return dense::column(ends.V_0_dot - Spatial<double>{{0, 0, 0}, g});  // -g: MR9 prints +g (docs/math.md 12)
}
/// F_n+1 in {n}: Ad(T_n+1,n)^T F_tip, and the body that has it; none: -1.
std::pair<int, Matrix> tip_force(const Model& model, const std::vector<Link>& links, const BaseAndTip& ends) {
  if (ends.tip < 0) return {-1, {}};
  if (ends.tip >= static_cast<int>(model.frames().size()))
    throw ArgumentError(fmt::format("textbook: model '{}' has no frame {}", model.name(), ends.tip));
  const Frame& f = model.frames()[ends.tip];
  if (f.body < 0) return {-1, {}};
  const Mat3<double>& axes = model.bodies()[f.body].link_axes;
  const Pose tip = inverse(links[f.body].centre) * Pose{axes * f.placement.R, axes * f.placement.p};
  return {f.body, star(Ad(inverse(tip))) * dense::column(ends.F_tip)};
}
std::vector<double> stored(const Matrix& v) { return {v.numbers().begin(), v.numbers().end()}; }
TextbookMatrix stored_matrix(const Matrix& m) { return {m.rows(), m.columns(), stored(m)}; }

}  // namespace

std::vector<double> inverse_dynamics_screws(const Model& model, In<double> q, In<double> v, In<double> a,
                                            const BaseAndTip& ends) {
  constexpr const char* name = "inverse_dynamics_screws";
  const auto th_d = expanded(model, name, "v", v, false), th_dd = expanded(model, name, "a", a, false);
  const auto links = links_of(model, expanded(model, name, "q", q, true));
  const std::size_t n = links.size();
  std::vector<Matrix> V(n), V_d(n), F(n);
  Matrix tau(static_cast<int>(th_d.size()), 1);
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = links[i];
    const Matrix A_v = link.A * dense::view({th_d.data() + link.v, static_cast<std::size_t>(link.freedoms)});
    const Matrix A_a = link.A * dense::view({th_dd.data() + link.v, static_cast<std::size_t>(link.freedoms)});
    const bool on_base = link.inboard < 0;
    V[i] = link.to_i * (on_base ? dense::column(ends.V_0) : V[link.inboard]) + A_v;        // (9.54)
    V_d[i] = link.to_i * (on_base ? base_acceleration(model, ends) : V_d[link.inboard]) +  // (9.55)
             ad(V[i]) * A_v + A_a;
    F[i] = link.G * V_d[i] - star(ad(V[i])) * (link.G * V[i]);  // (9.56), own part
  }
  if (const auto [body, force] = tip_force(model, links, ends); body >= 0) F[body] += force;
  const Tree<double>& tree = model.tree<double>();
  for (std::size_t i = n; i-- > 0;) {
    const Link& link = links[i];
    tau.part(link.v, link.freedoms) = star(link.A) * F[i];             // (9.57)
    if (link.inboard >= 0) F[link.inboard] += star(link.to_i) * F[i];  // (9.56), from outboard
  }
  for (int i = 0; i < tree.nv; ++i) tau[i] += tree.armature[i] * th_dd[i];
  return reduced(model, tau);
}

namespace {
/// S of M = S^T M_full S: mimic joints follow their source.
Matrix own_columns(const Model& model) {
  const auto map = model.full_velocities();
  Matrix S(static_cast<int>(map.size()), model.nv());
  for (int i = 0; i < S.rows(); ++i) S(i, map[i].source) = map[i].multiplier;
  return S;
}
}  // namespace

std::vector<double> mass_matrix_of_link_jacobians(const Model& model, In<double> q) {
  const auto links = links_of(model, expanded(model, "mass_matrix_of_link_jacobians", "q", q, true));
  const int nv = model.tree<double>().nv;
  std::vector<Matrix> J(links.size());
  Matrix mass(nv, nv);
  for (std::size_t i = 0; i < links.size(); ++i) {
    J[i] = links[i].inboard < 0 ? Matrix(6, nv) : links[i].to_i * J[links[i].inboard];
    J[i].block(0, links[i].v, 6, links[i].freedoms) += links[i].A;
    mass += star(J[i]) * (links[i].G * J[i]);  // (9.61)
  }
  for (int i = 0; i < nv; ++i) mass(i, i) += model.tree<double>().armature[i];
  const Matrix S = own_columns(model);
  return stored(star(S) * mass * S);
}

ClosedForm closed_form(const Model& model, In<double> q, In<double> v, const BaseAndTip& ends) {
  const auto th_d = expanded(model, "closed_form", "v", v, false);
  const auto links = links_of(model, expanded(model, "closed_form", "q", q, true));
  const int n = static_cast<int>(links.size()), nv = static_cast<int>(th_d.size());
  Matrix A(6 * n, nv), G(6 * n, 6 * n), Gamma = G, ad_A_v = G, ad_V = G, base(6 * n, 1), V_base = base,
                                        F_tip = base;
  const View rates = dense::view(th_d);
  for (int i = 0; i < n; ++i) {
    const Link& link = links[i];
    const Matrix A_v = link.A * rates.block(link.v, 0, link.freedoms, 1);
    A.block(6 * i, link.v, 6, link.freedoms) = link.A;  // (9.64)
    G.block(6 * i, 6 * i, 6, 6) = link.G;               // (9.65)
    ad_A_v.block(6 * i, 6 * i, 6, 6) = ad(A_v);         // (9.67)
    if (link.inboard >= 0)
      Gamma.block(6 * i, 6 * link.inboard, 6, 6) = link.to_i;  // (9.68)
    else {
      V_base.part(6 * i, 6) = link.to_i * dense::column(ends.V_0);       // (9.69)
      base.part(6 * i, 6) = link.to_i * base_acceleration(model, ends);  // (9.70)
    }
  }
  if (const auto [body, force] = tip_force(model, links, ends); body >= 0)
    F_tip.part(6 * body, 6) = force;  // (9.71)
  // Gamma is nilpotent and block lower triangular, so its sum of powers (9.76) is a forward substitution.
  const Matrix L = inverse_of_lower(Matrix::identity(6 * n) - Gamma);
  const Matrix V = L * (A * rates + V_base);                                          // (9.77)
  for (int i = 0; i < n; ++i) ad_V.block(6 * i, 6 * i, 6, 6) = ad(V.part(6 * i, 6));  // (9.66)
  const Matrix LA = L * A;
  Matrix mass = star(LA) * G * LA;  // (9.82)
  for (int i = 0; i < nv; ++i) mass(i, i) += model.tree<double>().armature[i];
  // (9.83), with the sign of ad_(A th') that (9.55) asks for: [V_i, A th'] = -[A th', Gamma V]. MR9 prints a
  // plus.
  const Matrix c = -(star(LA) * (G * (L * (ad_A_v * (Gamma * V + V_base))) + star(ad_V) * (G * V)));
  const Matrix g = star(LA) * (G * (L * base));  // (9.84)
  const Matrix S = own_columns(model);
  return {stored_matrix(A),
          stored_matrix(G),
          stored_matrix(Gamma),
          stored_matrix(L),
          stored_matrix(ad_A_v),
          stored_matrix(ad_V),
          stored(V),
          stored(V_base),
          stored(base),
          stored(F_tip),
          stored_matrix(star(S) * mass * S),
          stored(star(S) * c),
          stored(star(S) * g),
          stored(star(S) * (star(LA) * F_tip))};  // (9.81)
}

std::vector<double> get_joint_accel(const Model& model, In<double> q, In<double> v, In<double> tau,
                                    In<double> tau_external) {
  expanded(model, "get_joint_accel", "tau", tau, false);
  if (!tau_external.empty()) expanded(model, "get_joint_accel", "tau_external", tau_external, false);
  const int nv = model.nv();
  const std::vector<double> zero(nv);
  const auto gamma = inverse_dynamics_screws(model, q, v, zero);
  Matrix c(nv, 1);
  for (int i = 0; i < nv; ++i) c[i] = tau[i] - gamma[i] - (tau_external.empty() ? 0 : tau_external[i]);
  const auto M = closed_form(model, q, zero).mass_matrix;
  return stored(dense::Cholesky(dense::view(M.numbers, nv, nv)).solve(c));
}

}  // namespace articula
