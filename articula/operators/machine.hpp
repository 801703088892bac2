// The steps of a program between its sweeps, for numbers S: plain ones run it (run.cpp), counting ones explain it
// (explain.cpp). Included after ARTICULA_ISA is defined, in sources only.
#pragma once

#include <algorithm>

#include "articula/kernels/sweeps_text.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/operators/program.hpp"

namespace articula::operators {

namespace isa = articula::ARTICULA_ISA;

/// What the steps read.
template <class S>
struct MachineMemory {
  KernelMemory<S> m;
  const S *P, *G, *R, *Omega;
  const S *H_dot, *M_ring, *P_ring, *G_ring, *R_ring, *J_ring, *H_ddot, *H_f;
};

template <class S>
struct Machine {
  Program& program;
  const Tree<double>& tree;
  const MachineMemory<S>& memory;

  static MachineMemory<double> memory_of(const OperatorState& s) {
    return {s.m_,      s.P_,      s.G_,      s.R_,      s.Omega_,  s.H_dot_, s.M_ring_,
            s.P_ring_, s.G_ring_, s.R_ring_, s.J_ring_, s.H_ddot_, s.H_f_};
  }

  /// y = symbol x, or its adjoint.
  void local(const Instruction& i, const S* x, S* y) const {
    switch (i.symbol) {
      case Symbol::H_full:
        return hinge_maps(i.starred, x, y);
      case Symbol::M:
      case Symbol::R:
      case Symbol::P:
      case Symbol::Omega:
        return inertias(i.symbol, x, y);
      case Symbol::D:
      case Symbol::inv_D:
      case Symbol::rotor:
        return hinge_blocks(i.symbol, x, y);
      case Symbol::root_D:
        return roots(i.starred, x, y);
      case Symbol::inv_root_D:
        return inverse_roots(i.starred, x, y);
      case Symbol::H_dot:
        return hinge_columns(memory.H_dot, i.starred, x, y);
      case Symbol::H_ddot:
        return hinge_columns(memory.H_ddot, i.starred, x, y);
      case Symbol::H_f:
        return hinge_columns(memory.H_f, !i.starred, x, y);
      case Symbol::M_ring:
        return rings(memory.M_ring, i.starred, x, y);
      case Symbol::P_ring:
        return rings(memory.P_ring, i.starred, x, y);
      case Symbol::R_ring:
        return rings(memory.R_ring, i.starred, x, y);
      case Symbol::J_ring:
        return rings(memory.J_ring, i.starred, x, y);
      case Symbol::G:
      case Symbol::L:
      case Symbol::K:
      case Symbol::G_ring:
      case Symbol::K_ring:
        return gains(i, x, y);
      case Symbol::E_phi:
      case Symbol::S:
      case Symbol::E:
        return neighbours(i, x, y);
      case Symbol::B:
        return frames(i, x, y);
      case Symbol::Gamma:
        return mimics(i, x, y);
      case Symbol::inv_mass:
      case Symbol::inv_bare_mass:
        return inverse_mass(i.symbol, x, y);
      default:
        return;  // expanded by the compiler
    }
  }

  /// Buffers for the numbers that stand for them.
  static Sweep<S> sweep(const MachineMemory<S>& memory, const Instruction& i, auto&& buffer) {
    Sweep<S> s;
    const auto in = [&](int b) -> const S* { return b < 0 ? nullptr : buffer(b); };
    s.outward = i.outward;
    s.psi = i.psi;
    s.plain = in(i.plain), s.plain_factor = S(i.plain_factor);
    s.more = in(i.more), s.more_factor = S(i.more_factor);
    s.rigid_times = in(i.rigid_times), s.rigid_factor = S(i.rigid_factor);
    s.rigid = i.rigid_is_R ? memory.R : nullptr;
    s.symmetric_times = in(i.symmetric_times), s.symmetric_factor = S(i.symmetric_factor);
    s.symmetric = i.symmetric_is_Omega ? memory.Omega : memory.P;
    s.K_times = in(i.K_times), s.K_factor = S(i.K_factor);
    s.H_times = in(i.H_times), s.H_factor = S(i.H_factor);
    s.z = i.target < 0 ? nullptr : buffer(i.target);
    s.tap = i.tap < 0 ? nullptr : buffer(i.tap);
    s.tap_factor = S(i.tap_factor);
    s.tap_add = in(i.tap_add), s.tap_add_factor = S(i.tap_add_factor);
    s.tap_solve = i.tap_solve;
    return s;
  }

  static void combine(const Instruction& i, auto&& buffer) {
    S* const y = buffer(i.target);
    if (i.terms.empty()) std::fill_n(y, i.size, S(0));
    bool first = true;
    for (const auto& [factor, b] : i.terms) {
      const S* const x = buffer(b);
      if (first && factor == 1)
        std::copy_n(x, i.size, y);
      else if (first)
        for (int v = 0; v < i.size; ++v) y[v] = x[v] * S(factor);
      else if (factor == 1)
        for (int v = 0; v < i.size; ++v) y[v] = y[v] + x[v];
      else if (factor == -1)
        for (int v = 0; v < i.size; ++v) y[v] = y[v] - x[v];
      else
        for (int v = 0; v < i.size; ++v) y[v] = y[v] + x[v] * S(factor);
      first = false;
    }
  }

