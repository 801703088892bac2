// What a factored mass matrix gives beside solves: see mass_factor.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

template <class S>
void MassFactor<S>::refuse_mimics(const char* function) const {
  if (mimics_.count() > 0)
    throw ArgumentError(
        fmt::format("{}: model '{}' has mimic joints; the factor [Id + H phi K] acts on one coordinate "
                    "a hinge there, not on the model's own",
                    function, this->model_.name()));
}
template <class S>
void MassFactor<S>::check_pair(const char* function, std::size_t x, std::size_t y) const {
  this->check(function, "x", x, this->model_.nv());
  this->check(function, "y", y, this->model_.nv());
}

/// H phi M phi* H* x + rotor x: one sweep out, one in.
template <class S>
void MassFactor<S>::multiply(In<S> x, Out<S> y) {
  check_pair("multiply", x.size(), y.size());
  const Tree<S>& tree = this->tree();
  const S* const full = this->full_v(x);
  S* const result = this->full_result(y);
  Sweep<S> out;
  out.outward = true;
  out.H_times = full;
  out.z = V_.data();
  kernel_set().in<S>().sweeps->sweep(tree, this->m_, out);
  Sweep<S> in;
  in.rigid_times = V_.data();
  in.tap = result;
  kernel_set().in<S>().sweeps->sweep(tree, this->m_, in);
  for (int i = 0; i < tree.nv; ++i) result[i] += tree.armature[i] * full[i];
  this->reduce_forces(y);
}

template <class S>
void MassFactor<S>::solve_columns(In<S> T, Out<S> X, int columns) {
  const std::size_t nv = this->model_.nv();
  if (columns < 0) throw ArgumentError(fmt::format("solve_columns: {} columns", columns));
  this->check("solve_columns", "T", T.size(), nv * columns);
  this->check("solve_columns", "X", X.size(), nv * columns);
  if (mimics_.count() == 0) {
    kernel_set().in<S>().sweeps->solve_columns(this->tree(), this->m_, T.data(), columns, X.data());
    return;
  }
  const std::span<S> t(columns_.data(), nv), x(columns_.data() + nv, nv);
  for (int c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < nv; ++i) t[i] = T[i * columns + c];
    solve(t, x);
    for (std::size_t i = 0; i < nv; ++i) X[i * columns + c] = x[i];
  }
}

/// x + H phi K x
template <class S>
void MassFactor<S>::times_factor(In<S> x, Out<S> y) {
  refuse_mimics("times_factor");
  check_pair("times_factor", x.size(), y.size());
  Sweep<S> s;
  s.K_times = s.tap_add = x.data();
  s.tap = y.data();
  kernel_set().in<S>().sweeps->sweep(this->tree(), this->m_, s);
}
/// x + K* phi* H* x
template <class S>
void MassFactor<S>::times_factor_star(In<S> x, Out<S> y) {
  refuse_mimics("times_factor_star");
  check_pair("times_factor_star", x.size(), y.size());
  Sweep<S> s;
  s.outward = true;
  s.H_times = s.tap_add = x.data();
  s.tap = y.data();
  kernel_set().in<S>().sweeps->sweep(this->tree(), this->m_, s);
}
/// x - H psi K x
template <class S>
void MassFactor<S>::solve_factor(In<S> x, Out<S> y) {
  refuse_mimics("solve_factor");
  check_pair("solve_factor", x.size(), y.size());
  Sweep<S> s;
  s.psi = true;
  s.K_times = s.tap_add = x.data();
  s.tap = y.data();
  s.tap_factor = -1;
  kernel_set().in<S>().sweeps->sweep(this->tree(), this->m_, s);
}
/// x - K* psi* H* x
template <class S>
void MassFactor<S>::solve_factor_star(In<S> x, Out<S> y) {
  refuse_mimics("solve_factor_star");
  check_pair("solve_factor_star", x.size(), y.size());
  Sweep<S> s;
  s.outward = s.psi = true;
  s.H_times = s.tap_add = x.data();
  s.tap = y.data();
  s.tap_factor = -1;
  kernel_set().in<S>().sweeps->sweep(this->tree(), this->m_, s);
}

