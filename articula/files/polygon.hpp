// Polygons as triangles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace articula {

/// Cuts polygons, which may have dents, into triangles. All polygons of a mesh together are given a limit of work,
/// beyond which they are cut as if they had none.
class PolygonCutter {
 public:
  /// as_mujoco: into the very triangles that MuJoCo's reader of OBJ makes. It errs on polygons of five points and more,
  /// but robots' masses have been made with it.
  explicit PolygonCutter(bool as_mujoco = false) : as_mujoco_(as_mujoco) {}
  /// Adds three corners per triangle. `points`: x y z of each; `polygon`: three of them or more.
  void cut(std::span<const float> points, std::span<const std::uint32_t> polygon,
           std::vector<std::uint32_t>& corners);

 private:
  void cut_as_mujoco(std::span<const float> points, std::span<const std::uint32_t> polygon,
                     std::vector<std::uint32_t>& corners);
  bool as_mujoco_;
  long work_ = 0;
};

}  // namespace articula
