#include "articula/task_space/layout.hpp"

namespace articula {

TaskLayout lay_tasks(const Tree<double>& tree, std::span<const FrameOnBody<double>> places) {
  TaskLayout layout;
  std::vector<int> arrivals(tree.slots(), 0), starts_at(tree.slots(), -1);
  for (const auto& frame : places) ++arrivals[frame.slot];
  for (int k = tree.bodies; k >= 1; --k)
    if (arrivals[k] > 0) ++arrivals[tree.index[k].inboard];
  const auto meet = [&](int k) { return k > 0 && arrivals[k] > 1; };
  std::vector<int> ends;
  int e = 0;
  const auto walk = [&](int start, bool empty) {
    TaskSegment segment{start, static_cast<int>(layout.path.size()), 0, e, -1};
    int k = start;
    if (!empty)
      while (k > 0) {
        layout.path.push_back(k);
        ++segment.bodies;
        e += (k < tree.bodies ? tree.index[k + 1].v : tree.nv) - tree.index[k].v;
        k = tree.index[k].inboard;
        if (meet(k)) break;
      }
    layout.segments.push_back(segment);
    ends.push_back(k);
  };
  for (const auto& frame : places) walk(frame.slot, meet(frame.slot));
  for (int k = tree.bodies; k >= 1; --k) {
    if (!meet(k)) continue;
    starts_at[k] = static_cast<int>(layout.segments.size());
    walk(k, false);
  }
  auto& segments = layout.segments;
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (ends[s] > 0) segments[s].inboard = starts_at[ends[s]];
  const int frames = static_cast<int>(places.size());
  layout.meeting.assign(static_cast<std::size_t>(frames) * frames, -1);
  for (int i = 0; i < frames; ++i)
    for (int j = 0; j < frames; ++j)
      for (int s = segments[i].inboard; s >= 0 && layout.meeting[i * frames + j] < 0; s = segments[s].inboard)
        for (int other = segments[j].inboard; other >= 0; other = segments[other].inboard)
          if (other == s) layout.meeting[i * frames + j] = s;
  layout.e_rows = e;
  return layout;
}

}  // namespace articula
