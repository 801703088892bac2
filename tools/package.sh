#!/bin/sh
# Packages in dist/: .deb files (library, development files, program, Python) and a tarball that runs where it is unpacked.
# tools/package.sh make: all of them; the Python one from the wheel, where there is one. PACKAGE_OPTIONS: more for cmake.
# tools/package.sh try [FOLDER]: each in a bare Debian of its own (debootstrap), README's examples run, upgraded, removed.
set -eu
version=$(sed -n 's/^project(articula VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)

# The wheel and what it needs beside Debian's NumPy, as python3-articula.
python_package() {
  wheel=$(ls dist/articula-*.whl 2> /dev/null | head -1)
  if [ -z "$wheel" ]; then
    echo "without python3-articula: no wheel in dist/ (make wheel)"
    return
  fi
  root=build-package/python3-articula
  site=$root/usr/lib/python3/dist-packages
  rm -rf "$root"
  mkdir -p "$site" "$root/DEBIAN" "$root/usr/share/doc/python3-articula"
  build-python/environment/bin/pip install -q --no-deps --no-compile --target "$site" "$wheel" nanobind-backend
  rm -rf "$site/bin"
  cp build-package/debian/copyright build-package/debian/changelog.gz "$root/usr/share/doc/python3-articula"
  cat > "$root/DEBIAN/control" << END
Package: python3-articula
Version: $version
Section: python
Priority: optional
Architecture: $architecture
Depends: python3 (>= 3.10), python3-numpy (>= 1:1.24), libc6 (>= 2.36)
Maintainer: The Articula developers <maintainers@articula.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: dynamics of jointed bodies by the spatial operator algebra (Python)
 The module articula: all of the library for NumPy arrays, one state or many.
END
  chmod -R u=rwX,go=rX "$root"
  dpkg-deb --root-owner-group --build "$root" dist > /dev/null
}

make_all() {
  mkdir -p dist
  rm -f dist/*.deb dist/articula-*.tar.gz.tmp
  for relocatable in ON OFF; do
    # shellcheck disable=SC2086
    cmake --preset package -DARTICULA_RELOCATABLE=$relocatable ${PACKAGE_OPTIONS:-} > build-package.log 2>&1 || { cat build-package.log; exit 1; }
    cmake --build build-package
    generator=DEB
    [ $relocatable = ON ] && generator=TGZ
    (cd build-package && cpack -G $generator -B packages > package.log 2>&1 || { cat package.log; exit 1; })
  done
  rm -f build-package.log
  cp build-package/packages/*.deb build-package/packages/*.tar.gz dist
  python_package
  ls -l dist
}

# bare NAME: a fresh Debian in $folder/NAME, from one that is made once.
bare() {
  if ! [ -d "$folder/base" ]; then
    debootstrap --variant=minbase bookworm "$folder/base.part" > "$folder/debootstrap.log"
    mv "$folder/base.part" "$folder/base"
  fi
  umount "$folder/$1/proc" 2> /dev/null || true
  rm -rf "${folder:?}/$1"
  cp -a "$folder/base" "$folder/$1"
  cp /etc/resolv.conf "$folder/$1/etc/" 2> /dev/null || true
  cp /etc/apt/sources.list "$folder/$1/etc/apt/" 2> /dev/null || true
  cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$folder/$1/etc/apt/" 2> /dev/null || true
  mkdir -p "$folder/$1/dist"
  cp dist/*.deb dist/*.tar.gz "$folder/$1/dist"
  cp -r examples models README.md "$folder/$1/dist"
}
inside() {
  name=$1
  shift
  mountpoint -q "$folder/$name/proc" || mount -t proc proc "$folder/$name/proc"
  chroot "$folder/$name" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root sh -euc "$*"
}
get="apt-get install -q -y --no-install-recommends"
state='{"q": [0.1, -0.7, 0.4, 0.2, 0.9, -0.3, 0.5], "v": [0,0,0,0,0,0,0], "tau": [0,0,0,0,0,0,0]}'

try_all() {
  echo "the program, from its package:"
  bare program
  inside program "apt-get update -q; $get /dist/libarticula[0-9]*.deb /dist/articula_*.deb" > "$folder/program.log" 2>&1
  inside program "articula --version; echo '$state' | articula eval arm7 forward_dynamics > /dev/null; articula info quadruped --base free > /dev/null
    test -s /usr/share/man/man1/articula.1.gz
    $get --reinstall /dist/articula_*.deb; apt-get remove -q -y articula 'libarticula[0-9]*'; ! command -v articula" > "$folder/program2.log" 2>&1
  echo "  runs, is installed again, is removed"

  echo "development files, README's C++ by find_package and by pkg-config:"
  bare development
  inside development "apt-get update -q; $get g++ cmake make pkg-config /dist/libarticula[0-9]*.deb /dist/libarticula-dev*.deb" > "$folder/development.log" 2>&1
  inside development "cd /dist; mkdir mine; cp examples/first_steps.cpp mine/main.cpp; cd mine
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(mine CXX)\nfind_package(articula REQUIRED)\nadd_executable(mine main.cpp)\ntarget_link_libraries(mine PRIVATE articula::articula)\n' > CMakeLists.txt
    cmake -B build > /dev/null; cmake --build build > /dev/null; build/mine ../models/arm7.urdf | head -2
    g++ main.cpp -o by_pkg_config \$(pkg-config --cflags --libs articula); ./by_pkg_config ../models/arm7.urdf | head -2"

  if ls dist/python3-articula*.deb > /dev/null 2>&1; then
    echo "Python, README's example:"
    bare python
    inside python "apt-get update -q; $get /dist/python3-articula*.deb" > "$folder/python.log" 2>&1
    sed -n '/^```python$/,/^```$/p' README.md | sed '/^```python$/d; /^```$/q' | sed '/^```$/d' > "$folder/python/dist/first.py"
    inside python "cd /dist; python3 first.py | tail -2"
  fi

  echo "the tarball, unpacked anywhere:"
  bare tarball
  inside tarball "apt-get update -q; $get \$(dpkg-deb -f /dist/articula_*.deb Depends | tr ',' '\n' | sed 's/(.*//; s/|.*//; /libarticula/d') \
    \$(dpkg-deb -f /dist/libarticula[0-9]*.deb Depends | tr ',' '\n' | sed 's/(.*//; s/|.*//')" > "$folder/tarball.log" 2>&1
  inside tarball "mkdir /opt/here; tar -xzf /dist/articula-*-Linux-*.tar.gz -C /opt/here --strip-components 1; /opt/here/bin/articula --version
    echo '$state' | /opt/here/bin/articula eval arm7 forward_dynamics > /dev/null; mv /opt/here /srv/there; /srv/there/bin/articula info arm7 > /dev/null"
}

case ${1:-make} in
  make) make_all ;;
  try)
    folder=${2:-build-package/bare}
    tools/setup.sh debootstrap lintian
    mkdir -p "$folder"
    lintian --fail-on error dist/*.deb || echo "lintian: see above"
    try_all
    ;;
esac
