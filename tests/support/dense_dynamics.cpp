#include "tests/support/dense_dynamics.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <map>
#include <stdexcept>

#include "articula/model/joint_kinds.hpp"

namespace articula::testing {
namespace {

/// A number with its first two derivatives in time.
struct Taylor {
  Long x = 0, x1 = 0, x2 = 0;
  Taylor() = default;
  Taylor(Long value) : x(value) {}
  Taylor(Long value, Long first, Long second) : x(value), x1(first), x2(second) {}
};
Taylor operator+(const Taylor& a, const Taylor& b) { return {a.x + b.x, a.x1 + b.x1, a.x2 + b.x2}; }
Taylor operator-(const Taylor& a, const Taylor& b) { return {a.x - b.x, a.x1 - b.x1, a.x2 - b.x2}; }
Taylor operator*(const Taylor& a, const Taylor& b) {
  return {a.x * b.x, a.x1 * b.x + a.x * b.x1, a.x2 * b.x + 2 * a.x1 * b.x1 + a.x * b.x2};
}
Taylor& operator+=(Taylor& a, const Taylor& b) { return a = a + b; }
Taylor sin(const Taylor& a) {
  const Long s = std::sin(a.x), c = std::cos(a.x);
  return {s, c * a.x1, c * a.x2 - s * a.x1 * a.x1};
}
Taylor cos(const Taylor& a) {
  const Long s = std::sin(a.x), c = std::cos(a.x);
  return {c, -s * a.x1, -s * a.x2 - c * a.x1 * a.x1};
}

}  // namespace
}  // namespace articula::testing

template <>
struct Eigen::NumTraits<articula::testing::Taylor> : Eigen::GenericNumTraits<long double> {
  using Real = articula::testing::Taylor;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 3,
    AddCost = 3,
    MulCost = 6
  };
};

