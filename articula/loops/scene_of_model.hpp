// A model with what its file says beyond the tree: joints that close loops and couplings, as constraints.
#pragma once

#include "articula/files/scene.hpp"
#include "articula/loops/scene.hpp"

namespace articula {

/// Is there anything beyond the tree? A Model alone moves without it.
bool has_loops(const ModelSpec& spec);

/// The model as the only arm of a scene, its loops and couplings as the scene's loops: Scene (scene.hpp) computes with
/// it. Names begin with that of the model. Throws ModelError where there is no such constraint: loops closed by
/// universal, helical or planar joints, couplings beyond the fourth power.
SceneSpec scene_of(const ModelSpec& spec, const BuildOptions& options = {});
/// The same as constraints of the model itself, for ConstrainedDynamics: loops first, then couplings.
std::vector<Constraint> constraints_of(const Model& model);

}  // namespace articula
