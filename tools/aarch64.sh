#!/bin/sh
# The library and its core tests for aarch64, by Debian's cross compiler, run by qemu: build-aarch64.
# Debian's packages for that machine are unpacked into a folder; nothing of this machine's apt is changed but the
# compiler and qemu, which are installed.
set -eu
jobs=${1:-$(nproc)}
tools/setup.sh g++-aarch64-linux-gnu qemu-user
root=$PWD/build-aarch64/root
if ! [ -d "$root" ]; then
  apt=$PWD/build-aarch64/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/debs"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${DEBIAN:-http://deb.debian.org/debian} bookworm main" > "$apt/sources"
  options="-q -o Dir::State::lists=$apt/lists -o Dir::State::status=/dev/null -o Dir::Cache=$apt -o Dir::Etc::sourceparts=-
    -o Dir::Etc::sourcelist=$apt/sources -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root"
  # shellcheck disable=SC2086
  (cd "$apt/debs" && apt-get $options update > /dev/null && apt-get $options download libeigen3-dev libtinyxml2-dev libtinyxml2-9 \
    libfmt-dev libfmt9 nlohmann-json3-dev libgtest-dev libsundials-dev libhdf5-dev libaec-dev libaec0 libsz2 zlib1g-dev zlib1g > /dev/null)
  for package in "$apt"/debs/*.deb; do dpkg-deb -x "$package" "$root.part"; done
  mv "$root.part" "$root"
fi
cmake --preset aarch64 > build-aarch64/configure.log 2>&1 || { cat build-aarch64/configure.log; exit 1; }
cmake --build build-aarch64 -j "$jobs" --target articula_tests
qemu-aarch64 -L /usr/aarch64-linux-gnu build-aarch64/articula_tests --gtest_brief=1
