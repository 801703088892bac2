#!/usr/bin/env python3
"""tools/abi.py on a library of a few lines: what must fail fails, and only that. Argument: a compiler."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

if not shutil.which("clang++-19"):
    print("skipped: no clang++-19")
    sys.exit(77)
TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools/abi.py"
HEADER = "#pragma once\nnamespace articula {\nstruct Joint { double mass; int index; };\nint count(const Joint&);\nvoid turn(Joint&);\n}\n"
SOURCE = '#include "articula/joint.hpp"\nnamespace articula {\nint count(const Joint&) { return 1; }\nvoid turn(Joint&) {}\nvoid inside() {}\n}\n'


def tried(folder, soname="libarticula.so.1", change=lambda text: text, write=False):
    """The exit code of the tool for the library with this change made to header and source."""
    (folder / "articula").mkdir(exist_ok=True)
    (folder / "articula/joint.hpp").write_text(change(HEADER))
    (folder / "joint.cpp").write_text(change(SOURCE))
    subprocess.run([sys.argv[1], "-std=c++20", "-shared", "-fPIC", f"-I{folder}", folder / "joint.cpp", "-o", folder / "lib.so",
                    f"-Wl,-soname,{soname}"], check=True)
    command = [TOOL, folder / "lib.so", "--source", folder, "--reference", folder / "abi.txt"]
    return subprocess.run(command + ["--write"] * write, stdout=subprocess.DEVNULL).returncode


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    cases = {
        "written": (tried(folder, write=True), 0),
        "the same": (tried(folder), 0),
        "a function removed": (tried(folder, change=lambda t: t.replace("void turn(Joint&);", "").replace("void turn(Joint&) {}", "")), 1),
        "an argument changed": (tried(folder, change=lambda t: t.replace("turn(Joint&", "turn(const Joint&")), 1),
        "a member added": (tried(folder, change=lambda t: t.replace("int index;", "int index, more;")), 1),
        "members exchanged": (tried(folder, change=lambda t: t.replace("double mass; int index;", "int index; double mass;")), 1),
        "a function added": (tried(folder, change=lambda t: t.replace("void turn(Joint&)", "void stop();\nvoid turn(Joint&)", 1)
                                   if "pragma" in t else t + "namespace articula { void stop() {} }\n"), 0),
        "an internal function removed": (tried(folder, change=lambda t: t.replace("void inside() {}", "")), 0),
        "another soname": (tried(folder, "libarticula.so.2", lambda t: t.replace("turn(", "rotate(")), 0),
    }
wrong = [f"{case}: exit {is_}, expected {should}" for case, (is_, should) in cases.items() if is_ != should]
print("\n".join(wrong) or f"abi: {len(cases)} cases")
sys.exit(bool(wrong))
