// Compiled once per instruction set: all its tables.
#include "articula/kernels/isa.hpp"
#include "articula/kernels/tables.hpp"

#define ARTICULA_STRING_OF(x) #x
#define ARTICULA_STRING(x) ARTICULA_STRING_OF(x)

namespace articula::ARTICULA_ISA {

const KernelTable<double>& dynamics_in_double();
const KernelTable<float>& dynamics_in_float();
const SweepKernels<double>& sweeps_in_double();
const SweepKernels<float>& sweeps_in_float();
const LinearizationTable<double>& linearization_in_double();
const LinearizationTable<float>& linearization_in_float();
const BatchTable<double>& batch_in_double();
const BatchTable<float>& batch_in_float();
const BatchTable<double>& varied_in_double();
const BatchTable<float>& varied_in_float();
const MotionTable<double>& motion_in_double();
const MotionTable<float>& motion_in_float();
const DiagonalTable<double>& diagonal_in_double();
const DiagonalTable<float>& diagonal_in_float();
const TaskTable<double>& tasks_in_double();
const TaskTable<float>& tasks_in_float();
const RolloutTable<double>& rollout_in_double();
const RolloutTable<float>& rollout_in_float();
const OperatorKernels& operator_kernels();
const SecondOrderTable& second_order_kernels();
const LoopKernels& loop_kernels();
const TaskKernels& task_kernels();
const DiagonalKernels& diagonal_kernels();
std::span<const ListedKernel> listed_kernels();

const KernelSet& kernel_set() {
  static const KernelSet set{
      ARTICULA_STRING(ARTICULA_ISA),
      {&dynamics_in_double(), &sweeps_in_double(), &linearization_in_double(), &batch_in_double(),
       &varied_in_double(), &motion_in_double(), &diagonal_in_double(), &tasks_in_double(),
       &rollout_in_double()},
      {&dynamics_in_float(), &sweeps_in_float(), &linearization_in_float(), &batch_in_float(),
       &varied_in_float(), &motion_in_float(), &diagonal_in_float(), &tasks_in_float(), &rollout_in_float()},
      &operator_kernels(),
      &second_order_kernels(),
      &loop_kernels(),
      &task_kernels(),
      &diagonal_kernels(),
      listed_kernels()};
  return set;
}

}  // namespace articula::ARTICULA_ISA
