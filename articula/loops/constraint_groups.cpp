// Setting constrained dynamics up: groups of rows, the paths that they take through the tree, and memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "articula/loops/constrained_dynamics.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

ConstrainedDynamics::ConstrainedDynamics(const Model& model, std::vector<Constraint> constraints,
                                         const ConstrainedOptions& options)
    : Workspace<double>(model,
                        {.side = true, .factor = true, .keep_D = true, .wide_solve = true, .motion = true}),
      constraints_(std::move(constraints)),
      options_(options) {
  if (!(options.rank_tolerance > 0 && options.rank_tolerance < 1))
    throw ArgumentError(fmt::format("constrained dynamics: rank_tolerance is {}, expected between 0 and 1",
                                    options.rank_tolerance));
  active_.assign(constraints_.size(), true);
  build_groups();
  build_paths();
  build_pairs();
  make_memory();
  number_rows();
}

/// Velocities that two groups share.
void ConstrainedDynamics::build_pairs() {
  int packs = 0;
  for (PathStep& step : steps_) {
    step.w = packs;
    step.v = tree().index[step.slot].v;
    step.freedoms = (step.slot < tree().bodies ? tree().index[step.slot + 1].v : tree().nv) - step.v;
    packs += step.freedoms;
  }
  const int groups = static_cast<int>(groups_.size());
  for (int g = 0; g < groups; ++g)
    for (int h = g; h < groups; ++h) {
      GroupPair pair{g, h, static_cast<int>(shared_.size()), 0};
      int s = groups_[g].step_begin, t = groups_[h].step_begin;
      while (s < groups_[g].step_end && t < groups_[h].step_end) {
        const PathStep &one = steps_[s], &other = steps_[t];
        if (one.slot == other.slot)
          for (int i = 0; i < one.freedoms; ++i)
            shared_.push_back({one.w + i, other.w + i, 6 * (one.v + i) + i});
        s += one.slot >= other.slot;
        t += one.slot <= other.slot;
      }
      pair.end = static_cast<int>(shared_.size());
      if (pair.end > pair.begin) pairs_.push_back(pair);
    }
}

void ConstrainedDynamics::make_memory() {
  const std::size_t groups = groups_.size(), nv = tree().nv;
  std::size_t packs = 0, longest = 0, rows = 0;
  for (const RowGroup& g : groups_) {
    longest = std::max<std::size_t>(longest, g.step_end - g.step_begin);
    rows += g.rows;
  }
  for (const PathStep& step : steps_) packs += step.freedoms;
  const std::size_t stride = (rows + 2 * row_lanes - 1) / row_lanes * row_lanes;
  loop_.stride = static_cast<int>(stride);
  std::size_t used = 0;
  const auto give = [&](std::size_t count, double*& pointer) {
    if (arrays_.size()) pointer = arrays_.data() + used;
    used += (count + 7) / 8 * 8;
  };
  for (int pass = 0; pass < 2; ++pass) {
    used = 0;
    give(12 * row_lanes * groups, loop_.ends);
    give(row_lanes * groups, loop_.bias);
    give(row_lanes * packs, loop_.W);
    give(6 * row_lanes * longest, loop_.z);
    give((rows + 1) * stride, loop_.Omega);
    give((rows + 1) * stride, loop_.factor);
    give(stride, loop_.pivot);
    give(stride, right_);
    give(nv, loop_.n);
    give(stride, lambda_);
    give(stride, errors_);
    give(stride, rates_);
    give(nv, full_);
    give(nv * rows, full_J_);
    if (pass == 0) arrays_ = AlignedArray<double>(used + 8);
  }
  loop_.groups = groups_.data();
  loop_.group_count = static_cast<int>(groups);
  loop_.steps = steps_.data();
  loop_.terms = terms_.data();
  loop_.pairs = pairs_.data();
  loop_.pair_count = static_cast<int>(pairs_.size());
  loop_.shared = shared_.data();
  loop_.all_coupled = pairs_.size() == groups * (groups + 1) / 2;
  revealing_ = RankRevealing(static_cast<int>(rows));
  group_end_.resize(groups);
  row_begin_.resize(rows);
  row_end_.resize(rows);
  loop_.row_begin = row_begin_.data();
  loop_.row_end = row_end_.data();
  multipliers_.resize(all_rows_);
  targets_.resize(all_rows_);
  step_.resize(model_.nv());
  own_.resize(model_.nv());
  for (const Joint& joint : model_.joints())
    if (joint.mimics < 0)
      for (int i = 0; i < joint.nv; ++i) own_[joint.v_index + i] = model_.full_velocity_of(joint) + i;
}

