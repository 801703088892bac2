#include "articula/diagonal/operator_rates.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>

#include "articula/kernels/tables.hpp"

namespace articula {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Matrix3 = Eigen::Matrix3d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

Matrix3 matrix(const Mat3<double>& m) {
  return Matrix3{{m.xx, m.xy, m.xz}, {m.yx, m.yy, m.yz}, {m.zx, m.zy, m.zz}};
}
Matrix3 cross_matrix(const Vec3<double>& a) { return matrix(tilde(a)); }
/// S[X] = [[w~, v~], [0, w~]].
Matrix6 force_cross(const Spatial<double>& X) {
  Matrix6 S;
  S << cross_matrix(X.w), cross_matrix(X.v), Matrix3::Zero(), cross_matrix(X.w);
  return S;
}
operators::Dense dense(const Matrix& m) {
  operators::Dense d{int(m.rows()), int(m.cols()), {}};
  for (int i = 0; i < d.rows; ++i)
    for (int j = 0; j < d.columns; ++j) d.numbers.push_back(m(i, j));
  return d;
}
/// The lower triangle of A with half its diagonal: d/dt of a Cholesky factor r is r low(r^-1 D' r^-*).
Matrix low(const Matrix& A) {
  Matrix L = A.triangularView<Eigen::StrictlyLower>();
  L.diagonal() = A.diagonal() / 2;
  return L;
}

/// A model at one state, operator by operator.
struct State : Workspace<double> {
  State(const Model& model, const char* function, In<double> q, In<double> v)
      : Workspace<double>(model, {.side = true, .factor = true, .keep_D = true}) {
    if (model.has_mimics())
      throw ArgumentError(fmt::format("{}: model '{}' has mimic joints, whose hinges share coordinates",
                                      function, model.name()));
    check(function, "q", q.size(), model_.nq());
    check(function, "v", v.size(), model_.nv());
    const Tree<double>& t = tree();
    std::vector<double> a(6 * t.slots()), b(6 * t.slots());
    kernel_set().operators->place(t, q.data(), v.data(), m_, a.data(), b.data());
    fill(v.data());
  }
  int first(int k) const { return tree().index[k].v; }
  int freedoms(int k) const { return (k < tree().bodies ? tree().index[k + 1].v : tree().nv) - first(k); }
  Matrix block_of(const Matrix& x, int i, int j) const { return x.block(6 * (i - 1), 6 * (j - 1), 6, 6); }

  Matrix E_phi, phi, H, M, P, P_plus, D, G, tau_bar, E_psi, psi;
  Matrix axes, Omega, Od, r, r_dot;  // r = D^1/2
  Matrix P_dot, D_dot, G_dot;
  Vector V, th;

