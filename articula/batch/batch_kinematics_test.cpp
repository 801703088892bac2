// Kinematics, sums over bodies, Coriolis matrix, external forces and adjoints of many states.
#include <gtest/gtest.h>

#include <numbers>

#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/chain.hpp"
#include "articula/spatial/numbers.hpp"
#include "tests/support/many_states.hpp"

namespace articula::testing {
namespace {

void put(const Spatial<double>& x, std::span<double> out) { std::copy_n(numbers_of(x), 6, out.begin()); }
void put(const FramePose<double>& x, std::span<double> out) {
  std::copy_n(numbers_of(x.rotation), 9, out.begin());
  std::copy_n(numbers_of(x.position), 3, out.begin() + 9);
}

std::vector<ManyCall> kinematic_calls(const Model& model, int frame) {
  const auto work = std::make_shared<Kinematics<>>(model);
  const auto mass = std::make_shared<MassMatrix<>>(model);
  const auto coriolis = std::make_shared<Coriolis>(model);
  const std::size_t nv = model.nv();
  std::vector<ManyCall> calls{
      {"pose", 12, [=](auto& b, auto& s, auto out) { b.pose(frame, s.q, out); },
       [=](const State& s, auto out) {
         work->update(s.q);
         put(work->pose(frame), out);
       }},
      {"center_of_mass", 3, [](auto& b, auto& s, auto out) { b.center_of_mass(s.q, out); },
       [=](const State& s, auto out) {
         work->update(s.q);
         const auto c = work->totals().center_of_mass;
         std::copy_n(numbers_of(c), 3, out.begin());
       },
       1e-12},
      {"momentum", 6, [](auto& b, auto& s, auto out) { b.momentum(s.q, s.v, out); },
       [=](const State& s, auto out) {
         work->update(s.q, s.v);
         put(work->totals().momentum, out);
       },
       1e-12},
      {"kinetic", 1,
       [](auto& b, auto& s, auto out) {
         std::vector<double> other(s.count);
         b.energies(s.q, s.v, out, other);
       },
       [=](const State& s, auto out) {
         work->update(s.q, s.v);
         out[0] = work->totals().kinetic;
       }},
      {"potential", 1,
       [](auto& b, auto& s, auto out) {
         std::vector<double> other(s.count);
         b.energies(s.q, s.v, other, out);
       },
       [=](const State& s, auto out) {
         work->update(s.q);
         out[0] = work->totals().potential;
       },
       1e-12},
      {"coriolis_matrix", nv * nv, [](auto& b, auto& s, auto out) { b.coriolis_matrix(s.q, s.v, out); },
       [=](const State& s, auto out) { coriolis_matrix(*coriolis, s.q, s.v, out); }, 1e-12},
      {"mass_matrix_rate", nv * nv, [](auto& b, auto& s, auto out) { b.mass_matrix_rate(s.q, s.v, out); },
       [=](const State& s, auto out) { mass_matrix_rate(*coriolis, s.q, s.v, out); }, 1e-12}};
  if (model.mass() > 0)
    calls.push_back({"centroidal_map", 6 * nv, [](auto& b, auto& s, auto out) { b.centroidal_map(s.q, out); },
                     [=](const State& s, auto out) { centroidal_map(*mass, s.q, out); }, 1e-12});
  for (const Axes axes : {Axes::world, Axes::local, Axes::spatial}) {
    const std::string in = axes == Axes::world ? " world" : axes == Axes::local ? " local" : " spatial";
    calls.push_back({"velocity" + in, 6,
                     [=](auto& b, auto& s, auto out) { b.frame_velocity(frame, s.q, s.v, out, axes); },
                     [=](const State& s, auto out) {
                       work->update(s.q, s.v);
                       put(work->velocity(frame, axes), out);
                     }});
    calls.push_back(
        {"acceleration" + in, 6,
         [=](auto& b, auto& s, auto out) { b.frame_acceleration(frame, s.q, s.v, s.a, out, axes); },
         [=](const State& s, auto out) {
           work->update(s.q, s.v, s.a);
           put(work->acceleration(frame, axes), out);
         }});
    calls.push_back({"jacobian_dot_v" + in, 6,
                     [=](auto& b, auto& s, auto out) { b.jacobian_dot_v(frame, s.q, s.v, out, axes); },
                     [=](const State& s, auto out) {
                       work->update(s.q, s.v);
                       put(work->acceleration(frame, axes), out);
                     }});
    calls.push_back({"jacobian" + in, 6 * nv,
                     [=](auto& b, auto& s, auto out) { b.jacobian(frame, s.q, out, axes); },
                     [=](const State& s, auto out) {
                       work->update(s.q);
                       work->jacobian(frame, out, axes);
                     }});
  }
  return calls;
}

std::vector<ManyCall> force_calls(const Model& model) {
  const auto inverse = std::make_shared<InverseDynamics<>>(model);
  const auto forward = std::make_shared<ForwardDynamics<>>(model);
  const auto linear = std::make_shared<LinearizedForward<>>(model);
  const std::size_t nv = model.nv();
  const auto gradient = [=](int which) {
    return ManyCall{"forward_gradient " + std::to_string(which), nv,
                    [=](auto& b, auto& s, auto out) {
                      std::vector<double> x(s.count * nv), y(s.count * nv);
                      if (which == 0) b.forward_gradient(s.q, s.v, s.tau, s.a, out, x, y);
                      if (which == 1) b.forward_gradient(s.q, s.v, s.tau, s.a, x, out, y);
                      if (which == 2) b.forward_gradient(s.q, s.v, s.tau, s.a, x, y, out);
                    },
                    [=](const State& s, auto out) {
                      std::vector<double> x(nv), y(nv);
                      if (which == 0) forward_gradient(*linear, s.q, s.v, s.tau, s.a, out, x, y);
                      if (which == 1) forward_gradient(*linear, s.q, s.v, s.tau, s.a, x, out, y);
                      if (which == 2) forward_gradient(*linear, s.q, s.v, s.tau, s.a, x, y, out);
                    },
                    1e-10};
  };
  return {{"inverse_dynamics", nv,
           [](auto& b, auto& s, auto out) { b.inverse_dynamics(s.q, s.v, s.a, out, s.wrenches); },
           [=](const State& s, auto out) { inverse_dynamics(*inverse, s.q, s.v, s.a, out, s.wrenches); }},
          {"bias_forces", nv, [](auto& b, auto& s, auto out) { b.bias_forces(s.q, s.v, out, s.wrenches); },
           [=](const State& s, auto out) { bias_forces(*inverse, s.q, s.v, out, s.wrenches); }},
          {"forward_dynamics", nv,
           [](auto& b, auto& s, auto out) { b.forward_dynamics(s.q, s.v, s.tau, out, s.wrenches); },
           [=](const State& s, auto out) { forward_dynamics(*forward, s.q, s.v, s.tau, out, s.wrenches); },
           1e-11},
          gradient(0),
          gradient(1),
          gradient(2)};
}

TEST(BatchKinematics, AgreesWithOneStateAtATime) {
  Worst worst("batch kinematics"), worst_forces("batch with external forces, and adjoints");
  Rng rng(1);
  for_each_case([&](const Case& c) {
    if (c.model.nq() == 0) return;
    const int frames = static_cast<int>(c.model.frames().size());
    expect_as_one_by_one(c.model, rng, kinematic_calls(c.model, rng.integer(0, frames - 1)), {9}, worst);
    expect_as_one_by_one(c.model, rng, force_calls(c.model), {9}, worst_forces);
  });
}

TEST(BatchKinematics, AnyNumberOfStates) {
  Worst worst("batch kinematics, remainders"), worst_forces("batch forces, remainders");
  Rng rng(2);
  for (const bool mimics : {false, true}) {
    const Model model(random_spec(rng, {.links = 9, .mimic = mimics ? 0.5 : 0}), {.base = Base::free});
    expect_as_one_by_one(model, rng, kinematic_calls(model, model.frame("tool")), {0, 1, 7, 8, 9, 17}, worst);
    expect_as_one_by_one(model, rng, force_calls(model), {0, 1, 7, 8, 9, 17}, worst_forces);
  }
}

/// More velocities than matrices in lanes are made for; far from the origin; a frame of the world.
TEST(BatchKinematics, LargeFarAndFixed) {
  Worst worst("batch kinematics, large");
  Rng rng(3);
  const Model chain(make_chain(40));
  expect_as_one_by_one(chain, rng, kinematic_calls(chain, 17), {9}, worst);
  ModelSpec spec = random_spec(rng, {.links = 6});
  const Model model(spec);
  for (int frame = 0; frame < static_cast<int>(model.frames().size()); ++frame)
    if (model.frames()[frame].body < 0) {
      expect_as_one_by_one(model, rng, kinematic_calls(model, frame), {3}, worst);
      break;
    }
}

TEST(BatchKinematics, AllFramesAtOnce) {
  Rng rng(4);
  const Model model(random_spec(rng, {.links = 8, .mimic = 0.3}), {.base = Base::free});
  std::vector<int> frames(model.frames().size());
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = static_cast<int>(i);
  const ManyStates states(rng, model, 11);
  std::vector<double> all(12 * frames.size() * states.count), one(12 * states.count);
  Batch<> batch(model);
  batch.pose(frames, states.q, all);
  for (const int frame : frames) {
    batch.pose(frame, states.q, one);
    for (std::size_t i = 0; i < states.count; ++i)
      for (std::size_t c = 0; c < 12; ++c)
        EXPECT_NEAR(all[(i * frames.size() + frame) * 12 + c], one[i * 12 + c], 1e-14);
  }
}

TEST(BatchKinematics, InFloat) {
  Rng rng(5);
  const Model model(random_spec(rng, {.links = 8, .mimic = 0.3}), {.base = Base::free});
  const ManyStates s(rng, model, 19);
  const std::size_t nv = model.nv();
  const auto q = to_float(s.q), v = to_float(s.v), a = to_float(s.a), w = to_float(s.wrenches);
  Batch<float> batch(model);
  Batch<> exact(model);
  std::vector<float> x(s.count * 12), M(s.count * nv * nv), J(s.count * 6 * nv), tau(s.count * nv);
  std::vector<double> y(s.count * 12), C(s.count * nv * nv), K(s.count * 6 * nv), t(s.count * nv);
  const int tool = model.frame("tool");
  batch.pose(tool, q, x);
  exact.pose(tool, s.q, y);
  EXPECT_LT(relative_error(to_double(x), y), 1e-5);
  batch.coriolis_matrix(q, v, M);
  exact.coriolis_matrix(s.q, s.v, C);
  EXPECT_LT(relative_error(to_double(M), C), 1e-4);
  batch.jacobian(tool, q, J);
  exact.jacobian(tool, s.q, K);
  EXPECT_LT(relative_error(to_double(J), K), 1e-5);
  batch.inverse_dynamics(q, v, a, tau, w);
  exact.inverse_dynamics(s.q, s.v, s.a, t, s.wrenches);
  EXPECT_LT(relative_error(to_double(tau), t), 1e-4);
}

/// Poses do not depend on inertias; what does, and is compiled for the model's alone, is refused.
TEST(BatchKinematics, WithVariedInertias) {
  Rng rng(6);
  const Model model(make_chain(3));
  const ManyStates s(rng, model, 9);
  Batch<> batch(model);
  std::vector<double> before(12 * s.count), after(12 * s.count), M(9 * s.count), c(3 * s.count);
  batch.pose(2, s.q, before);
  const std::vector<double> rotors(s.v.size(), 0.1);
  batch.vary({}, rotors);
  batch.pose(2, s.q, after);
  EXPECT_EQ(before, after);
  EXPECT_THROW(batch.coriolis_matrix(s.q, s.v, M), ArgumentError);
  EXPECT_THROW(batch.center_of_mass(s.q, c), ArgumentError);
  EXPECT_THROW(batch.pose(2, std::span(s.q).first(3), std::span(after).first(12)), ArgumentError);
  DiagonalizedBatch<> diagonal(batch);
  OperationalSpaceBatch<> space(batch, std::vector{2});
  EXPECT_THROW(diagonal.D(s.q, M), ArgumentError);
  EXPECT_THROW(space.terms(s.q, s.v, {.omega = M}), ArgumentError);
  batch.use_model_inertias();
  EXPECT_NO_THROW(diagonal.D(s.q, M));
}

/// The sines of the kernels, as they were compiled for this machine: an axis along z has them in its
/// rotation.
TEST(BatchKinematics, SinesAreWithinOneUnitInTheLastPlace) {
  ModelSpec spec;
  spec.add_link({.name = "base"});
  spec.add_link({.name = "link", .mass = {.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}}});
  spec.add_joint({.name = "turn", .kind = JointKind::continuous, .parent = "base", .child = "link"});
  spec.joints[0].axis = {0, 0, 1};
  const Model model(spec);
  Rng rng(7);
  std::vector<double> q;
  while (q.size() < 40000) {
    q.push_back(rng.uniform(-10, 10));
    q.push_back(rng.uniform(-1.5, 1.5) * std::exp2(rng.integer(-60, 20)));
    const double multiple = rng.integer(-1000000, 1000000) * (std::numbers::pi / 2);
    q.push_back(multiple);
    q.push_back(multiple + rng.uniform() * std::exp2(-rng.integer(0, 40)));
  }
  q.push_back(1e7), q.push_back(-1e15);  // by libm
  std::vector<double> poses(12 * q.size());
  Batch<> batch(model);
  Kinematics<> kinematics(model);
  const int frame = model.frame("link");
  batch.pose(frame, q, poses);
  Worst worst("sines of the kernels, units in the last place");
  // As in sincos_test.cpp: what the reduction leaves over shows at the few angles nearest to a zero.
  const auto ulps = [](double got, long double exact) {
    const double rounded = std::abs(static_cast<double>(exact));
    return static_cast<double>(std::abs(got - exact)) /
           std::max(std::nextafter(rounded, INFINITY) - rounded, 2e-31);
  };
  for (std::size_t i = 0; i < q.size(); ++i) {
    const long double x = q[i];
    const auto one = (kinematics.update(std::span(q).subspan(i, 1)), kinematics.pose(frame).rotation);
    for (const double sine : {poses[12 * i + 3], one.yx})
      EXPECT_LT(worst(ulps(sine, std::sin(x))), 1) << q[i];
    for (const double cosine : {poses[12 * i], one.xx})
      EXPECT_LT(worst(ulps(cosine, std::cos(x))), 1) << q[i];
  }
}

TEST(BatchKinematics, WrongArgumentsAreRefused) {
  const Model model(make_chain(3));
  Batch<> batch(model);
  std::vector<double> x(6), pose(24), J(36), few(35), wrenches(36);
  EXPECT_NO_THROW(batch.pose(0, x, pose));
  EXPECT_THROW(batch.pose(99, x, pose), ArgumentError);
  EXPECT_THROW(batch.pose(std::vector{0, -1}, x, pose), ArgumentError);
  EXPECT_THROW(batch.pose(0, x, few), ArgumentError);
  EXPECT_THROW(batch.jacobian(99, x, J), ArgumentError);
  EXPECT_THROW(batch.jacobian(0, x, few), ArgumentError);
  EXPECT_THROW(batch.coriolis_matrix(x, x, few), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics(x, x, x, x, few), ArgumentError);
  EXPECT_NO_THROW(batch.inverse_dynamics(x, x, x, x, wrenches));
  EXPECT_NO_THROW(batch.coriolis_matrix({}, {}, {}));
}

}  // namespace
}  // namespace articula::testing
