// Scene files: arms, objects and how they hold on to each other, as JSON (docs/closed_chains.md).
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/model.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula {

struct SceneArm {
  std::string name, source;  // source: as the file says it
  ModelSpec spec;
  Pose base{};
  Base kind = Base::fixed;
  std::string tip;                // empty: it holds nothing
  std::vector<double> q, v, tau;  // empty: neutral, zero
};
struct SceneObject {
  std::string name;
  MassProperties mass;
  Pose pose{};
  std::optional<Spatial<double>>
      velocity{};  // (w, v) of its frame's origin, world axes; absent: follows from the arms
};
struct SceneLimits {
  double friction = 0, torsional_radius = 0;
  Vec3<double> normal{0, 0, 1};
};
struct SceneGrasp {
  enum class Kind { rigid, hinge, soft_finger, point } kind = Kind::rigid;
  std::string name, arm, object;           // arm "world": the object rests on the world
  Vec3<double> axis{0, 0, 1};              // hinge axis or soft finger normal, tip axes
  std::optional<Vec3<double>> position{};  // of a contact with the world
  std::optional<SceneLimits> limits{};
};
/// A loop closed between two frames, or joints coupled.
struct SceneLoop {
  std::string name, kind;
  struct End {
    std::string part, link;  // part "world": fixed in the world; an object's link may be left out
    Pose placement{};
  };
  End a, b;
  double length = 0;
  std::vector<bool> fixed{};
  struct Term {
    std::string part, joint;
    double coefficient;
    std::array<double, 3> higher{};  // of q^2, q^3, q^4
  };
  std::vector<Term> terms{};
};

struct SceneSpec {
  std::string where;  // the file
  Vec3<double> gravity{0, 0, -9.81};
  std::vector<SceneArm> arms;
  std::vector<SceneObject> objects;
  std::vector<SceneGrasp> grasps;
  std::vector<SceneLoop> loops;
};

/// How the model that an arm names is found; the folder is that of the scene. The default reads a URDF file,
/// relative to the folder or as it is.
using SceneModelReader = std::function<ModelSpec(const std::string& source, const std::string& folder)>;

/// Throws ModelError ("scene.json: /arms/0/tip: what is wrong, what was expected").
SceneSpec read_scene(const std::string& path, const SceneModelReader& models = {});
SceneSpec parse_scene(std::string_view text, const std::string& name, const std::string& folder,
                      const SceneModelReader& models = {});

/// True if a text looks like a scene and not like a URDF: its first character that is no blank is a brace.
bool looks_like_scene(std::string_view text);

}  // namespace articula
