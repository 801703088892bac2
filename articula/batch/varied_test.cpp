// Masses and inertias of each state, against models built anew with them.
#include <gtest/gtest.h>

#include <cmath>

#include "articula/batch/batch.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/inertial_parameters.hpp"
#include "articula/simulation/simulator.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

/// The same mechanism with other masses: each link heavier or lighter, its mass centre elsewhere.
Model with_other_masses(Rng& rng, const Model& model) {
  ModelSpec spec = model.spec();
  for (LinkSpec& link : spec.links) {
    MassProperties& m = link.mass;
    m.mass *= rng.uniform(0.3, 3);
    m.center_of_mass = m.center_of_mass + rng.vector(0.05);
    const double more = rng.uniform(0.3, 3), round = rng.uniform(0, 0.01) * m.mass;
    m.inertia = {m.inertia.xx * more + round, m.inertia.yy * more + round, m.inertia.zz * more + round,
                 m.inertia.xy * more,         m.inertia.xz * more,         m.inertia.yz * more};
  }
  return Model(spec, {.base = model.base(), .gravity = model.gravity()});
}
Model with_other_armature(const Model& model, std::span<const double> armature) {
  ModelSpec spec = model.spec();
  for (JointSpec& joint : spec.joints) {
    if (joint.kind == JointKind::fixed) continue;
    const Joint& built = model.joints()[model.joint(joint.name)];
    for (int i = 0; built.mimics < 0 && i < built.nv; ++i) joint.armature[i] = armature[built.v_index + i];
  }
  return Model(spec, {.base = model.base(), .gravity = model.gravity()});
}

/// As many models, and their parameters one after the other.
struct Family {
  std::vector<Model> models;
  std::vector<double> inertias;
  Family(Rng& rng, const Model& model, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      models.push_back(with_other_masses(rng, model));
      const std::vector<double> p = inertial_parameters(models.back());
      inertias.insert(inertias.end(), p.begin(), p.end());
    }
  }
};

/// Every result of a batch, one after the other.
struct Results {
  std::vector<double> tau, bias, gravity, a, M, inverse, kinetic, potential, tq, tv, ta, aq, av, at, dtau, da,
      by_q, by_v, by_a, q_end, v_end;
  Results(Batch<>& batch, const States& s, bool columns = false) {
    const std::size_t count = s.count, nv = batch.model().nv(), nq = batch.model().nq();
    const auto in = [&](const std::vector<double>& x) { return columns ? turned(x, count) : x; };
    const auto q = in(s.q), v = in(s.v), acc = in(s.a), t = in(s.tau);
    for (auto* x : {&tau, &bias, &gravity, &a, &dtau, &da, &by_q, &by_v, &by_a, &v_end})
      x->assign(count * nv, NAN);
    for (auto* x : {&M, &inverse, &tq, &tv, &ta, &aq, &av, &at}) x->assign(count * nv * nv, NAN);
    kinetic.assign(count, NAN), potential.assign(count, NAN), q_end.assign(count * nq, NAN);
    batch.inverse_dynamics(q, v, acc, tau);
    batch.bias_forces(q, v, bias);
    batch.gravity_forces(q, gravity);
    batch.forward_dynamics(q, v, t, a);
    batch.mass_matrix(q, M);
    batch.inverse_mass_matrix(q, inverse);
    batch.energies(q, v, kinetic, potential);
    batch.linearized_inverse(q, v, acc, tq, tv, ta);
    batch.linearized_forward(q, v, t, aq, av, at);
    batch.perturbed_inverse(q, v, acc, t, acc, v, dtau);
    batch.perturbed_forward(q, v, t, acc, v, acc, da);
    batch.inverse_gradient(q, v, acc, t, by_q, by_v, by_a);
    batch.step(q, v, t, 1e-3, q_end, v_end);
    if (!columns) return;
    for (auto* x : all())
      if (x->size()) *x = turned(*x, x->size() / count);
  }
  std::vector<std::vector<double>*> all() {
    return {&tau, &bias, &gravity, &a,    &M,  &inverse, &kinetic, &potential, &tq,    &tv,   &ta,
            &aq,  &av,   &at,      &dtau, &da, &by_q,    &by_v,    &by_a,      &q_end, &v_end};
  }
};
States one_of(const States& s, std::size_t i) {
  States out = s;
  const auto take = [&](const std::vector<double>& x, std::vector<double>& to) {
    const std::size_t n = x.size() / s.count;
    to.assign(x.begin() + i * n, x.begin() + (i + 1) * n);
  };
  out.count = 1;
  take(s.q, out.q), take(s.v, out.v), take(s.a, out.a), take(s.tau, out.tau);
  return out;
}
/// `rows` of a are those of b, to a relative error.
double worst_difference(Results& a, std::size_t state, std::size_t count, Results& b, double floor = 0.01) {
  double worst = 0;
  const auto x = a.all(), y = b.all();
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, relative_error(row(*x[i], state, x[i]->size() / count), *y[i], floor));
  return worst;
}

