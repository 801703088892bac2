// Two arms lift an object: torques for a wanted motion with a squeeze, then what these torques do.
#include <articula/loops/closed_chain_inverse.hpp>
#include <articula/loops/scene.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  using namespace articula;
  Scene scene(read_scene(argc > 1 ? argv[1] : "models/two_arms.json"));
  const Model& model = scene.model();
  const int object = scene.object_frame(0);

  // Upwards at 1 m/s^2, the left hand's force along its z axis 5 N more than the load alone asks for.
  ClosedChainInverse inverse(model, scene.constraints(), {object});
  const Spatial<double> wanted{{0, 0, 0}, {0, 0, 1}};
  std::vector<double> squeeze(scene.dynamics().rows()), tau(model.nv()), a(model.nv());
  squeeze[scene.dynamics().row_of(0) + 5] = 5;
  inverse.compute(scene.q, scene.v, {&wanted, 1}, tau, {.internal = squeeze});

  scene.dynamics().acceleration(scene.q, scene.v, tau, a);  // closed-chain forward dynamics; never allocates
  for (int i = 0; i < 2; ++i) {
    const Vec3<double> f = scene.dynamics().force(i).v;
    std::printf("%s pushes the object with (%.3f, %.3f, %.3f) N\n", scene.constraints()[i].name.c_str(), f.x,
                f.y, f.z);
  }
  std::printf("rank %d, residual %.1e\n", scene.dynamics().rank(),
              scene.dynamics().residual(scene.q, scene.v, a));
}
