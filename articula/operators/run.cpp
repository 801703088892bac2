// Running a program: sweeps by the kernels of the instruction set in use, local steps here. The same steps on
// counting numbers give explain() its figures.
#define ARTICULA_ISA operators_baseline
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "articula/kernels/sweeps_text.hpp"
#include "articula/kernels/tables.hpp"
#include "articula/operators/program.hpp"
#include "articula/spatial/counted.hpp"

namespace articula::operators {

namespace isa = articula::operators_baseline;

/// What the steps read, for numbers S.
template <class S>
struct MachineMemory {
  KernelMemory<S> m;
  const S *P, *G, *R, *Omega;
};

struct Machine {
  template <class S>
  static Spatial<S> at(const S* x, int k) {
    return gather<1, Spatial<S>>(x + 6 * (k - 1));
  }
  template <class S>
  static void put(S* x, int k, const Spatial<S>& y) {
    scatter<1>(y, x + 6 * (k - 1));
  }
  template <class S>
  static void add(S* x, int k, const Spatial<S>& y) {
    put(x, k, at(x, k) + y);
  }
  template <class S>
  static Vec3<S> l_of(const KernelMemory<S>& m, int k) {
    return isa::read<Vec3>(static_cast<const S*>(slot(m.x, k, int(body::count))) + stride<S> * body::l);
  }
  template <class S>
  static Mat3<S> axes_of(const KernelMemory<S>& m, int k) {
    return isa::read<Mat3>(static_cast<const S*>(slot(m.x, k, int(body::count))) + stride<S> * body::R);
  }

