// Real robots against reference numbers computed with Pinocchio, where the folder ../shared exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "articula/dynamics/coriolis.hpp"
#include "articula/dynamics/fd1_to_fd4.hpp"
#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/urdf.hpp"
#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/task_space.hpp"
#include "tests/support/cases.hpp"

namespace articula::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
const fs::path shared = fs::path(ARTICULA_SOURCE_DIR) / ".." / "shared";

/// A robot with the map between the oracle's order (its joints sorted by name, linear before angular,
/// position before quaternion, continuous joints as cosine and sine) and ours.
struct Robot {
  json data;
  Model model;
  std::vector<int> v;  // the oracle's velocity i is our velocity v[i]

  static Model build(const json& data) {
    ModelSpec spec = read_urdf_spec((shared / "robots" / data["urdf"].get<std::string>()).string()).spec;
    for (JointSpec& joint : spec.joints) joint.mimic.reset();  // the oracle lets them move by themselves
    return Model(spec, {.base = data["free_flyer"] ? Base::free : Base::fixed});
  }
  explicit Robot(const fs::path& path) : data(json::parse(std::ifstream(path))), model(build(data)) {
    for (const json& joint : data["joints"]) {
      const bool base = joint["type"] == "JointModelFreeFlyer";
      const Joint& ours =
          base ? model.joints()[0] : model.joints()[model.joint(joint["name"].get<std::string>())];
      for (int i = 0; i < joint["nv"]; ++i) v.push_back(ours.v_index + (base ? (i + 3) % 6 : i));
    }
  }
  std::vector<double> q(const std::vector<double>& theirs) const {
    std::vector<double> out(model.nq());
    for (const json& joint : data["joints"]) {
      const double* x = theirs.data() + joint["idx_q"].get<int>();
      if (joint["type"] == "JointModelFreeFlyer") {
        for (int i = 0; i < 7; ++i) out[i] = x[(i + 3) % 7];
        continue;
      }
      out[model.joints()[model.joint(joint["name"].get<std::string>())].q_index] =
          joint["nq"] == 2 ? std::atan2(x[1], x[0]) : x[0];
    }
    return out;
  }
  std::vector<double> joint_vector(const std::vector<double>& theirs) const {
    std::vector<double> out(model.nv());
    for (std::size_t i = 0; i < v.size(); ++i) out[v[i]] = theirs[i];
    return out;
  }
  std::vector<double> joint_matrix(const json& rows) const {
    std::vector<double> out(model.nv() * model.nv());
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t j = 0; j < v.size(); ++j) out[v[i] * model.nv() + v[j]] = rows[i][j];
    return out;
  }
  /// 6 x nv, linear rows first in the oracle.
  std::vector<double> spatial_matrix(const json& rows) const {
    std::vector<double> out(6 * model.nv());
    for (int r = 0; r < 6; ++r)
      for (std::size_t j = 0; j < v.size(); ++j) out[(r + 3) % 6 * model.nv() + v[j]] = rows[r][j];
    return out;
  }
};
std::vector<double> spatial(const std::vector<double>& theirs) {
  std::vector<double> out(6);
  for (int i = 0; i < 6; ++i) out[(i + 3) % 6] = theirs[i];
  return out;
}
std::vector<double> numbers(const Spatial<double>& x) { return {numbers_of(x), numbers_of(x) + 6}; }

