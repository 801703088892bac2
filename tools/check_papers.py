#!/usr/bin/env python3
"""Holds docs/papers/equations.md to the truth.

Every number of the papers must be in its table, every named file must contain what is named, every test must exist and
pass, every command must run, every identity of JPL88's Appendix A must be among those that the program checks.   tools/check_papers.py [TESTS [PROGRAM]]: without them only the page and the files.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/papers/equations.md"
# What each paper numbers, and what else has a name in it.
NUMBERED = {
    "LIN": ["1.1-1.6", "2.1-2.20", "3.1-3.8", "4.1-4.26", "A.1-A.24"],
    "JPL88": ["2.1-2.32", "3.1-3.23", "4.1-4.23", "5.1-5.17", "a.1-a.51", "b.1-b.10"],
    "JPL88 Part II": ["2.1-2.15", "3.1-3.6", "4.1-4.9", "5.1-5.14", "6.1-6.22", "a.1-a.10", "b.1-b.14"],
    "DIAG": ["1-49"],
    "OSC": ["1-74"],
    "MR9": ["9.1-9.99"],
}
NAMED = {
    "LIN": [f"Algorithm {i}" for i in range(1, 7)] + ["Lemma 3.1", "Lemma 3.2", "Lemma A.1", "Lemma A.2"]
    + [f"Lemma 4.{i}" for i in range(1, 10)],
    "JPL88": ["FD1", "FD2", "FD3", "FD4", "Fact 4.1", "Fact 4.2", "Theorem 4.1", "Lemma A.1", "Corollary A.1"],
    "JPL88 Part II": ["RCCFD1", "RCCFD2", "RCCFD3"],
    "DIAG": ["Table 1", "Table 2", "Table 3", "Fig. 1"],
    "OSC": ["section 5"],
    "MR9": ["Proposition 9.1", "GetJointAccel", "Euler integration"],
}
# Of JPL88's Appendix A, what is no identity: definitions, sums in proofs.
NO_IDENTITY = ["a.3-a.5", "a.19-a.21", "a.29-a.31"]


def expanded(first, last):
    """'4.3', '4.7' to 4.3, 4.4, ..; '7', '10' to 7, 8, .."""
    prefix = first.rpartition(".")[0]
    if last.rpartition(".")[0] != prefix:
        sys.exit(f"{PAGE.name}: ({first})-({last}) is no range")
    dot = prefix + "." if prefix else ""
    return [dot + str(i) for i in range(int(first.split(".")[-1]), int(last.split(".")[-1]) + 1)]


def tables():
    """Paper, its rows: cells of each."""
    rows, paper = {}, None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            paper = line[3:].strip()
            rows[paper] = []
        elif paper and line.startswith("| ") and not line.startswith("| equations"):
            rows[paper].append([cell.strip() for cell in line.strip("| \n").split(" | ")])
    return rows


def check_numbers(rows, problems):
    for paper, ranges in NUMBERED.items():
        covered, text = set(), " ".join(row[0] for row in rows.get(paper, []))
        for first, last in re.findall(r"\(([\w.]+)\)(?:-\(([\w.]+)\))?", text):
            covered.update(expanded(first, last or first))
        for given in ranges:
            missing = [n for n in expanded(*given.split("-")) if n not in covered]
            if missing:
                problems.append(f"{paper}: no row has ({'), ('.join(missing)})")
        problems += [f"{paper}: no row has {name}" for name in NAMED.get(paper, []) if name not in text]


def check_files(rows, problems):
    for paper, cells in ((paper, row) for paper, all_rows in rows.items() for row in all_rows):
        if len(cells) != 4:
            problems.append(f"{paper}: a row has {len(cells)} cells: {cells[0]}")
            continue
        named = re.findall(r"`([^`]+)` \(`([^`]+)`\)", cells[1])
        if not named:
            problems.append(f"{paper} {cells[0]}: no file is named")
        for path, symbol in named:
            file = ROOT / path
            if not file.exists() or symbol not in file.read_text():
                problems.append(f"{paper} {cells[0]}: {path} does not contain {symbol}")


def check_identities(program, problems):
    """Every (a.N) is among `operators --identities`, or known to be none."""
    ran = subprocess.run([program, "operators", "chain:3", "--identities"], input="", capture_output=True, text=True, check=False)
    if ran.returncode:
        problems.append(f"articula operators chain:3 --identities: exit {ran.returncode}: {ran.stderr.strip()}")
        return
    sources = " ".join(entry["source"] for entry in json.loads(ran.stdout)["results"][0]["identities"] if "JPL88" in entry["source"])
    none = {n for given in NO_IDENTITY for n in expanded(*given.split("-"))}
    for n in expanded("a.1", "a.51"):
        if (f"({n})" in sources) == (n in none):
            problems.append(f"JPL88 ({n}): " + ("is an identity after all" if n in none else "no identity has it"))


def check_tests(tests, wanted, problems):
    names = sorted(wanted)
    ran = subprocess.run([tests, "--gtest_filter=" + ":".join(names)], capture_output=True, text=True, check=False).stdout
    passed = set(re.findall(r"\[       OK \] ([\w./]+)", ran))
    problems += [f"test {name} did not run and pass" for name in names if name not in passed]


def state_of(program, words):
    """A state of the command's model that every quantity can be computed at; a free base has its quaternion first."""
    base = ["--base", "free"] if "--base" in words else []
    ran = subprocess.run([program, "info", words[1], *base, "--json"], capture_output=True, text=True, check=False)
    if ran.returncode:
        return "{}"  # a scene
    info = json.loads(ran.stdout)["model"]
    nq, nv = info["nq"], info["nv"]
    vector = [0.1 * (i % 5) - 0.2 for i in range(nv)]
    names = ("v", "a", "tau", "dq", "dv", "da", "dtau", *(["x"] if words[0] == "operators" else []))
    return json.dumps({"q": vector if nq == nv else [0, 0, 0, 1] + [0.1] * (nq - 4), **dict.fromkeys(names, vector)})


def check_commands(program, wanted, problems):
    import shlex

    for command in sorted(wanted):
        words = shlex.split(command)
        state = state_of(program, words) if words[0] in ("eval", "operators") else ""
        ran = subprocess.run([program, *words], input=state, capture_output=True, text=True, check=False)
        if ran.returncode:
            problems.append(f"articula {command}: exit {ran.returncode}: {ran.stderr.strip()}")


def main():
    rows, problems = tables(), []
    check_numbers(rows, problems)
    check_files(rows, problems)
    cells = [row for all_rows in rows.values() for row in all_rows if len(row) == 4]
    wanted = {name for row in cells for name in re.findall(r"`([\w/]+\.[\w/]+)`", row[2])}
    commands = {command for row in cells for command in re.findall(r"`([^`]+)`", row[3])}
    problems += [f"{row[0]}: no test or no command" for row in cells if "`" not in row[2] or "`" not in row[3]]
    if len(sys.argv) > 1:
        check_tests(sys.argv[1], wanted, problems)
    if len(sys.argv) > 2:
        check_commands(sys.argv[2], commands, problems)
        check_identities(sys.argv[2], problems)
    for problem in problems:
        print(problem)
    print(f"papers: {sum(map(len, rows.values()))} rows, {len(wanted)} tests, {len(commands)} commands, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
