#!/usr/bin/env python3
"""Writes docs/derivations.md: what `articula operators --derive` finds, step by step.
Usage: derivations.py PROGRAM FILE, or derivations.py --check PROGRAM FILE, which fails if the file says anything else.
"""
import json
import pathlib
import subprocess
import sys
import textwrap

MASS = "H*phi*M*star(phi)*star(H) + rotor"
BEGIN = """# Derivations that the program finds

`articula operators MODEL EXPRESSION --derive` looks for a form of an expression that takes fewer sweeps. It knows the
definitions of the operators and some identities of the papers (`rewritings()` in
[articula/operators/rewritings.cpp](../articula/operators/rewritings.cpp)), the inversion lemma, and how to draw out
common factors. It does not know the factors of the mass operator, nor any algorithm.

    articula operators arm7 "inv(H*phi*M*star(phi)*star(H) + rotor)" --derive < /dev/null

Each step names the identity that made it, is checked with numbers at the state (`residual`; without a state, at a
random one, `tried_at`; a step that does not hold is an error), and the last form is compiled: the program, its sweeps
and counts follow in the same output, and its value if the state has its vectors. With `--dense` all columns are wanted,
and sweeps side by side are preferred to sweeps in series.

Rotors count in P, D, K and psi. Where an expression inverts a mass operator without `+ rotor`, of a model that has
rotors, the derivation is that of the mechanism without them (`without_rotors`): its P, D, K and psi are meant, and what
is compiled is the expression itself, whose `inv()` the derivation has found. With mimic joints H is Gamma* H of every
hinge, and a mass operator's inverse ends at `mass^-1`: that of every hinge, and a dense solve with a row for each joint
that mimics.

This page is written by `tools/derivations.py` from the program's output for `chain:5`; a test holds the two together.
Trees go the same way, but for OSC (57), which holds for chains.
"""
CASES = [
    ("The inverse of the mass matrix", "JPL88 (4.16): the factors (4.11) appear on the way, and their inverses (4.14) "
     "by the inversion lemma.", f"inv({MASS})", False),
    ("Forward dynamics", "From the definition, FD1 in JPL88, by FD3 to FD4: two sweeps, the articulated-body algorithm.",
     f"inv({MASS})*(T - H*phi*(M*star(phi)*a_bias + b_bias))", False),
    ("The operational space", "J M^-1 J* of one frame, OSC (56) to (58): no sweep at all, once Omega is known.",
     f"star(B(link_5))*star(phi)*star(H)*inv({MASS})*H*phi*B(link_5)", False),
    ("Omega for all bodies", "OSC (56), for whole matrices: psi* and psi one after another become psi* and psi side by "
     "side, so that every block is one product.", "star(psi)*star(H)*inv(D)*H*psi", True),
    ("Linearized forward dynamics", "LIN (4.13) from Lemma 3.1: the matrix of accelerations by velocities, A_C = M^-1 A_D.",
     f"inv({MASS})*2*H*phi*(M*star(phi)*star(H_dot) + M_ring*star(phi)*star(H))", True),
    ("The same by configurations", "LIN (4.13) again: B_C = M^-1 B_D, with H*'' and H f.",
     f"inv({MASS})*H*phi*(H_f + 2*M_ring*star(phi)*star(H_dot) + M*star(phi)*star(H_ddot))", True),
    ("The smoother", "JPL88 4, the statistical view: the conditional mean of x = phi w, when y = H x is known, is a "
     "prediction tip to base and a correction base to tip (Bryson and Frazier's form).",
     f"phi*M*star(phi)*star(H)*inv({MASS})*y", False),
    ("Momentum per unit of force", "An expression that no paper here prints: the bodies' momenta that unit joint "
     "impulses cause.", f"M*star(phi)*star(H)*inv({MASS})", False),
]


def derivation(program, expression, dense):
    state = {"q": [0.3, -0.5, 0.2, 0.7, 0.1], "v": [1, -1, 0.5, 0.2, 1], "a": [0.5, 1, -1, 0.3, 2]}
    words = [program, "operators", "chain:5", expression, "--derive", "--states", "-"] + (["--dense"] if dense else [])
    done = subprocess.run(words, input=json.dumps(state), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)["results"][0]


def page(program):
    text = BEGIN
    for title, about, expression, dense in CASES:
        found = derivation(program, expression, dense)
        steps = found["derive"]["steps"]
        worst = max(step.get("residual", 0) for step in steps)
        if worst > 1e-11:
            sys.exit(f"{expression}: residual {worst}")
        text += f"\n## {title}\n{textwrap.fill(about, 118)}\n\n"
        flags = "--derive --dense" if dense else "--derive"
        text += f"    articula operators chain:5 \"{expression}\" {flags} --states state.json\n\n"
        text += "```text\n  " + steps[0]["text"] + "\n"
        for step in steps[1:]:
            text += f"\n      {step['identity']}    [{step['source']}]\n= {step['text']}\n"
        sweeps = found["explain"]["sweeps"]
        text += f"```\n\n{sweeps} sweep{'' if sweeps == 1 else 's'}.\n"
    return text


def main():
    check = sys.argv[1] == "--check"
    program, file = sys.argv[2 if check else 1:]
    path = pathlib.Path(file)
    text = page(program)
    if not check:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{file} is not what the program derives; tools/derivations.py {program} {file} writes it")


if __name__ == "__main__":
    main()
