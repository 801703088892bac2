#include "articula/loops/scene_of_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace articula {

namespace {

struct LoopKind {
  JointKind kind;
  const char* name;  // of the scene's
};
constexpr LoopKind kinds[] = {
    {JointKind::fixed, "weld"},       {JointKind::revolute, "hinge"},       {JointKind::continuous, "hinge"},
    {JointKind::prismatic, "slider"}, {JointKind::cylindrical, "cylinder"}, {JointKind::spherical, "ball"},
};

SceneLoop closing(const LoopSpec& loop, const std::string& part) {
  const auto kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](auto& k) { return k.kind == loop.kind; });
  if (kind == std::end(kinds))
    throw ModelError(
        fmt::format("{}loop '{}' is {}; expected a fixed, revolute, prismatic, cylindrical or spherical one",
                    loop.where.empty() ? "" : loop.where + ": ", loop.name, name_of(loop.kind)));
  // Constraints speak of the z axes of both frames.
  const Vec3<double> axis = loop.axis * (1 / std::sqrt(dot(loop.axis, loop.axis)));
  const Pose along{loop.kind == JointKind::fixed || loop.kind == JointKind::spherical
                       ? Mat3<double>::identity()
                       : rotation_from_z(axis),
                   {0, 0, 0}};
  const auto end = [&](const std::string& link, const Pose& placement) {
    return SceneLoop::End{link == world ? std::string(world) : part, link, placement * along};
  };
  SceneLoop out;
  out.name = loop.name;
  out.kind = kind->name;
  out.a = end(loop.first, loop.first_placement);
  out.b = end(loop.second, loop.second_placement);
  if (out.a.part == world && out.b.part != world) return out;
  if (out.b.part == world) std::swap(out.a, out.b);
  return out;
}

SceneLoop coupled(const CouplingSpec& coupling, const std::string& part) {
  std::vector<double> c = coupling.coefficients;
  c.resize(std::max<std::size_t>(c.size(), 5));
  if (std::any_of(c.begin() + 5, c.end(), [](double x) { return x != 0; }))
    throw ModelError(fmt::format("{}coupling '{}' has {} coefficients; expected at most 5",
                                 coupling.where.empty() ? "" : coupling.where + ": ", coupling.name,
                                 c.size()));
  SceneLoop out;
  out.name = coupling.name;
  out.kind = "coupler";
  out.terms = {{part, coupling.joint, 1}};
  if (std::any_of(c.begin() + 1, c.end(), [](double x) { return x != 0; }))
    out.terms.push_back({part, coupling.source, -c[1], {-c[2], -c[3], -c[4]}});
  for (const CouplingSpec::Term& term : coupling.further)
    out.terms.push_back({part, term.joint, -term.coefficient});
  out.length = c[0];
  return out;
}

std::vector<SceneLoop> loops_of(const ModelSpec& spec, const std::string& part) {
  std::vector<SceneLoop> out;
  for (const LoopSpec& loop : spec.loops) out.push_back(closing(loop, part));
  for (const CouplingSpec& coupling : spec.couplings) out.push_back(coupled(coupling, part));
  return out;
}

}  // namespace

bool has_loops(const ModelSpec& spec) { return !spec.loops.empty() || !spec.couplings.empty(); }

SceneSpec scene_of(const ModelSpec& spec, const BuildOptions& options) {
  SceneSpec scene;
  scene.where = spec.name;
  scene.gravity = options.gravity;
  SceneArm arm;
  arm.name = spec.name.empty() || spec.name == world ? "model" : spec.name;
  arm.source = spec.name;
  arm.spec = spec;
  arm.kind = options.base;
  scene.loops = loops_of(spec, arm.name);
  scene.arms.push_back(std::move(arm));
  return scene;
}

std::vector<Constraint> constraints_of(const Model& model) {
  return constraints_of(model, loops_of(model.spec(), ""));
}

}  // namespace articula
