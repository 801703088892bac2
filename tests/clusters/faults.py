#!/usr/bin/env python3
"""What shards lose when they are killed, their files torn, their disk full: faults.py PROGRAM [kills] [seed].

Shards of a Monte Carlo, and of an evaluation of states, are started, killed (SIGKILL) at random moments and started again until all is done; some files
lose their last bytes, or get others, in between. Then all rows must be there once, as one process makes them. Prints a
table; exit code 1 if a row was lost. The disk is a small tmpfs, where it can be mounted (root).
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

SHARDS = 4


class Campaign:
    def __init__(self, program, folder, rng):
        self.program, self.folder, self.rng = os.path.abspath(program), folder, rng
        self.write("d.json", '{"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [-0.1, 2]}}}')
        simulate = [self.program, "simulate", "double_pendulum", "--duration", "0.5", "--step", "0.01", "--monte-carlo", "6000",
                    "--distributions", f"{folder}/d.json", "--threads", "1", "--block", "16"]  # fmt: skip
        subprocess.run([self.program, "rollout", "arm7", "--count", "200", "--duration", "1", "--step", "0.01", "--every", "0.01", "--distributions",
                        self.write("s.json", '{"q": {"*": {"normal": [0, 0.5]}}}'), "--out", f"{folder}/s.npz"], check=True)  # fmt: skip
        evaluate = [self.program, "eval", "arm7", "forward_dynamics", "--states", f"{folder}/s.npz", "--block", "512"]
        self.jobs = []  # of each: the command, how its result is called, the lines of one process
        for command, ending in ((simulate, "csv"), (evaluate, "ndjson")):
            subprocess.run([*command, "--out", f"{folder}/one.{ending}"], check=True, stderr=subprocess.DEVNULL)
            self.jobs.append((command, ending, self.lines(f"one.{ending}")))
        self.job = self.jobs[0]
        self.faults, self.lost, self.doubled, self.rounds = {}, 0, 0, 0

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)
        return f"{self.folder}/{name}"

    def lines(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read().splitlines()

    def count(self, what):
        self.faults[what] = self.faults.get(what, 0) + 1

    def start(self, shard, out, *more):
        return subprocess.Popen([*self.job[0], "--shard", f"{shard}/{SHARDS}", "--out", out, *more], stderr=subprocess.DEVNULL)

    def tear(self, path):
        """What a power cut may leave: fewer bytes, or others, at the end."""
        if not os.path.exists(path):
            return
        what = self.rng.choice(["last block torn", "last bytes zero", "garbage at the end"])
        with open(path, "r+b") as file:
            size = file.seek(0, 2)
            n = min(size, self.rng.randint(1, 3000))
            if what == "last block torn":
                file.truncate(size - n)
            elif what == "last bytes zero":
                file.seek(size - n)
                file.write(bytes(n))
            else:
                file.write(self.rng.randbytes(n))
        self.count(what)

    def check(self, out):
        _, ending, expected = self.job
        done = subprocess.run([self.program, "merge", out, "--out", f"{self.folder}/all.{ending}"], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr)
        lines = self.lines(f"all.{ending}")
        self.lost += len(set(expected) - set(lines))
        self.doubled += len(lines) - len(set(lines))
        if lines != expected:
            print(f"{out}: rows differ")
        self.rounds += 1

    def kills(self, most):
        while sum(times for what, times in self.faults.items() if what.startswith("kill")) < most:
            out = f"{self.folder}/r{self.rounds}/"
            self.job = self.jobs[self.rounds % 2]
            steal = self.rng.random() < 0.5
            options = ["--steal", "--lease", "1"] if steal else []
            left = set(range(SHARDS))
            longest = 0.12
            while left:
                running = {shard: self.start(shard, out, *options) for shard in left}
                time.sleep(self.rng.uniform(0.005, longest))
                longest *= 1.05  # on a busy machine a start alone may take longer
                for shard, process in running.items():
                    if process.poll() is None:
                        process.kill()
                        self.count("kill -9, evaluation" if self.job[1] == "ndjson" else "kill -9, Monte Carlo")
                    if process.wait() == 0:
                        left.discard(shard)
                    elif self.rng.random() < 0.15:
                        self.tear(f"{out}shard-{shard:06}." + ("csv" if self.job[1] == "csv" else "bin"))
            # A tear may have taken what a thief had made for a shard that was done already.
            for shard in range(SHARDS):
                self.start(shard, out, *options).wait()
            self.check(out)
            shutil.rmtree(out)

    def disks(self, most):
        out = f"{self.folder}/disk"
        os.mkdir(out)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", out], stderr=subprocess.DEVNULL).returncode != 0:
            print("no tmpfs can be mounted here: full disks are left out")
            return
        try:
            for turn in range(most):
                self.job = self.jobs[turn % 2]
                left = set(range(SHARDS))
                size = 64
                while left:
                    subprocess.run(["mount", "-o", f"remount,size={size}k", out], check=True)
                    for shard in sorted(left):
                        code = self.start(shard, f"{out}/r/").wait()
                        if code == 0:
                            left.discard(shard)
                        else:
                            assert code in (1, 2), code
                            self.count("disk full")
                    size += self.rng.randint(50, 900)
                self.check(f"{out}/r")
                shutil.rmtree(f"{out}/r")
        finally:
            subprocess.run(["umount", out], check=True)


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(sys.argv[1], folder, random.Random(seed))
        campaign.disks(max(1, kills // 100))
        campaign.kills(kills)
    print("| fault | times |\n|---|---|")
    for what, times in sorted(campaign.faults.items()):
        print(f"| {what} | {times} |")
    print(f"\n{campaign.rounds} runs, of 6000 rows or 20200 states each: {campaign.lost} rows lost, {campaign.doubled} doubled")
    return 1 if campaign.lost or campaign.doubled else 0


if __name__ == "__main__":
    sys.exit(main())