  template <class S>
  static void local(const Program& program, const Tree<double>& tree, const MachineMemory<S>& memory,
                    const Instruction& i, const S* x, S* y, int y_size) {
    const KernelMemory<S>& m = memory.m;
    const auto each = [&](auto&& f) {
      for (int k = 1; k < tree.slots(); ++k) f(k, tree.index[k]);
    };
    const auto each_hinge = [&](auto&& f) {  // with the joint's kind as a type
      each([&](int k, const BodyIndex& b) { visit(b.kind, [&](auto j) { f(k, b, j); }); });
    };
    const auto zero = [&] { std::fill_n(y, y_size, S(0)); };
    // sums of columns times a joint vector, and their products with a body vector
    const auto columns_times = [&](const S* columns, const BodyIndex& b, int n) {
      Spatial<S> sum = gather<1, Spatial<S>>(columns + 6 * b.v) * x[b.v];
      for (int c = 1; c < n; ++c) sum += gather<1, Spatial<S>>(columns + 6 * (b.v + c)) * x[b.v + c];
      return sum;
    };
    const auto dot_columns = [&](const S* columns, const BodyIndex& b, int n, const Spatial<S>& f) {
      for (int c = 0; c < n; ++c) y[b.v + c] = dot(gather<1, Spatial<S>>(columns + 6 * (b.v + c)), f);
    };
    switch (i.symbol) {
      case Symbol::H_full:
        each_hinge([&](int k, const BodyIndex& b, auto j) {
          using J = decltype(j);
          const Mat3<S> axes = axes_of(m, k);
          const HingeMap<J, S> H{axes, tree.pitch[k]};
          if (i.starred)
            put(y, k, star_times(H, x + b.v));
          else
            times(H, at(x, k), y + b.v);
        });
        return;
      case Symbol::M:
        each([&](int k, const BodyIndex&) {
          put(y, k, isa::body_inertia(tree, static_cast<const S*>(m.x), k) * at(x, k));
        });
        return;
      case Symbol::R:
        each(
            [&](int k, const BodyIndex&) { put(y, k, gather<1, Inertia<S>>(memory.R + 10 * k) * at(x, k)); });
        return;
      case Symbol::P:
      case Symbol::Omega: {
        const S* const blocks = i.symbol == Symbol::P ? memory.P : memory.Omega;
        each([&](int k, const BodyIndex&) {
          put(y, k, gather<1, ArticulatedInertia<S>>(blocks + 21 * k) * at(x, k));
        });
        return;
      }
      case Symbol::D:
        each_hinge([&](int, const BodyIndex& b, auto j) {
          for (int r = 0; r < j.nv; ++r) {
            S sum = m.D[6 * (b.v + r)] * x[b.v];
            for (int c = 1; c < j.nv; ++c) sum = sum + m.D[6 * (b.v + r) + c] * x[b.v + c];
            y[b.v + r] = sum;
          }
        });
        return;
      case Symbol::inv_D:
        each_hinge([&](int, const BodyIndex& b, auto j) {
          for (int r = 0; r < j.nv; ++r) y[b.v + r] = x[b.v + r];
          isa::solve_D<decltype(j)>(m.inv_D + 6 * b.v, y + b.v);
        });
        return;
      case Symbol::rotor:
        for (int v = 0; v < tree.nv; ++v) y[v] = x[v] * tree.armature[v];
        return;
      case Symbol::G:
        each_hinge([&](int k, const BodyIndex& b, auto j) {
          if (i.starred)
            dot_columns(memory.G, b, j.nv, at(x, k));
          else
            put(y, k, columns_times(memory.G, b, j.nv));
        });
        return;
      case Symbol::L:
        each_hinge([&](int k, const BodyIndex& b, auto j) {
          const Phi<S> phi{l_of(m, k)};
          if (i.starred)
            dot_columns(memory.G, b, j.nv, star(phi) * at(x, k));
          else
            put(y, k, phi * columns_times(memory.G, b, j.nv));
        });
        return;
      case Symbol::K:
        zero();
        each_hinge([&](int, const BodyIndex& b, auto j) {
          if (b.inboard == 0) return;
          if (i.starred)
            dot_columns(m.K, b, j.nv, at(x, b.inboard));
          else
            add(y, b.inboard, columns_times(m.K, b, j.nv));
        });
        return;
      case Symbol::E_phi:
      case Symbol::S: {
        zero();
        const bool shifts = i.symbol == Symbol::E_phi;
        each([&](int k, const BodyIndex& b) {
          if (b.inboard == 0) return;
          const Phi<S> phi{l_of(m, k)};
          if (i.starred)
            put(y, k, shifts ? star(phi) * at(x, b.inboard) : at(x, b.inboard));
          else
            add(y, b.inboard, shifts ? phi * at(x, k) : at(x, k));
        });
        return;
      }
      case Symbol::B: {
        zero();
        int at_frame = 1;
        for (const auto& f : program.frame_sets_[i.frames]) {
          if (f.body >= 0) {
            const Phi<S> phi{axes_of(m, f.body + 1) * f.point};
            if (i.starred)
              put(y, at_frame, star(phi) * at(x, f.body + 1));
            else
              add(y, f.body + 1, phi * at(x, at_frame));
          }
          ++at_frame;
        }
        return;
      }
      case Symbol::E:
        zero();
        each([&](int k, const BodyIndex& b) {
          if (b.inboard != 0) return;
          const Phi<S> phi{l_of(m, k)};
          if (i.starred)
            put(y, k, star(phi) * at(x, 1));
          else
            add(y, 1, phi * at(x, k));
        });
        return;
      case Symbol::Gamma: {
        const auto map = program.state_.model().full_velocities();
        if (i.starred) zero();
        for (std::size_t v = 0; v < map.size(); ++v) {
          if (i.starred)
            y[map[v].source] = y[map[v].source] + x[v] * map[v].multiplier;
          else
            y[v] = x[map[v].source] * map[v].multiplier;
        }
        return;
      }
      case Symbol::inv_mass:
      case Symbol::inv_bare_mass:
        if constexpr (std::is_same_v<S, double>)
          program.state_.solve_mass(i.symbol == Symbol::inv_bare_mass, x, y);
        else  // the same steps with any factor; what mimic joints add, a small dense solve, is not counted
          isa::solve<true, S, S>(
              tree, m, 1, tree.bodies, m.nu, m.lambda, [](int) { return S(1); }, [](int, const S&) {});
        return;
      default:
        return;  // expanded by the compiler
    }
  }

