#include "articula/loops/closed_chain.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "articula/dynamics/kinematics.hpp"
#include "articula/loops/rank_revealing.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/inertia.hpp"

namespace articula {

namespace {

using namespace operators;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Six = Eigen::Matrix<double, 6, 1>;
using SixBySix = Eigen::Matrix<double, 6, 6>;

Six to_six(const Spatial<double>& x) {
  return (Six() << x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z).finished();
}
Spatial<double> to_spatial(const Six& x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
Eigen::Vector3d to_three(const Vec3<double>& x) { return {x.x, x.y, x.z}; }
std::span<const double> in(const Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
std::span<double> out(Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

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
        Omega_tip(state, star(B(arm.tip)) * Omega * B(arm.tip)) {
    const int n = arm.model.nv();
    T_prime = a = a_f = scratch = Vector::Zero(n);
    wrenches = Vector::Zero(6 * arm.model.body_count());
  }
  Vector times(Program& program, const Vector& x) {
    Vector y(program.rows());
    program.apply(in(x), out(y));
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
  Vector T_prime, a, a_f, scratch, wrenches;
  Six f = Six::Zero(), J_dot_v = Six::Zero();
  Matrix H_star;  // H*(0): 6 x freedoms of the contact
  Vector W, W_dot;
};

/// H*(0) = (h_j, 0), carried by the tip (JPL88 Appendix A).
Matrix contact_freedoms(const GraspingArm& arm, const Mat3<double>& tip) {
  const Mat3<double> R = tip * rotation_from_z(arm.axis * (1 / std::sqrt(dot(arm.axis, arm.axis))));
  Matrix H_star = Matrix::Zero(6, arm.grasp == Grasp::rigid         ? 0
                                  : arm.grasp == Grasp::hinge       ? 1
                                  : arm.grasp == Grasp::soft_finger ? 2
                                                                    : 3);
  if (arm.grasp == Grasp::hinge) H_star.col(0).head<3>() = to_three(column_z(R));
  if (arm.grasp == Grasp::soft_finger) {
    H_star.col(0).head<3>() = to_three(column_x(R));
    H_star.col(1).head<3>() = to_three(column_y(R));
  }
  if (arm.grasp == Grasp::point) {
    H_star.col(0).head<3>() = to_three(column_x(tip));
    H_star.col(1).head<3>() = to_three(column_y(tip));
    H_star.col(2).head<3>() = to_three(column_z(tip));
  }
  return H_star;
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
  Six alpha_C = Six::Zero();
  int rank = 0;

  /// What every algorithm starts from: T', J' th', W, the object's terms.
  Matrix A, Omega_all, H_star;  // A = col[phi*(C, O_i)]; H*(0) of all contacts
  SixBySix M_C_inverse;
  Six b_C;
  Vector a_C, J_dot_v, H_dot_W;
  void start(std::span<const ArmState> states, const ObjectState& at);
  void form_omega();  // J M^-1 J* + A M_C^-1 A*
  Vector contact_forces(const Vector& right, Vector& W_dot);
  void finish(const Vector& f, const Vector& W_dot);

  void rccfd1();
  void rccfd2();
  void rccfd3();
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

void ClosedChain::Text::start(std::span<const ArmState> states, const ObjectState& at) {
  const Eigen::Index l = static_cast<Eigen::Index>(arms.size());
  // The object, world axes, at C: M_C and b_C = (w x J w, m w x (w x p)) less its weight and external force.
  const Mat3<double>& R = at.pose.R;
  const Vec3<double> p = R * object.center_of_mass, w = at.velocity.w;
  const Sym3<double> J_c = symmetric(R * full(object.inertia) * star(R));
  const Inertia<double> M_C = shifted(Phi<double>{p}, Inertia<double>{object.mass, {0, 0, 0}, J_c});
  SixBySix M6;
  for (int c = 0; c < 6; ++c) M6.col(c) = to_six(M_C * to_spatial(Six::Unit(c)));
  M_C_inverse = M6.inverse();
  b_C = to_six(Spatial<double>{cross(w, M_C.J * w), cross(w, cross(w, M_C.mp))} -
               M_C * Spatial<double>{{0, 0, 0}, g} - at.wrench);
  A = Matrix::Zero(6 * l, 6);
  a_C = J_dot_v = H_dot_W = Vector::Zero(6 * l);
  Eigen::Index freedoms = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    const ArmState& s = states[i];
    arm.state.update(s.q, s.v);
    arm.kinematics.update(s.q, s.v);
    arm.wrenches.setZero();
    for (std::size_t k = 0; k < s.wrenches.size(); ++k)
      arm.wrenches.segment<6>(6 * k) = to_six(s.wrenches[k]);
    arm.bias_free.evaluate({s.tau, in(arm.wrenches)}, out(arm.T_prime));
    // B* phi* a + a(0), without gravity: d/dt(J) th'
    arm.J_dot_v = to_six(arm.kinematics.acceleration(arm.tip));
    const auto tip = arm.kinematics.pose(arm.tip);
    const Vec3<double> l_i = tip.position - at.pose.p, w_tip = arm.kinematics.velocity(arm.tip).w;
    for (int c = 0; c < 6; ++c)
      A.block<6, 1>(6 * i, c) = to_six(star(Phi<double>{l_i}) * to_spatial(Six::Unit(c)));
    a_C.segment<6>(6 * i) = to_six({{0, 0, 0}, cross(w, cross(w, l_i))});
    J_dot_v.segment<6>(6 * i) = arm.J_dot_v;
    arm.H_star = contact_freedoms(arms[i], tip.rotation);
    arm.W = arm.H_star.topRows<3>().transpose() * to_three(w - w_tip);  // (a.6)
    Eigen::Vector3d h_W = Eigen::Vector3d::Zero();                      // a rigid grasp has no columns
    if (arm.W.size() > 0) h_W = arm.H_star.topRows<3>() * arm.W;
    H_dot_W.segment<3>(6 * i) = to_three(w_tip).cross(h_W);  // H*'(0) W: the columns turn with the tip
    freedoms += arm.H_star.cols();
  }
  H_star = Matrix::Zero(6 * l, freedoms);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (text[i]->H_star.cols() > 0) H_star.block(6 * i, next, 6, text[i]->H_star.cols()) = text[i]->H_star;
    next += text[i]->H_star.cols();
  }
}

void ClosedChain::Text::form_omega() {
  Omega_all = A * M_C_inverse * A.transpose();
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (int c = 0; c < 6; ++c)
      Omega_all.block<6, 1>(6 * i, 6 * i + c) += text[i]->times(text[i]->Omega_tip, Vector::Unit(6, c));
  Omega_all = (0.5 * (Omega_all + Omega_all.transpose())).eval();
  rank = revealing.factor(Omega_all.data(), static_cast<int>(Omega_all.rows()), Omega_all.rows(), tolerance);
}

/// Omega f = right + H*(0) W', H(0) f = 0. With Omega of full rank, (b.6): W' = -[H Omega^-1 H*]^-1 H
/// Omega^-1 right, f = Omega^-1 (right + H* W'). Without, f is sought among the forces that the contacts can
/// carry, of least norm; where the arm cannot move against a contact, that also has an answer.
Vector ClosedChain::Text::contact_forces(const Vector& right, Vector& W_dot) {
  if (rank == Omega_all.rows()) {
    const Eigen::LLT<Matrix> Omega_inverse(Omega_all);
    W_dot.resize(0);
    if (H_star.cols() == 0) return Omega_inverse.solve(right);
    const Matrix X = Omega_inverse.solve(H_star);
    W_dot = -(H_star.transpose() * X).llt().solve(X.transpose() * right);
    return Omega_inverse.solve(right + H_star * W_dot);
  }
  const Eigen::HouseholderQR<Matrix> qr(H_star);
  const Eigen::Index rows = H_star.rows(), carried = rows - H_star.cols();
  const Matrix Q = H_star.cols() ? Matrix(qr.householderQ()) : Matrix(Matrix::Identity(rows, rows));
  const Matrix N = Q.rightCols(carried);
  const Matrix reduced = N.transpose() * Omega_all * N;
  RankRevealing solver(static_cast<int>(carried));
  solver.factor(reduced.data(), static_cast<int>(carried), carried, tolerance);
  Vector lambda = N.transpose() * right;
  solver.solve(lambda.data());
  const Vector f = N * lambda;
  W_dot = H_star.transpose() * (Omega_all * f - right);
  return f;
}

void ClosedChain::Text::finish(const Vector& f, const Vector& W_dot) {
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    text[i]->f = f.segment<6>(6 * i);
    text[i]->W_dot = W_dot.segment(next, text[i]->H_star.cols());
    next += text[i]->H_star.cols();
  }
  alpha_C = M_C_inverse * (A.transpose() * f - b_C);
}

/// (6.11): the open chain's accelerations first, then what the contact forces change.
void ClosedChain::Text::rccfd1() {
  Vector alpha_f = J_dot_v;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    arm.a_f =
        arm.times(arm.smoothed, arm.times(arm.weighted, arm.times(arm.whitened, arm.T_prime)));  // (6.11b)
    alpha_f.segment<6>(6 * i) += arm.times(arm.to_tip, arm.a_f);                                 // (6.11c)
  }
  form_omega();  // (6.11d, e)
  Vector W_dot;
  const Vector f = contact_forces(alpha_f + H_dot_W + A * M_C_inverse * b_C - a_C, W_dot);  // (6.11f), (b.4)
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    const Vector da = -arm.times(
        arm.smoothed, arm.times(arm.weighted, arm.times(arm.from_tip, f.segment<6>(6 * i))));  // (6.11g)
    arm.a = arm.a_f + da;                                                                      // (6.11i)
  }
  finish(f, W_dot);
}

/// (6.18): the forces first, from whitened joint forces; then one filtering with them.
void ClosedChain::Text::rccfd2() {
  form_omega();  // (6.18b, c)
  const Vector a_prime = a_C - A * M_C_inverse * b_C - J_dot_v - H_dot_W;
  Vector right = -a_prime;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    right.segment<6>(6 * i) +=
        arm.times(arm.tip_smoothed, arm.times(arm.weighted, arm.times(arm.whitened, arm.T_prime)));
  }
  Vector W_dot;
  const Vector f = contact_forces(right, W_dot);  // (6.18d)
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    const Vector f_i = arm.times(arm.at_tip, f.segment<6>(6 * i));
    Vector filtered(arm.T_prime.size());
    arm.filtered.evaluate({in(arm.T_prime), in(f_i)}, out(filtered));
    arm.a = arm.times(arm.smoothed, arm.times(arm.weighted, arm.T_prime - filtered));  // (6.18e)
  }
  finish(f, W_dot);
}