TEST(VariedInertias, AgreeWithModelsBuiltAnew) {
  Worst worst("batch with varied inertias against other models");
  Rng rng(1);
  for_each_case([&](const Case& c) {
    if (c.model.nq() == 0) return;
    const std::size_t count = 3;
    const Family family(rng, c.model, count);
    const States s(rng, c.model, count);
    Batch<> batch(c.model);
    batch.vary(family.inertias);
    Results varied(batch, s);
    for (std::size_t i = 0; i < count; ++i) {
      Batch<> other(family.models[i]);
      Results expected(other, one_of(s, i));
      EXPECT_LT(worst(worst_difference(varied, i, count, expected)), 1e-10);
    }
  });
}

TEST(VariedInertias, TheModelsOwnChangeNothing) {
  Worst worst("batch with its own inertias given");
  Rng rng(2);
  for (int seed = 0; seed < 12; ++seed) {
    const Model model(random_spec(rng, {.links = 8, .mimic = seed % 2 ? 0.5 : 0.0, .mass_ratio = 10}),
                      {.base = seed % 3 ? Base::fixed : Base::free});
    const std::size_t count = 9;
    const States s(rng, model, count);
    Batch<> batch(model);
    Results before(batch, s);
    const std::vector<double> own = inertial_parameters(model);
    ASSERT_EQ(own.size(), 10u * model.body_count());
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), own.begin(), own.end());
    batch.vary(all);
    Results varied(batch, s);
    EXPECT_LT(worst(worst_difference(varied, 0, 1, before)), 1e-12);
    batch.use_model_inertias();
    Results after(batch, s);
    const auto x = before.all(), y = after.all();
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(*x[i], *y[i]) << i;
  }
}

TEST(VariedInertias, SameBitsInAnyLayoutTileAndThread) {
  Rng rng(3);
  for (const double mimic : {0.0, 0.5}) {
    const Model model(random_spec(rng, {.links = 9, .mimic = mimic}), {.base = Base::free});
    const std::size_t most = 17, n = 10 * model.body_count();
    const States s(rng, model, most);
    const Family family(rng, model, most);
    Batch<> batch(model);
    batch.vary(family.inertias);
    Results all(batch, s);
    const auto same = [&](Results part, std::size_t count) {
      const auto x = all.all(), y = part.all();
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(std::equal(y[i]->begin(), y[i]->end(), x[i]->begin())) << i << " of " << count;
    };
    Threads threads(3);
    Batch<> on_threads(model, {.threads = &threads});
    Batch<> columns(model, {.layout = Layout::columns});
    for (const std::size_t count : {1, 7, 8, 9, 17}) {
      States first = s;
      first.count = count;
      for (auto* x : {&first.q, &first.v, &first.a, &first.tau}) x->resize(x->size() / most * count);
      const std::vector<double> inertias(family.inertias.begin(), family.inertias.begin() + count * n);
      batch.vary(inertias);
      same(Results(batch, first), count);
      on_threads.vary(inertias);
      same(Results(on_threads, first), count);
      columns.vary(turned(inertias, count));
      same(Results(columns, first, true), count);
    }
  }
}

