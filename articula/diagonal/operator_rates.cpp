#include "articula/diagonal/operator_rates.hpp"

#include <fmt/format.h>

#include "articula/kernels/tables.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/finite.hpp"

namespace articula {

namespace {

using dense::matrix, dense::Matrix;

/// [[a, b], [c, d]], each 3 x 3
Matrix blocks(const Mat3<double>& a, const Mat3<double>& b, const Mat3<double>& c, const Mat3<double>& d) {
  Matrix out(6, 6);
  out.block(0, 0, 3, 3) = matrix(a);
  out.block(0, 3, 3, 3) = matrix(b);
  out.block(3, 0, 3, 3) = matrix(c);
  out.block(3, 3, 3, 3) = matrix(d);
  return out;
}
/// S[X] = [[w~, v~], [0, w~]].
Matrix force_cross(const Spatial<double>& X) {
  return blocks(tilde(X.w), tilde(X.v), Mat3<double>{}, tilde(X.w));
}
operators::Dense stored(const Matrix& m) {
  return {m.rows(), m.columns(), {m.numbers().begin(), m.numbers().end()}};
}
/// The lower triangle of A with half its diagonal: d/dt of a Cholesky factor r is r low(r^-1 D' r^-*).
Matrix low(Matrix A) {
  for (int i = 0; i < A.rows(); ++i) {
    A(i, i) /= 2;
    for (int j = i + 1; j < A.columns(); ++j) A(i, j) = 0;
  }
  return A;
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
  static dense::View block_of(const Matrix& x, int i, int j) {
    return x.block(6 * (i - 1), 6 * (j - 1), 6, 6);
  }

  Matrix E_phi, phi, H, M, P, P_plus, D, G, tau_bar, E_psi, psi;
  Matrix axes, Omega, Od, r, r_dot;  // r = D^1/2
  Matrix P_dot, D_dot, G_dot;
  Matrix V, th;

 private:
  void fill(const double* v);
  void articulate();
};

void State::fill(const double* v) {
  const Tree<double>& t = tree();
  const int n = 6 * t.bodies, nv = t.nv;
  E_phi = M = axes = Omega = Od = Matrix(n, n);
  H = Matrix(nv, n);
  V = Matrix(n, 1);
  th = Matrix::column({v, static_cast<std::size_t>(nv)});
  for (int k = 1; k <= t.bodies; ++k) {
    const double* x = slot(m_.x, k, int(body::count));
    const auto get = [&]<class T>(int at, T) { return gather<block, T>(x + block * at); };
    const auto R = get(body::R, Mat3<double>{});
    const Phi<double> shift{get(body::l, Vec3<double>{})};
    const auto w = get(body::w, Vec3<double>{});
    const auto mp = get(body::mp, Vec3<double>{});
    const double mass = t.constants_of(k)[block * constant::m];
    const int at = 6 * (k - 1), inboard = t.index[k].inboard;
    const Mat3<double> one = Mat3<double>::identity();
    const Matrix phik = blocks(one, tilde(shift.l), Mat3<double>{}, one);
    M.block(at, at, 6, 6) = blocks(full(get(body::J, Sym3<double>{})), tilde(mp), tilde(-mp),
                                   Mat3<double>{mass, 0, 0, 0, mass, 0, 0, 0, mass});
    for (int half = 0; half < 6; half += 3) {
      axes.block(at + half, at + half, 3, 3) = matrix(R);
      Omega.block(at + half, at + half, 3, 3) = matrix(tilde(w));
    }
    visit(t.index[k].kind, [&](auto j) {
      const HingeMap<decltype(j), double> hinge{R, t.pitch[k]};
      for_each_index<decltype(j)::nv>([&](auto i) {
        H.block(first(k) + i.value, at, 1, 6) = star(dense::column(spatial(hinge.template row<i.value>())));
      });
      Od.block(at, at, 6, 6) = force_cross(star_times(hinge, v + first(k)));
    });
    V.part(at, 6) = star(H.block(first(k), at, freedoms(k), 6)) * th.part(first(k), freedoms(k));
    if (inboard > 0) {
      E_phi.block(6 * (inboard - 1), at, 6, 6) = phik;
      V.part(at, 6) += star(phik) * V.part(6 * (inboard - 1), 6);
    }
  }
  articulate();
}

void State::articulate() {
  const Tree<double>& t = tree();
  const int n = 6 * t.bodies, nv = t.nv;
  P = M;
  P_plus = P_dot = tau_bar = Matrix(n, n);
  D = D_dot = r = r_dot = Matrix(nv, nv);
  G = G_dot = Matrix(n, nv);
  for (int k = t.bodies; k >= 1; --k) {
    const int at = 6 * (k - 1), v = first(k), N = freedoms(k), inboard = t.index[k].inboard;
    const Matrix Hk = H.block(v, at, N, 6), Pk = P.block(at, at, 6, 6), Pk_dot = P_dot.block(at, at, 6, 6);
    Matrix Dk = Hk * Pk * star(Hk);
    for (int i = 0; i < N; ++i) Dk(i, i) += t.armature[v + i];
    const dense::Cholesky factor(Dk);
    if (!are_finite(Dk.numbers()))  // which Eigen takes for positive
      throw ArgumentError("operator rates: q or v has numbers that are not finite");
    if (!factor.positive())
      throw SingularError(fmt::format("operator rates: D of body {} is not positive", k - 1));
    const Matrix Gk = star(factor.solve(Hk * Pk)), rk = factor.L();
    const Matrix bar = Matrix::identity(6) - Gk * Hk, Dk_dot = Hk * Pk_dot * star(Hk);
    const Matrix inv_r = inverse_of_lower(rk);
    const Matrix Pk_plus = bar * Pk, Odk = Od.block(at, at, 6, 6);
    D.block(v, v, N, N) = Dk;
    D_dot.block(v, v, N, N) = Dk_dot;  // Table 1, row 5
    r.block(v, v, N, N) = rk;
    r_dot.block(v, v, N, N) = rk * low(inv_r * Dk_dot * star(inv_r));
    G.block(at, v, 6, N) = Gk;
    G_dot.block(at, v, 6, N) = bar * star(factor.solve(Hk * Pk_dot));  // row 6: taubar P' H* D^-1
    tau_bar.block(at, at, 6, 6) = bar;
    P_plus.block(at, at, 6, 6) = Pk_plus;
    if (inboard == 0) continue;
    const int to = 6 * (inboard - 1);
    const Matrix phik = E_phi.block(to, at, 6, 6);
    P.block(to, to, 6, 6) += phik * Pk_plus * star(phik);
    // (13), for joints whose Omega_delta is not left alone by taubar too
    P_dot.block(to, to, 6, 6) +=
        phik * (bar * Pk_dot * star(bar) + Odk * Pk_plus + Pk_plus * star(Odk)) * star(phik);
  }
  const Matrix one = Matrix::identity(n);
  phi = dense::LU(one - E_phi).inverse();
  E_psi = E_phi * tau_bar;
  psi = dense::LU(one - E_psi).inverse();
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
  const Matrix zero(W.rows(), W.columns());
  // Table 1. Row 1 as printed has a factor Phi too many.
  const Matrix E_phi_dot = s.E_phi * Od;
  const Matrix phi_dot = s.phi * E_phi_dot * s.phi;
  const Matrix tau_bar_dot = -s.G_dot * s.H;
  const Matrix E_psi_dot = E_phi_dot * s.tau_bar + s.E_phi * tau_bar_dot;
  const Matrix psi_dot = s.psi * E_psi_dot * s.psi;
  OperatorRates out;
  const auto put = [&](const char* name, const Matrix& value, const Matrix& local, const Matrix& inertial) {
    out.operators.push_back({name, stored(value), stored(local), stored(inertial)});
  };
  put("E_phi", s.E_phi, E_phi_dot, E_phi_dot + commutator(W, s.E_phi));
  put("phi", s.phi, phi_dot, phi_dot + s.phi * commutator(W, s.E_phi) * s.phi);
  put("H", s.H, Matrix(s.H.rows(), s.H.columns()), -s.H * W);
  put("M", s.M, zero, commutator(W, s.M));
  put("P", s.P, s.P_dot, s.P_dot + commutator(W, s.P));
  put("D", s.D, s.D_dot, s.D_dot);
  put("G", s.G, s.G_dot, s.G_dot + W * s.G);
  put("tau_bar", s.tau_bar, tau_bar_dot, tau_bar_dot + commutator(W, s.tau_bar));
  put("E_psi", s.E_psi, E_psi_dot, E_psi_dot + commutator(W, s.E_psi));
  put("psi", s.psi, psi_dot, psi_dot + s.psi * commutator(W, s.E_psi) * s.psi);
  const Matrix one = Matrix::identity(s.D.rows());
  const Matrix K = s.E_phi * s.G, K_dot = E_phi_dot * s.G + s.E_phi * s.G_dot;
  const Matrix factor = one + s.H * s.phi * K;
  out.Omega = stored(W);
  out.Omega_delta = stored(Od);
  out.lambda = stored(s.P_dot + Od * s.P + s.P * star(Od));
  out.m = stored(factor * s.r);
  // Equal to (29) where that holds.
  out.m_dot = stored(s.H * (phi_dot * K + s.phi * K_dot) * s.r + factor * s.r_dot);
  out.axes = stored(s.axes);
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
  const Matrix inv_r = inverse_of_lower(s.r);
  Matrix c(nv, nv);
  for (int k = 1; k <= t.bodies; ++k) {
    for (int i = k; i <= t.bodies;
         ++i) {  // bodies outboard of k have higher numbers; psi(k,i) = 0 for the others
      if (largest(s.block_of(s.psi, k, i)) == 0) continue;
      Matrix sum(6, 6);
      for (int m = i + 1; m <= t.bodies; ++m) {
        const int inboard = t.index[m].inboard;
        if (inboard == 0) continue;
        const dense::View phi_m = s.block_of(s.E_phi, inboard, m);
        const Matrix inner = s.block_of(s.P_plus, m, m) * star(s.block_of(s.Od, m, m));
        sum +=
            s.block_of(s.psi, k, inboard) * phi_m * inner * star(phi_m) * star(s.block_of(s.psi, i, inboard));
      }
      const int vk = s.first(k), vi = s.first(i), Nk = s.freedoms(k), Ni = s.freedoms(i);
      const Matrix block = s.H.block(vk, 6 * (k - 1), Nk, 6) * sum * star(s.H.block(vi, 6 * (i - 1), Ni, 6));
      Matrix entry = inv_r.block(vk, vk, Nk, Nk) * block * star(inv_r.block(vi, vi, Ni, Ni));
      if (i == k) {
        entry -= star(low(entry + star(entry)));  // less (d D^1/2/dt)*: skew is left
        c.block(vk, vk, Nk, Nk) = entry;
      } else {
        c.block(vk, vi, Nk, Ni) = entry;
        c.block(vi, vk, Ni, Nk) = -star(entry);
      }
    }
  }
  Matrix b(6 * t.bodies, 1);
  const Matrix g = dense::column(Spatial<double>{{0, 0, 0}, t.gravity});
  for (int k = 1; k <= t.bodies; ++k) {
    const dense::View Vk = s.V.part(6 * (k - 1), 6), Mk = s.block_of(s.M, k, k);
    b.part(6 * (k - 1), 6) = force_cross(dense::spatial(Vk)) * (Mk * Vk) - Mk * g;
  }
  const auto numbers = [](const Matrix& x) {
    return std::vector<double>(x.numbers().begin(), x.numbers().end());
  };
  const Matrix xi = s.th + star(s.E_phi * s.G) * s.V, bias = s.H * (s.psi * b);  // V = phi* H* th'
  CoriolisComponents out;
  out.c = stored(c);
  out.nu = numbers(star(s.r) * xi);
  out.bias = numbers(inv_r * bias);
  out.c_xi = stored(s.r * c * star(s.r) + s.r * star(s.r_dot));  // (46)
  out.xi = numbers(xi);
  out.bias_xi = numbers(bias);
  return out;
}

}  // namespace articula
