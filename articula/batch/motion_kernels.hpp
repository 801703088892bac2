// The table of compiled kernels for kinematics and the Coriolis matrix of many states: see kernels.hpp.
#pragma once

#include "articula/dynamics/frame_motion.hpp"
#include "articula/dynamics/per_isa.hpp"

namespace articula {

template <class T>
struct MotionTable {
  using M = KernelMemory<T>;
  using Model = Tree<T>;
  using F = FrameOnBody<T>;
  // one frame
  void (*pose_at)(const Model&, const T* q, const F&, const PathMemory<T>&, T* pose);  // as `pose`
  void (*jacobian_at)(const Model&, const T* q, const F&, Axes, const PathMemory<T>&,
                      T* J);  // 6 x nv, full coordinates
  // after BatchTable::kinematics
  void (*pose)(const M&, const F&, T* pose);  // rotation row by row, then position: 12
  void (*velocity)(const M&, const F&, Axes, T* out);
  void (*acceleration)(const M&, const F&, Axes, T* out);
  /// Centre of mass (3) and momentum about it (6).
  void (*totals)(const Model&, const M&, bool moving, T* center, T* momentum);
  /// 6 x nv, full coordinates.
  void (*centroidal_map)(const Model&, const T* q, const M&, T* map);
  /// room: coriolis_room() numbers.
  void (*coriolis_matrix)(const Model&, const T* q, const T* v, const M&, T* room, T* C);
};
constexpr std::size_t coriolis_room(int slots, int nv) {
  return 31 * static_cast<std::size_t>(slots) + 12 * static_cast<std::size_t>(nv);
}

ARTICULA_DECLARE_KERNELS(MotionTable<double>, motion_in_double)
ARTICULA_DECLARE_KERNELS(MotionTable<float>, motion_in_float)

template <class T>
const MotionTable<T>& motion_kernels() {
  if constexpr (sizeof(T) == sizeof(double))
    return ARTICULA_CHOOSE_KERNELS(motion_in_double)();
  else
    return ARTICULA_CHOOSE_KERNELS(motion_in_float)();
}

}  // namespace articula
