// Which programs pay.
#include "articula/cuda/arguments.hpp"
#include "articula/cuda/folding.hpp"
#include "articula/cuda/program.hpp"

namespace articula::cuda {

namespace {

bool branched(const Model& model) {
  const Tree<double>& tree = model.tree<double>();
  for (int k = 2; k <= tree.bodies; ++k)
    if (tree.index[k].inboard != k - 1) return true;
  return false;
}
/// Where limbs fit registers one at a time, though the whole tree does not.
constexpr int most_bodies_by_limbs = 32;

}  // namespace

Style best_style(const Model& model, const Task& task, bool in_double) {
  // Measured on an H200 (docs/gpu.md): beyond these sizes code leaves the instruction cache or registers spill.
  const int bodies = model.body_count();
  if (task.varied || model.has_mimics()) return Style::rolled;
  const std::string_view name = task.algorithm;
  int most = 0;
  if (name == "forward_dynamics" && branched(model))
    most = most_bodies_by_limbs;
  else if (name == "forward_dynamics" || name == "inverse_dynamics" || name == "bias_forces" ||
           name == "gravity_forces")
    most = in_double ? 16 : 20;
  else if (name == "mass_matrix" || name == "inverse_mass_matrix")
    most = 16;
  else if (name == "rollout")
    most = in_double ? 8 : 16;
  else if (name == "linearized_forward" || name == "linearized_inverse" || name == "forward_gradient")
    most = 8;
  return bodies <= most ? Style::specialised : Style::rolled;
}
Tuning best_tuning(const Model& model, const Task& task, Style style, bool in_double) {
  // Measured on an H200 (docs/gpu.md).
  if (task.algorithm == "linearized_inverse" && style == Style::rolled && !in_double) return {.blocks = 4};
  if (style != Style::specialised || task.algorithm != "forward_dynamics" || !branched(model)) return {};
  const bool large = model.body_count() > 20, folds = fold(model, 2).sides == 2;
  // Threads share a state where its numbers would not fit one thread's registers.
  if (large && folds && !in_double) return {.threads = 64, .sides = 2};
  if (large && can_loop(model)) return {.threads = warp, .loops = true};
  if (large) return {.blocks = in_double ? 3 : 4};
  if (in_double && folds) return {.sides = 2};
  return {.threads = in_double ? 128 : 64};
}
bool linearized_in_steps(const Model& model) { return model.nv() <= 20 && !model.has_mimics(); }

}  // namespace articula::cuda
