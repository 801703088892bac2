#include "articula/loops/closed_chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/rank_revealing.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/dense.hpp"
#include "articula/spatial/finite.hpp"
#include "articula/spatial/inertia.hpp"

namespace articula {

namespace {

using namespace operators;
using dense::Matrix, dense::View;

/// The operators of one arm, as sweeps. 0 is the tip: B = B(tip).
struct ArmText {
  explicit ArmText(const GraspingArm& arm)
      : state(arm.model),
        kinematics(arm.model),
        tip(arm.model.frame(arm.tip)),
        bias_free(state,
                  input<JointSpace>(0) -
                      H * phi * (M * star(phi) * (a_bias + star(E) * a_g) + b_bias - input<BodySpace>(1))),
        whitened(state, Id - H * psi * K),
        weighted(state, inv(D)),
        smoothed(state, star(Id - H * psi * K)),
        to_tip(state, star(B(arm.tip)) * star(phi) * star(H)),
        tip_smoothed(state, star(B(arm.tip)) * star(psi) * star(H)),
        from_tip(state, H * psi * B(arm.tip)),
        at_tip(state, B(arm.tip)),
        filtered(state, H * psi * (K * input<JointSpace>(0) + input<BodySpace>(1))),
        Omega_tip(state, star(B(arm.tip)) * Omega * B(arm.tip)),
        mass(state, H * phi * M * star(phi) * star(H) + rotor) {
    const int n = arm.model.nv();
    T_prime = a = a_f = Matrix(n, 1);
    wrenches = Matrix(6 * arm.model.body_count(), 1);
  }
  static Matrix times(Program& program, const Matrix& x) {
    Matrix y(program.rows(), 1);
    program.apply(x.numbers(), y.numbers());
    return y;
  }
  OperatorState state;
  Kinematics<> kinematics;
  int tip;
  Program bias_free;     // T' = T - H phi [M phi* a + b - external forces]          (6.11a)
  Program whitened;      // Id - H psi K
  Program weighted;      // D^-1
  Program smoothed;      // [Id - H psi K]*
  Program to_tip;        // J = B* phi* H*
  Program tip_smoothed;  // B* psi* H*
  Program from_tip;      // H psi B
  Program at_tip;        // B
  Program filtered;      // H psi (K T' + B f)
  Program Omega_tip;     // B* psi* H* D^-1 H psi B by the recursion                 (6.10)
  Program mass;
  Matrix T_prime, a, a_f, wrenches, f{6, 1};
  Matrix H_star;  // H*(0): 6 x freedoms of the contact
  Matrix W, W_dot;
};

/// H*(0) = (h_j, 0), carried by the tip (JPL88 Appendix A).
Matrix contact_freedoms(const GraspingArm& arm, const Mat3<double>& tip) {
  const Mat3<double> R = tip * rotation_from_z(arm.axis * (1 / std::sqrt(dot(arm.axis, arm.axis))));
  const auto columns = [](std::initializer_list<Vec3<double>> axes) {
    Matrix H_star(6, static_cast<int>(axes.size()));
    int next = 0;
    for (const Vec3<double>& h : axes) H_star.block(0, next++, 3, 1) = dense::column(h);
    return H_star;
  };
  switch (arm.grasp) {
    case Grasp::rigid:
      return columns({});
    case Grasp::hinge:
      return columns({column_z(R)});
    case Grasp::soft_finger:
      return columns({column_x(R), column_y(R)});
    case Grasp::point:
      break;
  }
  return columns({column_x(tip), column_y(tip), column_z(tip)});
}

}  // namespace

struct ClosedChain::Text {
  Text(std::vector<GraspingArm> given, const MassProperties& mass, const Vec3<double>& gravity,
       double tolerance)
      : arms(std::move(given)),
        object(mass),
        g(gravity),
        revealing(6 * static_cast<int>(arms.size())),
        tolerance(tolerance) {}
  std::vector<GraspingArm> arms;
  std::vector<std::unique_ptr<ArmText>> text;
  MassProperties object;
  Vec3<double> g;
  RankRevealing revealing;
  double tolerance;
  Matrix alpha_C{6, 1};
  int rank = 0;

