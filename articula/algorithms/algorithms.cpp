// The list itself. One entry per algorithm: `compute` is one text for OneState and Batch, which have the same calls.
#include "articula/algorithms/algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "articula/kernels/tables.hpp"

namespace articula {

namespace {

constexpr Argument q = Argument::q, v = Argument::v, a = Argument::a, tau = Argument::tau, dq = Argument::dq,
                   dv = Argument::dv, da = Argument::da, dtau = Argument::dtau, weights = Argument::weights;
constexpr Extent three = Extent::three, six = Extent::six, nv = Extent::nv, task = Extent::task,
                 bodies = Extent::bodies;

/// One state after the other for many too.
struct OneByOne {};

/// What an entry says beside its numbers.
struct Entry {
  const char* name;
  std::vector<Argument> uses;
  std::vector<Part> parts;
  const char* meaning;
  FramesNeeded frames = FramesNeeded::none;
  bool external_forces = false;
  bool options_one_by_one = false;
  bool mimics = true;
  const char* counted = "";
  std::vector<Method> methods{};
};

/// F is the type of a lambda that captures nothing: f(OneState or Batch, Call).
template <class F, class... How>
Algorithm entry(Entry e, F, How...) {
  Algorithm algorithm;
  algorithm.name = e.name;
  algorithm.uses = std::move(e.uses);
  algorithm.frames = e.frames;
  algorithm.parts = std::move(e.parts);
  algorithm.meaning = e.meaning;
  algorithm.external_forces = e.external_forces;
  algorithm.options_one_by_one = e.options_one_by_one;
  algorithm.mimics = e.mimics;
  algorithm.counted = e.counted;
  algorithm.methods = 0;
  for (const Method method : e.methods) algorithm.methods |= 1u << static_cast<int>(method);
  algorithm.one_in_double = [](OneState<double>& x, const Call<double>& c) { F{}(x, c); };
  algorithm.one_in_float = [](OneState<float>& x, const Call<float>& c) { F{}(x, c); };
  if constexpr (sizeof...(How) == 0) {
    algorithm.many_in_double = [](Batch<double>& x, const Call<double>& c) { F{}(x, c); };
    algorithm.many_in_float = [](Batch<float>& x, const Call<float>& c) { F{}(x, c); };
  }
  return algorithm;
}

/// Options of a linearization, which Batch does not take.
template <class S>
LinearizationOptions<S> options(const Call<S>& c) {
  LinearizationOptions<S> o{.method = c.method};
  o.wrenches = {reinterpret_cast<const Spatial<S>*>(c.wrenches.data()), c.wrenches.size() / 6};
  o.levers = c.levers;
  return o;
}
template <class X>
constexpr bool takes_options = false;
template <class S>
constexpr bool takes_options<OneState<S>> = true;

/// f(call, arguments .., options where they are taken)
#define ARTICULA_LINEARIZATION(method, ...)                        \
  [](auto& x, const auto& c) {                                     \
    if constexpr (takes_options<std::remove_cvref_t<decltype(x)>>) \
      x.method(__VA_ARGS__, options(c));                           \
    else                                                           \
      x.method(__VA_ARGS__);                                       \
  }

template <int number>
Algorithm forward_dynamics_fd(const char* name, const char* meaning) {
  return entry(
      {.name = name, .uses = {q, v, tau}, .parts = {{"a", nv}}, .meaning = meaning, .external_forces = true},
      [](auto& x, const auto& c) { x.forward_dynamics_fd(number, c[q], c[v], c[tau], c.out[0], c.wrenches); },
      OneByOne{});
}

void add_dynamics(std::vector<Algorithm>& all) {
  all.push_back(
      entry({.name = "inverse_dynamics",
             .uses = {q, v, a},
             .parts = {{"tau", nv}},
             .meaning = "tau = M a + C v + g, less external forces",
             .external_forces = true,
             .counted = "inverse_dynamics"},
            [](auto& x, const auto& c) { x.inverse_dynamics(c[q], c[v], c[a], c.out[0], c.wrenches); }));
  all.push_back(
      entry({.name = "forward_dynamics",
             .uses = {q, v, tau},
             .parts = {{"a", nv}},
             .meaning = "a that tau and external forces cause",
             .external_forces = true,
             .counted = "forward_dynamics"},
            [](auto& x, const auto& c) { x.forward_dynamics(c[q], c[v], c[tau], c.out[0], c.wrenches); }));
  all.push_back(forward_dynamics_fd<1>("forward_dynamics_fd1", "the same by JPL88's FD1"));
  all.push_back(forward_dynamics_fd<2>("forward_dynamics_fd2", "the same by JPL88's FD2"));
  all.push_back(forward_dynamics_fd<3>("forward_dynamics_fd3", "the same by JPL88's FD3"));
  all.push_back(forward_dynamics_fd<4>("forward_dynamics_fd4", "the same by JPL88's FD4"));
  all.push_back(entry(
      {.name = "body_accelerations",
       .uses = {q, v, tau},
       .parts = {{"alpha", bodies, six}},
       .meaning = "by FD2: d/dt (w, v) of every body's joint origin, world axes, gravity not included",
       .external_forces = true},
      [](auto& x, const auto& c) { x.body_accelerations(c[q], c[v], c[tau], c.out[0], c.wrenches); },
      OneByOne{}));
  all.push_back(entry(
      {.name = "tip_acceleration",
       .uses = {q, v, tau},
       .parts = {{"alpha", six}},
       .meaning =
           "by FD2: d/dt (w, v) of the frame's origin that tau causes, world axes, gravity not included",
       .frames = FramesNeeded::one,
       .external_forces = true},
      [](auto& x, const auto& c) {
        x.tip_acceleration(c.frames[0], c[q], c[v], c[tau], c.out[0], c.wrenches);
      },
      OneByOne{}));
  all.push_back(entry({.name = "coriolis_matrix",
                       .uses = {q, v},
                       .parts = {{"C", nv, nv}},
                       .meaning = "C, nv x nv: C v + g = bias_forces, dM/dt - 2C skew"},
                      [](auto& x, const auto& c) { x.coriolis_matrix(c[q], c[v], c.out[0]); }));
  all.push_back(entry({.name = "mass_matrix_rate",
                       .uses = {q, v},
                       .parts = {{"dM_dt", nv, nv}},
                       .meaning = "dM/dt along v, nv x nv"},
                      [](auto& x, const auto& c) { x.mass_matrix_rate(c[q], c[v], c.out[0]); }));
  all.push_back(entry(
      {.name = "christoffel_symbols",
       .uses = {q},
       .parts = {{"gamma", nv, nv, nv}},
       .meaning = "Gamma_ijk as one matrix (rows i, columns j) for each k"},
      [](auto& x, const auto& c) { x.christoffel_symbols(c[q], c.out[0]); }, OneByOne{}));
  all.push_back(entry({.name = "mass_matrix",
                       .uses = {q},
                       .parts = {{"M", nv, nv}},
                       .meaning = "M, nv x nv",
                       .counted = "mass_matrix"},
                      [](auto& x, const auto& c) { x.mass_matrix(c[q], c.out[0]); }));
  all.push_back(entry({.name = "inverse_mass_matrix",
                       .uses = {q},
                       .parts = {{"M_inverse", nv, nv}},
                       .meaning = "M^-1, nv x nv",
                       .counted = "inverse_mass_matrix"},
                      [](auto& x, const auto& c) { x.inverse_mass_matrix(c[q], c.out[0]); }));
  all.push_back(entry({.name = "bias_forces", .uses = {q, v}, .parts = {{"tau", nv}}, .meaning = "C v + g"},
                      [](auto& x, const auto& c) { x.bias_forces(c[q], c[v], c.out[0]); }));
  all.push_back(entry({.name = "gravity_forces",
                       .uses = {q},
                       .parts = {{"tau", nv}},
                       .meaning = "g, the forces that hold the model still"},
                      [](auto& x, const auto& c) { x.gravity_forces(c[q], c.out[0]); }));
}

void add_kinematics(std::vector<Algorithm>& all) {
  all.push_back(entry({.name = "kinetic_energy",
                       .uses = {q, v},
                       .parts = {{"energy"}},
                       .meaning = "joules, rotors (armature) included"},
                      [](auto& x, const auto& c) { x.kinetic_energy(c[q], c[v], c.out[0]); }));
  all.push_back(entry({.name = "potential_energy",
                       .uses = {q},
                       .parts = {{"energy"}},
                       .meaning = "joules, zero at the world origin"},
                      [](auto& x, const auto& c) { x.potential_energy(c[q], c.out[0]); }));
  all.push_back(entry({.name = "center_of_mass",
                       .uses = {q},
                       .parts = {{"center", three}},
                       .meaning = "of the moving bodies, world axes"},
                      [](auto& x, const auto& c) { x.center_of_mass(c[q], c.out[0]); }));
  all.push_back(entry({.name = "momentum",
                       .uses = {q, v},
                       .parts = {{"momentum", six}},
                       .meaning = "(angular, linear) about the centre of mass, world axes"},
                      [](auto& x, const auto& c) { x.momentum(c[q], c[v], c.out[0]); }));
  all.push_back(entry({.name = "centroidal_map",
                       .uses = {q},
                       .parts = {{"map", six, nv}},
                       .meaning = "6 x nv: momentum = map v"},
                      [](auto& x, const auto& c) { x.centroidal_map(c[q], c.out[0]); }));
  all.push_back(entry({.name = "pose",
                       .uses = {q},
                       .parts = {{"rotation", three, three}, {"position", three}},
                       .meaning = "{\"rotation\": 3x3, \"position\": 3} in the world",
                       .frames = FramesNeeded::one},
                      [](auto& x, const auto& c) { x.pose(c.frames[0], c[q], c.out[0], c.out[1]); }));
  all.push_back(
      entry({.name = "frame_velocity",
             .uses = {q, v},
             .parts = {{"velocity", six}},
             .meaning = "(w, v) of the frame's origin, world axes",
             .frames = FramesNeeded::one},
            [](auto& x, const auto& c) { x.frame_velocity(c.frames[0], c[q], c[v], c.out[0], c.axes); }));
  all.push_back(entry(
      {.name = "frame_acceleration",
       .uses = {q, v, a},
       .parts = {{"acceleration", six}},
       .meaning = "d/dt frame_velocity, gravity not included",
       .frames = FramesNeeded::one},
      [](auto& x, const auto& c) { x.frame_acceleration(c.frames[0], c[q], c[v], c[a], c.out[0], c.axes); }));
  all.push_back(entry({.name = "jacobian",
                       .uses = {q},
                       .parts = {{"J", six, nv}},
                       .meaning = "6 x nv: frame_velocity = jacobian v",
                       .frames = FramesNeeded::one},
                      [](auto& x, const auto& c) { x.jacobian(c.frames[0], c[q], c.out[0], c.axes); }));
  all.push_back(
      entry({.name = "jacobian_dot_v",
             .uses = {q, v},
             .parts = {{"acceleration", six}},
             .meaning = "d/dt (jacobian v) at a = 0",
             .frames = FramesNeeded::one},
            [](auto& x, const auto& c) { x.jacobian_dot_v(c.frames[0], c[q], c[v], c.out[0], c.axes); }));
}

void add_linearizations(std::vector<Algorithm>& all) {
  all.push_back(
      entry({.name = "linearized_inverse",
             .uses = {q, v, a},
             .parts = {{"dq", nv, nv}, {"dv", nv, nv}, {"da", nv, nv}},
             .meaning = "{\"dq\": dtau/dq, \"dv\": dtau/dv, \"da\": dtau/da}, nv x nv each",
             .external_forces = true,
             .options_one_by_one = true,
             .counted = "linearized_2"},
            ARTICULA_LINEARIZATION(linearized_inverse, c[q], c[v], c[a], c.out[0], c.out[1], c.out[2])));
  all.push_back(
      entry({.name = "linearized_forward",
             .uses = {q, v, tau},
             .parts = {{"dq", nv, nv}, {"dv", nv, nv}, {"dtau", nv, nv}},
             .meaning = "{\"dq\": da/dq, \"dv\": da/dv, \"dtau\": da/dtau}, nv x nv each",
             .external_forces = true,
             .options_one_by_one = true,
             .counted = "forward_dynamics+linearized_6",
             .methods = {Method::direct, Method::conventional, Method::numerical, Method::printed}},
            ARTICULA_LINEARIZATION(linearized_forward, c[q], c[v], c[tau], c.out[0], c.out[1], c.out[2])));
  all.push_back(
      entry({.name = "perturbed_inverse",
             .uses = {q, v, a, dq, dv, da},
             .parts = {{"dtau", nv}},
             .meaning = "delta tau, in O(n)",
             .external_forces = true,
             .options_one_by_one = true,
             .counted = "linearized_1"},
            ARTICULA_LINEARIZATION(perturbed_inverse, c[q], c[v], c[a], c[dq], c[dv], c[da], c.out[0])));
  all.push_back(
      entry({.name = "perturbed_forward",
             .uses = {q, v, tau, dq, dv, dtau},
             .parts = {{"da", nv}},
             .meaning = "delta a, in O(n); --method conventional: through the mass matrix",
             .external_forces = true,
             .options_one_by_one = true,
             .counted = "forward_dynamics+linearized_5",
             .methods = {Method::direct, Method::conventional, Method::numerical, Method::printed}},
            ARTICULA_LINEARIZATION(perturbed_forward, c[q], c[v], c[tau], c[dq], c[dv], c[dtau], c.out[0])));
  all.push_back(entry(
      {.name = "inverse_gradient",
       .uses = {q, v, a, weights},
       .parts = {{"q", nv}, {"v", nv}, {"a", nv}},
       .meaning = "the gradients of weights . tau by q, v and a, in O(n)",
       .external_forces = true,
       .options_one_by_one = true},
      ARTICULA_LINEARIZATION(inverse_gradient, c[q], c[v], c[a], c[weights], c.out[0], c.out[1], c.out[2])));
  all.push_back(entry({.name = "forward_gradient",
                       .uses = {q, v, tau, weights},
                       .parts = {{"q", nv}, {"v", nv}, {"tau", nv}},
                       .meaning = "the gradients of weights . a by q, v and tau, in O(n)",
                       .external_forces = true,
                       .options_one_by_one = true},
                      ARTICULA_LINEARIZATION(forward_gradient, c[q], c[v], c[tau], c[weights], c.out[0],
                                             c.out[1], c.out[2])));
}

void add_task_space(std::vector<Algorithm>& all) {
  all.push_back(entry(
      {.name = "operational_space",
       .uses = {q, v},
       .parts = {{"omega", task, task},
                 {"lambda", task, task},
                 {"coriolis", task},
                 {"gravity", task},
                 {"jacobian_bar", nv, task},
                 {.key = "rank", .whole_number = true}},
       .meaning = "{\"omega\", \"lambda\", \"coriolis\", \"gravity\", \"jacobian_bar\", \"rank\"}; "
                  "several --frame: stacked",
       .frames = FramesNeeded::several},
      [](auto& x, const auto& c) {
        x.operational_space(c.frames, c[q], c[v], c.out[0], c.out[1], c.out[2], c.out[3], c.out[4], c.out[5]);
      }));
  all.push_back(
      entry({.name = "diagonalized",
             .uses = {q, v, tau},
             .parts = {{"nu", nv},
                       {"epsilon", nv},
                       {"coriolis_nu", nv},
                       {"xi", nv},
                       {"kappa", nv},
                       {"coriolis_xi", nv},
                       {"D", nv, nv}},
             .meaning = "{\"nu\", \"epsilon\", \"coriolis_nu\", \"xi\", \"kappa\", \"coriolis_xi\", \"D\"}; "
                        "D is nv x nv",
             .external_forces = true,
             .mimics = false,
             .methods = {Method::printed}},
            [](auto& x, const auto& c) {
              const auto run = [&](auto... how) {
                x.diagonalized(c[q], c[v], c[tau], c.out[0], c.out[1], c.out[2], c.out[3], c.out[4], c.out[5],
                               c.out[6], c.wrenches, how...);
              };
              if constexpr (takes_options<std::remove_cvref_t<decltype(x)>>)
                run(c.method == Method::printed);
              else
                run();
            }));
}

#undef ARTICULA_LINEARIZATION

/// Those that are structs of articula/kernels.
void add_listed(std::vector<Algorithm>& all) {
  const auto listed = kernel_set().listed;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ListedKernel& k = listed[i];
    Algorithm algorithm =
        entry({.name = k.name,
               .uses = {k.uses.begin(), k.uses.end()},
               .parts = {k.parts.begin(), k.parts.end()},
               .meaning = k.meaning,
               .frames = k.frames,
               .external_forces = k.external_forces},
              [](auto& x, const auto& c) {
                x.listed(c.listed, c.in, c.wrenches, c.frames.empty() ? -1 : c.frames[0], c.axes, c.out);
              });
    algorithm.listed = static_cast<int>(i);
    all.push_back(std::move(algorithm));
  }
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> list;
    add_dynamics(list);
    add_kinematics(list);
    add_linearizations(list);
    add_task_space(list);
    add_listed(list);
    return list;
  }();
  return all;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : algorithms())
    if (name == algorithm.name) return &algorithm;
  return nullptr;
}
Method method_of(std::string_view name) {
  const auto found = std::find(std::begin(method_names), std::end(method_names), name);
  if (found == std::end(method_names) && !name.empty())
    throw ArgumentError(
        fmt::format("there is no method '{}'; there are: {}", name, fmt::join(method_names, ", ")));
  return name.empty() ? Method::automatic : static_cast<Method>(found - std::begin(method_names));
}

}  // namespace articula
