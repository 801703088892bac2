#include "articula/operators/operator_state.hpp"

#include <algorithm>
#include <utility>

#include "articula/dynamics/mass_factor.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula::operators {

OperatorState::OperatorState(const Model& model)
    : Workspace<double>(model, {.side = true, .factor = true, .keep_D = true, .solve = true}),
      mimics_(model),
      bare_mimics_(model),
      bare_tree_(model.tree<double>()),
      bare_(m_) {
  const std::size_t nv = tree().nv, nq = tree().nq, slots = tree().slots();
  extra_ = AlignedArray<double>((21 + 10 + 21 + 4 * 6 + 4 * 18) * slots + 5 * 6 * nv + nq + 2 * nv);
  double* next = extra_.data();
  const auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
  P_ = take(21 * slots);
  R_ = take(10 * slots);
  Omega_ = take(21 * slots);
  a_ = take(6 * slots);
  b_ = take(6 * slots);
  V_ = take(6 * slots);
  alpha_ = take(6 * slots);
  M_ring_ = take(18 * slots);
  P_ring_ = take(18 * slots);
  R_ring_ = take(18 * slots);
  J_ring_ = take(18 * slots);
  G_ = take(6 * nv);
  H_dot_ = take(6 * nv);
  G_ring_ = take(6 * nv);
  H_ddot_ = take(6 * nv);
  H_f_ = take(6 * nv);
  full_q_ = take(nq);
  full_v_ = take(nv);
  full_a_ = take(nv);
  const Vec3<double> g = model.gravity();
  std::copy_n(std::initializer_list<double>{0, 0, 0, -g.x, -g.y, -g.z}.begin(), 6, a_g_);
  scratch_.resize(nv);
  if (std::any_of(tree().armature, tree().armature + nv, [](double x) { return x != 0; })) {
    bare_memory_ = AlignedArray<double>(19 * nv);  // zeros for the armature, K, D and its factor
    bare_tree_.armature = bare_memory_.data();
    bare_.K = bare_memory_.data() + nv;
    bare_.D = bare_.K + 6 * nv;
    bare_.inv_D = bare_.D + 6 * nv;
  }
}

int OperatorState::size_of(Space space, int frames) const {
  switch (space) {
    case Space::joint:
      return model_.nv();
    case Space::hinge:
      return tree().nv;
    case Space::body:
      return 6 * tree().bodies;
    case Space::frame:
      return 6 * frames;
    case Space::base:
      return 6;
    default:
      return 1;
  }
}

void OperatorState::update(In<double> q) {
  check("operators", "q", q.size(), model_.nq());
  std::copy_n(full_q(q), tree().nq, full_q_);
  ready_ = 0;
  placed_ = has_v_ = has_a_ = false;
}
void OperatorState::update(In<double> q, In<double> v) {
  check("operators", "v", v.size(), model_.nv());
  update(q);
  std::copy_n(full_v(v), tree().nv, full_v_);
  has_v_ = true;
}

void OperatorState::update(In<double> q, In<double> v, In<double> a) {
  check("operators", "a", a.size(), model_.nv());
  update(q, v);
  std::copy_n(full_v(a), tree().nv, full_a_);  // as velocities are
  has_a_ = true;
}
void OperatorState::update(const OperatorState& other) {
  check("operators", "q of another state", other.tree().nq, tree().nq);
  check("operators", "v of another state", other.tree().nv, tree().nv);
  std::copy_n(other.full_q_, tree().nq, full_q_);
  std::copy_n(other.full_v_, tree().nv, full_v_);
  std::copy_n(other.full_a_, tree().nv, full_a_);
  ready_ = 0;
  placed_ = false;
  has_v_ = other.has_v_, has_a_ = other.has_a_;
}

void OperatorState::compute(unsigned needs) {
  const OperatorKernels& kernel = *kernel_set().operators;
  if (needs & second_rates && !has_a_)
    throw ArgumentError("operators: H_ddot and H_f need accelerations; update the state with q, v and a");
  if (needs & second_rates) needs |= rates;
  if (needs & rings) needs |= rates | gains;
  if (needs & (bias | rates) && !has_v_)
    throw ArgumentError(
        "operators: a_bias, b_bias, H_dot and the rings need velocities; update the state with q and v");
  if (!placed_) {
    kernel.place(tree(), full_q_, has_v_ && needs & bias ? full_v_ : nullptr, m_, a_, b_);
    if (has_v_ && needs & bias) ready_ |= bias;
    placed_ = true;
  }
  if (needs & gains) needs |= inertias;
  if (needs & (omegas | mimic_factor | inertias)) needs |= factor;
  if (needs & inertias & ~ready_) ready_ &= ~factor;  // P is kept while factoring
  needs &= ~ready_;
  if (needs & bias) kernel.place(tree(), full_q_, full_v_, m_, a_, b_);
  if (needs & factor && !(kernel.articulate(tree(), m_, needs & inertias ? P_ : nullptr) > 0))
    throw_singular(model_, "operators", m_.inv_D);
  if (needs & gains) kernel.gains(tree(), m_, P_, G_);
  if (needs & omegas) kernel_set().in_double.sweeps->omegas(tree(), m_, Omega_);
  if (needs & rates) compute_rates();
  if (needs & rings) compute_rings();
  if (needs & second_rates) compute_second_rates();
  if (needs & composites) kernel.composites(tree(), m_, R_);
  if (needs & mimic_factor) factor_mimics(m_, mimics_);
  if (needs & bare_factor) {
    if (!(kernel.articulate(bare_tree_, bare_, nullptr) > 0))
      throw_singular(model_, "operators, without rotors", bare_.inv_D);
    factor_mimics(bare_, bare_mimics_);
  }
  ready_ |= needs;
}