  /// What every algorithm starts from: T', J' th', W, the object's terms.
  Matrix A, Omega_all, H_star;  // A = col[phi*(C, O_i)]; H*(0) of all contacts
  Matrix M_C_inverse, b_C, a_C, J_dot_v, H_dot_W;
  void start(std::span<const ArmState> states, const ObjectState& at);
  void form_omega();  // J M^-1 J* + A M_C^-1 A*
  Matrix contact_forces(const Matrix& right, Matrix& W_dot);
  Matrix Pi() const;
  Matrix from_joint_forces() const;  // J M^-1 T' = B* psi* H* D^-1 [Id - H psi K] T'    (6.12)
  void finish(const Matrix& f, const Matrix& W_dot);

  void rccfd1();
  void rccfd2();
  void rccfd3();
  void coupled();
};

ClosedChain::ClosedChain(std::vector<GraspingArm> arms, const MassProperties& object,
                         const Vec3<double>& gravity, double rank_tolerance)
    : text_(std::make_unique<Text>(std::move(arms), object, gravity, rank_tolerance)) {
  if (text_->arms.empty()) throw ArgumentError("closed chain: no arm holds the object");
  if (!(object.mass > 0) || !std::isfinite(object.mass))
    throw ArgumentError(
        fmt::format("closed chain: the object's mass is {}, expected a positive number", object.mass));
  for (GraspingArm& arm : text_->arms) {
    if (arm.model.has_mimics())
      throw ArgumentError(
          fmt::format("closed chain: arm '{}' has mimic joints; use ConstrainedDynamics", arm.name));
    if (!(dot(arm.axis, arm.axis) > 0))
      throw ArgumentError(
          fmt::format("closed chain: the contact axis of arm '{}' has no direction", arm.name));
    arm.model = arm.model.with_gravity(gravity);
    text_->text.push_back(std::make_unique<ArmText>(arm));
  }
}
ClosedChain::~ClosedChain() = default;
ClosedChain::ClosedChain(ClosedChain&&) noexcept = default;

void ClosedChain::Text::start(std::span<const ArmState> states, const ObjectState& at) {
  const int rows = 6 * static_cast<int>(arms.size());
  // The object, world axes, at C: M_C and b_C = (w x J w, m w x (w x p)) less its weight and external force.
  const Mat3<double>& R = at.pose.R;
  const Vec3<double> p = R * object.center_of_mass, w = at.velocity.w;
  const Sym3<double> J_c = symmetric(R * full(object.inertia) * star(R));
  const Inertia<double> M_C = shifted(Phi<double>{p}, Inertia<double>{object.mass, {0, 0, 0}, J_c});
  const Matrix one = Matrix::identity(6);
  Matrix M6(6, 6);
  for (int c = 0; c < 6; ++c)
    M6.block(0, c, 6, 1) = dense::column(M_C * dense::spatial(one.block(0, c, 6, 1)));
  M_C_inverse = dense::LU(M6).inverse();
  b_C = dense::column(Spatial<double>{cross(w, M_C.J * w), cross(w, cross(w, M_C.mp))} -
                      M_C * Spatial<double>{{0, 0, 0}, g} - at.wrench);
  A = Matrix(rows, 6);
  a_C = J_dot_v = H_dot_W = Matrix(rows, 1);
  int freedoms = 0;
  for (int i = 0; 6 * i < rows; ++i) {
    ArmText& arm = *text[i];
    const ArmState& s = states[i];
    arm.state.update(s.q, s.v);
    arm.kinematics.update_drift(s.q, s.v);
    arm.wrenches = Matrix(arm.wrenches.rows(), 1);
    for (std::size_t k = 0; k < s.wrenches.size(); ++k)
      arm.wrenches.part(6 * static_cast<int>(k), 6) = dense::column(s.wrenches[k]);
    arm.bias_free.evaluate({s.tau, arm.wrenches.numbers()}, arm.T_prime.numbers());
    const auto tip = arm.kinematics.pose(arm.tip);
    const Vec3<double> l_i = tip.position - at.pose.p, w_tip = arm.kinematics.velocity(arm.tip).w;
    for (int c = 0; c < 6; ++c)
      A.block(6 * i, c, 6, 1) = dense::column(star(Phi<double>{l_i}) * dense::spatial(one.block(0, c, 6, 1)));
    a_C.part(6 * i + 3, 3) = dense::column(cross(w, cross(w, l_i)));
    // B* phi* a + a(0), without gravity: d/dt(J) th'
    J_dot_v.part(6 * i, 6) = dense::column(arm.kinematics.acceleration(arm.tip));
    arm.H_star = contact_freedoms(arms[i], tip.rotation);
    const View h = std::as_const(arm.H_star).block(0, 0, 3, arm.H_star.columns());
    arm.W = star(h) * dense::column(w - w_tip);  // (a.6)
    // H*'(0) W: the columns turn with the tip
    H_dot_W.part(6 * i, 3) = dense::column(cross(w_tip, dense::vec3(h * arm.W)));
    freedoms += arm.H_star.columns();
  }
  H_star = Matrix(rows, freedoms);
  int next = 0;
  for (int i = 0; 6 * i < rows; ++i) {
    const Matrix& h = text[i]->H_star;
    H_star.block(6 * i, next, 6, h.columns()) = h;
    next += h.columns();
  }
}

void ClosedChain::Text::form_omega() {
  Omega_all = A * M_C_inverse * star(A);
  const Matrix one = Matrix::identity(6);
  for (int i = 0; i < static_cast<int>(arms.size()); ++i)
    for (int c = 0; c < 6; ++c)
      Omega_all.block(6 * i, 6 * i + c, 6, 1) += text[i]->times(text[i]->Omega_tip, one.block(0, c, 6, 1));
  Omega_all = symmetric_part(Omega_all);
  rank = revealing.factor(Omega_all.numbers().data(), Omega_all.rows(), Omega_all.rows(), tolerance);
}

/// Omega f = right + H*(0) W', H(0) f = 0. With Omega of full rank, (b.6): W' = -[H Omega^-1 H*]^-1 H
/// Omega^-1 right, f = Omega^-1 (right + H* W'). Without, f is sought among the forces that the contacts can
/// carry, of least norm; where the arm cannot move against a contact, that also has an answer.
Matrix ClosedChain::Text::contact_forces(const Matrix& right, Matrix& W_dot) {
  if (rank == Omega_all.rows()) {
    const dense::Cholesky Omega(Omega_all);
    const Matrix X = Omega.solve(H_star);
    W_dot = -dense::Cholesky(star(H_star) * X).solve(star(X) * right);
    return Omega.solve(right + H_star * W_dot);
  }
  const Matrix N = dense::kernel(star(H_star), 1e-12);  // its columns are orthogonal and of unit length
  const Matrix reduced = star(N) * Omega_all * N;
  RankRevealing solver(N.columns());
  solver.factor(reduced.numbers().data(), N.columns(), N.columns(), tolerance);
  Matrix lambda = star(N) * right;
  solver.solve(lambda.numbers().data());
  const Matrix f = N * lambda;
  W_dot = star(H_star) * (Omega_all * f - right);
  return f;
}

/// Pi = Omega^-1 - Omega^-1 H* [H Omega^-1 H*]^-1 H Omega^-1 (b.7b), which is N (N* Omega N)^-1 N* with N the forces that
/// the contacts can carry.
Matrix ClosedChain::Text::Pi() const {
  const Matrix N = dense::kernel(star(H_star), 1e-12);
  const Matrix reduced = star(N) * Omega_all * N;
  RankRevealing solver(N.columns());
  solver.factor(reduced.numbers().data(), N.columns(), N.columns(), tolerance);
  Matrix columns = star(N);
  std::vector<double> column(columns.rows());
  for (int c = 0; c < columns.columns(); ++c) {
    for (int r = 0; r < columns.rows(); ++r) column[r] = columns(r, c);
    solver.solve(column.data());
    for (int r = 0; r < columns.rows(); ++r) columns(r, c) = column[r];
  }
  return N * columns;
}
Matrix ClosedChain::Text::from_joint_forces() const {
  Matrix out(A.rows(), 1);
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    out.part(6 * i, 6) =
        arm.times(arm.tip_smoothed, arm.times(arm.weighted, arm.times(arm.whitened, arm.T_prime)));
  }
  return out;
}