namespace {
/// f(first velocity, freedoms) for every hinge.
template <class S, class F>
void each_hinge(const Tree<S>& tree, F&& f) {
  for (int k = 1; k < tree.slots(); ++k)
    f(tree.index[k].v, (k < tree.bodies ? tree.index[k + 1].v : tree.nv) - tree.index[k].v);
}
}  // namespace
// D = L d L*, kept as rows L(i,0) .. L(i,i-1), 1/d(i); its root is L d^1/2.
template <class S>
void MassFactor<S>::times_D_root(S* y) const {
  each_hinge(this->tree(), [&](int v, int n) {
    const S* L = this->m_.inv_D + 6 * v;
    for (int i = 0; i < n; ++i) y[v + i] *= std::sqrt(1 / L[7 * i]);
    for (int i = n - 1; i > 0; --i)
      for (int j = 0; j < i; ++j) y[v + i] += L[6 * i + j] * y[v + j];
  });
}
template <class S>
void MassFactor<S>::times_D_root_star(S* y) const {
  each_hinge(this->tree(), [&](int v, int n) {
    const S* L = this->m_.inv_D + 6 * v;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) y[v + i] += L[6 * j + i] * y[v + j];
      y[v + i] *= std::sqrt(1 / L[7 * i]);
    }
  });
}
template <class S>
void MassFactor<S>::solve_D_root(S* y) const {
  each_hinge(this->tree(), [&](int v, int n) {
    const S* L = this->m_.inv_D + 6 * v;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < i; ++j) y[v + i] -= L[6 * i + j] * y[v + j];
    for (int i = 0; i < n; ++i) y[v + i] *= std::sqrt(L[7 * i]);
  });
}
template <class S>
void MassFactor<S>::solve_D_root_star(S* y) const {
  each_hinge(this->tree(), [&](int v, int n) {
    const S* L = this->m_.inv_D + 6 * v;
    for (int i = n - 1; i >= 0; --i) {
      y[v + i] *= std::sqrt(L[7 * i]);
      for (int j = i + 1; j < n; ++j) y[v + i] -= L[6 * j + i] * y[v + j];
    }
  });
}
template <class S>
void MassFactor<S>::times_root(In<S> x, Out<S> y) {
  refuse_mimics("times_root");
  check_pair("times_root", x.size(), y.size());
  S* const scaled = columns_.data();
  std::copy(x.begin(), x.end(), scaled);
  times_D_root(scaled);
  times_factor({scaled, x.size()}, y);
}
template <class S>
void MassFactor<S>::times_root_star(In<S> x, Out<S> y) {
  times_factor_star(x, y);
  times_D_root_star(y.data());
}
template <class S>
void MassFactor<S>::solve_root(In<S> x, Out<S> y) {
  solve_factor(x, y);
  solve_D_root(y.data());
}
template <class S>
void MassFactor<S>::solve_root_star(In<S> x, Out<S> y) {
  refuse_mimics("solve_root_star");
  check_pair("solve_root_star", x.size(), y.size());
  S* const scaled = columns_.data();
  std::copy(x.begin(), x.end(), scaled);
  solve_D_root_star(scaled);
  solve_factor_star({scaled, x.size()}, y);
}

/// The factor is unit triangular: det M = det D.
template <class S>
S MassFactor<S>::log_determinant() const {
  S sum = 0;
  each_hinge(this->tree(), [&](int v, int n) {
    for (int i = 0; i < n; ++i) sum -= std::log(this->m_.inv_D[6 * (v + i) + i]);
  });
  return mimics_.count() > 0 ? sum + mimics_.log_determinant() : sum;
}

template <class S>
typename MassFactor<S>::JointD MassFactor<S>::D(int joint) const {
  if (joint < 0 || joint >= static_cast<int>(this->model_.joints().size()))
    throw ArgumentError(fmt::format("D: joint {} of model '{}', which has {}", joint, this->model_.name(),
                                    this->model_.joints().size()));
  const int k = this->model_.joints()[joint].body + 1;
  const Tree<S>& tree = this->tree();
  JointD d{(k < tree.bodies ? tree.index[k + 1].v : tree.nv) - tree.index[k].v, {}};
  for (int i = 0; i < d.freedoms; ++i)
    for (int j = 0; j < d.freedoms; ++j)
      d.numbers[i * d.freedoms + j] = this->m_.D[6 * (tree.index[k].v + i) + j];
  return d;
}

