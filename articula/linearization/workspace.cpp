#include "articula/linearization/workspace.hpp"

#include "articula/spatial/dual.hpp"

namespace articula {

template <class S>
Limbs::Limbs(const Tree<S>& tree) : carrier(tree.slots(), -1), begin(tree.nv) {
  // So few that what all rows read of them stays in the first cache, and so many rows that it pays.
  constexpr int most_bodies = 8, least_rows = 12;
  for (int k = 1; k < tree.slots(); ++k) {
    if (k + 1 < tree.slots() && tree.index[k + 1].inboard == k) continue;
    int first = k;  // k carries nothing
    while (k + 1 - first < most_bodies && tree.index[first].inboard == first - 1 && first > 1 &&
           tree.index[first - 1].inboard != 0 && !tree.index[first - 1].has_sides)
      --first;
    if (tree.index[first].inboard == 0) continue;
    const int v = tree.index[first].v, v_end = tree.index[first].v_end;
    if (tree.nv - (v_end - v) < least_rows) continue;
    limbs.push_back({first, k + 1, v, v_end});
    for (int c = v; c < v_end; ++c) begin[c] = v;
  }
  for (int k = 1; k < tree.slots(); ++k)
    carrier[k] = tree.index[k].has_sides || tree.index[k].inboard == 0 ? 0 : -1;
  for (const Limb& limb : limbs) carrier[tree.index[limb.first].inboard] = 0;
  for (int& number : carrier)
    if (number == 0) number = carriers++;
}

namespace {

/// Which columns belong to each body, and which support it or are supported by it.
template <class S>
std::vector<ColumnIndex> column_index(const Tree<S>& tree, std::vector<unsigned char>& bits) {
  std::vector<ColumnIndex> index(tree.slots());
  const std::size_t blocks = padded(tree.nv) / block;
  bits.assign(2 * blocks * tree.slots(), 0);
  const auto set = [](unsigned char* row, int velocity) {
    row[velocity / block] = static_cast<unsigned char>(row[velocity / block] | 1u << velocity % block);
  };
  for (int k = 1; k < tree.slots(); ++k)
    visit(tree.index[k].kind, [&](auto j) { index[k].end = tree.index[k].v + j.nv; });
  for (int k = 1; k < tree.slots(); ++k) {
    unsigned char* const row = bits.data() + 2 * blocks * k;
    index[k].outboard = row;
    index[k].inboard = row + blocks;
    for (int c = tree.index[k].v; c < index[k].end; ++c) set(row, c);
    for (int p = tree.index[k].inboard; p != 0; p = tree.index[p].inboard) {
      for (int c = tree.index[p].v; c < index[p].end; ++c) set(row + blocks, c);
      for (int c = tree.index[k].v; c < index[k].end; ++c) set(bits.data() + 2 * blocks * p, c);
    }
  }
  return index;
}

}  // namespace

template <class S>
LinearizationWorkspace<S>::LinearizationWorkspace(const Model& model, const MemoryNeeds& memory,
                                                  const LinearizationNeeds& needs)
    : Workspace<S>(model, memory), limbs_(this->tree()) {
  const Tree<S>& tree = this->tree();
  lin_.carrier = limbs_.carrier.data();
  lin_.carriers = limbs_.carriers;
  lin_.limbs = limbs_.limbs.data();
  lin_.limbs_end = lin_.limbs + limbs_.limbs.size();
  lin_.limb_begin = limbs_.begin.data();
  arrays_ = make_arrays(lin_, tree, needs);
  lin_.k = this->m_;
  index_ = column_index(tree, bits_);
  lin_.index = index_.data();
  for (int at = 0; at < padded(tree.nv) / block; ++at) {
    block_begin_.push_back(static_cast<int>(block_rows_.size()));
    for (int k = 1; k < tree.slots(); ++k)
      if (index_[k].outboard[at] | index_[k].inboard[at])
        for (int i = tree.index[k].v; i < index_[k].end; ++i) block_rows_.push_back(i);
  }
  block_begin_.push_back(static_cast<int>(block_rows_.size()));
  lin_.block_rows = block_rows_.data();
  lin_.block_begin = block_begin_.data();
  // The mass outboard of each joint, for each of its velocities.
  std::vector<S> outboard(tree.slots());
  for (int k = tree.bodies; k >= 1; --k) {
    outboard[k] += tree.constants_of(k)[block * constant::m];
    outboard[tree.index[k].inboard] += outboard[k];
  }
  mass_ = AlignedArray<S>(tree.nv + block);
  for (int k = 1; k < tree.slots(); ++k)
    for (int c = tree.index[k].v; c < index_[k].end; ++c) mass_[c] = outboard[k];
  lin_.mass = mass_.data();
  damping_ = AlignedArray<S>(tree.nv);
  for (const Joint& joint : model.joints()) {
    const int first = model.full_velocity_of(joint);
    for (int i = 0; i < nv_of(joint.kind); ++i) damping_[first + i] = static_cast<S>(joint.damping[i]);
  }
  if (model.has_mimics()) expanded_ = AlignedArray<S>(3 * static_cast<std::size_t>(tree.nv));
}

template <class S>
ExternalForces<S> LinearizationWorkspace<S>::external(const char* function,
                                                      const LinearizationOptions<S>& options) {
  lin_.damping = options.damping ? damping_.data() : nullptr;
  if (!options.levers.empty())
    this->check(function, "levers (one per body)", options.levers.size(), this->model_.body_count());
  return {this->check_wrenches(function, options.wrenches), options.held,
          options.levers.empty() ? nullptr : &options.levers[0].xx};
}
template <class S>
void LinearizationWorkspace<S>::check_square(const char* function, const char* argument,
                                             std::size_t size) const {
  const std::size_t nv = this->model_.nv();
  this->check(function, argument, size, nv * nv);
}
template <class S>
const S* LinearizationWorkspace<S>::full_velocity(int which, std::span<const S> x) {
  if (expanded_.size() == 0) return x.data();
  const auto map = this->model_.full_velocities();
  S* const to = expanded_.data() + map.size() * which;
  for (std::size_t i = 0; i < map.size(); ++i) to[i] = static_cast<S>(map[i].multiplier) * x[map[i].source];
  return to;
}
template <class S>
void LinearizationWorkspace<S>::reduce(const S* full, std::span<S> out) const {
  for (S& x : out) x = 0;
  const auto map = this->model_.full_velocities();
  for (std::size_t i = 0; i < map.size(); ++i)
    out[map[i].source] += static_cast<S>(map[i].multiplier) * full[i];
}
template <class S>
void LinearizationWorkspace<S>::reduce_matrix(const S* full, std::span<S> out) const {
  for (S& x : out) x = 0;
  const auto map = this->model_.full_velocities();
  const std::size_t n = map.size(), nv = this->model_.nv();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      out[map[i].source * nv + map[j].source] +=
          static_cast<S>(map[i].multiplier * map[j].multiplier) * full[i * n + j];
}

template class LinearizationWorkspace<double>;
template class LinearizationWorkspace<float>;

}  // namespace articula