TEST(VariedInertias, OfLargeModelsToo) {
  Rng rng(4);
  for (const bool mimics : {false, true}) {
    ModelSpec spec = make_chain(50);
    if (mimics) spec.joints[20].mimic = Mimic{spec.joints[3].name, -0.5, 0.1};
    const Model model(spec);
    const States s(rng, model, 2);
    const Family family(rng, model, 2);
    Batch<> batch(model);
    Results plain(batch, s);  // makes the room of one state at a time
    batch.vary(family.inertias);
    Results varied(batch, s);
    for (std::size_t i = 0; i < 2; ++i) {
      Batch<> other(family.models[i]);
      Results expected(other, one_of(s, i));
      EXPECT_LT(worst_difference(varied, i, 2, expected), 1e-9);
    }
  }
}

TEST(VariedInertias, ArmatureAlone) {
  Rng rng(5);
  for (const double mimic : {0.0, 0.5}) {
    const Model model(random_spec(
        rng, {.links = 8,
              .kinds = {JointKind::revolute, JointKind::prismatic, JointKind::fixed, JointKind::helical},
              .mimic = mimic,
              .armature = 0.5}));
    const std::size_t count = 5, nv = model.nv();
    const States s(rng, model, count);
    std::vector<double> armature(count * nv);
    for (double& x : armature) x = rng.uniform(0, 0.5);
    Batch<> batch(model);
    batch.vary({}, armature);
    Results varied(batch, s);
    for (std::size_t i = 0; i < count; ++i) {
      Batch<> other(with_other_armature(model, row(armature, i, nv)));
      Results expected(other, one_of(s, i));
      EXPECT_LT(worst_difference(varied, i, count, expected), 1e-11);
    }
  }
}

TEST(VariedInertias, RolloutsKeepThem) {
  Rng rng(6);
  const Model model(make_chain(5));
  const std::size_t count = 11;
  const States s(rng, model, count);
  const Family family(rng, model, count);
  std::vector<double> q(s.q.size()), v(s.v.size());
  RolloutOptions options;
  options.steps = options.every = 20;
  Batch<> batch(model);
  batch.vary(family.inertias);
  batch.rollout(s.q, s.v, s.tau, options, q, v);
  for (std::size_t i = 0; i < count; ++i) {
    Simulator simulator(family.models[i]);
    const States start = one_of(s, i);
    simulator.q = start.q, simulator.v = start.v, simulator.tau = start.tau;
    for (int k = 0; k < 20; ++k) simulator.step(1e-3);
    EXPECT_LT(relative_error(row(q, i, 5), simulator.q), 1e-11);
    EXPECT_LT(relative_error(row(v, i, 5), simulator.v), 1e-11);
  }
}

TEST(VariedInertias, InFloat) {
  Rng rng(7);
  const Model model(random_spec(rng, {.links = 6, .mass_ratio = 3}), {.base = Base::free});
  const std::size_t count = 9;
  const States s(rng, model, count);
  const Family family(rng, model, count);
  Batch<> batch(model);
  batch.vary(family.inertias);
  Batch<float> in_float(model);
  in_float.vary(to_float(family.inertias));
  std::vector<double> a(s.v.size()), tau(s.v.size());
  std::vector<float> a_float(s.v.size()), tau_float(s.v.size());
  batch.inverse_dynamics(s.q, s.v, s.a, tau);
  batch.forward_dynamics(s.q, s.v, s.tau, a);
  in_float.inverse_dynamics(to_float(s.q), to_float(s.v), to_float(s.a), tau_float);
  in_float.forward_dynamics(to_float(s.q), to_float(s.v), to_float(s.tau), a_float);
  EXPECT_LT(relative_error(to_double(tau_float), tau), 1e-5);
  EXPECT_LT(relative_error(to_double(a_float), a), 1e-3);
}

