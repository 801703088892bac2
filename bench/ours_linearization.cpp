#include <fmt/format.h>

#include "articula/linearization/linearized_forward.hpp"
#include "articula/linearization/linearized_inverse.hpp"
#include "articula/linearization/second_order.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

void add_linearizations(const Robot& robot, bool matrices, std::vector<Entry>& all) {
  if (robot.model.nv() > 1000) return;  // their workspaces have room for matrices
  const std::size_t nv = robot.model.nv(), square = nv * nv;
  const auto [inverse, inverse_bytes] = make_workspace<LinearizedInverse<>>(robot.model);
  const auto [forward, forward_bytes] = make_workspace<LinearizedForward<>>(robot.model);
  const auto [second, second_bytes] = make_workspace<SecondOrder>(robot.model);
  const auto& s = robot.states;
  struct Results {
    std::vector<double> A, B, C;
  };
  const auto add = [&](const char* name, const char* counted, std::size_t bytes, std::size_t size,
                       auto call) {
    const auto r = std::make_shared<Results>();
    for (auto* x : {&r->A, &r->B, &r->C}) x->resize(size);
    all.push_back(entry(
        name, [&s, call, r](int i) { call(s[i], *r); },
        [r](int) {
          std::vector<double> out = r->A;
          out.insert(out.end(), r->B.begin(), r->B.end());
          out.insert(out.end(), r->C.begin(), r->C.end());
          return out;
        }));
    all.back().counted = counted;
    all.back().bytes = bytes;
  };
  if (matrices) {
    add("linearized_inverse", "linearized_2", inverse_bytes, square,
        [w = inverse](const PeerState& s, Results& r) {
          linearized_inverse(*w, s.q, s.v, s.a, r.A, r.B, r.C);
        });
    add("linearized_forward", "forward_dynamics+linearized_6", forward_bytes, square,
        [w = forward](const PeerState& s, Results& r) {
          linearized_forward(*w, s.q, s.v, s.tau, r.A, r.B, r.C);
        });
  }
  add("perturbed_inverse", "linearized_1", inverse_bytes, nv, [w = inverse](const PeerState& s, Results& r) {
    perturbed_inverse(*w, s.q, s.v, s.a, s.v, s.a, s.tau, r.A);
  });
  add("perturbed_forward", "forward_dynamics+linearized_5", forward_bytes, nv,
      [w = forward](const PeerState& s, Results& r) {
        perturbed_forward(*w, s.q, s.v, s.tau, s.v, s.a, s.tau, r.A);
      });
  add("inverse_gradient", "", inverse_bytes, nv, [w = inverse](const PeerState& s, Results& r) {
    inverse_gradient(*w, s.q, s.v, s.a, s.tau, r.A, r.B, r.C);
  });
  add("forward_gradient", "", forward_bytes, nv, [w = forward](const PeerState& s, Results& r) {
    forward_gradient(*w, s.q, s.v, s.tau, s.a, r.A, r.B, r.C);
  });
  add("twice_perturbed_inverse", "", second_bytes, nv, [w = second](const PeerState& s, Results& r) {
    twice_perturbed_inverse(*w, s.q, s.v, s.a, {s.v, s.a, s.tau}, {s.a, s.tau, s.v}, r.A);
  });
  add("twice_perturbed_forward", "", second_bytes, nv, [w = second](const PeerState& s, Results& r) {
    twice_perturbed_forward(*w, s.q, s.v, s.tau, {s.v, s.a, s.tau}, {s.a, s.tau, s.v}, r.A);
  });
  if (!matrices) return;
  for (const Integrator integrator : {Integrator::euler, Integrator::symplectic_euler, Integrator::rk4,
                                      Integrator::midpoint, Integrator::variational}) {
    const auto [step, step_bytes] = make_workspace<LinearizedStep>(robot.model, integrator);
    struct Matrices {
      std::vector<double> A, B, q, v;
    };
    const auto r =
        std::make_shared<Matrices>(Matrices{std::vector<double>(4 * square), std::vector<double>(2 * square),
                                            std::vector<double>(robot.model.nq()), std::vector<double>(nv)});
    all.push_back(entry(
        fmt::format("linearized_step, {}", name_of(integrator)),
        [&s, w = step, r](int i) { w->compute(s[i].q, s[i].v, s[i].tau, 1e-3, r->A, r->B, r->q, r->v); },
        [](int) { return std::vector<double>(); }));
    all.back().bytes = step_bytes;
  }
}

}  // namespace articula::bench