 private:
  static Spatial<S> at(const S* x, int k) { return gather<1, Spatial<S>>(x + 6 * (k - 1)); }
  static void put(S* x, int k, const Spatial<S>& y) { scatter<1>(y, x + 6 * (k - 1)); }
  static void add(S* x, int k, const Spatial<S>& y) { put(x, k, at(x, k) + y); }
  const S* slot_of(int k) const { return slot(memory.m.x, k, int(body::count)); }
  Phi<S> shift_to(int k) const { return {isa::read<Vec3>(slot_of(k) + stride<S> * body::l)}; }
  Mat3<S> axes_of(int k) const { return isa::read<Mat3>(slot_of(k) + stride<S> * body::R); }
  void each(auto&& f) const {
    for (int k = 1; k < tree.slots(); ++k) f(k, tree.index[k]);
  }
  /// With the joint's kind as a type.
  void each_hinge(auto&& f) const {
    each([&](int k, const BodyIndex& b) { visit(b.kind, [&](auto j) { f(k, b, j); }); });
  }
  /// Columns of a hinge times a joint vector, and their products with a body vector.
  static Spatial<S> columns_times(const S* columns, const BodyIndex& b, int n, const S* x) {
    Spatial<S> sum = gather<1, Spatial<S>>(columns + 6 * b.v) * x[b.v];
    for (int c = 1; c < n; ++c) sum += gather<1, Spatial<S>>(columns + 6 * (b.v + c)) * x[b.v + c];
    return sum;
  }
  static void dot_columns(const S* columns, const BodyIndex& b, int n, const Spatial<S>& f, S* y) {
    for (int c = 0; c < n; ++c) y[b.v + c] = dot(gather<1, Spatial<S>>(columns + 6 * (b.v + c)), f);
  }

