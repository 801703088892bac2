#include "cli/eval_many.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "articula/batch/diagonalized.hpp"
#include "articula/batch/operational_space.hpp"
#include "cli/shapes.hpp"

namespace articula::cli {

namespace {

constexpr Input q = Input::q, v = Input::v, a = Input::a, tau = Input::tau, dq = Input::dq, dv = Input::dv,
                da = Input::da, dtau = Input::dtau;

/// States of a model, one after the other, and what computes on them.
struct Stack {
  Stack(const Model& model, const std::vector<int>& frames) : batch(model), frames(frames), nv(model.nv()) {}
  const std::vector<double>& operator[](Input input) const { return vectors[static_cast<int>(input)]; }
  int frame() const { return frames.at(0); }
  std::size_t task_rows() const { return 6 * frames.size(); }
  DiagonalizedBatch<>& diagonalized() {
    if (!diagonalized_) diagonalized_.emplace(batch);
    return *diagonalized_;
  }
  OperationalSpaceBatch<>& space() {
    if (!space_) space_.emplace(batch, frames);
    return *space_;
  }
  std::span<double> unused() {
    spare_.resize(count);
    return spare_;
  }
  std::span<const double> rest() {
    zeros_.assign(count * nv, 0.0);
    return zeros_;
  }

  Batch<> batch;
  const std::vector<int> frames;
  const std::size_t nv;
  std::size_t count = 0;
  std::array<std::vector<double>, input_count> vectors;

