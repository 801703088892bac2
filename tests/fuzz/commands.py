#!/usr/bin/env python3
"""Whole commands on mutated files. Usage: commands.py PROGRAM SECONDS [SEED]

Of every command, whatever its input: exit code 0, 1 or 2; on failure one line of error, and no result or half a
file; no byte that a terminal obeys; under 10 s of processor time and 1 GB. What breaks a promise is printed with the
command, and its folder is kept; exit 1 then.
"""
import json
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS, MEGABYTES = 10, 1000
NUMBERS = [b"0", b"-1", b"1e308", b"-1e-308", b"1e999", b"nan", b"2147483648", b"0.5", b'"x"', b"null", b"[]", b"{}", b"[[[]]]"]
BYTES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"<", b"/>", b"&#27;", b"\x1b[2J", b"\xe9", b"\xff", b"\x00", b"\n", b"\\u0000", b" " * 3000, b"k" * 30000]


def corpus(name):
    return [p.read_bytes() for p in sorted((ROOT / "tests/corpus" / name).iterdir())]


def models(ending):
    return [p.read_bytes() for p in sorted((ROOT / "models").glob("*" + ending)) if p.stat().st_size < 20000]


def robot():
    """The model that the corpora's joints belong to."""
    text = (ROOT / "tests/fuzz/fuzz.hpp").read_text()
    return text[text.index('R"(') + 3:text.index(')"', text.index('R"('))].encode()


# What the file FILE of each command is mutated from; ROBOT is sound.
COMMANDS = [
    (["info", "FILE"], models(".urdf")), (["info", "FILE", "--json", "--base", "free"], models(".urdf")),
    (["check", "FILE"], models(".urdf")), (["eval", "FILE", "mass_matrix", "--states", "STATE"], [robot()]),
    (["count", "FILE"], [robot()]), (["view", "FILE", "--out", "OUT"], models(".urdf")),
    (["info", "FILE"], corpus("sdf")), (["check", "FILE"], corpus("sdf")), (["view", "FILE", "--out", "OUT"], corpus("sdf")),
    (["convert", "FILE", "OUT", "--format", "sdf"], corpus("sdf") + models(".urdf")),
    (["convert", "FILE", "OUT", "--format", "urdf", "--lock", "j=0.3", "--root", "b"], [robot()]),
    (["convert", "ROBOT", "OUT", "--format", "urdf", "--attach", "TEXT@d"], [b"hand", b"x=puma560", b"robot.urdf"]),
    (["convert", "ROBOT", "OUT", "--format", "urdf", "--payload", "TEXT"], [b"c=1,0,0,1", b"d=1,0,0,1,1,1,1,0,0,0"]),
    (["convert", "ROBOT", "OUT", "--format", "sdf", "--rename", "TEXT", "--scale", "2,3"], [b"link:b=x", b"j=k"]),
    (["info", "FILE", "--json"], corpus("mjcf")), (["check", "FILE"], corpus("mjcf")), (["convert", "FILE", "OUT", "--format", "mjcf"], corpus("mjcf")),
    (["view", "FILE", "--out", "OUT"], corpus("mjcf")),
    (["check", "FILE"], models(".json") + corpus("scene")), (["eval", "FILE", "grasp", "--out", "OUT"], models(".json")),
    (["eval", "ROBOT", "inverse_dynamics", "forward_dynamics", "--states", "FILE", "--out", "OUT"], corpus("states")),
    (["operators", "ROBOT", "phi*x", "--states", "FILE"], corpus("states")), (["operators", "ROBOT", "TEXT"], corpus("expression")),
    (["simulate", "ROBOT", "--duration", "0.01", "--initial", "FILE", "--out", "OUT"], corpus("states")),
    (["simulate", "ROBOT", "--duration", "0.01", "--forces", "FILE", "--out", "OUT"], corpus("forces")),
    (["simulate", "ROBOT", "--duration", "0.01", "--controllers", "FILE", "--out", "OUT"], corpus("controllers")),
    (["simulate", "ROBOT", "--duration", "0.01", "--torque", "FILE", "--out", "OUT"], corpus("table")),
    (["simulate", "ROBOT", "--duration", "0.01", "--monte-carlo", "3", "--distributions", "FILE", "--out", "OUT"], corpus("distributions")),
    (["simulate", "FILE", "--duration", "0.01", "--out", "OUT"], models(".json")),
    (["simulate", "ROBOT", "--duration", "0.01", "--sweep", "FILE", "--out", "OUT"], corpus("sweep")),
    (["merge", "RUN", "--out", "OUT"], corpus("run_folder")), (["status", "RUN", "--json"], corpus("run_folder")),
]