 private:
  void fill(const double* v);
  void articulate();
};

void State::fill(const double* v) {
  const Tree<double>& t = tree();
  const int n = 6 * t.bodies, nv = t.nv;
  E_phi = M = axes = Omega = Od = Matrix::Zero(n, n);
  H = Matrix::Zero(nv, n);
  V = Vector::Zero(n);
  th = Eigen::Map<const Vector>(v, nv);
  for (int k = 1; k <= t.bodies; ++k) {
    const double* x = slot(m_.x, k, int(body::count));
    const auto get = [&]<class T>(int at, T) { return gather<block, T>(x + block * at); };
    const auto R = get(body::R, Mat3<double>{});
    const Phi<double> shift{get(body::l, Vec3<double>{})};
    const auto w = get(body::w, Vec3<double>{});
    const auto mp = get(body::mp, Vec3<double>{});
    const double mass = t.constants_of(k)[block * constant::m];
    const int at = 6 * (k - 1), inboard = t.index[k].inboard;
    Matrix6 Mk, phik;
    Mk << matrix(full(get(body::J, Sym3<double>{}))), cross_matrix(mp), -cross_matrix(mp),
        mass * Matrix3::Identity();
    phik << Matrix3::Identity(), cross_matrix(shift.l), Matrix3::Zero(), Matrix3::Identity();
    M.block(at, at, 6, 6) = Mk;
    for (int half = 0; half < 6; half += 3) {
      axes.block(at + half, at + half, 3, 3) = matrix(R);
      Omega.block(at + half, at + half, 3, 3) = cross_matrix(w);
    }
    visit(t.index[k].kind, [&](auto j) {
      const HingeMap<decltype(j), double> hinge{R, t.pitch[k]};
      for_each_index<decltype(j)::nv>([&](auto i) {
        const Spatial<double> row = spatial(hinge.template row<i.value>());
        H.block(first(k) + i.value, at, 1, 6) << row.w.x, row.w.y, row.w.z, row.v.x, row.v.y, row.v.z;
      });
      Od.block(at, at, 6, 6) = force_cross(star_times(hinge, v + first(k)));
    });
    V.segment(at, 6) = H.block(first(k), at, freedoms(k), 6).transpose() * th.segment(first(k), freedoms(k));
    if (inboard > 0) {
      E_phi.block(6 * (inboard - 1), at, 6, 6) = phik;
      V.segment(at, 6) += phik.transpose() * V.segment(6 * (inboard - 1), 6);
    }
  }
  articulate();
}

void State::articulate() {
  const Tree<double>& t = tree();
  const int n = 6 * t.bodies, nv = t.nv;
  P = M;
  P_plus = P_dot = tau_bar = Matrix::Zero(n, n);
  D = D_dot = r = r_dot = Matrix::Zero(nv, nv);
  G = G_dot = Matrix::Zero(n, nv);
  for (int k = t.bodies; k >= 1; --k) {
    const int at = 6 * (k - 1), v = first(k), N = freedoms(k), inboard = t.index[k].inboard;
    const Matrix Hk = H.block(v, at, N, 6), Pk = P.block(at, at, 6, 6), Pk_dot = P_dot.block(at, at, 6, 6);
    Matrix Dk = Hk * Pk * Hk.transpose();
    for (int i = 0; i < N; ++i) Dk(i, i) += t.armature[v + i];
    const Eigen::LLT<Matrix> factor(Dk);
    if (factor.info() != Eigen::Success)
      throw SingularError(fmt::format("operator rates: D of body {} is not positive", k - 1));
    const Matrix Gk = factor.solve(Hk * Pk).transpose(), rk = factor.matrixL();
    const Matrix bar = Matrix6::Identity() - Gk * Hk, Dk_dot = Hk * Pk_dot * Hk.transpose();
    const Matrix inv_r = rk.triangularView<Eigen::Lower>().solve(Matrix::Identity(N, N));
    const Matrix Pk_plus = bar * Pk, Odk = Od.block(at, at, 6, 6);
    D.block(v, v, N, N) = Dk;
    D_dot.block(v, v, N, N) = Dk_dot;  // Table 1, row 5
    r.block(v, v, N, N) = rk;
    r_dot.block(v, v, N, N) = rk * low(inv_r * Dk_dot * inv_r.transpose());
    G.block(at, v, 6, N) = Gk;
    G_dot.block(at, v, 6, N) = bar * factor.solve(Hk * Pk_dot).transpose();  // row 6: taubar P' H* D^-1
    tau_bar.block(at, at, 6, 6) = bar;
    P_plus.block(at, at, 6, 6) = Pk_plus;
    if (inboard == 0) continue;
    const int to = 6 * (inboard - 1);
    const Matrix phik = E_phi.block(to, at, 6, 6);
    P.block(to, to, 6, 6) += phik * Pk_plus * phik.transpose();
    // (13), for joints whose Omega_delta is not left alone by taubar too
    P_dot.block(to, to, 6, 6) +=
        phik * (bar * Pk_dot * bar.transpose() + Odk * Pk_plus + Pk_plus * Odk.transpose()) *
        phik.transpose();
  }
  const Matrix one = Matrix::Identity(n, n);
  phi = (one - E_phi).inverse();
  E_psi = E_phi * tau_bar;
  psi = (one - E_psi).inverse();
}

}  // namespace

const OperatorRates::Operator& OperatorRates::operator[](std::string_view name) const {
  std::string known;
  for (const Operator& o : operators) {
    if (o.name == name) return o;
    known += (known.empty() ? "" : ", ") + o.name;
  }
  throw ArgumentError(fmt::format("operator rates: no operator '{}'; known: {}", name, known));
}