template <class S>
typename MassFactor<S>::WeakestJoint MassFactor<S>::weakest_joint() const {
  WeakestJoint weakest{-1, 0, 0, 0};
  const Tree<S>& tree = this->tree();
  for (int k = 1; k < tree.slots(); ++k) {
    const int end = k < tree.bodies ? tree.index[k + 1].v : tree.nv;
    for (int i = 0; tree.index[k].v + i < end; ++i) {
      const S pivot = 1 / this->m_.inv_D[6 * (tree.index[k].v + i) + i];
      weakest.largest_pivot = std::max(weakest.largest_pivot, pivot);
      if (weakest.joint >= 0 && pivot >= weakest.pivot) continue;
      weakest.joint = this->model_.bodies()[k - 1].joint;
      weakest.freedom = i;
      weakest.pivot = pivot;
    }
  }
  return weakest;
}

namespace {
/// Six spatial columns: psi(c, f) B(f).
template <class S>
using Columns = Spatial<S>[6];
}  // namespace

template <class S>
void MassFactor<S>::frame_inertia_inverse(std::span<const int> frames, Out<S> matrix) {
  const std::size_t count = frames.size(), size = 6 * count;
  this->check("frame_inertia_inverse", "matrix", matrix.size(), size * size);
  const Tree<S>& tree = this->tree();
  const auto& all = this->model_.frames();
  std::fill(matrix.begin(), matrix.end(), S(0));
  columns_.resize(std::max<std::size_t>(columns_.size(), 36 * count));
  at_.assign(count, 0);
  from_.assign(count, 0);
  Columns<S>* const X = reinterpret_cast<Columns<S>*>(columns_.data());
  const auto vec = [](const Vec3<double>& v) { return Vec3<S>{S(v.x), S(v.y), S(v.z)}; };
  for (std::size_t f = 0; f < count; ++f) {
    if (frames[f] < 0 || frames[f] >= static_cast<int>(all.size()))
      throw ArgumentError(fmt::format("frame_inertia_inverse: frame {} of model '{}', which has {}",
                                      frames[f], this->model_.name(), all.size()));
    const Frame& frame = all[frames[f]];
    if (frame.body < 0) continue;
    at_[f] = frame.body + 1;
    const auto R = gather<block, Mat3<S>>(slot(this->m_.x, at_[f], int(body::count)) + block * body::R);
    const Phi<S> phi{R * vec(this->model_.bodies()[frame.body].link_axes * frame.placement.p)};
    for (int c = 0; c < 6; ++c) {
      Spatial<S> unit{{0, 0, 0}, {0, 0, 0}};
      numbers_of(unit)[c] = 1;
      X[f][c] = phi * unit;
    }
  }
  if (mimics_.count() > 0) {
    // Column by column: J* f, M^-1, J. (The recursion for Omega knows nothing of mimic joints.)
    frame_columns_with_mimics(frames, matrix);
    return;
  }
  if (Omega_.size() == 0) Omega_ = AlignedArray<S>(21 * static_cast<std::size_t>(tree.slots()));
  kernel_set().in<S>().sweeps->omegas(tree, this->m_, Omega_.data());
  const auto put = [&](std::size_t i, std::size_t j, int c) {  // X_i* Omega(c) X_j
    const auto Omega = gather<1, ArticulatedInertia<S>>(Omega_.data() + 21 * c);
    for (int b = 0; b < 6; ++b) {
      const Spatial<S> y = Omega * X[j][b];
      for (int a = 0; a < 6; ++a) {
        const S value = dot(X[i][a], y);
        matrix[(6 * i + a) * size + 6 * j + b] = value;
        matrix[(6 * j + b) * size + 6 * i + a] = value;
      }
    }
  };
  // Tip to base, frames travel inboard; two of them meet first at their closest common ancestor.
  for (int k = tree.bodies; k >= 1; --k) {
    const BodyIndex& b = tree.index[k];
    for (std::size_t i = 0; i < count; ++i) {
      if (at_[i] != k) continue;
      const bool first = k == all[frames[i]].body + 1;
      if (first) put(i, i, k);
      for (std::size_t j = 0; j < i; ++j) {
        if (at_[j] != k) continue;
        // They came together before if both arrive from the same child.
        if (from_[i] == from_[j] && from_[i] != 0) continue;
        put(i, j, k);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (at_[i] != k) continue;
      from_[i] = k;
      at_[i] = b.inboard;
      if (b.inboard == 0) continue;
      const S* x = slot(this->m_.x, k, int(body::count));
      const Phi<S> phi{gather<block, Vec3<S>>(x + block * body::l)};
      const auto R = gather<block, Mat3<S>>(x + block * body::R);
      visit(b.kind, [&](auto j) {
        using J = decltype(j);
        for (Spatial<S>& column : X[i]) {  // psi x = phi x - K (H x)
          S e[J::nv];
          times(HingeMap<J, S>{R, tree.pitch[k]}, column, e);
          column = phi * column;
          for (int c = 0; c < J::nv; ++c) column -= gather<1, Spatial<S>>(this->m_.K + 6 * (b.v + c)) * e[c];
        }
      });
    }
  }
}

template <class S>
void MassFactor<S>::frame_columns_with_mimics(std::span<const int> frames, Out<S> matrix) {
  const Tree<S>& tree = this->tree();
  const std::size_t count = frames.size(), size = 6 * count, nv = this->model_.nv(), bodies = tree.bodies;
  Columns<S>* const X = reinterpret_cast<Columns<S>*>(columns_.data());
  if (Omega_.size() == 0) Omega_ = AlignedArray<S>(6 * bodies + 2 * nv);  // not used otherwise here
  const std::span<S> f(Omega_.data(), 6 * bodies), tau(f.data() + f.size(), nv), x(tau.data() + nv, nv);
  S* const V = V_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const int body = this->model_.frames()[frames[i]].body;
    if (body < 0) continue;
    for (int a = 0; a < 6; ++a) {
      std::fill(f.begin(), f.end(), S(0));
      scatter<1>(X[i][a], f.data() + 6 * body);
      Sweep<S> in;
      in.plain = f.data();
      in.tap = this->full_result(tau);
      kernel_set().in<S>().sweeps->sweep(tree, this->m_, in);
      this->reduce_forces(tau);
      solve(tau, x);
      Sweep<S> out;
      out.outward = true;
      out.H_times = this->full_v(std::span<const S>(x));
      out.z = V;
      kernel_set().in<S>().sweeps->sweep(tree, this->m_, out);
      for (std::size_t j = 0; j < count; ++j) {
        const int other = this->model_.frames()[frames[j]].body;
        if (other < 0) continue;
        const auto Vj = gather<1, Spatial<S>>(V + 6 * other);
        for (int b = 0; b < 6; ++b) matrix[(6 * i + a) * size + 6 * j + b] = dot(X[j][b], Vj);
      }
    }
  }
}

