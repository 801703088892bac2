// Masses and inertias of each state: checked, and turned into the kernels' constants, once for many calls.
#include "articula/batch/data.hpp"
#include "articula/model/inertial_parameters.hpp"

namespace articula {

namespace {

constexpr int each = constant::count - constant::mp;
static_assert(sizeof(InertialConstants) == each * sizeof(double));

/// The arguments of vary(), in any layout; empty: the model's.
template <class S>
struct Given {
  const Model& model;
  Layout layout;
  std::size_t lanes, count;
  std::span<const S> inertias, armature;

  S number(std::span<const S> x, std::size_t n, std::size_t state, std::size_t i) const {
    return x[batching::place(layout, lanes, count, n, state, i)];
  }
  InertialParameters of(std::size_t state, std::size_t body) const {
    InertialParameters p;
    for (std::size_t i = 0; i < p.size(); ++i)
      p[i] = number(inertias, p.size() * model.body_count(), state, body * p.size() + i);
    return p;
  }
};

/// The first thing that is wrong with a state's numbers.
template <class S>
std::optional<std::string> problem_in(const Given<S>& given, std::size_t state) {
  constexpr double rounding = std::numeric_limits<S>::epsilon();
  for (std::size_t body = 0; !given.inertias.empty() && body < given.model.bodies().size(); ++body)
    if (const auto problem = problem_with(given.of(state, body), rounding))
      return fmt::format("vary: state {}, body '{}': {}", state, given.model.bodies()[body].name, *problem);
  const std::size_t nv = given.model.nv();
  for (std::size_t i = 0; !given.armature.empty() && i < nv; ++i) {
    const double x = given.number(given.armature, nv, state, i);
    if (!(x >= 0 && x <= 1e30))
      return fmt::format("vary: state {}: armature {} is {}, expected zero or more", state, i, x);
  }
  return std::nullopt;
}

}  // namespace

template <class S>
void Batch<S>::vary(In<S> inertias, In<S> armature) {
  Data& d = *data_;
  const Tree<S>& tree = d.model.template tree<S>();
  const std::size_t bodies = tree.bodies, nv = d.model.nv(), full_nv = tree.nv, lanes = d.table->lanes;
  const std::size_t n = inertial_parameter_count * bodies;
  if (nv == 0) throw ArgumentError(fmt::format("vary: model '{}' has no joint that moves", d.model.name()));
  if (inertias.empty() && armature.empty())
    throw ArgumentError("vary: no numbers; use_model_inertias() goes back to the model's own");
  if (inertias.size() % n)
    throw ArgumentError(
        fmt::format("vary: inertias has {} numbers, no multiple of {} ({} for each of the {} bodies of model "
                    "'{}')",
                    inertias.size(), n, inertial_parameter_count, bodies, d.model.name()));
  if (armature.size() % nv)
    throw ArgumentError(fmt::format("vary: armature has {} numbers, no multiple of nv = {} of model '{}'",
                                    armature.size(), nv, d.model.name()));
  const std::size_t count = inertias.empty() ? armature.size() / nv : inertias.size() / n;
  if (!armature.empty() && armature.size() / nv != count)
    throw ArgumentError(
        fmt::format("vary: armature of {} states, inertias of {}", armature.size() / nv, count));
  const Given<S> given{d.model, d.options.layout, lanes, count, inertias, armature};
  d.require_whole_tiles("vary", count);
  // Everything is checked before anything changes.
  for (auto& w : d.workers) w.failed = batching::nothing_failed;
  d.on_threads(count, [&](int worker, std::size_t state) {
    std::size_t& failed = d.workers[worker].failed;
    if (state < failed && problem_in(given, state)) failed = state;
  });
  std::size_t first = batching::nothing_failed;
  for (auto& w : d.workers) first = std::min(first, std::exchange(w.failed, batching::nothing_failed));
  if (first != batching::nothing_failed) throw ArgumentError(*problem_in(given, first));

  const std::size_t tiles = (count + lanes - 1) / lanes;
  if (!d.varied) d.varied.emplace();
  batching::Varied<S>& varied = *d.varied;
  varied.count = count;
  varied.has_armature = tree.has_armature || !armature.empty();
  if (varied.inertias.size() < tiles * bodies * each * lanes)
    varied.inertias = AlignedArray<S>(tiles * bodies * each * lanes);
  if (varied.armature.size() < tiles * full_nv * lanes)
    varied.armature = AlignedArray<S>(tiles * full_nv * lanes);
  d.use_varied();

  // Which of the model's own velocities a full one takes its armature from; -1: none, it keeps its own.
  std::vector<int>& own = d.armature_of;
  if (own.empty()) {
    own.assign(full_nv, -1);
    for (const Joint& joint : d.model.joints())
      for (int i = 0; joint.mimics < 0 && i < joint.nv; ++i)
        own[d.model.full_velocity_of(joint) + i] = joint.v_index + i;
  }
  d.on_threads(tiles, [&](int, std::size_t tile) {
    S* const to = varied.inertias.data() + tile * bodies * each * lanes;
    S* const rotors = varied.armature.data() + tile * full_nv * lanes;
    for (std::size_t s = 0; s < lanes; ++s) {
      const std::size_t state = std::min(tile * lanes + s, count - 1);
      for (std::size_t body = 0; body < bodies; ++body) {
        S* const at = to + body * each * lanes + s;
        if (inertias.empty()) {
          const S* const c = tree.constants_of(static_cast<int>(body) + 1);
          for (int i = 0; i < each; ++i) at[i * lanes] = c[block * (constant::mp + i)];
          continue;
        }
        const InertialConstants c =
            inertial_constants(given.of(state, body), d.model.bodies()[body].link_axes);
        const auto* const numbers = reinterpret_cast<const double*>(&c);
        for (int i = 0; i < each; ++i) at[i * lanes] = static_cast<S>(numbers[i]);
      }
      for (std::size_t i = 0; i < full_nv; ++i)
        rotors[i * lanes + s] = armature.empty() || own[i] < 0
                                    ? tree.armature[i]
                                    : given.number(given.armature, nv, state, own[i]);
    }
  });
}

template <class S>
void Batch<S>::use_model_inertias() {
  Data& d = *data_;
  d.varied.reset();
  d.table = d.set->batch;
  for (auto& w : d.workers) {
    w.tree = d.model.template tree<S>();
    if (d.columns) w.lin.mass = d.mass_outboard(w);
  }
}

template void Batch<double>::vary(In<double> inertias, In<double> armature);
template void Batch<float>::vary(In<float> inertias, In<float> armature);
template void Batch<double>::use_model_inertias();
template void Batch<float>::use_model_inertias();

}  // namespace articula
