// The ways of frames to the world, cut where they meet, and room for what the sweeps keep along them.
#pragma once

#include <span>
#include <vector>

#include "articula/kernels/frame_motion.hpp"
#include "articula/kernels/task_memory.hpp"
#include "articula/spatial/aligned.hpp"

namespace articula {

struct TaskLayout {
  std::vector<TaskSegment> segments;
  std::vector<int> path, meeting;  // see TaskMemory
  int e_rows = 0;                  // velocities along all segments
};
TaskLayout lay_tasks(const Tree<double>& tree, std::span<const FrameOnBody<double>> frames);

/// Hands out all arrays but those of TaskMemory::k, from one block of memory; the layout must stay. S may be
/// a pack of states.
template <class S>
AlignedArray<S> task_arrays(const Tree<Real<S>>& tree, const TaskLayout& layout,
                            std::span<const FrameOnBody<double>> places, TaskMemory<S>& m) {
  const std::size_t frames = places.size(), segments = layout.segments.size(), e_rows = layout.e_rows;
  int last_root = 0;
  for (int k = 1; k < tree.slots(); ++k)
    if (tree.index[k].inboard == 0) last_root = k;
  AlignedArray<S> memory;
  std::size_t used = 0;
  const auto give = [&](std::size_t count, S*& pointer) {
    if (memory.size()) pointer = memory.data() + used;
    used += (count + 7) / 8 * 8;
  };
  S *offset = nullptr, *zeros = nullptr;
  for (int pass = 0; pass < 2; ++pass) {
    used = 0;
    give(3 * frames, offset);
    give(tree.nv, zeros);
    give(3 * frames, m.r);
    give(15 * (static_cast<std::size_t>(last_root) + 1), m.P_root);
    give(task_lanes * e_rows, m.e);
    give(task_lanes * e_rows, m.n);
    give(task_block * segments, m.T);
    give(task_block * segments, m.Omega);
    give(task_lanes * segments, m.a);
    give(task_lanes * segments, m.g);
    give(task_block * frames * segments, m.to);
    give(frames == 1 ? 0 : task_block * frames * frames, m.blocks);
    give(6 * segments, m.f);
    if (pass == 0) memory = AlignedArray<S>(used + 8);
  }
  for (std::size_t i = 0; i < frames; ++i) {
    offset[3 * i] = S(static_cast<Real<S>>(places[i].p.x));
    offset[3 * i + 1] = S(static_cast<Real<S>>(places[i].p.y));
    offset[3 * i + 2] = S(static_cast<Real<S>>(places[i].p.z));
  }
  if (frames == 1) m.blocks = m.Omega;
  m.offset = offset;
  m.zeros = zeros;
  m.frames = static_cast<int>(frames);
  m.segments = static_cast<int>(segments);
  m.segment = layout.segments.data();
  m.path = layout.path.data();
  m.meeting = layout.meeting.data();
  return memory;
}

}  // namespace articula