GroupEnd ConstrainedDynamics::place(const Attachment& at, const std::string& name) const {
  const auto& frames = model_.frames();
  if (at.frame < -1 || at.frame >= static_cast<int>(frames.size()))
    throw ArgumentError(fmt::format("constraint '{}': frame {} of model '{}', which has {}", name, at.frame,
                                    model_.name(), frames.size()));
  const double* numbers = numbers_of(at.placement.R);
  for (int i = 0; i < 9; ++i)
    if (!std::isfinite(numbers[i]))
      throw ArgumentError(fmt::format("constraint '{}': its placement is not finite", name));
  if (!std::isfinite(at.placement.p.x + at.placement.p.y + at.placement.p.z))
    throw ArgumentError(fmt::format("constraint '{}': its placement is not finite", name));
  if (at.frame < 0) return {0, at.placement.R, at.placement.p};
  const Frame& frame = frames[at.frame];
  const Pose pose = frame.placement * at.placement;
  if (frame.body < 0) return {0, pose.R, pose.p};
  const Mat3<double>& axes = model_.bodies()[frame.body].link_axes;
  return {frame.body + 1, axes * pose.R, axes * pose.p};
}

namespace {

[[noreturn]] void refuse(const Constraint& c, const std::string& why) {
  throw ArgumentError(fmt::format("constraint '{}': {}", c.name, why));
}
RowsOf rows_of(Constraint::Kind kind) {
  switch (kind) {
    case Constraint::Kind::frames:
      return RowsOf::frames;
    case Constraint::Kind::distance:
      return RowsOf::distance;
    case Constraint::Kind::coupler:
      return RowsOf::joints;
    case Constraint::Kind::rolling_ball:
      return RowsOf::rolling_ball;
    default:
      return RowsOf::rolling_disc;
  }
}

}  // namespace

void ConstrainedDynamics::add_coupler(const Constraint& c) {
  if (c.terms.empty()) refuse(c, "it couples no joints");
  for (const auto& term : c.terms) {
    if (term.joint < 0 || term.joint >= static_cast<int>(model_.joints().size()))
      refuse(c, fmt::format("joint {} of model '{}', which has {}", term.joint, model_.name(),
                            model_.joints().size()));
    const Joint& joint = model_.joints()[term.joint];
    if (nv_of(joint.kind) != 1)
      refuse(c, fmt::format("joint '{}' has {} freedoms; a coupler needs joints with one", joint.name,
                            nv_of(joint.kind)));
    for (const double x : {term.coefficient, term.higher[0], term.higher[1], term.higher[2]})
      if (!std::isfinite(x)) refuse(c, "a coefficient is not finite");
    add_term(joint, term.coefficient, term.higher);
  }
}
void ConstrainedDynamics::add_term(const Joint& joint, double coefficient,
                                   const std::array<double, 3>& higher) {
  const BodyIndex& body = tree().index[joint.body + 1];
  terms_.push_back({body.q, body.v, coefficient, {coefficient, higher[0], higher[1], higher[2]}});
  curved_ |= higher != std::array<double, 3>{};
}

void ConstrainedDynamics::place_ends(const Constraint& c, RowGroup& g) const {
  if (c.kind != Constraint::Kind::frames && !(c.length > 0))
    refuse(c, fmt::format("its length or radius is {}, expected a positive number", c.length));
  g.a = place(c.a, c.name);
  g.b = place(c.b, c.name);
  if (g.a.slot == 0 && g.b.slot == 0) refuse(c, "both its ends are fixed in the world");
  if (g.a.slot == g.b.slot)
    refuse(c, fmt::format("both its ends are fixed in body '{}'", model_.bodies()[g.a.slot - 1].name));
  int row = 0;
  for (int i = 0; i < 6; ++i)
    if (c.kind == Constraint::Kind::frames ? c.fixed[i] : i >= 3) g.freedom[row++] = i;
}

