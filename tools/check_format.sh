#!/bin/sh
# Fails if any C++ file is not as clang-format would have it.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.hpp' '*.cpp' | xargs clang-format --dry-run --Werror
echo "format: clean"
