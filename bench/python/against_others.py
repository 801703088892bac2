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
import timeit
from typing import Any

import numpy as np

import articula

URDF = pathlib.Path(articula.__file__).parent / "models" / "arm7.urdf"
COUNT = 4096


def nanoseconds(statement: str, names: dict[str, Any], round_seconds: float = 5e-4, rounds: int = 400) -> float:
    """The quickest of many short rounds, ns a call: others may use the machine in between."""
    timer = timeit.Timer(statement, globals=names)
    calls = 1
    while timer.timeit(calls) < round_seconds:
        calls *= 2
    return 1e9 * min(timer.repeat(rounds, calls)) / calls


def ours(arm: articula.Model, name: str, state: dict[str, Any]) -> dict[str, float]:
    about = next(a for a in articula.algorithms() if a["name"] == name)
    frame = "" if about["frames"] == "none" else ", frame=frame"
    names = {**state, "arm": arm, "frame": arm.frames[-1].name}
    call = f"arm.{name}({', '.join(about['arguments'])}{frame}"
    names["out"] = eval(call + ")", names)
    names["bound"] = eval(f"arm.bind('{name}', {', '.join(about['arguments'])}{frame}, out=out)", names)
    statements = {"bound": "bound()", "out=": call + ", out=out)", "new": call + ")"}
    return {key: nanoseconds(statement, names) for key, statement in statements.items()}


def of_pin(arm: articula.Model, state: dict[str, Any]) -> dict[str, float]:
    try:
        import pinocchio as pin  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return {}
    model = pin.buildModelFromUrdf(str(URDF))
    q, v, order = articula.convert.pinocchio(arm, state["q"], state["v"])
    names = {
        "pin": pin, "model": model, "data": model.createData(), "q": q, "v": v, "a": state["a"][order],
        "tau": state["tau"][order], "frame": model.getFrameId(arm.frames[-1].name), "axes": pin.LOCAL_WORLD_ALIGNED,
    }  # fmt: skip
    calls = {
        "forward_dynamics": "pin.aba(model, data, q, v, tau)",
        "inverse_dynamics": "pin.rnea(model, data, q, v, a)",
        "mass_matrix": "pin.crba(model, data, q)",
        "jacobian": "pin.computeFrameJacobian(model, data, q, frame, axes)",
        "linearized_inverse": "pin.computeRNEADerivatives(model, data, q, v, a)",
        "linearized_forward": "pin.computeABADerivatives(model, data, q, v, tau)",
    }
    return {name: nanoseconds(call, names) for name, call in calls.items()}


def of_mujoco(state: dict[str, Any]) -> dict[str, float]:
    """Without contacts and limits; the mass matrix and the Jacobian after the kinematics that they need."""
    try:
        import mujoco  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return {}
    model = mujoco.MjModel.from_xml_string(URDF.read_text())
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:], data.qacc[:] = state["q"], state["v"], state["tau"], state["a"]
    names = {
        "mujoco": mujoco, "model": model, "data": data, "Jp": np.zeros((3, model.nv)), "Jr": np.zeros((3, model.nv)),
        "body": model.nbody - 1,
    }  # fmt: skip
    kinematics = "mujoco.mj_kinematics(model, data); mujoco.mj_comPos(model, data); "
    calls = {
        "forward_dynamics": "mujoco.mj_forward(model, data)",
        "inverse_dynamics": "mujoco.mj_inverse(model, data)",
        "mass_matrix": kinematics + "mujoco.mj_crb(model, data)",
        "jacobian": kinematics + "mujoco.mj_jacBody(model, data, Jp, Jr, body)",
    }
    return {name: nanoseconds(call, names) for name, call in calls.items()}


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
        columns += [pin.get(name), mujoco.get(name)]
        print(f"  {name:38} " + " ".join(f"{x:8.0f}" if x is not None else f"{'-':>8}" for x in columns))

    Q, V, T = arm.random(rng, COUNT), rng.normal(size=(COUNT, arm.nv)), rng.normal(size=(COUNT, arm.nv))
    out = np.empty((COUNT, arm.nv))
    print(f"\narm7, {COUNT} states of forward_dynamics, ns a state")
    for threads in (1, None):
        names = {"arm": arm, "Q": Q, "V": V, "T": T, "out": out, "threads": threads}
        each = nanoseconds("arm.forward_dynamics(Q, V, T, out=out, threads=threads)", names) / COUNT
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
