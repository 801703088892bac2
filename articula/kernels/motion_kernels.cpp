// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#include "articula/kernels/tables.hpp"

#include "articula/kernels/centroidal_map_text.hpp"
#include "articula/kernels/coriolis_text.hpp"
#include "articula/kernels/kinematics_text.hpp"
#include "articula/kernels/lanes.hpp"
#include "articula/kernels/mass_matrix_text.hpp"
#include "articula/kernels/path_text.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct Motion {
  using P = Lanes<T>;

  static void pose_at_q(const Tree<T>& tree, const T* q, const FrameOnBody<T>& frame,
                        const PathMemory<T>& path, T* out) {
    pose_at<P>(tree, packs(q), frame, packs(path), packs(out));
  }
  static void jacobian_at_q(const Tree<T>& tree, const T* q, const FrameOnBody<T>& frame, Axes axes,
                            const PathMemory<T>& path, T* J) {
    jacobian_at<P>(tree, packs(q), frame, axes, packs(path), packs(J));
  }
  static void pose(const KernelMemory<T>& m, const FrameOnBody<T>& frame, T* out) {
    const auto f = place_frame<P>(packs(m), frame);
    scatter<1>(f.R, packs(out));
    scatter<1>(origin_of_body<P>(packs(m), f.slot) + f.r, packs(out) + 9);
  }
  static void velocity(const KernelMemory<T>& m, const FrameOnBody<T>& frame, Axes axes, T* out) {
    scatter<1>(frame_velocity<P>(packs(m), place_frame<P>(packs(m), frame), axes), packs(out));
  }
  static void acceleration(const KernelMemory<T>& m, const FrameOnBody<T>& frame, Axes axes, T* out) {
    scatter<1>(frame_acceleration<P>(packs(m), place_frame<P>(packs(m), frame), axes), packs(out));
  }
  static void sums(const Tree<T>& tree, const KernelMemory<T>& m, bool moving, T* center, T* momentum) {
    const Totals<P> t = totals<P>(tree, packs(m), moving);
    scatter<1>(t.center_of_mass, packs(center));
    if (moving) scatter<1>(t.momentum, packs(momentum));
  }
  static void map(const Tree<T>& tree, const T* q, const KernelMemory<T>& m, T* out) {
    composite_inertias<P>(tree, packs(q), packs(m));
    centroidal_columns<P>(tree, packs(m), SixRows<P>{packs(out), tree.nv});
  }
  static void coriolis(const Tree<T>& tree, const T* q, const T* v, const KernelMemory<T>& m,
                       const CoriolisMemory<T>& n, T* C) {
    coriolis_matrix<P>(tree, packs(q), packs(v), packs(m), packs(n), packs(C));
  }
};

template <class T>
constexpr MotionTable<T> motion_table{Motion<T>::pose_at_q, Motion<T>::jacobian_at_q, Motion<T>::pose,
                                      Motion<T>::velocity,  Motion<T>::acceleration,  Motion<T>::sums,
                                      Motion<T>::map,       Motion<T>::coriolis};

const MotionTable<double>& motion_in_double() { return motion_table<double>; }
const MotionTable<float>& motion_in_float() { return motion_table<float>; }

}  // namespace articula::ARTICULA_ISA
