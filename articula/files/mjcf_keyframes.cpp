// Keyframes of MJCF as named states.
#include <algorithm>
#include <cmath>

#include "articula/files/mjcf_names.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;

void append_quaternion(std::vector<double>& q, const Quaternion<double>& x) {
  q.insert(q.end(), {x.x, x.y, x.z, x.w});
}

NamedState reference_state(const Names& names) {
  NamedState out{"qpos0", {}, {}};
  for (const NumberedJoint& joint : names.numbered) {
    out.v.insert(out.v.end(), std::size_t(nv_of(joint.kind)), 0.0);
    if (joint.kind == JointKind::free) {
      append_quaternion(out.q, quaternion(joint.pose.R));
      out.q.insert(out.q.end(), {joint.pose.p.x, joint.pose.p.y, joint.pose.p.z});
    } else if (joint.kind == JointKind::spherical) {
      append_quaternion(out.q, {0, 0, 0, 1});
    } else {
      out.q.push_back(joint.reference);
    }
  }
  return out;
}

/// MuJoCo: quaternions with w first; a free joint's position before its quaternion, its velocity in the world's
/// axes before the angular velocity in its own.
std::optional<NamedState> read_key(const Attributes& a, std::size_t number, NamedState state,
                                   const Names& names) {
  state.name = a.name().empty() ? fmt::format("key{}", number) : a.name();
  state.where = a.files().where(a.element());
  const auto qpos = a.numbers("qpos", 0, state.q.size()), qvel = a.numbers("qvel", 0, state.v.size());
  const bool whole = (!qpos || qpos->empty() || qpos->size() == state.q.size()) &&
                     (!qvel || qvel->empty() || qvel->size() == state.v.size());
  if (!whole) {
    a.files().warning(a.element(), "keyframe {} is passed over: it has not {} coordinates and {} velocities",
                      in_quotes(state.name), state.q.size(), state.v.size());
    return {};
  }
  std::size_t q = 0, v = 0;
  for (const NumberedJoint& joint : names.numbered) {
    const bool free = joint.kind == JointKind::free, turns = free || joint.kind == JointKind::spherical;
    const std::size_t nq = std::size_t(nq_of(joint.kind)), nv = std::size_t(nv_of(joint.kind));
    if (qpos && !qpos->empty()) {
      const double* const from = qpos->data() + q;
      if (turns) {
        const double* const w = from + (free ? 3 : 0);
        const auto x = normalized(Quaternion<double>{w[1], w[2], w[3], w[0]});
        const bool usable = std::isfinite(x.x + x.y + x.z + x.w);
        const double all[4] = {usable ? x.x : 0, usable ? x.y : 0, usable ? x.z : 0, usable ? x.w : 1};
        std::copy_n(all, 4, state.q.begin() + std::ptrdiff_t(q));
        if (free) std::copy_n(from, 3, state.q.begin() + std::ptrdiff_t(q + 4));
      } else {
        state.q[q] = from[0];
      }
    }
    if (qvel && !qvel->empty()) {
      const double* const from = qvel->data() + v;
      std::copy_n(from + (free ? 3 : 0), free ? 3 : nv, state.v.begin() + std::ptrdiff_t(v));
      if (free) {
        const double* const x = state.q.data() + q;
        const V3 own =
            star_times(rotation(Quaternion<double>{x[0], x[1], x[2], x[3]}), V3{from[0], from[1], from[2]});
        state.v[v + 3] = own.x, state.v[v + 4] = own.y, state.v[v + 5] = own.z;
      }
    }
    q += nq, v += nv;
  }
  return state;
}

}  // namespace

void read_states(const Instance& main, const Names& names, Files& files, LoadedModel& out) {
  const auto mimics = [](const JointSpec& joint) { return joint.mimic.has_value(); };
  const auto& joints = out.spec.joints;
  if (names.numbered.empty() || std::any_of(joints.begin(), joints.end(), mimics)) return;
  const NamedState reference = reference_state(names);
  out.states.push_back(reference);
  std::size_t number = 0;
  for (const Attributes& a : elements_of(main, "keyframe", "key", files))
    if (auto state = read_key(a, number++, reference, names)) out.states.push_back(std::move(*state));
}

}  // namespace articula::mjcf
