#!/usr/bin/env python3
"""How long each target and each file took to build, from ninja's log.

The log has wall times: a file that waited for others seems slow. Where more commands ran than there are cores, each
gets its share of the time; other programs on the machine are not seen. A file that a compiler cache had takes no time:
build with CCACHE_DISABLE=1 in an empty folder for figures that mean something.
"""
import argparse
import os
import pathlib
import re
import sys

# What a folder of objects belongs to; the first that fits.
TARGETS = [("CMakeFiles/articula_v", "kernels"), ("CMakeFiles/articula_neon", "kernels"),
           ("CMakeFiles/articula_simple", "kernels"),
           ("CMakeFiles/articula.dir", "library"), ("CMakeFiles/articula_program.dir", "program"),
           ("CMakeFiles/articula_tests.dir", "tests"), ("CMakeFiles/articula_bench.dir", "benchmarks"),
           ("CMakeFiles/", "examples"), ("web/", "page")]


def read_log(path):
    """The runs of ninja, one after the other: (start, end) in seconds by output. Each run counts from zero."""
    runs, last = [{}], 0
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        if int(end) < last:  # commands are entered as they end
            runs.append({})
        last = int(end)
        if not output.startswith("/"):  # what a custom command makes is entered twice
            runs[-1][output] = (int(start) / 1000, int(end) / 1000)
    return runs


def shares(times, cores):
    """Seconds of a core by output: its part of the time, where commands share the cores."""
    points = sorted({t for span in times.values() for t in span})
    place = {t: i for i, t in enumerate(points)}
    change = [0] * (len(points) + 1)
    for start, end in times.values():
        change[place[start]] += 1
        change[place[end]] -= 1
    done, running, upto = 0.0, 0, [0.0]  # upto[i]: what one command gets until points[i]
    for i in range(len(points) - 1):
        running += change[i]
        done += (points[i + 1] - points[i]) * (min(1, cores / running) if running else 0)
        upto.append(done)
    return {output: upto[place[end]] - upto[place[start]] for output, (start, end) in times.items()}


def target_of(output):
    for folder, name in TARGETS:
        if output.startswith(folder):
            return name if output.endswith((".o", ".pch")) or name == "page" else "other"
    return "other"


def shown(output):
    """A source's path; a joined one by its folder."""
    name = output.split(".dir/")[-1].removesuffix(".o")
    return re.sub(r"Unity/unity_(\w+)_(\d+)_cxx\.cxx", r"joined: \1, part \2", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, help="fail if one file takes longer than this many seconds")
    options = parser.parse_args()
    log = options.build / ".ninja_log"
    if not log.exists():
        print(f"build_times: no {log}: build first", file=sys.stderr)
        return 2
    seconds = {}  # of the last time that each was made
    for run in read_log(log):
        seconds.update(shares(run, options.cores))
    totals = {}
    for output, took in seconds.items():
        files, sum_of = totals.get(target_of(output), (0, 0.0))
        totals[target_of(output)] = (files + 1, sum_of + took)
    print("| target | files | core seconds |\n|---|---:|---:|")
    for name, (files, took) in sorted(totals.items(), key=lambda t: -t[1][1]):
        print(f"| {name} | {files} | {took:.0f} |")
    print(f"| all | {len(seconds)} | {sum(seconds.values()):.0f} |\n\n| slowest | seconds |\n|---|---:|")
    slowest = sorted(seconds.items(), key=lambda t: -t[1])
    for output, took in slowest[:10]:
        print(f"| {shown(output)} | {took:.1f} |")
    over = [output for output, took in slowest if options.limit and took > options.limit]
    for output in over:
        print(f"build_times: {shown(output)} took {seconds[output]:.1f} s, limit {options.limit:g} s", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