void ClosedChain::Text::finish(const Matrix& f, const Matrix& W_dot) {
  int next = 0;
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    text[i]->f = f.part(6 * i, 6);
    text[i]->W_dot = W_dot.part(next, text[i]->H_star.columns());
    next += text[i]->H_star.columns();
  }
  alpha_C = M_C_inverse * (star(A) * f - b_C);
}

/// (6.11): the open chain's accelerations first, then what the contact forces change.
void ClosedChain::Text::rccfd1() {
  Matrix alpha_f = J_dot_v;
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    arm.a_f =
        arm.times(arm.smoothed, arm.times(arm.weighted, arm.times(arm.whitened, arm.T_prime)));  // (6.11b)
    alpha_f.part(6 * i, 6) += arm.times(arm.to_tip, arm.a_f);                                    // (6.11c)
  }
  form_omega();  // (6.11d, e)
  Matrix W_dot;
  const Matrix f = contact_forces(alpha_f + H_dot_W + A * M_C_inverse * b_C - a_C, W_dot);  // (6.11f), (b.4)
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    const Matrix da = -arm.times(
        arm.smoothed, arm.times(arm.weighted, arm.times(arm.from_tip, f.part(6 * i, 6))));  // (6.11g)
    arm.a = arm.a_f + da;                                                                   // (6.11i)
  }
  finish(f, W_dot);
}