  template <class S>
  static Sweep<S> sweep(const MachineMemory<S>& memory, const Instruction& i, auto&& buffer) {
    Sweep<S> s;
    const auto in = [&](int b) -> const S* { return b < 0 ? nullptr : buffer(b); };
    s.outward = i.outward;
    s.psi = i.psi;
    s.plain = in(i.plain), s.plain_factor = S(i.plain_factor);
    s.more = in(i.more), s.more_factor = S(i.more_factor);
    s.rigid_times = in(i.rigid_times), s.rigid_factor = S(i.rigid_factor);
    s.rigid = i.rigid_is_R ? memory.R : nullptr;
    s.symmetric_times = in(i.symmetric_times), s.symmetric_factor = S(i.symmetric_factor);
    s.symmetric = i.symmetric_is_Omega ? memory.Omega : memory.P;
    s.K_times = in(i.K_times), s.K_factor = S(i.K_factor);
    s.H_times = in(i.H_times), s.H_factor = S(i.H_factor);
    s.z = i.target < 0 ? nullptr : buffer(i.target);
    s.tap = i.tap < 0 ? nullptr : buffer(i.tap);
    s.tap_factor = S(i.tap_factor);
    s.tap_add = in(i.tap_add), s.tap_add_factor = S(i.tap_add_factor);
    s.tap_solve = i.tap_solve;
    return s;
  }

  template <class S>
  static void combine(const Instruction& i, int size, auto&& buffer) {
    S* const y = buffer(i.target);
    if (i.terms.empty()) std::fill_n(y, size, S(0));
    bool first = true;
    for (const auto& [factor, b] : i.terms) {
      const S* const x = buffer(b);
      if (first && factor == 1)
        std::copy_n(x, size, y);
      else if (first)
        for (int v = 0; v < size; ++v) y[v] = x[v] * S(factor);
      else if (factor == 1)
        for (int v = 0; v < size; ++v) y[v] = y[v] + x[v];
      else if (factor == -1)
        for (int v = 0; v < size; ++v) y[v] = y[v] - x[v];
      else
        for (int v = 0; v < size; ++v) y[v] = y[v] + x[v] * S(factor);
      first = false;
    }
  }