/// (6.22): th'' = th''_1 + th''_2, what the joint forces cause in the closed chain, and what the biases do.
void ClosedChain::Text::rccfd3() {
  form_omega();  // (6.22b, c)
  const Vector a_prime = a_C - A * M_C_inverse * b_C - J_dot_v - H_dot_W;
  Vector right = Vector::Zero(A.rows());
  std::vector<Vector> e(arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    e[i] = arm.times(arm.whitened, arm.T_prime);
    right.segment<6>(6 * i) = arm.times(arm.tip_smoothed, arm.times(arm.weighted, e[i]));
  }
  Vector W_dot_1, W_dot_2;
  const Vector f_1 = contact_forces(right, W_dot_1), f_2 = contact_forces(-a_prime, W_dot_2);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ArmText& arm = *text[i];
    // (6.22f): [Id - H psi K]* {D^-1 - D^-1 H psi B Omega^-1 B* psi* H* D^-1} [Id - H psi K] T'
    const Vector a_1 = arm.times(
        arm.smoothed, arm.times(arm.weighted, e[i] - arm.times(arm.from_tip, f_1.segment<6>(6 * i))));
    // (6.22g): M^-1 J* Omega^-1 a'
    const Vector a_2 =
        arm.times(arm.smoothed, arm.times(arm.weighted, -arm.times(arm.from_tip, f_2.segment<6>(6 * i))));
    arm.a = a_1 + a_2;  // (6.22h)
  }
  finish(f_1 + f_2, W_dot_1 + W_dot_2);
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
      check("wrenches (one a body)", arms[i].wrenches.size(), model.body_count());
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
  }
}

std::span<const double> ClosedChain::acceleration(int arm) const { return in(text_->text.at(arm)->a); }
Spatial<double> ClosedChain::force(int arm) const { return to_spatial(text_->text.at(arm)->f); }
std::span<const double> ClosedChain::contact_rates(int arm) const { return in(text_->text.at(arm)->W_dot); }
std::span<const double> ClosedChain::contact_velocities(int arm) const { return in(text_->text.at(arm)->W); }
Spatial<double> ClosedChain::object_acceleration() const { return to_spatial(text_->alpha_C); }
int ClosedChain::rank() const { return text_->rank; }
int ClosedChain::arms() const { return static_cast<int>(text_->arms.size()); }
const GraspingArm& ClosedChain::arm(int i) const { return text_->arms.at(i); }

}  // namespace articula
