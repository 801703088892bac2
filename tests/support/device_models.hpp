// Models that the programs for GPUs are compared and compiled with.
#pragma once

#include <functional>
#include <string>

#include "articula/files/urdf.hpp"
#include "tests/support/random_models.hpp"

namespace articula::testing {

struct Named {
  std::string name;
  std::function<Model()> make;
};

inline constexpr const char* every_kind = "every_joint_kind";
inline constexpr const char* with_mimics = "mimic_joints";

inline Model random_tree(int seed, double mimic, Base base) {
  Rng rng(seed);
  RandomOptions options;
  options.links = rng.integer(4, 9);
  options.mass_ratio = 10;
  options.mimic = mimic;
  return Model(random_spec(rng, options), {.base = base});
}
inline Model tree_of_every_kind() {
  Rng rng(11);
  const std::vector<JointKind>& kinds = moving_joint_kinds();
  RandomOptions options;
  options.links = static_cast<int>(kinds.size());
  options.kinds = {JointKind::revolute};
  options.branching = Branching::tree;
  options.mass_ratio = 10;
  ModelSpec spec = random_spec(rng, options);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    spec.joints[i].kind = kinds[i];
    if (kinds[i] == JointKind::helical) spec.joints[i].pitch = 0.2;
  }
  return Model(spec);
}
/// A robot of the folder of models; those that walk have a free base.
inline Named robot(const std::string& folder, const std::string& name) {
  return {name, [=] {
            const bool free = name == "quadruped" || name == "humanoid";
            return read_urdf(folder + "/" + name + ".urdf", {.base = free ? Base::free : Base::fixed});
          }};
}

}  // namespace articula::testing
