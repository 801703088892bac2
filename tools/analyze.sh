#!/bin/sh
# Static analysis of the library and the program: tools/analyze.sh BUILD JOBS [files]. What is found is an error.
# BUILD is configured here, without joined sources: compile_commands.json has each file, and the precompiled headers that
# it names are made. Kernels are templates that other sources
# read too; compiled once for each instruction set, they would take most of the time, and are left out.
set -eu
cd "$(dirname "$0")/.."
build=$1 jobs=$2
shift 2
[ $# -gt 0 ] || set -- $(git ls-files 'articula/*.cpp' 'cli/*.cpp' | grep -v -e _test.cpp -e _kernels.cpp)
cmake --preset release -B "$build" -DARTICULA_JOINED=OFF -DARTICULA_BUILD_TESTS=OFF -DARTICULA_BUILD_BENCH=OFF > /dev/null
cmake --build "$build" -j "$jobs" --target CMakeFiles/articula.dir/cmake_pch.hxx.pch \
  CMakeFiles/articula_program.dir/cmake_pch.hxx.pch > /dev/null
cppcheck --std=c++20 --enable=warning,portability --inline-suppr --quiet -j "$jobs" -I . --error-exitcode=1 \
  --suppressions-list=tools/cppcheck_suppressions.txt "$@"
echo "$@" | tr ' ' '\n' | xargs -P "$jobs" -n 1 sh -c 'clang-tidy-14 -p "$0" --quiet "$1" 2> /dev/null || { echo "clang-tidy: $1"; exit 255; }' "$build"
echo "analysis: clang-tidy and cppcheck find nothing in $# files"
