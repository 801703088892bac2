#!/bin/sh
# tools/site.sh: the documentation as one static site, build/site/html: README, docs/ and the C++ reference of
# `make reference`. Sphinx and the browser's driver come from PyPI into build/site/environment; where it cannot be
# reached, one line says so. tools/check_site.py looks at the result in Chromium.
set -eu
site=build/site
environment=$site/environment
mkdir -p "$site"
if ! [ -x "$environment/bin/pip" ] && ! python3 -m venv "$environment"; then
  echo "without the site: python3 -m venv cannot make an environment"
  exit 1
fi
if ! "$environment/bin/pip" install -q "sphinx>=8,<10" "myst-parser>=4,<6" "furo>=2024" "sphinx-copybutton>=0.5" \
    "playwright>=1.45,<2" > "$site/pip.log" 2>&1; then
  echo "without the site: its packages cannot be had from PyPI ($site/pip.log)"
  exit 1
fi

# The pages as they lie in the repository, so that their links hold; README is the first one.
rm -rf "$site/source" "$site/html"
mkdir -p "$site/source"
cp -r docs examples CONTRIBUTING.md CHANGELOG.md "$site/source" && rm -r "$site/source/docs/site"
{
  cat README.md
  while IFS= read -r line; do  # without patterns that no page has: Sphinx would complain
    # shellcheck disable=SC2086
    case $line in docs/*\**) ls $line.md > /dev/null 2>&1 || continue ;; esac
    printf '%s\n' "$line"
  done < docs/site/contents.md
} > "$site/source/index.md"
cp docs/site/cpp.md "$site/source/cpp.md"
"$environment/bin/python" -m sphinx -q -W --keep-going -j 2 -c docs/site -d "$site/doctrees" "$site/source" "$site/html"
cp -r build/reference/html "$site/html/reference"
sed -i 's|<div id="projectname">Articula|<div id="projectname"><a href="../index.html">Articula</a>|' "$site"/html/reference/*.html
"$environment/bin/python" tools/check_site.py "$site/html"
echo "site: $site/html/index.html"
