// Random mechanisms and states for tests: trees of any shape over every joint kind.
//
// Everything is a function of the Rng's seed alone, on every machine: no std:: distribution is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "articula/model/model.hpp"
#include "articula/spatial/spatial.hpp"

namespace articula::testing {

/// splitmix64: a few lines, the same numbers everywhere.
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t bits();
  double uniform(double low = -1, double high = 1);
  int integer(int low, int high);  // both included
  bool chance(double probability) { return uniform(0, 1) < probability; }
  Vec3<double> vector(double size = 1);  // each component uniform
  Vec3<double> direction();              // on the unit sphere
  Quaternion<double> quaternion();       // uniform on SO(3), unit to rounding

 private:
  std::uint64_t state_;
};

/// Every joint kind of the library, fixed first: a test that loops over these covers new kinds by itself.
const std::vector<JointKind>& all_joint_kinds();
/// The same without fixed.
const std::vector<JointKind>& moving_joint_kinds();
/// Those that random models are made of unless options say otherwise. It stays as it is: a longer list would draw other
/// models in every test.
const std::vector<JointKind>& usual_joint_kinds();

enum class Branching {
  tree,     // each link on any earlier one
  bushy,    // each link on one of the first few: many branches
  several,  // several trees under "world", beside the root link's own
  deep,     // each link on one of the last few: long branches
  chain,    // each link on the one before
  any,      // one of the above, drawn
};

struct RandomOptions {
  int links = 10;  // beside the root link
  std::vector<JointKind> kinds = usual_joint_kinds();
  Branching branching = Branching::any;
  double mimic = 0;         // probability that a joint with one freedom follows an earlier one
  double armature = 0.3;    // probability that a joint has some
  double mass_ratio = 100;  // of the heaviest to the lightest possible link (up to 1e6)
  double size = 0.5;        // of links, metres
  bool frames = true;       // a few named frames, on links and in the world
};

/// A model that can be built with either base: every link has mass.
ModelSpec random_spec(Rng& rng, const RandomOptions& options = {});

/// A root link and one joint of that kind, with a general placement, axes, pitch and inertia.
ModelSpec one_joint_spec(JointKind kind);
/// An arm whose tip and fork follow other joints and have no mass, so that only what they follow gives them
/// something to move.
ModelSpec massless_followers_spec();

/// q on the configuration manifold (unit quaternions), and everything else an algorithm takes.
struct State {
  std::vector<double> q, v, a, tau;
  std::vector<Spatial<double>> wrenches;  // one per body
};
State random_state(Rng& rng, const Model& model, double speed = 1);
std::vector<double> random_configuration(Rng& rng, const Model& model);
std::vector<double> random_vector(Rng& rng, std::size_t size, double range = 1);

/// q (+) dv: moves along the constant joint velocity dv for a unit of time; exact on every joint kind.
std::vector<double> manifold_add(const Model& model, std::span<const double> q, std::span<const double> dv);

std::vector<float> to_float(std::span<const double> x);
std::vector<Spatial<float>> to_float(std::span<const Spatial<double>> x);
std::vector<double> to_double(std::span<const float> x);

/// Largest |x|, and largest |a - b| relative to the largest |b| (at least `floor`). NaN anywhere gives
/// infinity.
double largest(std::span<const double> x);
double relative_error(std::span<const double> a, std::span<const double> b, double floor = 1e-30);
double relative_error(const Vec3<double>& a, const Vec3<double>& b, double floor = 1e-30);
double relative_error(const Spatial<double>& a, const Spatial<double>& b, double floor = 1e-30);

/// "3 links: revolute, mimic prismatic, ..." for messages of failed tests.
std::string describe(const ModelSpec& spec);

}  // namespace articula::testing