 private:
  std::optional<DiagonalizedBatch<>> diagonalized_;
  std::optional<OperationalSpaceBatch<>> space_;
  std::vector<double> spare_, zeros_;
};

using Sizes = std::vector<std::size_t>;  // of the parts of a value, in numbers
using Parts = std::vector<std::span<double>>;
using Row = std::vector<std::span<const double>>;  // the parts at one state

struct ManyQuantity {
  const char* name;
  Sizes (*sizes)(const Stack&);
  void (*compute)(Stack&, const Parts&);
  Json (*json)(const Stack&, const Row&);  // null: not to be had so
};

// --- the usual shapes
Sizes one(const Stack&) { return {1}; }
Sizes three(const Stack&) { return {3}; }
Sizes six(const Stack&) { return {6}; }
Sizes vector(const Stack& s) { return {s.nv}; }
Sizes square(const Stack& s) { return {s.nv * s.nv}; }
Sizes squares(const Stack& s) { return Sizes(3, s.nv * s.nv); }
Sizes six_rows(const Stack& s) { return {6 * s.nv}; }
Json as_number(const Stack&, const Row& x) { return x[0][0]; }
Json as_list(const Stack&, const Row& x) { return list(x[0]); }
Json as_square(const Stack& s, const Row& x) { return rows(x[0], s.nv); }
Json as_six_rows(const Stack&, const Row& x) { return rows(x[0], 6); }

const std::vector<ManyQuantity>& many_quantities() {
  using S = Stack;
  using P = Parts;
  static const std::vector<ManyQuantity> all{
      {"inverse_dynamics", vector, [](S& s, const P& x) { s.batch.inverse_dynamics(s[q], s[v], s[a], x[0]); },
       as_list},
      {"forward_dynamics", vector,
       [](S& s, const P& x) { s.batch.forward_dynamics(s[q], s[v], s[tau], x[0]); }, as_list},
      {"bias_forces", vector, [](S& s, const P& x) { s.batch.bias_forces(s[q], s[v], x[0]); }, as_list},
      {"gravity_forces", vector, [](S& s, const P& x) { s.batch.gravity_forces(s[q], x[0]); }, as_list},
      {"mass_matrix", square, [](S& s, const P& x) { s.batch.mass_matrix(s[q], x[0]); }, as_square},
      {"inverse_mass_matrix", square, [](S& s, const P& x) { s.batch.inverse_mass_matrix(s[q], x[0]); },
       as_square},
      {"coriolis_matrix", square, [](S& s, const P& x) { s.batch.coriolis_matrix(s[q], s[v], x[0]); },
       as_square},
      {"mass_matrix_rate", square, [](S& s, const P& x) { s.batch.mass_matrix_rate(s[q], s[v], x[0]); },
       as_square},
      {"kinetic_energy", one, [](S& s, const P& x) { s.batch.energies(s[q], s[v], x[0], s.unused()); },
       as_number},
      {"potential_energy", one, [](S& s, const P& x) { s.batch.energies(s[q], s.rest(), s.unused(), x[0]); },
       as_number},
      {"center_of_mass", three, [](S& s, const P& x) { s.batch.center_of_mass(s[q], x[0]); }, as_list},
      {"momentum", six, [](S& s, const P& x) { s.batch.momentum(s[q], s[v], x[0]); }, as_list},
      {"centroidal_map", six_rows, [](S& s, const P& x) { s.batch.centroidal_map(s[q], x[0]); }, as_six_rows},
      {"pose", [](const S&) { return Sizes{12}; },
       [](S& s, const P& x) { s.batch.pose(s.frame(), s[q], x[0]); },
       [](const S&, const Row& x) {
         return Json{{"rotation", rows(x[0].first(9), 3)}, {"position", list(x[0].last(3))}};
       }},
      {"frame_velocity", six, [](S& s, const P& x) { s.batch.frame_velocity(s.frame(), s[q], s[v], x[0]); },
       as_list},
      {"jacobian", six_rows, [](S& s, const P& x) { s.batch.jacobian(s.frame(), s[q], x[0]); }, as_six_rows},
      {"jacobian_dot_v", six, [](S& s, const P& x) { s.batch.jacobian_dot_v(s.frame(), s[q], s[v], x[0]); },
       as_list},
      {"operational_space",
       [](const S& s) {
         const std::size_t n = s.task_rows();
         return Sizes{n * n, n * n, n, n, s.nv * n, 1};
       },
       [](S& s, const P& x) {
         s.space().terms(s[q], s[v],
                         {.omega = x[0],
                          .lambda = x[1],
                          .coriolis = x[2],
                          .gravity = x[3],
                          .jacobian_bar = x[4],
                          .rank = x[5]});
       },
       [](const S& s, const Row& x) {
         const std::size_t n = s.task_rows(), rank = static_cast<std::size_t>(x[5][0]);
         if (rank < n) return Json();  // there are words to it
         return Json{{"omega", rows(x[0], n)}, {"lambda", rows(x[1], n)},          {"coriolis", list(x[2])},
                     {"gravity", list(x[3])},  {"jacobian_bar", rows(x[4], s.nv)}, {"rank", rank}};
       }},
      {"linearized_inverse", squares,
       [](S& s, const P& x) { s.batch.linearized_inverse(s[q], s[v], s[a], x[0], x[1], x[2]); },
       [](const S& s, const Row& x) {
         return Json{{"dq", rows(x[0], s.nv)}, {"dv", rows(x[1], s.nv)}, {"da", rows(x[2], s.nv)}};
       }},
      {"linearized_forward", squares,
       [](S& s, const P& x) { s.batch.linearized_forward(s[q], s[v], s[tau], x[0], x[1], x[2]); },
       [](const S& s, const Row& x) {
         return Json{{"dq", rows(x[0], s.nv)}, {"dv", rows(x[1], s.nv)}, {"dtau", rows(x[2], s.nv)}};
       }},
      {"perturbed_inverse", vector,
       [](S& s, const P& x) { s.batch.perturbed_inverse(s[q], s[v], s[a], s[dq], s[dv], s[da], x[0]); },
       as_list},
      {"perturbed_forward", vector,
       [](S& s, const P& x) { s.batch.perturbed_forward(s[q], s[v], s[tau], s[dq], s[dv], s[dtau], x[0]); },
       as_list},
      {"diagonalized", [](const S& s) { return Sizes{s.nv, s.nv, s.nv, s.nv, s.nv, s.nv, s.nv * s.nv}; },
       [](S& s, const P& x) {
         s.diagonalized().terms(s[q], s[v], s[tau],
                                {.nu = x[0],
                                 .xi = x[3],
                                 .epsilon = x[1],
                                 .kappa = x[4],
                                 .coriolis_nu = x[2],
                                 .coriolis_xi = x[5],
                                 .D = x[6]});
       },
       [](const S& s, const Row& x) {
         return Json{{"nu", list(x[0])},     {"epsilon", list(x[1])}, {"coriolis_nu", list(x[2])},
                     {"xi", list(x[3])},     {"kappa", list(x[4])},   {"coriolis_xi", list(x[5])},
                     {"D", rows(x[6], s.nv)}};
       }},
  };
  return all;
}

constexpr std::size_t few = 8;  // states: Batch gains nothing on less

}  // namespace

struct ManyStates::Work {
  struct Quantity {
    const ManyQuantity* how;
    Sizes sizes;
    std::vector<double> numbers;
    Parts parts;
  };
  Stack stack;
  std::span<const State> states;
  std::vector<Quantity> quantities;
  std::vector<Input> inputs;
  std::size_t first = 0, at_once;

