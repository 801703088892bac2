// Several mechanisms and loose objects put together in one world: one Model, in which constraints can reach
// everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "articula/model/model.hpp"

namespace articula {

/// Links, joints and frames are renamed PART/NAME. Parts keep the order in which they were added, and their
/// own order of coordinates.
class Assembly {
 public:
  /// Base::fixed: the root link is welded to the world at `base`. Base::free: it moves freely, and its
  /// coordinates begin the part's; `base` is then where they count from.
  void add(const std::string& name, const ModelSpec& spec, const Pose& base = {}, Base kind = Base::fixed);
  /// A loose body: one link NAME/body with a free joint NAME/free, coordinates (quaternion, position) of its
  /// frame in the world. Throws ArgumentError if it has no mass or no inertia.
  void add_object(const std::string& name, const MassProperties& mass);

  const ModelSpec& spec() const { return spec_; }
  Model model(const Vec3<double>& gravity = {0, 0, -9.81}) const;

  /// A part's coordinates and velocities in the model.
  struct Range {
    int q = 0, nq = 0, v = 0, nv = 0;
  };
  static Range range(const Model& model, std::string_view part);
  static std::string name_of(std::string_view part, std::string_view link) {
    return part.empty() ? std::string(link) : std::string(part) + "/" + std::string(link);
  }

 private:
  void take_name(const std::string& name);
  ModelSpec spec_;
  std::vector<std::string> names_;
};

}  // namespace articula
