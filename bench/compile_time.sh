#!/bin/sh
# How long a user's file that calls one algorithm takes to compile, beside an empty file that includes <vector>.
set -eu
cd "$(dirname "$0")/.."
compiler=${CXX:-g++}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '#include <vector>' > "$folder/vector.cpp"
for file in examples/first_steps.cpp "$folder/vector.cpp"; do
  best=999999
  for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    CCACHE_DISABLE=1 "$compiler" -std=c++20 -O2 -I. -c "$file" -o "$folder/out.o"
    took=$((($(date +%s%N) - start) / 1000000))
    if [ "$took" -lt "$best" ]; then best=$took; fi
  done
  echo "$(basename "$file"): $best ms (best of 5, $compiler -O2)"
done
