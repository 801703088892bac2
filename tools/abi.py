#!/usr/bin/env python3
"""The binary interface of libarticula.so, against that of the last release.

It is one line for each function and object that the library exports and an installed header names, and one for each
type of those headers: its size, and a checksum of where which member lies (as clang 19 lays them out). Lines that went are an error
unless the library's soname changed with them; new ones are not. --write makes the reference anew: at a release.
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

LONG_NAMES = {"[abi:cxx11]": "", ", 18446744073709551615ul>": ">",  # spans of any length
              "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >": "std::string"}


def said(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"abi: {command[0]} failed: {run.stderr.strip().splitlines()[0]}")
    return run.stdout


def installed_headers(folder):
    patterns = []
    private = folder / "cmake/private_headers.txt"
    if private.exists():
        patterns = [line for line in private.read_text().splitlines() if line.startswith("articula")]
    names = sorted(str(h.relative_to(folder)) for h in (folder / "articula").rglob("*.hpp"))
    return [n for n in names if not any(fnmatch.fnmatch(n, p) for p in patterns)]


def symbols(library, words):
    """Exported names that users' files link to. Weak ones they have themselves (inline functions, templates), but those
    of class templates that the library instantiates for double and float."""
    for line in said("nm", "-DC", "--defined-only", str(library)).splitlines():
        kind, name = line.split(" ", 2)[1:]
        name = name.split("@@")[0]
        for long, short in LONG_NAMES.items():
            name = name.replace(long, short)
        if kind in "WV" and not re.match(r"articula::\w+<(double|float)>::", name):
            continue
        plain = re.sub(r"\(.*", "", re.sub(r"<.*", "", name)).split("::")[-1].lstrip("~")
        if plain.split()[-1] in words or plain.startswith("operator"):
            yield "symbol " + name


def types(folder, headers):
    """From clang's dump of records: depth by indentation, two columns a level."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as all_of_them:
        all_of_them.write("".join(f'#include "{h}"\n' for h in headers))
        all_of_them.flush()
        dump = said("clang++-19", "-std=c++20", f"-I{folder}", "-isystem", "/usr/include/eigen3", "-w", "-fsyntax-only",
                    "-Xclang", "-fdump-record-layouts-complete", all_of_them.name)
    for record in dump.split("*** Dumping AST Record Layout\n")[1:]:
        lines = record.splitlines()
        head = re.match(r" +0 \| (?:struct|class|union) (articula::[^(]*?)(?: \(empty\))?$", lines[0])
        if not head:
            continue
        members = [re.sub(r" +\|  ", " ", line.strip(), count=1) for line in lines if re.match(r" +[\d:-]+ \|   \S", line)]
        size = re.search(r"sizeof=(\d+)", record)
        yield f"type {head[1]}: {size[1]} bytes, {len(members)} members, {zlib.crc32('; '.join(members).encode()):08x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    reference = options.reference or options.source / "cmake/abi.txt"
    headers = installed_headers(options.source)
    words = {w for h in headers for w in re.findall(r"\w+", (options.source / h).read_text())}
    soname = re.search(r"SONAME.*\[(.*)\]", said("readelf", "-d", str(options.library)))[1]
    now = sorted({*symbols(options.library, words), *types(options.source, headers)})
    if options.write:
        reference.write_text("\n".join([soname, *now]) + "\n")
        print(f"abi: {reference} has {len(now)} lines for {soname}")
        return 0
    then_soname, *then = reference.read_text().splitlines()
    gone = sorted(set(then) - set(now))
    for line in gone:
        print(f"gone: {line}")
    print(f"abi: {soname}: {len(gone)} lines gone and {len(set(now) - set(then))} new since {then_soname}")
    if gone and soname == then_soname:
        print("abi: programs made for the last release would break: undo these, or change the soname (the minor version)")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