TEST(VariedInertias, BadOnesAreRefusedAndChangeNothing) {
  Rng rng(8);
  const Model model(make_chain(3));
  const std::size_t count = 10, n = 30;
  const States s(rng, model, count);
  const Family family(rng, model, count);
  Batch<> batch(model);
  std::vector<double> before(s.v.size()), after(s.v.size());
  batch.vary(family.inertias);
  batch.forward_dynamics(s.q, s.v, s.tau, before);
  const auto refused = [&](std::size_t at, double value, const std::string& words) {
    std::vector<double> bad = family.inertias;
    bad[at] = value;
    try {
      batch.vary(bad);
      ADD_FAILURE() << words;
    } catch (const ArgumentError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("state 7"), std::string::npos) << text;
      EXPECT_NE(text.find("'" + model.bodies()[1].name + "'"), std::string::npos) << text;
      EXPECT_NE(text.find(words), std::string::npos) << text;
    }
    batch.forward_dynamics(s.q, s.v, s.tau, after);
    EXPECT_EQ(before, after);
  };
  const std::size_t at = 7 * n + 10;  // state 7, the second body
  refused(at, -1, "mass");
  refused(at, NAN, "mass");
  refused(at + 2, INFINITY, "mass centre");
  refused(at + 4, NAN, "inertia");
  refused(at + 4, -1, "not positive");
  refused(at + 5, 1e3, "not positive");
  refused(at + 1, 1e6, "not positive");
  refused(at, 0, "the mass is zero");
  EXPECT_THROW(batch.vary({}), ArgumentError);
  EXPECT_THROW(batch.vary(std::vector<double>(31)), ArgumentError);
  EXPECT_THROW(batch.vary({}, std::vector<double>(4)), ArgumentError);
  EXPECT_THROW(batch.vary({}, std::vector<double>(3, -1.0)), ArgumentError);
  EXPECT_THROW(batch.vary(family.inertias, std::vector<double>(9)), ArgumentError);
  // Another number of states than there are inertias.
  std::vector<double> a(6);
  EXPECT_THROW(
      batch.forward_dynamics(std::span(s.q).first(6), std::span(s.v).first(6), std::span(s.tau).first(6), a),
      ArgumentError);
  // What does not depend on inertias goes on, and everything after going back.
  std::vector<double> pose(12 * count);
  EXPECT_NO_THROW(batch.pose(0, s.q, pose));
  batch.use_model_inertias();
  EXPECT_NO_THROW(
      batch.forward_dynamics(std::span(s.q).first(6), std::span(s.v).first(6), std::span(s.tau).first(6), a));
}

TEST(InertialParameters, AndBack) {
  Rng rng(9);
  const Model model(random_spec(rng, {.links = 10, .mass_ratio = 1e4}), {.base = Base::free});
  const std::vector<double> all = inertial_parameters(model);
  for (std::size_t k = 0; k < model.bodies().size(); ++k) {
    InertialParameters p;
    std::copy_n(all.begin() + k * p.size(), p.size(), p.begin());
    EXPECT_EQ(problem_with(p), std::nullopt);
    const MassProperties& a = model.bodies()[k].mass;
    const MassProperties b = mass_properties(p);
    EXPECT_EQ(a.mass, b.mass);
    EXPECT_LT(relative_error(b.center_of_mass, a.center_of_mass), 1e-14);
    const double scale = p[4] + p[7] + p[9];
    for (const double d :
         {a.inertia.xx - b.inertia.xx, a.inertia.yy - b.inertia.yy, a.inertia.zz - b.inertia.zz,
          a.inertia.xy - b.inertia.xy, a.inertia.xz - b.inertia.xz, a.inertia.yz - b.inertia.yz})
      EXPECT_LE(std::abs(d), 1e-14 * scale);
  }
}

}  // namespace
}  // namespace articula::testing