void OperatorState::factor_mimics(const KernelMemory<double>& m, MimicCorrection<double>& mimics) {
  for (int row = 0; row < mimics.count(); ++row) {
    mimics.unit_force(row, scratch_.data());
    kernels<double>().solve(tree(), m, scratch_.data(), mimics.response(row));
  }
  mimics.factor("operators");
}

void OperatorState::solve_mass(bool bare, const double* x, double* out) {
  const std::size_t nv = model_.nv();
  MimicCorrection<double>& mimics = bare ? bare_mimics_ : mimics_;
  if (mimics.count() == 0) {
    kernels<double>().solve(tree(), bare ? bare_ : m_, x, out);
    return;
  }
  kernels<double>().solve(tree(), bare ? bare_ : m_, full_tau({x, nv}), scratch_.data());
  mimics.apply(scratch_.data());
  mimics.take_own(scratch_.data(), {out, nv});
}

namespace {
void put(Dense& out, int row, int column, const Mat3<double>& m) {
  const double* x = numbers_of(m);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.numbers[(row + i) * out.columns + column + j] = x[3 * i + j];
}
Dense dense(const ArticulatedInertia<double>& P) {
  Dense d{6, 6, std::vector<double>(36)};
  put(d, 0, 0, full(P.J));
  put(d, 0, 3, P.B);
  put(d, 3, 0, articula::star(P.B));
  put(d, 3, 3, full(P.C));
  return d;
}
Dense dense(const Phi<double>& phi) {
  Dense d{6, 6, std::vector<double>(36)};
  put(d, 0, 0, Mat3<double>::identity());
  put(d, 0, 3, tilde(phi.l));
  put(d, 3, 3, Mat3<double>::identity());
  return d;
}
Dense times(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.columns, std::vector<double>(static_cast<std::size_t>(a.rows) * b.columns)};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k) c.numbers[i * b.columns + j] += a(i, k) * b(k, j);
  return c;
}
}  // namespace

Dense OperatorState::block(Symbol symbol, int body) {
  if (body < 0 || body >= bodies())
    throw ArgumentError("operators: block() of body " + std::to_string(body) + "; model '" + model_.name() +
                        "' has " + std::to_string(bodies()));
  require(factor | inertias | gains | omegas | composites);
  const int k = body + 1;
  const BodyIndex& index = tree().index[k];
  const double* x = slot(m_.x, k, int(body::count));
  const Phi<double> phi{gather<articula::block, Vec3<double>>(x + articula::block * body::l)};
  const auto axes = gather<articula::block, Mat3<double>>(x + articula::block * body::R);
  Dense H, G;
  visit(index.kind, [&](auto j) {
    using J = decltype(j);
    H = {J::nv, 6, {}};
    G = {6, J::nv, std::vector<double>(6 * J::nv)};
    const HingeMap<J, double> map{axes, tree().pitch[k]};
    for_each_index<J::nv>([&](auto i) {
      const Spatial<double> h = spatial(map.template row<i.value>());
      H.numbers.insert(H.numbers.end(), numbers_of(h), numbers_of(h) + 6);
      for (int r = 0; r < 6; ++r) G.numbers[r * J::nv + i.value] = G_[6 * (index.v + i.value) + r];
    });
  });
  const int n = H.rows;
  const auto tau_bar = [&] {
    Dense t = times(G, H);
    for (int i = 0; i < 36; ++i) t.numbers[i] = (i % 7 == 0) - t.numbers[i];
    return t;
  };
  switch (symbol) {
    case Symbol::H:
    case Symbol::H_full:
      return H;
    case Symbol::phi:
    case Symbol::E_phi:
      return dense(phi);
    case Symbol::M:
      return dense(
          articulated(Inertia<double>{tree().constants_of(k)[articula::block * constant::m],
                                      gather<articula::block, Vec3<double>>(x + articula::block * body::mp),
                                      gather<articula::block, Sym3<double>>(x + articula::block * body::J)}));
    case Symbol::P:
      return dense(gather<1, ArticulatedInertia<double>>(P_ + 21 * k));
    case Symbol::Omega:
      return dense(gather<1, ArticulatedInertia<double>>(Omega_ + 21 * k));
    case Symbol::R:
      return dense(articulated(gather<1, Inertia<double>>(R_ + 10 * k)));
    case Symbol::G:
      return G;
    case Symbol::K:
    case Symbol::L:
      return times(dense(phi), G);
    case Symbol::tau:
      return times(G, H);
    case Symbol::tau_bar:
      return tau_bar();
    case Symbol::psi:
    case Symbol::E_psi:
      return times(dense(phi), tau_bar());
    case Symbol::S: {
      Dense d{6, 6, std::vector<double>(36)};
      for (int i = 0; i < 6; ++i) d.numbers[7 * i] = 1;
      return d;
    }
    case Symbol::D:
    case Symbol::rotor: {
      Dense d{n, n, std::vector<double>(n * n)};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          d.numbers[i * n + j] =
              symbol == Symbol::D ? m_.D[6 * (index.v + i) + j] : (i == j ? tree().armature[index.v + i] : 0);
      return d;
    }
    default:
      throw ArgumentError(std::string("operators: ") + name_of(symbol) + " has no block of one body");
  }
}

}  // namespace articula::operators
