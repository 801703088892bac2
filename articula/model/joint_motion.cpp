#include "articula/model/joint_motion.hpp"

#include <cmath>

#include "articula/model/joint_kinds.hpp"

namespace articula {

Pose pose_of(const JointSpec& joint, std::span<const double> q) {
  Pose pose;
  const double* at = q.data();
  for (std::size_t i = 0; const HingeKind kind : hinges_of(joint.kind)) {
    const Vec3<double> axis = axis_of(joint, i++);
    visit(kind, [&](auto hinge) {
      using J = decltype(hinge);
      pose = pose * hinge_pose<J>(axis * (1 / std::sqrt(dot(axis, axis))), joint.pitch, at);
      at += J::nq;
    });
  }
  return pose;
}

bool slides(JointKind kind, int freedom) {
  bool out = false;
  for (const HingeKind hinge : hinges_of(kind))
    visit(hinge, [&](auto j) {
      for_each_index<decltype(j)::nv>([&](auto i) {
        const auto row = decltype(j)::template row<i.value>(Mat3<double>::identity(), 0.0);
        if (freedom-- == 0) out = requires {
            Slide<double>(row);
          };
      });
    });
  return out;
}

}  // namespace articula
