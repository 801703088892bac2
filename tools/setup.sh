#!/bin/sh
# Installs the Debian packages that building and testing need, and those named as arguments; those that are missing
# only: nothing is asked of the network when all are there.
set -eu
packages="g++ clang-14 libclang-rt-14-dev libomp-14-dev cmake ninja-build ccache python3 python3-venv python3-dev clang-format
  libeigen3-dev libtinyxml2-dev nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev
  libsundials-dev libhdf5-dev libcairo2-dev pkg-config"
packages="$packages $*"
# For the page of reports and articula view. A Node.js from elsewhere, with its own npm, will do.
if ! command -v node > /dev/null || ! command -v npm > /dev/null; then packages="$packages nodejs npm ca-certificates"; fi
missing=""
for p in $packages; do
  dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
echo "installing:$missing"
if [ "$(id -u)" = 0 ]; then run=""; else run="sudo"; fi
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -q > /dev/null
# shellcheck disable=SC2086
$run apt-get install -q -y --no-install-recommends $missing > /dev/null
