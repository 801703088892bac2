// A scene ready for computation: one model of all its arms and objects, its constraints, and its initial
// state.
#pragma once

#include <functional>
#include <memory>

#include "articula/files/scene.hpp"
#include "articula/loops/assembly.hpp"
#include "articula/loops/closed_chain.hpp"
#include "articula/loops/constrained_dynamics.hpp"

namespace articula {

struct SceneOptions {
  bool project = false;  // move a state that does not fit onto the constraints, instead of an error
  double tolerance = 1e-6;
};

/// Sees to it that q fits the constraints, or that v does: options.project moves them onto these, else it is a ModelError
/// that names the constraint (`who`, if given, says whose velocity it is) and how far it is off.
void fit_positions(ConstrainedDynamics& work, Out<double> q, Out<double> v, const std::string& where,
                   const SceneOptions& options);
void fit_velocities(ConstrainedDynamics& work, In<double> q, Out<double> v, const std::string& where,
                    const SceneOptions& options, const std::function<std::string(int constraint)>& who = {});

class Scene {
 public:
  /// Throws ModelError or ArgumentError, naming arm, object or loop; among them: velocities of the arms that
  /// do not fit, with the residual, and loops that are not closed.
  explicit Scene(const SceneSpec& spec, const SceneOptions& options = {});

  const SceneSpec& spec() const { return spec_; }
  const Model& model() const { return model_; }
  ConstrainedDynamics& dynamics() { return *dynamics_; }
  const std::vector<Constraint>& constraints() const { return dynamics_->constraints(); }

  /// The initial state, in the model's coordinates; objects have tau zero.
  std::vector<double> q, v, tau;

  Assembly::Range arm(int i) const { return arms_[i]; }
  Assembly::Range object(int i) const { return objects_[i]; }
  /// The constraint of a grasp, in the file's order; loops follow.
  int constraint_of_grasp(int i) const { return i; }
  int object_frame(int i) const { return object_frames_[i]; }

  /// d/dt, in tip axes, of the angular velocity of the object relative to the tip, for the axes that the
  /// grasp leaves free (JPL88's W'); none for a rigid one.
  std::vector<double> contact_rates(int grasp, In<double> q, In<double> v, In<double> a) const;
  /// Rank of the paper's Omega, with all six rows of every grasp (and those of loops).
  int omega_rank(In<double> q, In<double> v);

 private:
  void build_constraints(std::vector<Constraint>& out) const;
  void settle_velocities(const SceneOptions& options);
  SceneSpec spec_;
  Model model_;
  std::vector<Assembly::Range> arms_, objects_;
  std::vector<int> object_frames_;
  std::unique_ptr<ConstrainedDynamics> dynamics_, rigid_;
};

/// JPL88's system of a scene: arms that hold one object, each by one grasp, nothing else; and what its algorithm takes at
/// the scene's state (spans into the scene). ArgumentError for other scenes.
struct SceneClosedChain {
  ClosedChain chain;
  std::vector<ArmState> arms;
  ObjectState object;
};
SceneClosedChain closed_chain_of(const Scene& scene);

/// Loops as constraints of a model whose names are PART/NAME, or NAME where the part is "".
std::vector<Constraint> constraints_of(const Model& model, const std::vector<SceneLoop>& loops);

}  // namespace articula