/// (6.18): the forces first, from whitened joint forces; then one filtering with them.
void ClosedChain::Text::rccfd2() {
  form_omega();  // (6.18b, c)
  const Matrix a_prime = a_C - A * M_C_inverse * b_C - J_dot_v - H_dot_W;
  Matrix W_dot;
  const Matrix f = contact_forces(from_joint_forces() - a_prime, W_dot);  // (6.18d)
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    const Matrix f_i = arm.times(arm.at_tip, f.part(6 * i, 6));
    Matrix filtered(arm.T_prime.rows(), 1);
    arm.filtered.evaluate({arm.T_prime.numbers(), f_i.numbers()}, filtered.numbers());
    arm.a = arm.times(arm.smoothed, arm.times(arm.weighted, arm.T_prime - filtered));  // (6.18e)
  }
  finish(f, W_dot);
}

/// (6.22): th'' = th''_1 + th''_2, what the joint forces cause in the closed chain, and what the biases do.
void ClosedChain::Text::rccfd3() {
  form_omega();  // (6.22b, c)
  const Matrix a_prime = a_C - A * M_C_inverse * b_C - J_dot_v - H_dot_W;
  Matrix right(A.rows(), 1);
  std::vector<Matrix> e(arms.size());
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    e[i] = arm.times(arm.whitened, arm.T_prime);
    right.part(6 * i, 6) = arm.times(arm.tip_smoothed, arm.times(arm.weighted, e[i]));
  }
  Matrix W_dot_1, W_dot_2;
  const Matrix f_1 = contact_forces(right, W_dot_1), f_2 = contact_forces(-a_prime, W_dot_2);
  for (int i = 0; i < static_cast<int>(arms.size()); ++i) {
    ArmText& arm = *text[i];
    // (6.22f): [Id - H psi K]* {D^-1 - D^-1 H psi B Omega^-1 B* psi* H* D^-1} [Id - H psi K] T'
    const Matrix a_1 =
        arm.times(arm.smoothed, arm.times(arm.weighted, e[i] - arm.times(arm.from_tip, f_1.part(6 * i, 6))));
    // (6.22g): M^-1 J* Omega^-1 a'
    const Matrix a_2 =
        arm.times(arm.smoothed, arm.times(arm.weighted, -arm.times(arm.from_tip, f_2.part(6 * i, 6))));
    arm.a = a_1 + a_2;  // (6.22h)
  }
  finish(f_1 + f_2, W_dot_1 + W_dot_2);
}