  void hinge_maps(bool starred, const S* x, S* y) const {
    each_hinge([&](int k, const BodyIndex& b, auto j) {
      const Mat3<S> axes = axes_of(k);
      const HingeMap<decltype(j), S> H{axes, tree.pitch[k]};
      if (starred)
        put(y, k, star_times(H, x + b.v));
      else
        times(H, at(x, k), y + b.v);
    });
  }
  void inertias(Symbol symbol, const S* x, S* y) const {
    const S* const blocks = symbol == Symbol::P ? memory.P : memory.Omega;
    each([&](int k, const BodyIndex&) {
      if (symbol == Symbol::M)
        put(y, k, isa::body_inertia(tree, static_cast<const S*>(memory.m.x), k) * at(x, k));
      else if (symbol == Symbol::R)
        put(y, k, gather<1, Inertia<S>>(memory.R + 10 * k) * at(x, k));
      else
        put(y, k, gather<1, ArticulatedInertia<S>>(blocks + 21 * k) * at(x, k));
    });
  }
  void hinge_blocks(Symbol symbol, const S* x, S* y) const {
    if (symbol == Symbol::rotor) {
      for (int v = 0; v < tree.nv; ++v) y[v] = x[v] * tree.armature[v];
      return;
    }
    each_hinge([&](int, const BodyIndex& b, auto j) {
      if (symbol == Symbol::inv_D) {
        for (int r = 0; r < j.nv; ++r) y[b.v + r] = x[b.v + r];
        isa::solve_D<decltype(j)>(memory.m.inv_D + 6 * b.v, y + b.v);
        return;
      }
      for (int r = 0; r < j.nv; ++r) {
        const S* const D = memory.m.D + 6 * (b.v + r);
        S sum = D[0] * x[b.v];
        for (int c = 1; c < j.nv; ++c) sum = sum + D[c] * x[b.v + c];
        y[b.v + r] = sum;
      }
    });
  }
  /// D = L d L*: inv_D has L below its diagonal and d^-1 on it; root_D = L d^(1/2).
  void roots(bool starred, const S* x, S* y) const {
    each_hinge([&](int, const BodyIndex& b, auto j) {
      const S* const LD = memory.m.inv_D + 6 * b.v;
      const auto root = [&](int i) { return square_root(reciprocal(LD[7 * i])); };
      for (int r = 0; r < j.nv; ++r) {
        const int i = starred ? r : j.nv - 1 - r;  // so that x and y may be the same
        S sum = starred ? x[b.v + i] : x[b.v + i] * root(i);
        for (int k = 0; k < i && !starred; ++k) sum = sum + LD[6 * i + k] * root(k) * x[b.v + k];
        for (int k = i + 1; k < j.nv && starred; ++k) sum = sum + LD[6 * k + i] * x[b.v + k];
        y[b.v + i] = starred ? sum * root(i) : sum;
      }
    });
  }
  void inverse_roots(bool starred, const S* x, S* y) const {
    each_hinge([&](int, const BodyIndex& b, auto j) {
      const S* const LD = memory.m.inv_D + 6 * b.v;
      S* const out = y + b.v;
      for (int i = 0; i < j.nv; ++i) out[i] = starred ? x[b.v + i] * square_root(LD[7 * i]) : x[b.v + i];
      for (int i = 1; i < j.nv && !starred; ++i)
        for (int k = 0; k < i; ++k) out[i] = out[i] - LD[6 * i + k] * out[k];
      for (int i = j.nv - 1; i >= 0 && starred; --i)
        for (int k = i + 1; k < j.nv; ++k) out[i] = out[i] - LD[6 * k + i] * out[k];
      for (int i = 0; i < j.nv && !starred; ++i) out[i] = out[i] * square_root(LD[7 * i]);
    });
  }
  void gains(const Instruction& i, const S* x, S* y) const {
    const bool K_ring = i.symbol == Symbol::K_ring, K = i.symbol == Symbol::K || K_ring;
    const bool L = i.symbol == Symbol::L || K_ring;  // shifted to the inboard body here
    const S* const columns = K_ring || i.symbol == Symbol::G_ring ? memory.G_ring : K ? memory.m.K : memory.G;
    if (K) std::fill_n(y, i.size, S(0));
    each_hinge([&](int k, const BodyIndex& b, auto j) {
      if (K && b.inboard == 0) return;
      const int body = K ? b.inboard : k;
      if (i.starred) {
        const Spatial<S> f = at(x, body);
        dot_columns(columns, b, j.nv, L ? star(shift_to(k)) * f : f, y);
      } else {
        const Spatial<S> sum = columns_times(columns, b, j.nv, x);
        const Spatial<S> there = L ? shift_to(k) * sum : sum;
        K ? add(y, body, there) : put(y, body, there);
      }
    });
  }
  /// Columns of six numbers for each velocity, at their own body: from joint vectors, or to them.
  void hinge_columns(const S* columns, bool from_joints, const S* x, S* y) const {
    each_hinge([&](int k, const BodyIndex& b, auto j) {
      if (from_joints)
        put(y, k, columns_times(columns, b, j.nv, x));
      else
        dot_columns(columns, b, j.nv, at(x, k), y);
    });
  }
  /// Of the angular part alone.
  void rings(const S* blocks, bool starred, const S* x, S* y) const {
    each([&](int k, const BodyIndex&) {
      const Spatial<S> z = at(x, k);
      const auto column = [&](int c) { return gather<1, Spatial<S>>(blocks + 18 * k + 6 * c); };
      if (starred)
        put(y, k, {{dot(column(0), z), dot(column(1), z), dot(column(2), z)}, {S(0), S(0), S(0)}});
      else
        put(y, k, column(0) * z.w.x + column(1) * z.w.y + column(2) * z.w.z);
    });
  }
  /// E_phi and S from body to inboard body, E from the first bodies to the base.
  void neighbours(const Instruction& i, const S* x, S* y) const {
    std::fill_n(y, i.size, S(0));
    const bool to_base = i.symbol == Symbol::E, shifts = i.symbol != Symbol::S;
    each([&](int k, const BodyIndex& b) {
      if ((b.inboard == 0) != to_base) return;
      const int inboard = to_base ? 1 : b.inboard;
      const Phi<S> phi = shift_to(k);
      if (i.starred)
        put(y, k, shifts ? star(phi) * at(x, inboard) : at(x, inboard));
      else
        add(y, inboard, shifts ? phi * at(x, k) : at(x, k));
    });
  }
  void frames(const Instruction& i, const S* x, S* y) const {
    std::fill_n(y, i.size, S(0));
    int at_frame = 0;
    for (const auto& f : program.frame_sets_[i.frames]) {
      ++at_frame;
      if (f.body < 0) continue;
      const Phi<S> phi{axes_of(f.body + 1) * f.point};
      if (i.starred)
        put(y, at_frame, star(phi) * at(x, f.body + 1));
      else
        add(y, f.body + 1, phi * at(x, at_frame));
    }
  }
  void mimics(const Instruction& i, const S* x, S* y) const {
    const auto map = program.state_.model().full_velocities();
    if (i.starred) std::fill_n(y, i.size, S(0));
    for (std::size_t v = 0; v < map.size(); ++v) {
      if (i.starred)
        y[map[v].source] = y[map[v].source] + x[v] * map[v].multiplier;
      else
        y[v] = x[map[v].source] * map[v].multiplier;
    }
  }
  void inverse_mass(Symbol symbol, const S* x, S* y) const {
    if constexpr (std::is_same_v<S, double>)
      program.state_.solve_mass(symbol == Symbol::inv_bare_mass, x, y);
    else  // the same steps with any factor; what mimic joints add, a small dense solve, is not counted
      isa::solve<true, S, S>(
          tree, memory.m, 1, tree.bodies, memory.m.nu, memory.m.lambda, [](int) { return S(1); },
          [](int, const S&) {});
  }
};

}  // namespace articula::operators
