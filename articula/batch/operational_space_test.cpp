#include "articula/batch/operational_space.hpp"

#include "articula/model/chain.hpp"
#include "tests/support/many_states.hpp"

namespace articula::testing {
namespace {

using O = OperationalSpaceBatch<>;

int last_frame(const Model& model) { return static_cast<int>(model.frames().size()) - 1; }

std::vector<Task> pose_tasks(const Model& model, const std::vector<int>& frames) {
  std::vector<Task> tasks;
  for (const int f : frames) tasks.push_back(pose_task(model, model.frames()[f].name));
  return tasks;
}

/// Terms that need no inverse are as exact as the sweeps; the others as Omega is well conditioned.
std::vector<ManyCall> calls_of(const Model& model, const std::vector<int>& frames, bool regular,
                               const SingularityOptions& options = {}) {
  const auto space = std::make_shared<TaskSpace>(model, pose_tasks(model, frames), options);
  const std::size_t n = space->rows(), nv = model.nv();
  std::vector<ManyCall> calls;
  const auto term = [&](const char* name, std::size_t size, auto many, auto one, double limit) {
    calls.push_back({name, size,
                     [=](auto& b, auto& s, auto out) {
                       O::Terms t;
                       t.*many = out;
                       O(b, frames, options).terms(s.q, s.v, t);
                     },
                     [=](const State& s, auto out) {
                       space->update(s.q, s.v);
                       one(*space, out);
                     },
                     limit});
  };
  const double inverse = regular ? 1e-9 : 1e-6;
  term(
      "omega", n * n, &O::Terms::omega, [](auto& t, auto out) { t.omega(out); }, 1e-11);
  term(
      "velocity", n, &O::Terms::velocity, [](auto& t, auto out) { t.velocity(out); }, 1e-13);
  term(
      "bias", n, &O::Terms::bias_acceleration, [](auto& t, auto out) { t.bias_acceleration(out); }, 1e-12);
  term(
      "free", n, &O::Terms::free_acceleration, [](auto& t, auto out) { t.free_acceleration(out); }, 1e-10);
  term(
      "rank", 1, &O::Terms::rank, [](auto& t, auto out) { out[0] = t.rank(); }, 1e-13);
  term(
      "lambda", n * n, &O::Terms::lambda, [](auto& t, auto out) { t.lambda(out); }, inverse);
  term(
      "coriolis", n, &O::Terms::coriolis, [](auto& t, auto out) { t.coriolis(out); }, inverse);
  term(
      "gravity", n, &O::Terms::gravity, [](auto& t, auto out) { t.gravity(out); }, inverse);
  term(
      "jacobian_bar", nv * n, &O::Terms::jacobian_bar, [](auto& t, auto out) { t.jacobian_bar(out); },
      inverse);
  calls.push_back(
      {"at rest", n,
       [=](auto& b, auto& s, auto out) { O(b, frames, options).terms(s.q, {}, {.free_acceleration = out}); },
       [=](const State& s, auto out) {
         space->update(s.q);
         space->free_acceleration(out);
       },
       1e-10});
  calls.push_back({"motion_force", nv,
                   [=](auto& b, auto& s, auto out) {
                     const std::vector<double> u(n * s.count, 0.7);
                     O(b, frames, options).motion_force(s.q, s.v, u, {}, out);
                   },
                   [=](const State& s, auto out) {
                     space->update(s.q, s.v);
                     const std::vector<double> u(n, 0.7);
                     std::vector<double> F(n);
                     space->motion_force(u, F);
                     space->times_jacobian_star(F, out);
                   },
                   inverse});
  return calls;
}

/// The 7-joint chain's last frame is regular at random states; one frame and two of trees are mostly not.
TEST(BatchOperationalSpace, AgreesWithOneStateAtATime) {
  Worst regular("batch operational space, regular"), two("batch operational space, two frames");
  Rng rng(1);
  const Model arm(make_chain(7));
  expect_as_one_by_one(arm, rng, calls_of(arm, {last_frame(arm)}, true), {0, 1, 7, 8, 9, 17}, regular);
  const Model floating(random_spec(rng, {.links = 9}), {.base = Base::free});
  expect_as_one_by_one(floating, rng, calls_of(floating, {last_frame(floating)}, true), {9}, regular);
  const Model long_arm(make_chain(30));
  expect_as_one_by_one(long_arm, rng, calls_of(long_arm, {12, last_frame(long_arm)}, true), {3}, two);
}

/// Lost directions, every joint kind, mimic joints, frames on one body and on the world: Omega and what goes
/// with it are the same; with damping, so is Lambda.
TEST(BatchOperationalSpace, LostDirections) {
  Worst worst("batch operational space, any tree"), damped("batch operational space, damped");
  Rng rng(2);
  int n = 0;
  for_each_case([&](const Case& c) {
    if (c.model.nq() == 0 || ++n % 3 != 0) return;
    const int frames = static_cast<int>(c.model.frames().size());
    const std::vector<int> two{rng.integer(0, frames - 1), rng.integer(0, frames - 1)};
    std::vector<ManyCall> calls = calls_of(c.model, two, false);
    std::erase_if(calls, [](const ManyCall& call) {
      return call.name != "omega" && call.name != "velocity" && call.name != "bias" && call.name != "free" &&
             call.name != "at rest";
    });
    expect_as_one_by_one(c.model, rng, calls, {9}, worst);
    calls = calls_of(c.model, two, false, {.damp = true, .activation = 0.01});
    std::erase_if(calls, [](const ManyCall& call) { return call.name == "rank"; });
    expect_as_one_by_one(c.model, rng, calls, {3}, damped);
  });
}

TEST(BatchOperationalSpace, InFloat) {
  Rng rng(3);
  const Model model(make_chain(9));
  const ManyStates s(rng, model, 19);
  const std::vector<int> frame{last_frame(model)};
  Batch<float> small(model);
  Batch<> batch(model);
  std::vector<float> omega(36 * s.count);
  std::vector<double> expected(36 * s.count);
  OperationalSpaceBatch<float>(small, frame).terms(to_float(s.q), to_float(s.v), {.omega = omega});
  O(batch, frame).terms(s.q, s.v, {.omega = expected});
  EXPECT_LT(relative_error(to_double(omega), expected), 1e-4);
}

TEST(BatchOperationalSpace, Errors) {
  Rng rng(4);
  const Model model(make_chain(7));
  Batch<> batch(model);
  EXPECT_THROW(O(batch, std::vector<int>{}), ArgumentError);
  EXPECT_THROW(O(batch, std::vector{99}), ArgumentError);
  O space(batch, std::vector{last_frame(model)});
  EXPECT_EQ(space.rows(), 6);
  ManyStates s(rng, model, 12);
  std::vector<double> lambda(36 * 12), few(35);
  EXPECT_THROW(space.terms(s.q, s.v, {.lambda = few}), ArgumentError);
  EXPECT_THROW(space.terms(s.q, few, {.lambda = lambda}), ArgumentError);
  for (auto* x : {&s.q, &s.v}) {
    const double kept = (*x)[7 * 9 + 3];
    (*x)[7 * 9 + 3] = NAN;
    try {
      space.terms(s.q, s.v, {.lambda = lambda});
      FAIL();
    } catch (const NotFiniteError& error) {
      EXPECT_NE(std::string(error.what()).find("state 9"), std::string::npos) << error.what();
    }
    for (std::size_t i = 0; i < lambda.size(); ++i) EXPECT_EQ(std::isnan(lambda[i]), i / 36 == 9);
    (*x)[7 * 9 + 3] = kept;
  }
}

}  // namespace
}  // namespace articula::testing