#define ARTICULA_INSTANTIATE(S)                                                         \
  template void MassFactor<S>::refuse_mimics(const char*) const;                        \
  template void MassFactor<S>::check_pair(const char*, std::size_t, std::size_t) const; \
  template void MassFactor<S>::times_D_root(S*) const;                                  \
  template void MassFactor<S>::times_D_root_star(S*) const;                             \
  template void MassFactor<S>::solve_D_root(S*) const;                                  \
  template void MassFactor<S>::solve_D_root_star(S*) const;                             \
  template void MassFactor<S>::frame_columns_with_mimics(std::span<const int>, Out<S>); \
  template void MassFactor<S>::multiply(In<S>, Out<S>);                                 \
  template void MassFactor<S>::solve_columns(In<S>, Out<S>, int);                       \
  template void MassFactor<S>::times_factor(In<S>, Out<S>);                             \
  template void MassFactor<S>::times_factor_star(In<S>, Out<S>);                        \
  template void MassFactor<S>::solve_factor(In<S>, Out<S>);                             \
  template void MassFactor<S>::solve_factor_star(In<S>, Out<S>);                        \
  template void MassFactor<S>::times_root(In<S>, Out<S>);                               \
  template void MassFactor<S>::times_root_star(In<S>, Out<S>);                          \
  template void MassFactor<S>::solve_root(In<S>, Out<S>);                               \
  template void MassFactor<S>::solve_root_star(In<S>, Out<S>);                          \
  template S MassFactor<S>::log_determinant() const;                                    \
  template MassFactor<S>::JointD MassFactor<S>::D(int) const;                           \
  template MassFactor<S>::WeakestJoint MassFactor<S>::weakest_joint() const;            \
  template void MassFactor<S>::frame_inertia_inverse(std::span<const int>, Out<S>);
ARTICULA_INSTANTIATE(double)
ARTICULA_INSTANTIATE(float)
#undef ARTICULA_INSTANTIATE

}  // namespace articula
