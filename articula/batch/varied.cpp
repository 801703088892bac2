// Masses and inertias of each state: checked, and turned into the kernels' constants, once for many calls.
#include "articula/batch/varied_inertias.hpp"

namespace articula {

template <class S>
void Batch<S>::vary(In<S> inertias, In<S> armature) {
  Data& d = *data_;
  const std::size_t lanes = d.table->lanes;
  const VariedInertias<S> given(d.model, d.options.layout, lanes, inertias, armature, d.armature_of);
  // Everything is checked before anything changes.
  for (auto& w : d.workers) w.failed = batching::nothing_failed;
  d.on_threads(given.count, [&](int worker, std::size_t state) {
    std::size_t& failed = d.workers[worker].failed;
    if (state < failed && given.problem_in(state)) failed = state;
  });
  std::size_t first = batching::nothing_failed;
  for (auto& w : d.workers) first = std::min(first, std::exchange(w.failed, batching::nothing_failed));
  if (first != batching::nothing_failed) throw ArgumentError(*given.problem_in(first));

  const std::size_t tiles = (given.count + lanes - 1) / lanes,
                    constants = given.numbers_of_inertias() * lanes,
                    rotors = given.numbers_of_armature() * lanes;
  if (!d.varied) d.varied.emplace();
  batching::Varied<S>& varied = *d.varied;
  varied.count = given.count;
  varied.has_armature = d.base().has_armature || !armature.empty();
  if (varied.inertias.size() < tiles * constants) varied.inertias = AlignedArray<S>(tiles * constants);
  if (varied.armature.size() < tiles * rotors) varied.armature = AlignedArray<S>(tiles * rotors);
  d.use_varied();
  d.on_threads(tiles, [&](int, std::size_t tile) {
    given.put_tile(tile, lanes, varied.inertias.data() + tile * constants,
                   varied.armature.data() + tile * rotors);
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