namespace articula::testing {
namespace {

using Taylor3 = Eigen::Matrix<Taylor, 3, 1>;
using Taylor33 = Eigen::Matrix<Taylor, 3, 3>;

Long3 to_long(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
Long33 to_long(const Mat3<double>& m) {
  Long33 out;
  out << m.xx, m.xy, m.xz, m.yx, m.yy, m.yz, m.zx, m.zy, m.zz;
  return out;
}
Long33 to_long(const Sym3<double>& m) {
  Long33 out;
  out << m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz;
  return out;
}
LongVector to_long(std::span<const double> x, int size) {
  LongVector out = LongVector::Zero(size);
  if (x.empty()) return out;
  if (static_cast<int>(x.size()) != size)
    throw std::invalid_argument("DenseDynamics: a vector of the wrong size");
  for (int i = 0; i < size; ++i) out[i] = x[i];
  return out;
}

template <class M>
auto constant(const M& m) {
  return m.template cast<Taylor>().eval();
}
template <class M>
auto part(const M& m, Long Taylor::*which) {
  Eigen::Matrix<Long, M::RowsAtCompileTime, M::ColsAtCompileTime> out;
  for (int i = 0; i < m.size(); ++i) out(i) = m(i).*which;
  return out;
}
template <class M>
auto taylor(const M& value, const M& first, const M& second) {
  Eigen::Matrix<Taylor, M::RowsAtCompileTime, M::ColsAtCompileTime> out;
  for (int i = 0; i < value.size(); ++i) out(i) = Taylor(value(i), first(i), second(i));
  return out;
}

Long33 tilde(const Long3& a) {
  Long33 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}
/// The axial vector of the skew part.
Long3 axial(const Long33& m) { return Long3(m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)) / 2; }

/// Rodrigues.
Taylor33 turn(const Long3& axis, const Taylor& angle) {
  const Taylor33 K = constant(tilde(axis)), KK = constant((tilde(axis) * tilde(axis)).eval());
  return constant(Long33::Identity().eval()) + K * sin(angle) + KK * (Taylor(1) - cos(angle));
}

/// Hamilton's product, (x, y, z, w).
Eigen::Matrix<Long, 4, 1> hamilton(const Eigen::Matrix<Long, 4, 1>& a, const Long3& b) {
  const Long3 u = a.head<3>();
  Eigen::Matrix<Long, 4, 1> out;
  out.head<3>() = a[3] * b + u.cross(b);
  out[3] = -u.dot(b);
  return out;
}

/// The quaternion turns with w in the child's axes: q' = q w / 2.
Taylor33 turn(const Eigen::Matrix<Long, 4, 1>& q, const Long3& w, const Long3& w_dot) {
  const Eigen::Matrix<Long, 4, 1> q1 = hamilton(q, w) / 2, q2 = (hamilton(q1, w) + hamilton(q, w_dot)) / 2;
  const auto t = taylor(q, q1, q2);
  const Taylor x = t[0], y = t[1], z = t[2], s = t[3], two(2), one(1);
  Taylor33 R;
  R(0, 0) = one - two * (y * y + z * z), R(0, 1) = two * (x * y - s * z), R(0, 2) = two * (x * z + s * y);
  R(1, 0) = two * (x * y + s * z), R(1, 1) = one - two * (x * x + z * z), R(1, 2) = two * (y * z - s * x);
  R(2, 0) = two * (x * z - s * y), R(2, 1) = two * (y * z + s * x), R(2, 2) = one - two * (x * x + y * y);
  return R;
}

/// A position whose rate of change is R v, v in the child's axes.
Taylor3 carried(const Long3& p, const Taylor33& R, const Long3& v, const Long3& v_dot) {
  const Long3 first = part(R, &Taylor::x) * v;
  const Long3 second = part(R, &Taylor::x1) * v + part(R, &Taylor::x) * v_dot;
  return taylor(p, first, second);
}

/// The plane's x and y, for a normal n: z turned to n by the shortest way, about x if n = -z.
Long33 plane_axes(const Long3& n) {
  if (n.z() < Long(-1 + 1e-14)) return Long3(1, -1, -1).asDiagonal();
  const Long3 axis = Long3::UnitZ().cross(n);
  const Long33 K = tilde(axis);
  return Long33::Identity() + K + K * K / (1 + n.z());
}

struct JointPose {
  Taylor33 R = constant(Long33::Identity().eval());
  Taylor3 p = constant(Long3::Zero().eval());
};

/// The child's frame in the joint's frame at zero. x: value, rate and second rate of each coordinate (rates
/// of the joint velocity for kinds whose velocity is not the rate of the coordinates).
JointPose joint_pose(JointKind kind, const Long3& axis, Long pitch, const Long* q, const Long* v,
                     const Long* a) {
  const auto coordinate = [&](int i) { return Taylor(q[i], v[i], a[i]); };
  const auto three = [](const Long* x) { return Long3(x[0], x[1], x[2]); };
  JointPose j;
  const Taylor3 h = constant(axis);
  switch (kind) {
    case JointKind::fixed:
      break;
    case JointKind::revolute:
    case JointKind::continuous:
      j.R = turn(axis, coordinate(0));
      break;
    case JointKind::prismatic:
      j.p = h * coordinate(0);
      break;
    case JointKind::helical:
      j.R = turn(axis, coordinate(0));
      j.p = h * (coordinate(0) * Taylor(pitch));
      break;
    case JointKind::cylindrical:
      j.R = turn(axis, coordinate(0));
      j.p = h * coordinate(1);
      break;
    case JointKind::planar: {
      const Long33 Z = plane_axes(axis);
      j.R = turn(axis, coordinate(0));
      j.p = carried(Z * Long3(q[1], q[2], 0), j.R, Z * Long3(v[1], v[2], 0), Z * Long3(a[1], a[2], 0));
      break;
    }
    case JointKind::spherical:
      j.R = turn(Eigen::Matrix<Long, 4, 1>(q[0], q[1], q[2], q[3]), three(v), three(a));
      break;
    case JointKind::free:
      j.R = turn(Eigen::Matrix<Long, 4, 1>(q[0], q[1], q[2], q[3]), three(v), three(a));
      j.p = carried(three(q + 4), j.R, three(v + 3), three(a + 3));
      break;
    default:  // those of several axes are several nodes
      break;
  }
  return j;
}

}  // namespace

DenseDynamics::DenseDynamics(const ModelSpec& spec, Base base, const Vec3<double>& gravity_vector)
    : frames_(spec.frames), g_(to_long(gravity_vector)) {
  std::map<std::string, int> link_of;
  for (std::size_t i = 0; i < spec.links.size(); ++i) link_of[spec.links[i].name] = static_cast<int>(i);
  const auto put_mass = [&](Node& node, const MassProperties& m) {
    node.mass = m.mass;
    node.com = to_long(m.center_of_mass);
    node.inertia = to_long(m.inertia);
  };
  // Depth first in the order of the joints, roots before what hangs from the world.
  struct Pending {
    const JointSpec* joint;
    int inboard;
  };
  std::vector<Pending> stack;
  const auto push_children = [&](const std::string& parent, int node) {
    for (auto j = spec.joints.rbegin(); j != spec.joints.rend(); ++j)
      if (j->parent == parent) stack.push_back({&*j, node});
  };
  const auto walk = [&] {
    while (!stack.empty()) {
      const auto [joint, inboard] = stack.back();
      stack.pop_back();
      Node node;
      node.inboard = inboard;
      node.joint = joint->name;
      node.kind = joint->kind;
      node.E = to_long(joint->placement.R);
      node.l = to_long(joint->placement.p);
      node.axis = to_long(joint->axis).normalized();
      node.pitch = joint->pitch;
      node.armature = joint->armature;
      // Several axes: a node for each, the third perpendicular to the others.
      const auto hinges = hinges_of(joint->kind);
      const Long3 second = to_long(joint->second_axis).normalized();
      const Long3 axes[] = {node.axis, second, node.axis.cross(second)};
      const auto take_hinge = [&, joint = joint](std::size_t i) {
        node.kind = hinges[i] == HingeKind::prismatic ? JointKind::prismatic : JointKind::revolute;
        node.axis = axes[i];
        node.armature = joint->armature[static_cast<int>(i)];
      };
      if (hinges.size() > 1) take_hinge(0);
      node.nv = nv_of(node.kind);
      for (std::size_t i = 1; i < hinges.size(); ++i) {
        node.name = joint->name + (i == 1 ? ".cross" : ".cross2");
        node.body = body_count++;
        nodes_.push_back(node);
        node.inboard = static_cast<int>(nodes_.size()) - 1;
        node.E = Long33::Identity();
        node.l = Long3::Zero();
        take_hinge(i);
      }
      node.name = joint->child;
      if (node.nv > 0) node.body = body_count++;
      put_mass(node, spec.links[link_of.at(joint->child)].mass);
      nodes_.push_back(node);
      push_children(joint->child, static_cast<int>(nodes_.size()) - 1);
    }
  };
  for (const LinkSpec& link : spec.links) {
    bool has_parent = false;
    for (const JointSpec& joint : spec.joints) has_parent |= joint.child == link.name;
    if (has_parent) continue;
    Node node;
    node.name = link.name;
    if (base == Base::free) {
      node.joint = "(root)";
      node.kind = JointKind::free;
      node.nv = 6;
      node.body = body_count++;
    }
    put_mass(node, link.mass);
    nodes_.push_back(node);
    push_children(link.name, static_cast<int>(nodes_.size()) - 1);
    walk();
  }
  if (!link_of.count(std::string(world))) {
    push_children(std::string(world), -1);
    walk();
  }
  number_coordinates(spec);
}

void DenseDynamics::number_coordinates(const ModelSpec& spec) {
  std::map<std::string, const JointSpec*> joints;
  for (const JointSpec& joint : spec.joints) joints[joint.name] = &joint;
  const auto mimic_of = [&](const std::string& name) -> const Mimic* {
    const auto it = joints.find(name);
    return it != joints.end() && it->second->mimic ? &*it->second->mimic : nullptr;
  };
  for (Node& node : nodes_) {
    if (node.nv == 0 || mimic_of(node.joint)) continue;
    node.q = nq;
    node.v = nv;
    nq += nq_of(node.kind);
    nv += node.nv;
  }
  for (Node& node : nodes_) {
    std::string source = node.joint;
    while (const Mimic* m = mimic_of(source)) {
      node.offset += node.multiplier * m->offset;
      node.multiplier *= m->multiplier;
      source = m->joint;
    }
    if (source == node.joint) continue;
    for (const Node& other : nodes_)
      if (other.joint == source) node.q = other.q, node.v = other.v;
  }
}

int DenseDynamics::q_index(std::string_view joint) const {
  for (const Node& node : nodes_)
    if (node.joint == joint) return node.q;
  throw std::invalid_argument("DenseDynamics: no such joint");
}
int DenseDynamics::v_index(std::string_view joint) const {
  for (const Node& node : nodes_)
    if (node.joint == joint) return node.v;
  throw std::invalid_argument("DenseDynamics: no such joint");
}

std::vector<DenseDynamics::Motion> DenseDynamics::move(const LongVector& q, const LongVector& v,
                                                       const LongVector& a) const {
  std::vector<Taylor33> R(nodes_.size());
  std::vector<Taylor3> p(nodes_.size());
  std::vector<Motion> out(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    Long x[3][7] = {};
    if (node.nv > 0) {
      const int count = nq_of(node.kind);
      for (int i = 0; i < count; ++i) x[0][i] = node.multiplier * q[node.q + i] + node.offset;
      for (int i = 0; i < node.nv; ++i) x[1][i] = node.multiplier * v[node.v + i];
      for (int i = 0; i < node.nv; ++i) x[2][i] = node.multiplier * a[node.v + i];
    }
    const JointPose joint = joint_pose(node.kind, node.axis, node.pitch, x[0], x[1], x[2]);
    const Taylor33 inboard_R = node.inboard < 0 ? constant(Long33::Identity().eval()) : R[node.inboard];
    const Taylor3 inboard_p = node.inboard < 0 ? constant(Long3::Zero().eval()) : p[node.inboard];
    const Taylor33 E = constant(node.E);
    const Taylor33 at_zero = inboard_R * E;
    R[n] = at_zero * joint.R;
    p[n] = inboard_p + inboard_R * constant(node.l) + at_zero * joint.p;
    const Long33 R0 = part(R[n], &Taylor::x);
    out[n] = {R0,
              part(p[n], &Taylor::x),
              axial(part(R[n], &Taylor::x1) * R0.transpose()),
              part(p[n], &Taylor::x1),
              axial(part(R[n], &Taylor::x2) * R0.transpose()),  // R' R'* is symmetric: no part of w'
              part(p[n], &Taylor::x2)};
  }
  return out;
}

LongMatrix DenseDynamics::jacobian_at(int node, const Long3& point) const {
  LongMatrix J = LongMatrix::Zero(6, nv);
  if (node < 0) return J;
  for (int i = 0; i < nv; ++i) {
    const Motion& m = unit_motion_[i][node];
    J.col(i) << m.w, m.v + m.w.cross(point - m.p);
  }
  return J;
}

void DenseDynamics::update(std::span<const double> q_in, std::span<const double> v_in,
                           std::span<const double> a_in) {
  const LongVector q = to_long(q_in, nq), v = to_long(v_in, nv), a = to_long(a_in, nv),
                   zero = LongVector::Zero(nv);
  motion_ = move(q, v, a);
  const std::vector<Motion> without_a = move(q, v, zero);
  unit_motion_.resize(nv);
  for (int i = 0; i < nv; ++i) unit_motion_[i] = move(q, LongVector::Unit(nv, i), zero);

  mass_matrix = LongMatrix::Zero(nv, nv);
  bias = gravity = zero;
  kinetic = potential = mass = 0;
  center_of_mass.setZero();
  momentum.setZero();
  centroidal_map = LongMatrix::Zero(6, nv);
  // The root link of a fixed base, and what is welded to the world, does not count.
  const auto moves = [&](int n) {
    for (; n >= 0; n = nodes_[n].inboard)
      if (nodes_[n].nv > 0) return true;
    return false;
  };
  struct Piece {
    Long3 c;
    LongMatrix J;
    Long33 inertia;
    Long mass;
  };
  std::vector<Piece> pieces;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    for (int i = 0; i < node.nv; ++i)
      mass_matrix(node.v + i, node.v + i) += node.armature[i] * node.multiplier * node.multiplier;
    if (!moves(static_cast<int>(n))) continue;
    const Motion& m = without_a[n];
    const Long3 r = m.R * node.com, c = m.p + r;
    Piece piece{c, jacobian_at(static_cast<int>(n), c), m.R * node.inertia * m.R.transpose(), node.mass};
    const auto Jw = piece.J.topRows(3), Jv = piece.J.bottomRows(3);
    mass_matrix += Jw.transpose() * piece.inertia * Jw + node.mass * Jv.transpose() * Jv;
    const Long3 c_ddot = m.v_dot + m.w_dot.cross(r) + m.w.cross(m.w.cross(r));
    const Long3 weight = node.mass * g_, Iw = piece.inertia * m.w;
    bias += Jw.transpose() * (piece.inertia * m.w_dot + m.w.cross(Iw)) +
            Jv.transpose() * (node.mass * c_ddot - weight);
    gravity -= Jv.transpose() * weight;
    potential -= weight.dot(c);
    mass += node.mass;
    center_of_mass += node.mass * c;
    pieces.push_back(piece);
  }
  kinetic = v.dot(mass_matrix * v) / 2;
  if (mass > 0) center_of_mass /= mass;
  for (const Piece& piece : pieces) {
    const LongMatrix Jv = piece.J.bottomRows(3) * piece.mass;
    centroidal_map.topRows(3) += piece.inertia * piece.J.topRows(3) + tilde(piece.c - center_of_mass) * Jv;
    centroidal_map.bottomRows(3) += Jv;
  }
  momentum = centroidal_map * v;
}