void ConstrainedDynamics::build_groups() {
  std::set<std::string> names;
  for (const Constraint& c : constraints_) {
    if (!names.insert(c.name).second) refuse(c, "another one has this name");
    RowGroup g;
    g.rows = c.rows();
    g.length = c.length;
    g.kind = rows_of(c.kind);
    if (g.rows == 0) refuse(c, "it fixes nothing; set some of `fixed`");
    if (!std::isfinite(c.length)) refuse(c, "its length is not finite");
    g.term_begin = static_cast<int>(terms_.size());
    if (g.kind == RowsOf::joints) {
      add_coupler(c);
    } else {
      place_ends(c, g);
      motion_ |= g.a.slot != 0 || g.kind != RowsOf::frames;
    }
    g.term_end = static_cast<int>(terms_.size());
    row_of_.push_back(all_rows_);
    all_rows_ += g.rows;
    groups_.push_back(g);
  }
  motion_ |= options_.baumgarte_frequency > 0;
  for (const Joint& joint : model_.joints()) {  // a mimic joint follows its source: a coupling like others
    if (joint.mimics < 0) continue;
    RowGroup g;
    g.kind = RowsOf::joints;
    g.rows = 1;
    g.term_begin = static_cast<int>(terms_.size());
    add_term(joint, 1);
    add_term(model_.joints()[joint.mimics], -joint.multiplier);
    g.term_end = static_cast<int>(terms_.size());
    groups_.push_back(g);
  }
  for (const RowGroup& g : groups_) full_rows_.push_back(g.rows);
}

void ConstrainedDynamics::build_paths() {
  const Tree<double>& t = tree();
  for (RowGroup& g : groups_) {
    std::set<int, std::greater<>> bodies;
    const auto add = [&](int k) {
      for (; k > 0; k = t.index[k].inboard) bodies.insert(k);
    };
    add(g.a.slot);
    add(g.b.slot);
    for (int i = g.term_begin; i < g.term_end; ++i)
      for (int k = 1; k < t.slots(); ++k)
        if (t.index[k].v == terms_[i].v) add(k);
    g.step_begin = static_cast<int>(steps_.size());
    const std::vector<int> order(bodies.begin(), bodies.end());
    std::vector<bool> has(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      PathStep step{};
      step.slot = order[i];
      step.a = g.kind != RowsOf::joints && g.a.slot == order[i];
      step.b = g.kind != RowsOf::joints && g.b.slot == order[i];
      steps_.push_back(step);
    }
    PathStep* const path = steps_.data() + g.step_begin;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int inboard = t.index[order[i]].inboard;
      if (inboard == 0) {
        path[i].give = PathStep::Give::none;
        continue;
      }
      const std::size_t to = std::find(order.begin(), order.end(), inboard) - order.begin();
      path[i].inboard = static_cast<int>(to);
      if (to == i + 1) {
        path[i].give = PathStep::Give::carry;
        path[to].has_carry = true;
      } else {
        path[i].give = has[to] ? PathStep::Give::add : PathStep::Give::first;
        path[to].has_sides = true;
        has[to] = true;
      }
    }
    g.step_end = static_cast<int>(steps_.size());
  }
}

void ConstrainedDynamics::number_rows() {
  int rows = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].rows = g < active_.size() && !active_[g] ? 0 : full_rows_[g];
    groups_[g].first = rows;
    rows += groups_[g].rows;
  }
  loop_.rows = rows;
  const auto length = [](const Vec3<double>& l) { return std::sqrt(dot(l, l)); };
  reach_ = 0;
  for (int k = 1; k < tree().slots(); ++k)
    reach_ =
        std::max(reach_, length(gather<block, Vec3<double>>(tree().constants_of(k) + block * constant::l)));
  for (const RowGroup& g : groups_) reach_ = std::max({reach_, length(g.a.r), length(g.b.r)});
  // Rows that Omega couples, and those that elimination fills in between.
  for (std::size_t g = 0; g < groups_.size(); ++g) group_end_[g] = static_cast<int>(g);
  for (const GroupPair& pair : pairs_)
    if (groups_[pair.g].rows && groups_[pair.h].rows)
      group_end_[pair.g] = std::max(group_end_[pair.g], pair.h);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (int h = static_cast<int>(g) + 1; h <= group_end_[g]; ++h)
      group_end_[h] = std::max(group_end_[h], group_end_[g]);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    const RowGroup& last = groups_[group_end_[g]];
    for (int r = groups_[g].first; r < groups_[g].first + groups_[g].rows; ++r) {
      row_end_[r] = last.first + last.rows;
      row_begin_[r] = r;
    }
  }
  for (int r = rows - 1; r >= 0; --r)
    for (int c = r + 1; c < row_end_[r]; ++c) row_begin_[c] = std::min(row_begin_[c], r);
  std::fill_n(loop_.Omega, static_cast<std::size_t>(rows + 1) * loop_.stride, 0.0);
  std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
  rank_ = 0;
  deficient_ = false;
}

}  // namespace articula