  /// Counts each instruction, on copies of the state's numbers.
  static std::vector<Operations> count(Program& program);
};

const double* Program::outside(int from, In<double> x,
                               std::span<const std::span<const double>> inputs) const {
  if (from == 0) return x.data();
  if (from > 0) return inputs[from - 1].data();
  return from == -2 ? state_.a_ : from == -3 ? state_.b_ : state_.a_g_;
}

/// Sweeps with their pointers filled in; those to vectors of the caller are patched at every run.
void Program::resolve() {
  const MachineMemory<double> memory{state_.m_, state_.P_, state_.G_, state_.R_, state_.Omega_};
  resolved_.resize(instructions_.size());
  const auto buffer = [&](int b) -> double* {
    return outside_[b] == -1 ? memory_.data() + offsets_[b] : nullptr;
  };
  for (std::size_t n = 0; n < instructions_.size(); ++n) {
    const Instruction& i = instructions_[n];
    if (i.kind != Instruction::Kind::sweep) continue;
    Sweep<double>& s = resolved_[n] = Machine::sweep(memory, i, buffer);
    const std::pair<int, const double**> places[] = {
        {i.plain, &s.plain},     {i.more, &s.more},       {i.rigid_times, &s.rigid_times},
        {i.K_times, &s.K_times}, {i.H_times, &s.H_times}, {i.symmetric_times, &s.symmetric_times},
        {i.tap_add, &s.tap_add}};
    for (const auto& [b, place] : places)
      if (b >= 0 && outside_[b] != -1) patches_.push_back({place, outside_[b]});
  }
}

void Program::refuse(In<double> x, std::span<const std::span<const double>> inputs, Out<double> out) const {
  const std::string text = to_string(*expression_);
  if (expression_->from != Space::one && static_cast<int>(x.size()) != columns_)
    throw ArgumentError(
        fmt::format("{}: the vector has {} numbers, {} are needed", text, x.size(), columns_));
  if (static_cast<int>(out.size()) != rows_)
    throw ArgumentError(fmt::format("{}: the result has {} numbers, not {}", text, rows_, out.size()));
  if (inputs.size() < input_sizes_.size())
    throw ArgumentError(
        fmt::format("{}: {} vectors are needed, {} were given", text, input_sizes_.size(), inputs.size()));
  for (std::size_t i = 0; i < input_sizes_.size(); ++i)
    if (input_sizes_[i] != 0 && static_cast<int>(inputs[i].size()) != input_sizes_[i])
      throw ArgumentError(fmt::format("{}: vector {} has {} numbers, {} are needed", text, i,
                                      inputs[i].size(), input_sizes_[i]));
  throw ArgumentError(text + ": wrong sizes");
}

void Program::apply(In<double> x, std::span<const std::span<const double>> inputs, Out<double> out) {
  bool fits = static_cast<int>(out.size()) == rows_ && inputs.size() >= input_sizes_.size() &&
              (columns_is_one_ || static_cast<int>(x.size()) == columns_);
  for (std::size_t i = 0; fits && i < input_sizes_.size(); ++i)
    fits = input_sizes_[i] == 0 || static_cast<int>(inputs[i].size()) == input_sizes_[i];
  if (!fits) refuse(x, inputs, out);
  state_.require(needs_);
  const Tree<double>& tree = state_.tree();
  for (const Patch& p : patches_) *p.place = outside(p.outside, x, inputs);
  const auto buffer = [&](int b) -> double* {
    return outside_[b] == -1 ? memory_.data() + offsets_[b]
                             : const_cast<double*>(outside(outside_[b], x, inputs));
  };
  const SweepKernels<double>& kernel = *kernel_set().in<double>().sweeps;
  for (std::size_t n = 0; n < instructions_.size(); ++n) {
    const Instruction& i = instructions_[n];
    if (i.kind == Instruction::Kind::sweep) {
      kernel.sweep(tree, state_.m_, resolved_[n]);
    } else if (i.kind == Instruction::Kind::local) {
      const MachineMemory<double> memory{state_.m_, state_.P_, state_.G_, state_.R_, state_.Omega_};
      Machine::local(*this, tree, memory, i, static_cast<const double*>(buffer(i.source)), buffer(i.target),
                     i.size);
    } else {
      Machine::combine<double>(i, i.size, buffer);
    }
  }
  std::memmove(out.data(), buffer(result_), sizeof(double) * rows_);
}

std::vector<Operations> Machine::count(Program& program) {
  using S = Counted;
  OperatorState& state = program.state_;
  state.require(program.needs_);
  const Tree<double>& tree = state.tree();
  const int slots = tree.slots(), nv = tree.nv;
  std::vector<S> x(static_cast<std::size_t>(slots) * body::count);
  for (int k = 0; k < slots; ++k)
    for (int c = 0; c < body::count; ++c)
      x[static_cast<std::size_t>(k) * body::count + c] = slot(state.m_.x, k, int(body::count))[block * c];
  const auto copy = [](const double* from, std::size_t n) { return std::vector<S>(from, from + n); };
  auto K = copy(state.m_.K, 6 * nv), D = copy(state.m_.D, 6 * nv), inv_D = copy(state.m_.inv_D, 6 * nv);
  auto P = copy(state.P_, 21 * slots), G = copy(state.G_, 6 * nv), R = copy(state.R_, 10 * slots),
       Omega = copy(state.Omega_, 21 * slots);
  std::vector<S> side(6 * slots), lambda(6 * slots), nu(nv);
  MachineMemory<S> memory{};
  memory.m.x = x.data();
  memory.m.side = side.data();
  memory.m.K = K.data();
  memory.m.D = D.data();
  memory.m.inv_D = inv_D.data();
  memory.m.lambda = lambda.data();
  memory.m.nu = nu.data();
  memory.P = P.data();
  memory.G = G.data();
  memory.R = R.data();
  memory.Omega = Omega.data();
  const std::size_t longest = std::max({program.rows_, program.columns_, 6 * slots, nv, 6});
  std::vector<S> own(program.memory_.size()), outside(longest);
  const auto buffer = [&](int b) -> S* {
    return program.outside_[b] == -1 ? own.data() + program.offsets_[b] : outside.data();
  };
  std::vector<Operations> counts;
  for (const Instruction& i : program.instructions_) {
    Counted::tally() = {};
    if (i.kind == Instruction::Kind::sweep) {
      const Sweep<S> s = sweep(memory, i, buffer);
      if (s.outward)
        isa::sweep_outward(tree, memory.m, s);
      else
        isa::sweep_inward(tree, memory.m, s);
    } else if (i.kind == Instruction::Kind::local) {
      local(program, tree, memory, i, static_cast<const S*>(buffer(i.source)), buffer(i.target), i.size);
    } else {
      combine<S>(i, i.size, buffer);
    }
    const Tally& tally = Counted::tally();
    counts.push_back({tally.multiplications + tally.divisions, tally.additions});
  }
  return counts;
}

Operations Program::count() {
  Operations sum;
  for (const Operations& o : Machine::count(*this)) {
    sum.multiplications += o.multiplications;
    sum.additions += o.additions;
  }
  return sum;
}

int Program::sweeps() const {
  return static_cast<int>(std::count_if(instructions_.begin(), instructions_.end(),
                                        [](const auto& i) { return i.kind == Instruction::Kind::sweep; }));
}

std::string Program::explain() {
  const auto counts = Machine::count(*this);
  std::string text = to_string(*expression_) + '\n';
  Operations sum;
  for (std::size_t n = 0; n < instructions_.size(); ++n) {
    const Instruction& i = instructions_[n];
    const char* what = i.kind == Instruction::Kind::sweep
                           ? (i.outward ? "sweep, base to tip" : "sweep, tip to base")
                       : i.kind == Instruction::Kind::local ? "each body by itself"
                                                            : "addition";
    text += fmt::format("  {}. {:<20} {:<44} {:>8} multiplications {:>8} additions\n", n + 1, what, i.text,
                        counts[n].multiplications, counts[n].additions);
    sum.multiplications += counts[n].multiplications;
    sum.additions += counts[n].additions;
  }
  text += fmt::format("{} sweep{} over {} bodies, {} multiplications, {} additions\n", sweeps(),
                      sweeps() == 1 ? "" : "s", state_.bodies(), sum.multiplications, sum.additions);
  return text;
}

Dense Program::dense() {
  Dense d{rows_, columns_, std::vector<double>(static_cast<std::size_t>(rows_) * columns_)};
  std::vector<double> unit(columns_), column(rows_);
  if (expression_->from == Space::one)
    throw ArgumentError(
        fmt::format("{}: a vector has no dense form; leave --dense out", to_string(*expression_)));
  if (!input_sizes_.empty())
    throw ArgumentError(fmt::format("{}: a matrix cannot have vectors in it", to_string(*expression_)));
  for (int j = 0; j < columns_; ++j) {
    unit[j] = 1;
    apply(unit, column);
    unit[j] = 0;
    for (int i = 0; i < rows_; ++i) d.numbers[static_cast<std::size_t>(i) * columns_ + j] = column[i];
  }
  return d;
}

}  // namespace articula::operators
