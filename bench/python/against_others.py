"""One state and 4096 states from Python: Articula beside pin and mujoco from PyPI, where they are installed.

python bench/python/against_others.py [--program build/articula]
The C++ column is `articula bench arm7 --json` of the same machine and run, where the program is named.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import time
from typing import Any, Callable

import numpy as np

import articula

URDF = pathlib.Path(articula.__file__).parent / "models" / "arm7.urdf"
COUNT = 4096


def nanoseconds(call: Callable[[], Any], at_least: float = 0.05, rounds: int = 7) -> float:
    """The quickest of some rounds, ns a call."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        seconds = time.perf_counter() - start
        if seconds > at_least / rounds:
            break
        calls *= 2
    best = seconds
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter() - start)
    return 1e9 * best / calls


def ours(arm: articula.Model, name: str, state: dict[str, Any]) -> dict[str, float]:
    about = next(a for a in articula.algorithms() if a["name"] == name)
    arguments = [state[x] for x in about["arguments"]]
    more = {} if about["frames"] == "none" else {"frame": arm.frames[-1].name}
    method = getattr(arm, name)
    out = method(*arguments, **more)
    bound = arm.bind(name, *arguments, out=out, **more)
    if more:
        frame = more["frame"]
        return {
            "new": nanoseconds(lambda: method(*arguments, frame=frame)),
            "out=": nanoseconds(lambda: method(*arguments, frame=frame, out=out)),
            "bound": nanoseconds(bound),
        }
    if len(arguments) == 1:
        (q,) = arguments
        return {"new": nanoseconds(lambda: method(q)), "out=": nanoseconds(lambda: method(q, out=out)), "bound": nanoseconds(bound)}
    q, v, x = arguments
    return {"new": nanoseconds(lambda: method(q, v, x)), "out=": nanoseconds(lambda: method(q, v, x, out=out)), "bound": nanoseconds(bound)}


def of_pin(arm: articula.Model, state: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    model = pin.buildModelFromUrdf(str(URDF))
    data = model.createData()
    q, v, order = articula.convert.pinocchio(arm, state["q"], state["v"])
    a, tau = state["a"][order], state["tau"][order]
    frame = model.getFrameId(arm.frames[-1].name)
    return {
        "forward_dynamics": lambda: pin.aba(model, data, q, v, tau),
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED),
        "linearized_inverse": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "linearized_forward": lambda: pin.computeABADerivatives(model, data, q, v, tau),
    }


def of_mujoco(state: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    try:
        import mujoco
    except ImportError:
        return {}
    text = URDF.read_text()
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:], data.qacc[:] = state["q"], state["v"], state["tau"], state["a"]
    full = np.zeros((model.nv, model.nv))
    Jp, Jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))

    def mass() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)

    def jacobian() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacBody(model, data, Jp, Jr, model.nbody - 1)

    return {
        "forward_dynamics": lambda: mujoco.mj_forward(model, data),
        "inverse_dynamics": lambda: mujoco.mj_inverse(model, data),
        "mass_matrix": mass,
        "jacobian": jacobian,
    }


def in_cpp(program: str | None) -> dict[str, float]:
    if not program:
        return {}
    run = subprocess.run([program, "bench", "arm7", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    return {entry["algorithm"]: entry["ns"] for entry in found["results"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    arguments = parser.parse_args()
    arm = articula.load(URDF)
    rng = np.random.default_rng(1)
    state = {"q": arm.random(1), **{x: rng.normal(size=arm.nv) for x in ("v", "a", "tau")}}
    pin, mujoco, cpp = of_pin(arm, state), of_mujoco(state), in_cpp(arguments.program)
    print(f"arm7, one state, ns a call{'':14} {'C++':>8} {'bound':>8} {'out=':>8} {'new':>8} {'pin':>8} {'mujoco':>8}")
    for name in ("forward_dynamics", "inverse_dynamics", "mass_matrix", "jacobian", "linearized_inverse", "linearized_forward"):
        mine = ours(arm, name, state)
        columns = [cpp.get(name), mine["bound"], mine["out="], mine["new"]]
        columns += [nanoseconds(other[name]) if name in other else None for other in (pin, mujoco)]
        print(f"  {name:38} " + " ".join(f"{x:8.0f}" if x is not None else f"{'-':>8}" for x in columns))

    Q, V, T = arm.random(rng, COUNT), rng.normal(size=(COUNT, arm.nv)), rng.normal(size=(COUNT, arm.nv))
    out = np.empty((COUNT, arm.nv))
    print(f"\narm7, {COUNT} states of forward_dynamics, ns a state")
    for threads in (1, None):
        each = nanoseconds(lambda: arm.forward_dynamics(Q, V, T, out=out, threads=threads), 0.3) / COUNT
        print(f"  {'one thread' if threads else 'all cores':38} {each:8.1f}")
    if pin:
        import pinocchio

        model = pinocchio.buildModelFromUrdf(str(URDF))
        data = model.createData()
        start = time.perf_counter()
        for i in range(COUNT):
            out[i] = pinocchio.aba(model, data, Q[i], V[i], T[i])
        print(f"  {'a Python loop over pin.aba':38} {1e9 * (time.perf_counter() - start) / COUNT:8.1f}")


if __name__ == "__main__":
    main()