LongVector DenseDynamics::external_forces(std::span<const Spatial<double>> wrenches) const {
  LongVector tau = LongVector::Zero(nv);
  if (wrenches.empty()) return tau;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].body < 0) continue;
    const Spatial<double>& f = wrenches[nodes_[n].body];
    Long6 wrench;
    wrench << to_long(f.w), to_long(f.v);
    tau += jacobian_at(static_cast<int>(n), motion_[n].p).transpose() * wrench;
  }
  return tau;
}
LongVector DenseDynamics::inverse_dynamics(std::span<const double> a,
                                           std::span<const Spatial<double>> wrenches) const {
  return mass_matrix * to_long(a, nv) + bias - external_forces(wrenches);
}
LongVector DenseDynamics::forward_dynamics(std::span<const double> tau,
                                           std::span<const Spatial<double>> wrenches) const {
  return mass_matrix.llt().solve(to_long(tau, nv) + external_forces(wrenches) - bias);
}
LongMatrix DenseDynamics::inverse_mass_matrix() const {
  return mass_matrix.llt().solve(LongMatrix::Identity(nv, nv));
}
Long DenseDynamics::condition_number() const {
  const Eigen::SelfAdjointEigenSolver<LongMatrix> eigen(mass_matrix, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues()[nv - 1] / eigen.eigenvalues()[0];
}

DenseFrame DenseDynamics::frame(std::string_view name, DenseAxes axes) const {
  Long33 R = Long33::Identity();
  Long3 l = Long3::Zero();
  std::string link(name);
  for (const FrameSpec& f : frames_)
    if (f.name == name) link = f.link, R = to_long(f.placement.R), l = to_long(f.placement.p);
  int n = -1;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].name == link) n = static_cast<int>(i);
  const Motion still{Long33::Identity(), Long3::Zero(), Long3::Zero(),
                     Long3::Zero(),      Long3::Zero(), Long3::Zero()};
  const Motion& m = n < 0 ? still : motion_[n];
  const Long3 r = m.R * l;
  const Long3 v = m.v + m.w.cross(r), v_dot = m.v_dot + m.w_dot.cross(r) + m.w.cross(m.w.cross(r));
  DenseFrame out;
  out.R = m.R * R;
  out.p = m.p + r;
  out.jacobian = jacobian_at(n, axes == DenseAxes::spatial ? Long3::Zero().eval() : out.p);
  switch (axes) {
    case DenseAxes::world:
      out.velocity << m.w, v;
      out.acceleration << m.w_dot, v_dot;
      break;
    case DenseAxes::local: {  // d/dt (R* x) = R'* x + R* x', R' = w~ R
      const Long33 Rt = out.R.transpose(), Rt_dot = (tilde(m.w) * out.R).transpose();
      out.velocity << Rt * m.w, Rt * v;
      out.acceleration << Rt_dot * m.w + Rt * m.w_dot, Rt_dot * v + Rt * v_dot;
      if (out.jacobian.cols() == 0) break;
      out.jacobian.topRows(3) = (Rt * out.jacobian.topRows(3)).eval();
      out.jacobian.bottomRows(3) = (Rt * out.jacobian.bottomRows(3)).eval();
      break;
    }
    case DenseAxes::spatial:  // v - w x p
      out.velocity << m.w, v - m.w.cross(out.p);
      out.acceleration << m.w_dot, v_dot - m.w_dot.cross(out.p) - m.w.cross(v);
      break;
  }
  return out;
}

std::vector<double> to_std(const LongVector& x) { return {x.data(), x.data() + x.size()}; }
std::vector<double> to_std(const LongMatrix& m) {
  std::vector<double> out;
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) out.push_back(static_cast<double>(m(i, j)));
  return out;
}

}  // namespace articula::testing
