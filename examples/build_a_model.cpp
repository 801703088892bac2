// A pendulum without a file: built, checked, thrown, and written as URDF.
#include <articula/dynamics/mass_matrix.hpp>
#include <articula/files/urdf.hpp>
#include <cstdio>

using namespace articula;

int main() {
  ModelSpec spec;
  spec.name = "pendulum";
  spec.add_link({.name = "stand", .mass = {.mass = 2, .inertia = {0.1, 0.1, 0.1, 0, 0, 0}}});
  spec.add_link(
      {.name = "bob",
       .mass = {.mass = 1, .center_of_mass = {0, 0, -0.5}, .inertia = {0.01, 0.01, 0.01, 0, 0, 0}}});
  spec.add_joint(
      {.name = "hinge", .kind = JointKind::revolute, .parent = "stand", .child = "bob", .axis = {0, 1, 0}});
  for (const Finding& finding : find_problems(spec)) std::printf("%s\n", describe(finding).c_str());

  const Model pendulum(spec);                      // fixed base: one freedom
  const Model thrown(spec, {.base = Base::free});  // floating base: six more
  std::printf("%d and %d freedoms; inertia about the hinge %g kg m^2\n", pendulum.nv(), thrown.nv(),
              mass_matrix(pendulum, std::vector<double>{0.3})[0]);

  try {  // every mistake has a message of its own
    spec.joints[0].child = "bop";
    Model broken(spec);
  } catch (const ModelError& error) {
    std::printf("refused: %s\n", error.what());
  }
  spec.joints[0].child = "bob";
  return write_urdf(spec).find("pendulum") == std::string::npos;
}
