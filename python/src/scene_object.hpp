// What is behind a Scene of Python.
#pragma once

#include <memory>
#include <string>

#include "articula/loops/closed_chain_inverse.hpp"
#include "articula/loops/scene.hpp"
#include "model_object.hpp"

namespace articula::python {

struct SceneAt {
  /// models: the folder of the shipped ones.
  SceneAt(const std::string& path, const std::string& models, bool project);
  /// A model with its loops; `file`: what it was read from, if from any.
  SceneAt(const ModelObject& model, const std::string& file, bool project);
  std::size_t nq() const { return static_cast<std::size_t>(scene.model().nq()); }
  std::size_t nv() const { return static_cast<std::size_t>(scene.model().nv()); }
  Scene scene;
  std::string models;
  /// For the frames that were asked for last.
  std::unique_ptr<ClosedChainInverse> inverse;
  std::vector<int> inverse_frames;
};

/// What closes a model's chains: a scene's constraints, or (scene is None) those of the model's file.
std::vector<Constraint> constraints_of(const ModelObject& model, nanobind::handle scene);

/// The file that an arm of a scene names; throws ModelError.
std::string arm_file(const std::string& source, const std::string& folder, const std::string& models);

}  // namespace articula::python