/// (b.14), with T' = T - C and G = G1 + J M^-1 C, which has no C:
///   H Omega^-1 H* W' + H Omega^-1 J th'' = H Omega^-1 (A M_C^-1 A* f - G),    f = Pi (J M^-1 T' + G)       (b.10)
///   J* Omega^-1 H* W' + M th'' = T' - J* Omega^-1 (J M^-1 T' + G)                                          (b.12)
/// Eliminating th'' leaves H Omega^-1 A M_C^-1 A* Omega^-1 H* W': of rank six at most, and less where an arm's last joints
/// do what a contact does. Where that is singular the form determines neither, although th'' exists. The printed (b.11) has +J M^-1 C in G2, where it must be -J M^-1 C.
void ClosedChain::Text::coupled() {
  form_omega();
  if (rank < Omega_all.rows()) {
    if (!are_finite(Omega_all.numbers()))
      throw ArgumentError("closed chain: the arms' q or the object's pose has numbers that are not finite");
    throw SingularError(
        fmt::format("closed chain: the coupled form (b.14) needs Omega of full rank, {}; it has {}",
                    Omega_all.rows(), rank));
  }
  int n = 0;
  for (const auto& arm : text) n += arm->T_prime.rows();
  const int w = H_star.columns();
  Matrix J(A.rows(), n), left(w + n, w + n), right(w + n, 1);
  for (int i = 0, at = 0; i < static_cast<int>(arms.size()); at += text[i++]->T_prime.rows()) {
    const auto put = [&](Matrix& to, int row, int column, Program& program) {
      const Dense d = program.dense();
      to.block(row, column, d.rows, d.columns) = dense::view(d.numbers, d.rows, d.columns);
    };
    put(J, 6 * i, at, text[i]->to_tip);
    put(left, w + at, w + at, text[i]->mass);
    right.part(w + at, text[i]->T_prime.rows()) = text[i]->T_prime;
  }
  const dense::Cholesky Omega(Omega_all);
  const Matrix H_weighted = Omega.solve(H_star), J_weighted = Omega.solve(J);
  const dense::PivotedQR seen(star(A) * H_weighted);
  if (w > 0 && seen.rank(1e-7 * seen.pivots[0]) < w)
    throw SingularError(fmt::format(
        "closed chain: the coupled form (b.14) does not determine the {} freedoms of the contacts", w));
  left.block(0, 0, w, w) = star(H_weighted) * H_star;
  left.block(0, w, w, n) = star(H_weighted) * J;
  left.block(w, 0, n, w) = star(J) * H_weighted;
  const Matrix G = A * M_C_inverse * b_C + J_dot_v + H_dot_W - a_C, driven = from_joint_forces() + G;
  const Matrix f = Pi() * driven;
  right.part(0, w) = star(H_weighted) * (A * M_C_inverse * (star(A) * f) - G);
  right.part(w, n) -= star(J_weighted) * driven;
  const Matrix found = dense::LU(left).solve(right);
  int at = w;
  for (const auto& arm : text) {
    arm->a = found.part(at, arm->T_prime.rows());
    at += arm->T_prime.rows();
  }
  finish(f, found.part(0, w));
}

void ClosedChain::compute(Algorithm algorithm, std::span<const ArmState> arms, const ObjectState& object) {
  if (arms.size() != text_->arms.size())
    throw ArgumentError(
        fmt::format("closed chain: {} arm states, there are {} arms", arms.size(), text_->arms.size()));
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Model& model = text_->arms[i].model;
    const auto check = [&](const char* what, std::size_t size, std::size_t expected) {
      if (size != expected)
        throw ArgumentError(fmt::format("closed chain: {} of arm '{}' has {} numbers, expected {}", what,
                                        text_->arms[i].name, size, expected));
    };
    check("q", arms[i].q.size(), model.nq());
    check("v", arms[i].v.size(), model.nv());
    check("tau", arms[i].tau.size(), model.nv());
    if (!arms[i].wrenches.empty())
      check("wrenches (one per body)", arms[i].wrenches.size(), model.body_count());
  }
  text_->start(arms, object);
  switch (algorithm) {
    case Algorithm::rccfd1:
      text_->rccfd1();
      break;
    case Algorithm::rccfd2:
      text_->rccfd2();
      break;
    case Algorithm::rccfd3:
      text_->rccfd3();
      break;
    case Algorithm::coupled:
      text_->coupled();
      break;
  }
}

std::span<const double> ClosedChain::acceleration(int arm) const { return text_->text.at(arm)->a.numbers(); }
Spatial<double> ClosedChain::force(int arm) const { return dense::spatial(text_->text.at(arm)->f); }
std::span<const double> ClosedChain::contact_rates(int arm) const {
  return text_->text.at(arm)->W_dot.numbers();
}
std::span<const double> ClosedChain::contact_velocities(int arm) const {
  return text_->text.at(arm)->W.numbers();
}
Spatial<double> ClosedChain::object_acceleration() const { return dense::spatial(text_->alpha_C); }
int ClosedChain::rank() const { return text_->rank; }
std::vector<double> ClosedChain::Pi() const {
  const Matrix Pi = text_->Pi();
  return {Pi.numbers().begin(), Pi.numbers().end()};
}
int ClosedChain::arms() const { return static_cast<int>(text_->arms.size()); }
const GraspingArm& ClosedChain::arm(int i) const { return text_->arms.at(i); }

}  // namespace articula