def mutated(text, dice):
    for _ in range(dice.choice([0, 1, 1, 2, 3, 8])):
        at = dice.randrange(len(text) + 1)
        end = at + dice.choice([0, 0, 1, 4, 20])
        kind = dice.randrange(6)
        if kind == 0:
            digits = [i for i, c in enumerate(text) if c in b"0123456789"]
            if digits:
                at = end = dice.choice(digits)
                while end < len(text) and text[end:end + 1] in b"0123456789.eE+-":
                    end += 1
            text = text[:at] + dice.choice(NUMBERS) + text[end:]
        elif kind == 1:
            text = text[:at] + dice.choice(BYTES) + text[end:]
        elif kind == 2:
            text = text[:at] + text[at:end + 30] * dice.choice([2, 2, 300]) + text[end:]
        elif kind == 3:
            text = text[:at] + text[end:]
        elif kind == 4:
            text = text[:at] if dice.random() < 0.3 else text
        elif text:
            text = bytearray(text)
            text[dice.randrange(len(text))] ^= 1 << dice.randrange(8)
            text = bytes(text)
    return text


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def terminal_obeys(text):
    return any(c < 0x20 and c != 10 or c == 0x7F for c in text)


def broken_promises(words, done, megabytes, out, folder):
    what, code = words[0], done.returncode
    lines = [x for x in done.stderr.split(b"\n") if x and not x.startswith((b"articula: warning", b"articula: note"))]
    if code not in (0, 1, 2):
        yield f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    if megabytes > MEGABYTES:
        yield f"{megabytes} MB"
    if code and not (what in ("check", "merge") and code == 1) and (len(lines) != 1 or not lines[0].startswith(b"articula: ")):
        yield f"{len(lines)} lines of error"
    if b"[json.exception" in done.stderr or b"what()" in done.stderr:
        yield "a library speaks"
    if terminal_obeys(done.stderr) or (what in ("info", "check") and terminal_obeys(done.stdout)):
        yield "control characters"
    if max(map(len, done.stderr.split(b"\n"))) > 5000:
        yield "a line of kilobytes"
    if code and done.stdout and what != "check":
        yield "results beside an error"
    if code == 2 and out.exists():
        yield "a file beside an error"
    if code == 0 and "OUT" in words and not out.exists():
        yield "no file"
    if code == 0 and (what in ("eval", "operators") or "--json" in words):
        try:
            json.loads(out.read_bytes() if "OUT" in words else done.stdout)
        except ValueError as error:
            yield f"not JSON: {error}"
    allowed = {"file", "robot.urdf", "state.json", "out.csv", "run"} | ({"out.csv.part"} if what == "simulate" and code == 1 else set())
    left = {p.name for p in folder.iterdir()} - allowed
    if left:
        yield f"left behind: {left}"


def attempt(program, folder, dice):
    shutil.rmtree(folder)
    (folder / "run").mkdir(parents=True)
    command, seeds = dice.choice(COMMANDS)
    text = mutated(dice.choice(seeds), dice)
    (folder / "file").write_bytes(text)
    (folder / "run/run.json").write_bytes(text)
    (folder / "robot.urdf").write_bytes(robot())
    (folder / "state.json").write_text('{"q": [0,0,0,0,0,1,0,0,0]}')
    names = {"FILE": "file", "ROBOT": "robot.urdf", "STATE": "state.json", "OUT": "out.csv", "RUN": "run",
             "TEXT": text.replace(b"\x00", b"").decode("latin-1") or "x"}
    names["TEXT@d"] = names["TEXT"] + "@d"
    words = [str(program), *(names.get(w, w) for w in command)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, preexec_fn=limits,
                              timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return words, ["120 s"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    megabytes = after // 1024 if after > before else 0  # the largest so far
    return words, list(broken_promises(command, done, megabytes, folder / "out.csv", folder))


def main():
    program, seconds = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    kept, runs, bad = pathlib.Path(tempfile.mkdtemp(prefix="articula_commands_")), 0, 0
    folder = kept / "run"
    folder.mkdir()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        words, broken = attempt(program, folder, dice)
        runs += 1
        if broken:
            bad += 1
            shutil.copytree(folder, kept / f"find{bad}")
            print(f"{', '.join(broken)}: (in {kept}/find{bad}) {' '.join(words)[:300]!r}", flush=True)
    print(f"commands: {runs} runs, {bad} broke a promise")
    if not bad:
        shutil.rmtree(kept)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
