// How a module finds its own kernels for the instruction set in use (instruction_set.hpp): each *_kernels.cpp
// defines, in its namespace ARTICULA_ISA, one function that returns the module's table.
//
//   ARTICULA_DECLARE_KERNELS(SweepTable, sweep_table)
//   const SweepTable& sweeps() { return ARTICULA_CHOOSE_KERNELS(sweep_table)(); }
#pragma once

#include "articula/dynamics/kernels.hpp"

#ifdef ARTICULA_X86_64
#define ARTICULA_DECLARE_KERNELS(Table, function) \
  namespace v2 {                                  \
  const Table& function();                        \
  }                                               \
  namespace v3 {                                  \
  const Table& function();                        \
  }                                               \
  namespace v4 {                                  \
  const Table& function();                        \
  }
// The names are v2, v3 and v4: the second character tells them apart.
#define ARTICULA_CHOOSE_KERNELS(function)                        \
  (::articula::kernels<double>().name[1] == '4'   ? v4::function \
   : ::articula::kernels<double>().name[1] == '3' ? v3::function \
                                                  : v2::function)
#else
#define ARTICULA_DECLARE_KERNELS(Table, function) \
  namespace portable {                            \
  const Table& function();                        \
  }
#define ARTICULA_CHOOSE_KERNELS(function) (portable::function)
#endif
