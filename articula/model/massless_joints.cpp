#include "articula/model/massless_joints.hpp"

#include <algorithm>
#include <cmath>

#include "articula/model/massless_verdicts.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
using M3 = Mat3<double>;
using V6 = Spatial<double>;
using Articulated = ArticulatedInertia<double>;

/// What rounding can leave in P: it strikes every direction alike, also those in which P itself is zero.
Articulated rounding_of(const Articulated& P) {
  const auto size = [](const Sym3<double>& J) { return std::abs(J.xx) + std::abs(J.yy) + std::abs(J.zz); };
  const double turning = unit_roundoff * size(P.J), sliding = unit_roundoff * size(P.C);
  return {{turning, turning, turning, 0, 0, 0}, {}, {sliding, sliding, sliding, 0, 0, 0}};
}

/// What arrives at a link from outboard.
struct Sweep {
  Articulated P{};          // articulated inertia
  Articulated E{};          // its rounding errors so far: dE = psi dE psi* + new ones, to first order
  Inertia<double> rigid{};  // inertia if every outboard joint were locked
};

/// E - G (H E) - (E H*) G* + G (H E H*) G*, that is tau_bar E tau_bar*.
void apply_tau_bar(Articulated& E, const V6& G, const V6& h) {
  const V6 Eh = E * h;
  const double hEh = dot(h, Eh);
  // -(G Eh* + Eh G*) + hEh G G* = -(a b* + b a*) with a = G, b = Eh - (hEh / 2) G; each rank-one part is not
  // symmetric, the sum is.
  const V6 b = Eh - G * (0.5 * hEh);
  const auto outer = [](const V3& u, const V3& w) { return symmetric_product(u, w); };
  E.J = E.J - outer(G.w, b.w);
  E.C = E.C - outer(G.v, b.v);
  const auto cross_part = [](const V3& u, const V3& w) {
    return M3{u.x * w.x, u.x * w.y, u.x * w.z, u.y * w.x, u.y * w.y,
              u.y * w.z, u.z * w.x, u.z * w.y, u.z * w.z};
  };
  E.B = E.B - (cross_part(G.w, b.v) + cross_part(b.w, G.v));
}

/// A bound on h P h*, its terms taken without their signs.
double largest_pivot(const Inertia<double>& rigid, const V6& h, double size) {
  const double turning = std::abs(rigid.J.xx) + std::abs(rigid.J.yy) + std::abs(rigid.J.zz);
  const double mass = std::abs(rigid.m);
  return dot(h.w, h.w) * (turning + mass * size * size) + dot(h.v, h.v) * mass;
}

/// For each row of the posture: is D zero there?
std::vector<Verdict> sweep_inward(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture) {
  std::vector<Verdict> verdicts(posture.rows.size());
  std::vector<Sweep> sweeps(spec.links.size());
  for (auto it = tree.order.rbegin(); it != tree.order.rend(); ++it) {
    const std::size_t k = std::size_t(*it);
    const PlacedLink& placed = posture.links[k];
    Sweep s = sweeps[k];
    const Inertia<double> own = inertia_of(spec.links[k].mass, placed.R);
    s.P += own;
    s.rigid += own;
    s.E += rounding_of(s.P);
    const Articulated before = s.P;
    for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
      const V6& h = posture.rows[std::size_t(r)].h;
      const V6 Ph = s.P * h;
      const double d = dot(h, Ph) + posture.rows[std::size_t(r)].armature, noise = dot(h, s.E * h);
      Verdict& verdict = verdicts[std::size_t(r)];
      verdict = {.is_negative = d < -roundings_that_are_zero * noise,
                 .scale = largest_pivot(s.rigid, h, posture.size)};
      if (!(std::abs(d) > roundings_that_are_zero * noise)) {  // also if d is NaN
        // What the same bodies would offer with every joint locked, this one's other freedoms included.
        const double locked = dot(h, s.rigid * h);
        verdict.massless = true;
        verdict.bodies_have_inertia = locked > roundings_that_are_zero * noise;
        continue;  // no elimination: the freedom passes nothing on
      }
      const V6 G = Ph * (1 / d);
      subtract_rank_one(s.P, Ph, G);
      apply_tau_bar(s.E, G, h);
    }
    if (tree.parent_link[k] < 0) continue;
    s.E += rounding_of(before);
    Sweep& inboard = sweeps[std::size_t(tree.parent_link[k])];
    const Phi<double> phi{placed.l};
    inboard.P += shifted(phi, s.P);
    inboard.E += shifted(phi, s.E);
    inboard.rigid += shifted(phi, s.rigid);
  }
  return verdicts;
}

bool has_mimics(const ResolvedTree& tree) {
  return std::any_of(tree.mimic_source.begin(), tree.mimic_source.end(), [](int s) { return s >= 0; });
}
bool any_doubtful(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict& v) { return v.massless || v.is_negative; });
}

std::vector<Verdict> verdicts_at(const ModelSpec& spec, const ResolvedTree& tree, const Posture& posture) {
  std::vector<Verdict> verdicts = sweep_inward(spec, tree, posture);
  if (any_doubtful(verdicts) && has_mimics(tree)) judge_mimic_groups(spec, tree, posture, verdicts);
  return verdicts;
}

}  // namespace

std::vector<MasslessFreedom> massless_freedoms(const ModelSpec& spec, const ResolvedTree& tree, Base base) {
  // Two postures, so that a chance alignment in one of them condemns nothing.
  const Posture posture = random_posture(spec, tree, base, 1);
  const std::vector<Verdict> first = verdicts_at(spec, tree, posture);
  if (!any_doubtful(first)) return {};
  const std::vector<Verdict> second = verdicts_at(spec, tree, random_posture(spec, tree, base, 2));
  std::vector<MasslessFreedom> out;
  for (const int k : tree.order) {
    const PlacedLink& placed = posture.links[std::size_t(k)];
    for (int r = placed.first_row; r < placed.first_row + placed.rows; ++r) {
      const std::size_t row = std::size_t(r);
      const bool is_negative = first[row].is_negative || second[row].is_negative;
      if (!is_negative && (!first[row].massless || !second[row].massless)) continue;
      out.push_back({.link = k,
                     .joint = posture.rows[row].joint,
                     .freedom = posture.rows[row].freedom,
                     .motion = say(posture.rows[row]),
                     .bodies_have_inertia = first[row].bodies_have_inertia,
                     .is_negative = is_negative,
                     .scale = std::max(first[row].scale, second[row].scale)});
    }
  }
  return out;
}

}  // namespace articula
