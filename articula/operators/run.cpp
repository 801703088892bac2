// Running a program: sweeps by the kernels of the instruction set in use, local steps here.
#define ARTICULA_ISA operators_baseline
#include <fmt/format.h>

#include <cstring>

#include "articula/operators/machine.hpp"

namespace articula::operators {

const double* Program::outside(int from, In<double> x,
                               std::span<const std::span<const double>> inputs) const {
  if (from == 0) return x.data();
  if (from > 0) return inputs[from - 1].data();
  return from == -2 ? state_.a_ : from == -3 ? state_.b_ : state_.a_g_;
}

/// Sweeps with their pointers filled in; those to vectors of the caller are patched at every run.
void Program::resolve() {
  const MachineMemory<double> memory = Machine<double>::memory_of(state_);
  resolved_.resize(instructions_.size());
  const auto buffer = [&](int b) -> double* {
    return outside_[b] == -1 ? memory_.data() + offsets_[b] : nullptr;
  };
  for (std::size_t n = 0; n < instructions_.size(); ++n) {
    const Instruction& i = instructions_[n];
    if (i.kind != Instruction::Kind::sweep) continue;
    Sweep<double>& s = resolved_[n] = Machine<double>::sweep(memory, i, buffer);
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
      const MachineMemory<double> memory = Machine<double>::memory_of(state_);
      Machine<double>{*this, tree, memory}.local(i, buffer(i.source), buffer(i.target));
    } else {
      Machine<double>::combine(i, buffer);
    }
  }
  std::memmove(out.data(), buffer(result_), sizeof(double) * rows_);
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