TEST(Oracle, AllRobots) {
  if (!fs::exists(shared / "oracle")) GTEST_SKIP() << "skipped: no ../shared";
  int robots = 0;
  for (const auto& file : fs::directory_iterator(shared / "oracle")) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem().string();
    SCOPED_TRACE(name);
    ++robots;
    const Robot robot(file.path());
    const Model& model = robot.model;
    const int nv = model.nv();
    ASSERT_EQ(nv, robot.data["nv"].get<int>());
    ASSERT_EQ(static_cast<int>(robot.v.size()), nv);
    Worst worst(name);
    const auto same = [&](const char* what, const std::vector<double>& ours,
                          const std::vector<double>& theirs) {
      EXPECT_LT(worst(relative_error(ours, theirs, 1e-3)), 1e-10) << what;
    };
    same("mass", {model.mass()}, {robot.data["total_mass"]});
    for (const json& state : robot.data["states"]) {
      const auto vector = [&](const char* key) {
        return robot.joint_vector(state[key].get<std::vector<double>>());
      };
      const auto q = robot.q(state["q"]), v = vector("v"), a = vector("a"), tau = vector("tau");
      same("rnea", inverse_dynamics(model, q, v, a), vector("rnea_tau"));
      same("bias", bias_forces(model, q, v), vector("nonlinear_effects"));
      same("gravity", gravity_forces(model, q), vector("gravity_torque"));
      same("aba", forward_dynamics(model, q, v, tau), vector("aba_qdd"));
      same("fd1", forward_dynamics_fd1(model, q, v, tau), vector("aba_qdd"));
      same("fd2", forward_dynamics_fd2(model, q, v, tau), vector("aba_qdd"));
      same("fd3", forward_dynamics_fd3(model, q, v, tau), vector("aba_qdd"));
      same("fd4", forward_dynamics_fd4(model, q, v, tau), vector("aba_qdd"));
      same("Coriolis matrix", coriolis_matrix(model, q, v), robot.joint_matrix(state["coriolis_matrix"]));
      same("mass matrix", mass_matrix(model, q), robot.joint_matrix(state["mass_matrix"]));
      same("inverse mass matrix", inverse_mass_matrix(model, q),
           robot.joint_matrix(state["mass_matrix_inverse"]));
      LinearizedInverse<> linear_inverse(model);
      std::vector<double> dq(nv * nv), dv(nv * nv), last(nv * nv);
      linearized_inverse(linear_inverse, q, v, a, dq, dv, last);
      same("dtau/dq", dq, robot.joint_matrix(state["dtau_dq"]));
      same("dtau/dv", dv, robot.joint_matrix(state["dtau_dv"]));
      LinearizedForward<> linear_forward(model);
      for (const Method method : {Method::direct, Method::conventional}) {
        linearized_forward(linear_forward, q, v, tau, dq, dv, last, {.method = method});
        same("da/dq", dq, robot.joint_matrix(state["dqdd_dq"]));
        same("da/dv", dv, robot.joint_matrix(state["dqdd_dv"]));
        same("da/dtau", last, robot.joint_matrix(state["dqdd_dtau"]));
      }
      same("centroidal map", centroidal_map(model, q), robot.spatial_matrix(state["centroidal_map"]));

      Kinematics<> motion(model);
      motion.update(q, v);
      const int ee = model.frame(robot.data["ee_frame"]["name"].get<std::string>());
      const auto pose = motion.pose(ee);
      std::vector<double> R;
      for (const auto& row : state["ee_pose"]["R"]) R.insert(R.end(), row.begin(), row.end());
      same("ee rotation", {numbers_of(pose.rotation), numbers_of(pose.rotation) + 9}, R);
      same("ee position", {numbers_of(pose.position), numbers_of(pose.position) + 3}, state["ee_pose"]["p"]);
      same("ee velocity", numbers(motion.velocity(ee)), spatial(state["ee_velocity"]));
      same("ee Jdot v", numbers(motion.acceleration(ee)), spatial(state["ee_Jdot_v"]));
      std::vector<double> J(6 * nv);
      motion.jacobian(ee, J);
      same("ee Jacobian", J, robot.spatial_matrix(state["ee_jacobian"]));
      // The oracle has it where sigma_min / sigma_max of J is over 1e-6; its square is what Omega loses.
      TaskSpace space(model, pose_task(model, robot.data["ee_frame"]["name"].get<std::string>()));
      space.update(q, v);
      if (const json& theirs = state["operational_space_inertia"]; !theirs.is_null()) {
        std::vector<double> Lambda(36), expected(36);
        for (int i = 0; i < 6; ++i)
          for (int k = 0; k < 6; ++k) expected[(i + 3) % 6 * 6 + (k + 3) % 6] = theirs[i][k];
        space.lambda(Lambda);
        same("operational space inertia", Lambda, expected);
        EXPECT_EQ(space.rank(), 6);
      } else {
        EXPECT_LT(space.rank(), 6);
      }
      const auto t = motion.totals();
      same("kinetic", {t.kinetic}, {state["kinetic_energy"]});
      same("potential", {t.potential}, {state["potential_energy"]});
      same("centre of mass", {numbers_of(t.center_of_mass), numbers_of(t.center_of_mass) + 3},
           state["center_of_mass"]);
      same("momentum", numbers(t.momentum), spatial(state["centroidal_momentum"]));
    }
  }
  EXPECT_GT(robots, 0);
}

}  // namespace
}  // namespace articula::testing