OperatorRates operator_rates(const Model& model, In<double> q, In<double> v) {
  const State s(model, "operator_rates", q, v);
  const Matrix &W = s.Omega, &Od = s.Od;
  const auto commutator = [](const Matrix& a, const Matrix& b) -> Matrix { return a * b - b * a; };
  const Matrix zero = Matrix::Zero(W.rows(), W.cols());
  // Table 1. Row 1 as printed has a factor Phi too many.
  const Matrix E_phi_dot = s.E_phi * Od;
  const Matrix phi_dot = s.phi * E_phi_dot * s.phi;
  const Matrix tau_bar_dot = -s.G_dot * s.H;
  const Matrix E_psi_dot = E_phi_dot * s.tau_bar + s.E_phi * tau_bar_dot;
  const Matrix psi_dot = s.psi * E_psi_dot * s.psi;
  OperatorRates out;
  const auto put = [&](const char* name, const Matrix& value, const Matrix& local, const Matrix& inertial) {
    out.operators.push_back({name, dense(value), dense(local), dense(inertial)});
  };
  put("E_phi", s.E_phi, E_phi_dot, E_phi_dot + commutator(W, s.E_phi));
  put("phi", s.phi, phi_dot, phi_dot + s.phi * commutator(W, s.E_phi) * s.phi);
  put("H", s.H, Matrix::Zero(s.H.rows(), s.H.cols()), -s.H * W);
  put("M", s.M, zero, commutator(W, s.M));
  put("P", s.P, s.P_dot, s.P_dot + commutator(W, s.P));
  put("D", s.D, s.D_dot, s.D_dot);
  put("G", s.G, s.G_dot, s.G_dot + W * s.G);
  put("tau_bar", s.tau_bar, tau_bar_dot, tau_bar_dot + commutator(W, s.tau_bar));
  put("E_psi", s.E_psi, E_psi_dot, E_psi_dot + commutator(W, s.E_psi));
  put("psi", s.psi, psi_dot, psi_dot + s.psi * commutator(W, s.E_psi) * s.psi);
  const Matrix one = Matrix::Identity(s.D.rows(), s.D.cols());
  const Matrix K = s.E_phi * s.G, K_dot = E_phi_dot * s.G + s.E_phi * s.G_dot;
  const Matrix factor = one + s.H * s.phi * K;
  out.Omega = dense(W);
  out.Omega_delta = dense(Od);
  out.lambda = dense(s.P_dot + Od * s.P + s.P * Od.transpose());
  out.m = dense(factor * s.r);
  // Equal to (29) where that holds.
  out.m_dot = dense(s.H * (phi_dot * K + s.phi * K_dot) * s.r + factor * s.r_dot);
  out.axes = dense(s.axes);
  return out;
}

CoriolisComponents coriolis_components(const Model& model, In<double> q, In<double> v) {
  struct Access : State {
    using State::State;
    const Tree<double>& tree_of() const { return tree(); }
  };
  const Access s(model, "coriolis_components", q, v);
  const Tree<double>& t = s.tree_of();
  const int nv = t.nv;
  const Matrix inv_r = s.r.triangularView<Eigen::Lower>().solve(Matrix::Identity(nv, nv));
  Matrix c = Matrix::Zero(nv, nv);
  for (int k = 1; k <= t.bodies; ++k) {
    for (int i = k; i <= t.bodies;
         ++i) {  // bodies outboard of k have higher numbers; psi(k,i) = 0 for the others
      const Matrix psi_ki = s.block_of(s.psi, k, i);
      if (psi_ki.isZero(0)) continue;
      Matrix sum = Matrix::Zero(6, 6);
      for (int m = i + 1; m <= t.bodies; ++m) {
        const int inboard = t.index[m].inboard;
        if (inboard == 0) continue;
        const Matrix phi_m = s.block_of(s.E_phi, inboard, m);
        const Matrix inner = s.block_of(s.P_plus, m, m) * s.block_of(s.Od, m, m).transpose();
        sum += s.block_of(s.psi, k, inboard) * phi_m * inner * phi_m.transpose() *
               s.block_of(s.psi, i, inboard).transpose();
      }
      const int vk = s.first(k), vi = s.first(i), Nk = s.freedoms(k), Ni = s.freedoms(i);
      const Matrix block =
          s.H.block(vk, 6 * (k - 1), Nk, 6) * sum * s.H.block(vi, 6 * (i - 1), Ni, 6).transpose();
      Matrix entry = inv_r.block(vk, vk, Nk, Nk) * block * inv_r.block(vi, vi, Ni, Ni).transpose();
      if (i == k) {
        entry -= low(entry + entry.transpose()).transpose();  // less (d D^1/2/dt)*: skew is left
        c.block(vk, vk, Nk, Nk) = entry;
      } else {
        c.block(vk, vi, Nk, Ni) = entry;
        c.block(vi, vk, Ni, Nk) = -entry.transpose();
      }
    }
  }
  Vector b = Vector::Zero(6 * t.bodies);
  for (int k = 1; k <= t.bodies; ++k) {
    const auto Vk = s.V.segment(6 * (k - 1), 6);
    const Matrix Mk = s.block_of(s.M, k, k);
    Eigen::Matrix<double, 6, 1> g;
    g << 0, 0, 0, t.gravity.x, t.gravity.y, t.gravity.z;
    b.segment(6 * (k - 1), 6) =
        force_cross({{Vk[0], Vk[1], Vk[2]}, {Vk[3], Vk[4], Vk[5]}}) * Mk * Vk - Mk * g;
  }
  const Matrix K = s.E_phi * s.G;
  const Vector nu = s.r.transpose() * (s.th + K.transpose() * s.V);  // xi = th' + K* V, as V = phi* H* th'
  const Vector bias = inv_r * (s.H * (s.psi * b));
  CoriolisComponents out;
  out.c = dense(c);
  out.nu.assign(nu.begin(), nu.end());
  out.bias.assign(bias.begin(), bias.end());
  return out;
}

}  // namespace articula
