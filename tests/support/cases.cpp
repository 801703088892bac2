#include "tests/support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace articula::testing {

namespace {
void run(const std::string& name, ModelSpec spec, Base base, Rng& rng,
         const std::function<void(const Case&)>& f) {
  for (std::size_t i = 0; i < spec.joints.size(); ++i) {
    JointSpec& joint = spec.joints[i];
    for (int k = 0; k < nv_of(joint.kind); ++k)
      joint.damping[k] = 0.05 * double(1 + (i + std::size_t(k)) % 5);
  }
  const Vec3<double> gravity = rng.vector(10);
  const std::string full_name =
      name + (base == Base::free ? ", free base, " : ", fixed base, ") + describe(spec);
  SCOPED_TRACE(full_name);
  const Model model(spec, {.base = base, .gravity = gravity});
  Case c{full_name, model, DenseDynamics(spec, base, gravity), random_state(rng, model)};
  c.dense.update(c.state.q, c.state.v, c.state.a);
  f(c);
}
}  // namespace

void for_each_case(const std::function<void(const Case&)>& f) {
  for (const JointKind kind : all_joint_kinds()) {
    for (const Base base : {Base::fixed, Base::free}) {
      Rng rng(static_cast<int>(kind));
      run("one " + std::string(name_of(kind)), one_joint_spec(kind), base, rng, f);
    }
  }
  constexpr int usual = 100;
  for (int seed = 1; seed <= usual + 10; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.links = rng.integer(2, 12);
    options.mimic = seed % 2 == 0 ? 0.5 : 0;
    if (seed > usual) options.kinds = all_joint_kinds();
    if (seed % 4 == 0)  // more joints that can mimic
      options.kinds = {JointKind::revolute, JointKind::continuous, JointKind::prismatic, JointKind::helical};
    run("tree " + std::to_string(seed), random_spec(rng, options), seed % 3 == 0 ? Base::free : Base::fixed,
        rng, f);
  }
}

double Worst::operator()(double error) {
  worst_ = std::isnan(error) ? INFINITY : std::max(worst_, error);
  return error;
}
Worst::~Worst() { std::printf("  worst %s: %.2g\n", what_.c_str(), worst_); }

}  // namespace articula::testing
