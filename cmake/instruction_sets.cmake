# Which instruction sets the kernels are compiled for, and with what flags.
#
# ARTICULA_INSTRUCTION_SETS: `this` (default), the best that the machine at hand runs: a third of the time. `all`: what
# packages and the tests of every set need. Or a list of names, v2;v3. Packs are the compiler's vectors everywhere: a set
# is its flags, and the namespace of its kernels.
set(ARTICULA_INSTRUCTION_SETS this CACHE STRING "Instruction sets of the kernels: this, all, or a list (v2;v3;v4)")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(ARTICULA_ALL_INSTRUCTION_SETS v2 v3 v4)  # worst first
  set(ARTICULA_MARCH_v2 -march=x86-64-v2)
  set(ARTICULA_MARCH_v3 -march=x86-64-v3)
  set(ARTICULA_MARCH_v4 -march=x86-64-v4 -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(ARTICULA_ALL_INSTRUCTION_SETS neon)  # every such processor has it
else()
  set(ARTICULA_ALL_INSTRUCTION_SETS simple)  # packs of 16 bytes, as the compiler makes them
endif()

if(ARTICULA_INSTRUCTION_SETS STREQUAL "all")
  set(ARTICULA_ISAS ${ARTICULA_ALL_INSTRUCTION_SETS})
elseif(NOT ARTICULA_INSTRUCTION_SETS STREQUAL "this")
  set(ARTICULA_ISAS ${ARTICULA_INSTRUCTION_SETS})
elseif(CMAKE_CROSSCOMPILING)
  list(GET ARTICULA_ALL_INSTRUCTION_SETS 0 ARTICULA_ISAS)
else()
  list(GET ARTICULA_ALL_INSTRUCTION_SETS 0 ARTICULA_ISAS)
  try_run(ARTICULA_BEST_RUNS ARTICULA_BEST_COMPILES ${CMAKE_BINARY_DIR}/instruction_set
          ${CMAKE_CURRENT_SOURCE_DIR}/cmake/best_instruction_set.cpp
          CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_CURRENT_SOURCE_DIR} -DCMAKE_CXX_STANDARD=20
          RUN_OUTPUT_VARIABLE ARTICULA_BEST ARGS ${ARTICULA_ALL_INSTRUCTION_SETS})
  if(ARTICULA_BEST_COMPILES AND ARTICULA_BEST IN_LIST ARTICULA_ALL_INSTRUCTION_SETS)
    set(ARTICULA_ISAS ${ARTICULA_BEST})
  endif()
endif()
message(STATUS "kernels for: ${ARTICULA_ISAS}")
# For `make test-sets` and tools/check_layers.py, one name per line.
list(JOIN ARTICULA_ISAS "\n" ARTICULA_ISA_LINES)
file(WRITE ${CMAKE_BINARY_DIR}/instruction_sets.txt "${ARTICULA_ISA_LINES}\n")
