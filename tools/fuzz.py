#!/usr/bin/env python3
"""Runs every libFuzzer target of a build folder for some seconds each, as many at a time as there are cores, then whole
commands (tests/fuzz/commands.py) as long. Usage: fuzz.py BUILD SECONDS [TARGET ..]

What is found is kept in BUILD/finds, what was learnt in BUILD/corpus; exit 1 if anything was found.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(program, build, seconds):
    name = program.name.removeprefix("fuzz_")
    learnt, finds, seeds = build / "corpus" / name, build / "finds", ROOT / "tests/corpus" / name
    learnt.mkdir(parents=True, exist_ok=True)
    finds.mkdir(exist_ok=True)
    words = [str(program), f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=4096",
             "-close_fd_mask=3", "-print_final_stats=1", f"-artifact_prefix={finds}/{name}-", str(learnt)]
    dictionary = ROOT / "tests/corpus" / f"{name}.dict"
    words += [f"-dict={dictionary}"] if dictionary.exists() else []
    words += [str(seeds)] if seeds.exists() else []
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", cwd=build, check=False)
    (finds / f"{name}.log").write_text(done.stderr)
    number = lambda pattern: int((re.findall(pattern, done.stderr) or ["0"])[-1])
    return name, number(r"number_of_executed_units:\s*(\d+)"), number(r"cov: (\d+)"), number(r"ft: (\d+)"), done.returncode


def main():
    build, seconds = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    programs = sorted(p for p in build.glob("fuzz_*") if os.access(p, os.X_OK) and p.is_file())
    programs = [p for p in programs if len(sys.argv) < 4 or p.name.removeprefix("fuzz_") in sys.argv[3:]]
    if not programs:
        sys.exit(f"{build} has no fuzz targets; cmake --preset fuzz makes them")
    bad = 0
    print(f"{'target':16}{'executions':>12}{'edges':>8}{'features':>10}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, executions, edges, features, code in pool.map(lambda p: run(p, build, seconds), programs):
            bad += code != 0
            found = f"  FOUND: see {build.name}/finds/{name}.log" if code else ""
            print(f"{name:16}{executions:12}{edges:8}{features:10}{found}", flush=True)
    if len(sys.argv) < 4:
        bad += subprocess.run([sys.executable, ROOT / "tests/fuzz/commands.py", build / "articula", str(seconds)],
                              check=False).returncode != 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
