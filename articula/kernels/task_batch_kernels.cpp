// Compiled once for each instruction set (CMakeLists.txt), like dynamics_kernels.cpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // `carried` is read only after a child has written it
#endif
#include "articula/kernels/tables.hpp"

#include "articula/kernels/lanes.hpp"
#include "articula/kernels/sweeps_text.hpp"
#include "articula/kernels/task_text.hpp"

namespace articula::ARTICULA_ISA {

template <class T>
struct TaskLanes {
  using P = Lanes<T>;
  using Model = Tree<T>;
  using M = TaskMemory<T>;

  static void update(const Model& tree, const T* q, const T* v, const M& m, T* smallest) {
    update_tasks<P>(tree, packs(q), packs(v), packs(m)).store(smallest);
  }
  static void terms(const Model& tree, const T* v, const M& m, T* omega, T* gravity, T* velocity, T* bias,
                    T* coriolis) {
    const TaskMemory<P> t = packs(m);
    const long frames = m.frames, n = 6 * frames;
    for (long i = 0; i < n; ++i)
      for (long j = i; j < n; ++j)
        packs(omega)[i * n + j] = packs(omega)[j * n + i] =
            t.blocks[task_block * (i / 6 * frames + j / 6) + task_lanes * (i % 6) + j % 6];
    const Vec3<T> up = -tree.gravity;
    for (int i = 0; i < frames; ++i) scatter<1>(frame_gravity<P>(t, i, up), packs(gravity) + 6 * i);
    if (!v) return;
    task_velocities<P>(tree, t, packs(v), packs(velocity));
    for (int i = 0; i < frames; ++i) {
      const Spatial<P> b = frame_bias<P>(t, i);
      scatter<1>(b, packs(bias) + 6 * i);
      const auto a = gather<1, Spatial<P>>(t.a + task_lanes * i);
      scatter<1>(Spatial<P>{-a.w - b.w, -a.v - b.v}, packs(coriolis) + 6 * i);
    }
  }
  static void forces(const Model& tree, const M& m, const T* F, T* tau) {
    task_forces<P>(tree, packs(m), packs(F), packs(tau));
  }
  static void rates(const Model& tree, const M& m, const T* F, T* v) {
    const TaskMemory<P> t = packs(m);
    spread_tasks<P>(tree, t, packs(F), t.k.nu);
    Sweep<P> out;  // [Id - H psi K]* nu
    out.outward = out.psi = true;
    out.H_times = out.tap_add = t.k.nu;
    out.tap = packs(v);
    out.tap_factor = P(T(-1));
    sweep_outward<P>(tree, t.k, out);
  }
  static void invert(int n, const T* A, T* scratch, T* inverse, T* pivots) {
    const P smallest = n == 6 ? invert_small<6>(packs(A), packs(inverse))
                              : invert_any(n, packs(A), packs(scratch), packs(inverse));
    smallest.store(pivots);
  }
  static void times(int n, const T* A, const T* x, T* y) {
    for (int i = 0; i < n; ++i) {
      P sum(T(0));
      for (int c = 0; c < n; ++c) sum = sum + packs(A)[long(i) * n + c] * packs(x)[c];
      packs(y)[i] = sum;
    }
  }
};

template <class T>
constexpr TaskTable<T> task_table{TaskLanes<T>::update, TaskLanes<T>::terms,  TaskLanes<T>::forces,
                                  TaskLanes<T>::rates,  TaskLanes<T>::invert, TaskLanes<T>::times};

const TaskTable<double>& tasks_in_double() { return task_table<double>; }
const TaskTable<float>& tasks_in_float() { return task_table<float>; }

}  // namespace articula::ARTICULA_ISA