  Work(const Model& model, const std::vector<int>& frames, std::span<const State> states)
      : stack(model, frames), states(states) {}

  /// Computes the states from `from` on.
  void compute(std::size_t from) {
    first = from;
    stack.count = std::min(at_once, states.size() - from);
    for (const Input input : inputs) {
      auto& all = stack.vectors[static_cast<int>(input)];
      all.clear();
      for (const State& state : states.subspan(first, stack.count))
        all.insert(all.end(), state[input].begin(), state[input].end());
    }
    for (Quantity& k : quantities) {
      std::size_t n = 0;
      for (const std::size_t size : k.sizes) n += size * stack.count;
      k.numbers.resize(n);
      k.parts.clear();
      std::span<double> left(k.numbers);
      for (const std::size_t size : k.sizes) {
        k.parts.push_back(left.first(size * stack.count));
        left = left.subspan(size * stack.count);
      }
      try {
        k.how->compute(stack, k.parts);
      } catch (const SingularError&) {  // those states have NaN, and say more when they are done alone
      }
    }
  }
};

ManyStates::ManyStates(const Model& model, const std::vector<int>& frames, Method method,
                       std::vector<Wanted> wanted, std::span<const State> states) {
  constexpr int largest = 1000;  // velocities; matrices of more are not kept for several states
  if (states.size() < few || model.nq() == 0 || model.nv() > largest) return;
  work_ = std::make_unique<Work>(model, frames, states);
  for (const Wanted& w : wanted) {
    const auto& all = many_quantities();
    const auto how = std::find_if(all.begin(), all.end(), [&](auto& k) { return w.name == k.name; });
    const bool conventional = method == Method::conventional && w.name.ends_with("ed_forward");
    if (how == all.end() || conventional || (w.name == "diagonalized" && model.has_mimics())) continue;
    work_->quantities.push_back({&*how, how->sizes(work_->stack), {}, {}});
    for (const Input input : w.uses)
      if (std::find(work_->inputs.begin(), work_->inputs.end(), input) == work_->inputs.end())
        work_->inputs.push_back(input);
  }
  const std::size_t numbers = static_cast<std::size_t>(model.nv()) * model.nv() + 1;
  work_->at_once = std::clamp<std::size_t>(2'000'000 / numbers, few, 512);
  if (work_->quantities.empty()) work_.reset();
}
ManyStates::~ManyStates() = default;

std::optional<Json> ManyStates::value(const std::string& quantity, std::size_t state) {
  if (!work_ || !work_->states[state].wrenches.empty()) return {};
  const auto k = std::find_if(work_->quantities.begin(), work_->quantities.end(),
                              [&](const auto& x) { return quantity == x.how->name; });
  if (k == work_->quantities.end()) return {};
  if (work_->stack.count == 0 || state >= work_->first + work_->stack.count)
    work_->compute(state / work_->at_once * work_->at_once);
  Row row;
  for (std::size_t i = 0; i < k->sizes.size(); ++i)
    row.push_back(k->parts[i].subspan((state - work_->first) * k->sizes[i], k->sizes[i]));
  for (const auto& part : row)
    if (!std::all_of(part.begin(), part.end(), [](double x) { return std::isfinite(x); })) return {};
  Json json = k->how->json(work_->stack, row);
  if (json.is_null()) return {};
  return json;
}

}  // namespace articula::cli
