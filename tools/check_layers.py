#!/usr/bin/env python3
"""Holds the layering: a folder of articula/ may include only folders above it in this list, and its own files; headers
that are installed include none of those that are not (cmake/private_headers.txt); their classes are all in tests/values_test.cpp; nothing indexes past a member.

With an object directory as argument it also checks that kernels compiled for one instruction set define nothing
outside their own namespace: the linker could otherwise hand their code to a machine that cannot run it.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

LAYERS = ["spatial", "model", "kernels", "files", "dynamics", "operators", "linearization", "task_space", "diagonal", "loops",
          "simulation", "batch", "algorithms", "cuda", "report"]
# Files of models know nothing of dynamics, and the other way round.
FORBIDDEN = {("dynamics", "files"), ("files", "kernels")}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def includes():
    bad = []
    for path in sorted((ROOT / "articula").rglob("*.?pp")):
        if path.name.endswith("_test.cpp"):
            continue
        layer = path.parent.name
        if layer == "articula":
            continue
        if layer not in LAYERS:
            bad.append(f"{path.relative_to(ROOT)}: folder '{layer}' is not in tools/check_layers.py")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'#include "articula/(\w+)/', line)
            if not found:
                continue
            other = found.group(1)
            if other not in LAYERS or LAYERS.index(other) > LAYERS.index(layer) or (layer, other) in FORBIDDEN:
                bad.append(f"{path.relative_to(ROOT)}:{number}: {layer} may not include {other}")
    return bad


def headers_and_private():
    patterns = [line for line in (ROOT / "cmake/private_headers.txt").read_text().splitlines() if line.startswith("articula")]
    headers = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "articula").rglob("*.hpp"))]
    return headers, patterns, lambda name: any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def private_headers():
    headers, patterns, private = headers_and_private()
    bad = [f"cmake/private_headers.txt: no header is named {pattern}" for pattern in patterns
           if not fnmatch.filter(headers, pattern)]
    for name in headers:
        if not private(name):
            bad += [f"{name} is installed, {other} that it includes is not"
                    for other in re.findall(r'#include "(articula/[^"]+)"', (ROOT / name).read_text()) if private(other)]
    return bad


def values():
    """Every class of an installed header is in a list of tests/values_test.cpp: as a value, or as none."""
    headers, _, private = headers_and_private()
    told = set(re.findall(r"\w+", (ROOT / "tests/values_test.cpp").read_text().split("TEST(", 1)[0]))
    pattern = re.compile(r"^(?:template <[^;{]*>\s*)?class (\w+)(?:<[^;{]*>)?(?: final)?\s*(?::[^;{]*)?\{", re.M)
    return [f"{name}: class {found} is in no list of tests/values_test.cpp" for name in headers if not private(name)
            for found in pattern.findall((ROOT / name).read_text()) if found not in told]


def member_indexing():
    """(&a.x)[i] is a.x to clang, whatever i is: numbers_of(a)[i] instead."""
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return [f"{name}:{number}: indexes past a member; numbers_of (articula/spatial/numbers.hpp) does not"
            for name in files.splitlines() if name != "articula/spatial/numbers.hpp"
            for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
            if re.search(r"\(&[^()=&]*(\.|->)\w+\)\[", line)]


def symbols(build):
    bad = []
    for isa in (pathlib.Path(build) / "instruction_sets.txt").read_text().split():
        for obj in sorted(pathlib.Path(build).glob(f"CMakeFiles/articula_{isa}.dir/**/*.o")):
            out = subprocess.run(["nm", "-C", "--defined-only", "--extern-only", str(obj)], check=True,
                                 capture_output=True, text=True).stdout
            for line in out.splitlines():
                if f"articula::{isa}::" not in line and " DW.ref." not in line:
                    bad.append(f"{obj.name} ({isa}) defines {line.split(' ', 2)[2]}")
    return bad


def main():
    bad = includes() + private_headers() + values() + member_indexing() + (symbols(sys.argv[1]) if len(sys.argv) > 1 else [])
    for line in bad:
        print(line)
    print(f"layers: {len(bad)} problems" if bad else "layers: clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
