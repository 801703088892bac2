#!/usr/bin/env python3
"""How long a signal takes to end a run: interruptions.py PROGRAM [interruptions] [seed].

Runs of many kinds are stopped by SIGINT, SIGTERM or SIGHUP at random moments. Each must end, with exit code 1 (or by
that signal, before the program has set up anything), and leave FILE or FILE.part and nothing else. Prints the times
from signal to end by kind; exit code 1 if a run did not keep its promises.
"""
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LONG = ["--duration", "100000", "--step", "0.01"]
KINDS = {
    "csv": ["simulate", "double_pendulum", *LONG, "--out", "r.csv"],
    "npz": ["simulate", "double_pendulum", *LONG, "--out", "r.npz"],
    "h5": ["simulate", "double_pendulum", *LONG, "--out", "r.h5"],
    "rk45": ["simulate", "arm7", *LONG, "--integrator", "rk45", "--out", "r.csv"],
    "cvode": ["simulate", "arm7", *LONG, "--integrator", "cvode", "--out", "r.csv"],
    "variational": ["simulate", "arm7", *LONG, "--integrator", "variational", "--out", "r.csv"],
    "humanoid": ["simulate", "humanoid", *LONG, "--out", "r.csv"],
    "chain of 1000": ["simulate", "chain:1000", *LONG, "--out", "r.csv"],
    "closed chain": ["simulate", "two_arms", *LONG, "--out", "r.csv"],
    "many runs": ["simulate", "double_pendulum", *LONG, "--monte-carlo", "1000", "--out", "r.csv"],
}


def interrupt(program, command, folder, rng, problems):
    """Seconds from the signal to the end."""
    child = subprocess.Popen([program, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL)
                                                 for s in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)])
    time.sleep(rng.uniform(0.0, 0.4))
    number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    before = time.monotonic()
    child.send_signal(number)
    try:
        error = child.communicate(timeout=20)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        problems.append(f"{' '.join(command)}: goes on after {number.name}")
        return 20.0
    wall = time.monotonic() - before
    if child.returncode not in (1, -number):
        problems.append(f"{' '.join(command)}: exit code {child.returncode} after {number.name}: {error}")
    left = sorted(os.listdir(folder))
    result = command[-1]
    if any(name not in (result, result + ".part") for name in left):
        problems.append(f"{' '.join(command)}: leaves {left}")
    for name in left:
        os.remove(os.path.join(folder, name))
    return wall


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    problems, times = [], {name: [] for name in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            name = rng.choice(list(KINDS))
            times[name].append(interrupt(program, KINDS[name], folder, rng, problems))
    every = sorted(t for list_ in times.values() for t in list_)
    print(f"{len(every)} interruptions: median {1e3 * statistics.median(every):.1f} ms, "
          f"99 % {1e3 * every[int(0.99 * (len(every) - 1))]:.1f} ms, worst {1e3 * every[-1]:.1f} ms")
    for name, list_ in times.items():
        if list_:
            print(f"  {name:14} {len(list_):4}  median {1e3 * statistics.median(list_):6.1f} ms  "
                  f"worst {1e3 * max(list_):6.1f} ms")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
