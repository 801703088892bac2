#!/bin/sh
# Installs the Debian packages that building needs, and those named as arguments; those that are missing only: nothing is
# asked of the network when all are there.
set -eu
cd "$(dirname "$0")/.."
packages="g++ clang-14 cmake ninja-build ccache python3 libeigen3-dev libtinyxml2-dev nlohmann-json3-dev libcli11-dev
  libfmt-dev libgtest-dev libhdf5-dev libcairo2-dev pkg-config"
packages="$packages $*"
# For the page of reports and articula view. A Node.js from elsewhere, with its own npm, will do.
if ! command -v node > /dev/null || ! command -v npm > /dev/null; then packages="$packages nodejs npm ca-certificates"; fi
missing=""
for p in $packages; do
  dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
# Of SUNDIALS, headers and four archives: its package would bring PETSc, MPI and Fortran, 150 packages and 120 MB.
unpack=""
if ! [ -e /usr/include/cvode/cvode.h ] && ! [ -e build-sundials/usr/include/cvode/cvode.h ]; then unpack=libsundials-dev; fi
[ -z "$missing$unpack" ] && exit 0
echo "installing:$missing${unpack:+ $unpack (unpacked)}"
if [ "$(id -u)" = 0 ]; then run=""; else run="sudo"; fi
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -q > /dev/null
# shellcheck disable=SC2086
[ -z "$missing" ] || $run apt-get install -q -y --no-install-recommends $missing > /dev/null
if [ -n "$unpack" ]; then
  mkdir -p build-sundials
  (cd build-sundials && apt-get download -q "$unpack" > /dev/null 2>&1 && dpkg-deb -x "$unpack"_*.deb . && rm "$unpack"_*.deb)
fi
