#!/bin/sh
# Packages in dist/: .deb files (library, development files, program, Python) and a tarball that runs where it is unpacked.
# tools/package.sh make: all of them; the Python one from the wheel, where there is one. PACKAGE_OPTIONS: more for cmake.
# tools/package.sh try [FOLDER]: each in a bare Debian of its own (debootstrap), README's examples run, upgraded, removed.
set -eu
version=$(sed -n 's/^project(articula VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)

# The wheel, as it is before the libraries that it needs are put into it, as python3-articula.
python_package() {
  wheel=$(ls build-python/made/articula-*.whl 2> /dev/null | head -1)
  if [ -z "$wheel" ]; then
    echo "without python3-articula: no wheel in build-python/made (make wheel)"
    return
  fi
  root=$PWD/build-package/python3-articula
  site=$root/usr/lib/python3/dist-packages
  rm -rf "$root"
  mkdir -p "$site" "$root/DEBIAN" "$root/usr/share/doc/python3-articula"
  build-python/environment/bin/pip install -q --no-deps --no-compile --target "$site" "$wheel" nanobind-backend
  rm -rf "$site/bin"
  cp build-package/debian/copyright build-package/debian/changelog.gz "$root/usr/share/doc/python3-articula"
  strip --strip-unneeded "$site/articula/_core.abi3.so" "$site/articula/bin/articula"
  mkdir -p build-package/debian/debian
  echo "Source: articula" > build-package/debian/debian/control
  needed=$(cd build-package/debian && dpkg-shlibdeps -O --ignore-missing-info "$site/articula/_core.abi3.so" "$site/articula/bin/articula" |
    sed 's/^shlibs:Depends=//')
  cat > "$root/DEBIAN/control" << END
Package: python3-articula
Version: $version
Section: python
Priority: optional
Architecture: $architecture
Depends: python3 (>= 3.10), python3-numpy (>= 1:1.24), $needed
Maintainer: The Articula developers <maintainers@articula.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: dynamics of jointed bodies by the spatial operator algebra (Python)
 The module articula: all of the library for NumPy arrays, one state or many.
END
  # As Debian's own do: compiled when installed, and nothing left when removed.
  printf '#!/bin/sh\nset -e\nif [ "$1" = configure ]; then py3compile -p python3-articula; fi\n' > "$root/DEBIAN/postinst"
  printf '#!/bin/sh\nset -e\npy3clean -p python3-articula\n' > "$root/DEBIAN/prerm"
  chmod -R u=rwX,go=rX "$root"
  chmod +x "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
  dpkg-deb --root-owner-group --build "$root" dist > /dev/null
}

make_all() {
  mkdir -p dist
  rm -f dist/*.deb dist/articula-*.tar.gz.tmp
  # shellcheck disable=SC2086
  cmake --preset package ${PACKAGE_OPTIONS:-} > build-package.log 2>&1 || { cat build-package.log; exit 1; }
  cmake --build build-package
  for generator in DEB TGZ; do
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
  gone "$1"
  cp -a "$folder/base" "$folder/$1"
  cp /etc/resolv.conf "$folder/$1/etc/" 2> /dev/null || true
  cp -r /etc/apt/apt.conf.d "$folder/$1/etc/apt/" 2> /dev/null || true
  mkdir -p "$folder/$1/dist"
  cp -r dist/*.deb dist/*.tar.gz models "$folder/$1/dist"
  inside "$1" "apt-get update -q"
}
gone() {
  umount "$folder/$1/proc" 2> /dev/null || true
  rm -rf "${folder:?}/$1"
}
# inside NAME COMMANDS: run there, with what they print in $folder/NAME.log; shown if they fail. The last line is shown.
inside() {
  name=$1
  shift
  mountpoint -q "$folder/$name/proc" || mount -t proc proc "$folder/$name/proc"
  chroot "$folder/$name" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root sh -euc "$*" \
    > "$folder/$name.log" 2>&1 || { tail -n 20 "$folder/$name.log"; echo "package-try: failed in $folder/$name"; exit 1; }
}
# installed NAME PACKAGES: with how much comes with them.
installed() {
  name=$1
  shift
  inside "$name" "apt-get install -q -y --no-install-recommends $*"
  echo "  $(grep -oE '[0-9]+ newly installed|Need to get .* of archives|After this operation.*used' "$folder/$name.log" | tr '\n' ';')"
}
# newer NAME PACKAGES: the same with a higher version over them; run again by what follows; removed with nothing left.
newer() {
  inside "$1" "mkdir -p /dist/newer; for p in $2; do
    rm -rf /tmp/p; dpkg-deb -R /dist/\$p*.deb /tmp/p; sed -i 's/= $version)/= $version+1)/; s/^Version: .*/Version: $version+1/' /tmp/p/DEBIAN/control
    dpkg-deb -Zgzip -z1 -b /tmp/p /dist/newer > /dev/null; done; apt-get install -q -y /dist/newer/*.deb; dpkg -l | grep -F $version+1"
  inside "$1" "$3"
  inside "$1" "apt-get purge -q -y \$(dpkg-query -W -f '\${Package} ' 'libarticula*' articula python3-articula 2> /dev/null || true)
    ! find /usr /etc /var/lib/dpkg -iname '*articula*' | grep ."
  echo "  runs, is upgraded, runs, is removed with nothing left"
}
# fenced LANGUAGE: README's first example.
fenced() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" README.md | sed '/^```$/q' | sed '/^```/d'; }
state='{"q": [0.1, -0.7, 0.4, 0.2, 0.9, -0.3, 0.5], "v": [0,0,0,0,0,0,0], "tau": [0,0,0,0,0,0,0]}'

try_all() {
  echo "the program, from its package:"
  bare program
  installed program /dist/articula_*.deb
  works="articula --version; echo '$state' | articula eval arm7 forward_dynamics; articula info quadruped --base free; articula check four_bar
    articula simulate arm7 --duration 0.1 --out /tmp/motion.h5 --report /tmp/motion.html; articula info /dist/models/arm7.urdf --base free
    test -s /usr/share/man/man1/articula.1.gz"
  inside program "$works"
  newer program articula_ "$works"
  gone program

  echo "development files, README's C++ by find_package and by pkg-config:"
  bare development
  installed development g++ cmake make pkg-config
  installed development "/dist/libarticula[0-9]*.deb /dist/libarticula-dev*.deb"
  mkdir "$folder/development/dist/mine"
  fenced cpp > "$folder/development/dist/mine/main.cpp"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(mine CXX)\nfind_package(articula REQUIRED)\nadd_executable(mine main.cpp)\ntarget_link_libraries(mine PRIVATE articula::articula)\n' \
    > "$folder/development/dist/mine/CMakeLists.txt"
  works="cd /dist/mine; rm -rf build by_pkg_config; cmake -B build; cmake --build build; build/mine ../models/arm7.urdf
    g++ main.cpp -o by_pkg_config \$(pkg-config --cflags --libs articula); ./by_pkg_config ../models/arm7.urdf"
  inside development "$works"
  tail -n 1 "$folder/development.log"
  newer development "libarticula[0-9] libarticula-dev" "$works"
  gone development

  if ls dist/python3-articula*.deb > /dev/null 2>&1; then
    echo "Python, README's example:"
    bare python
    installed python /dist/python3-articula*.deb
    fenced python > "$folder/python/dist/first.py"
    inside python "cd /dist; python3 first.py"
    tail -n 1 "$folder/python.log"
    newer python python3-articula "cd /dist; python3 first.py"
    gone python
  fi

  echo "the tarball, unpacked anywhere:"
  bare tarball
  installed tarball "\$(dpkg-deb -f /dist/articula_*.deb Depends | tr ',' '\n' | sed 's/(.*//; s/|.*//')"
  inside tarball "mkdir /opt/here; tar -xzf /dist/articula-*-Linux-*.tar.gz -C /opt/here --strip-components 1; /opt/here/bin/articula --version
    echo '$state' | /opt/here/bin/articula eval arm7 forward_dynamics > /dev/null; mv /opt/here /srv/there; /srv/there/bin/articula info arm7 > /dev/null"
  gone tarball
  echo "  runs, is moved, runs"
}

case ${1:-make} in
  make) make_all ;;
  try)
    folder=${2:-build-package/bare}
    tools/setup.sh debootstrap lintian
    mkdir -p "$folder"
    lintian --fail-on error dist/*.deb
    try_all
    ;;
esac
