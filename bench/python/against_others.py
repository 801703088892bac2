"""One state and 4096 states from Python: Articula beside pin, mujoco and drake from PyPI, where they are installed.

python bench/python/against_others.py [--rounds 400] [--markdown]
Everything is timed in this process, in short rounds in turn, the quickest round of each: others may use the machine. The
C++ column is the library's own call, in a loop in C++ on the same arrays.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import timeit
from typing import Any, Callable

import numpy as np

import articula
from articula import _core

URDF = pathlib.Path(articula.__file__).parent / "models" / "arm7.urdf"
COUNT = 4096
ROUND = 3e-4  # seconds
ALGORITHMS = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "jacobian", "linearized_inverse", "linearized_forward")
Timed = Callable[[int], float]  # so many calls: seconds


def statement(text: str, names: dict[str, Any]) -> Timed:
    return timeit.Timer(text, globals=names).timeit


def race(entries: dict[str, Timed], rounds: int) -> dict[str, float]:
    """Nanoseconds of each call."""
    calls = {}
    for key, entry in entries.items():
        calls[key] = 1
        while entry(calls[key]) < ROUND and calls[key] < 10**6:
            calls[key] *= 2
    best = dict.fromkeys(entries, float("inf"))
    for _ in range(rounds):
        for key, entry in entries.items():
            best[key] = min(best[key], entry(calls[key]) / calls[key])
    return {key: 1e9 * seconds for key, seconds in best.items()}


def ours(arm: articula.Model, name: str, state: dict[str, Any], **more: Any) -> dict[str, Timed]:
    about = next(a for a in articula.algorithms() if a["name"] == name)
    frame = "" if about["frames"] == "none" else ", frame=frame"
    names = {**state, **more, "arm": arm, "frame": arm.frames[-1].name}
    call = f"arm.{name}({', '.join(about['arguments'])}{frame}{''.join(f', {key}={key}' for key in more)}"
    names["out"] = eval(call + ")", names)
    names["bound"] = bound = eval(call.replace(f"arm.{name}(", f"arm.bind('{name}', ") + ", out=out)", names)
    return {
        "C++": lambda calls: float(_core._seconds(bound, calls)),
        "bound": statement("bound()", names),
        "out=": statement(call + ", out=out)", names),
        "new": statement(call + ")", names),
    }


def of_pin(arm: articula.Model, state: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    import pinocchio as pin  # type: ignore[import-untyped,import-not-found,unused-ignore]

    model = pin.buildModelFromUrdf(str(URDF))
    names = {
        **state, "pin": pin, "model": model, "data": model.createData(), "frame": model.getFrameId(arm.frames[-1].name),
        "axes": pin.LOCAL_WORLD_ALIGNED,
    }  # fmt: skip
    return {
        "forward_dynamics": "pin.aba(model, data, q, v, tau)",
        "inverse_dynamics": "pin.rnea(model, data, q, v, a)",
        "mass_matrix": "pin.crba(model, data, q)",
        "jacobian": "pin.computeFrameJacobian(model, data, q, frame, axes)",
        "linearized_inverse": "pin.computeRNEADerivatives(model, data, q, v, a)",
        "linearized_forward": "pin.computeABADerivatives(model, data, q, v, tau)",
    }, names


def of_mujoco(arm: articula.Model, state: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Without contacts and limits, and of its stages those alone that the result needs."""
    import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]

    model = mujoco.MjModel.from_xml_path(str(URDF))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:], data.qacc[:] = state["q"], state["v"], state["tau"], state["a"]
    names = {
        "mujoco": mujoco, "model": model, "data": data, "Jp": np.zeros((3, model.nv)), "Jr": np.zeros((3, model.nv)), "body": model.nbody - 1,
    }  # fmt: skip
    kinematics = "mujoco.mj_kinematics(model, data); mujoco.mj_comPos(model, data); "
    return {
        "forward_dynamics": "mujoco.mj_forward(model, data)",
        "inverse_dynamics": "mujoco.mj_inverse(model, data)",
        "mass_matrix": kinematics + "mujoco.mj_crb(model, data)",
        "jacobian": kinematics + "mujoco.mj_jacBody(model, data, Jp, Jr, body)",
    }, names


def of_drake(arm: articula.Model, state: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """A new position each time, so that nothing is kept from the call before."""
    from pydrake.multibody.parsing import Parser  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from pydrake.multibody.plant import MultibodyPlant  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces  # type: ignore[import-untyped,import-not-found,unused-ignore]

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(URDF))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(arm.spec.links[0].name))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.get_applied_generalized_force_input_port().FixValue(context, state["tau"])
    names = {
        **state, "plant": plant, "context": context, "x": np.concatenate([state["q"], state["v"]]), "forces": MultibodyForces(plant),
        "world": plant.world_frame(), "hand": plant.GetFrameByName(arm.frames[-1].name), "kV": JacobianWrtVariable.kV, "zero": np.zeros(3),
    }  # fmt: skip
    at = "plant.SetPositionsAndVelocities(context, x); "
    return {
        "forward_dynamics": at + "plant.EvalTimeDerivatives(context)",
        "inverse_dynamics": at + "plant.CalcInverseDynamics(context, a, forces)",
        "mass_matrix": at + "plant.CalcMassMatrix(context)",
        "jacobian": at + "plant.CalcJacobianSpatialVelocity(context, kV, hand, zero, world, world)",
    }, names


def peers(arm: articula.Model, state: dict[str, Any]) -> dict[str, tuple[dict[str, str], dict[str, Any]]]:
    found = {}
    for name, of in (("pin", of_pin), ("mujoco", of_mujoco), ("drake", of_drake)):
        try:
            found[name] = of(arm, state)
        except ImportError:
            print(f"without {name}, which is not installed")
    return found


def versions(names: list[str]) -> str:
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in names)


def row(cells: list[str], markdown: bool) -> None:
    print("| " + " | ".join(cells) + " |" if markdown else f"{cells[0]:34}" + "".join(f"{cell:>9}" for cell in cells[1:]))


def one_state(arm: articula.Model, state: dict[str, Any], rounds: int, markdown: bool) -> None:
    others = peers(arm, state)
    columns = ["C++", "bound", "out=", "new", *others]
    print(f"One state of arm7, ns a call; {versions(['numpy', *others])}\n")
    row(["", *columns, *(f"{name} / out=" for name in others)], markdown)
    if markdown:
        row(["---"] * (1 + len(columns) + len(others)), markdown)
    for name in ALGORITHMS:
        entries = ours(arm, name, state)
        for peer, (calls, names) in others.items():
            if name in calls:
                entries[peer] = statement(calls[name], names)
        times = race(entries, rounds)
        told = [f"{times[c]:.0f}" if c in times else "" for c in columns]
        row([name, *told, *(f"{times[p] / times['out=']:.1f}" if p in times else "" for p in others)], markdown)


def many_states(arm: articula.Model, rounds: int, markdown: bool) -> None:
    rng = np.random.default_rng(1)
    many = {"q": arm.random(rng, COUNT), "v": rng.normal(size=(COUNT, arm.nv)), "tau": rng.normal(size=(COUNT, arm.nv))}
    cores = os.cpu_count() or 1
    entries: dict[str, Timed] = {}
    for threads, told in ((1, "one thread"), (cores, "all cores")):
        for key, entry in ours(arm, "forward_dynamics", many, threads=threads).items():
            if key in ("C++", "out="):
                entries[f"Articula, {told}, {'Python' if key == 'out=' else key}"] = entry
    try:
        import pinocchio as pin
    except ImportError:
        pin = None
    if pin is not None:
        model = pin.buildModelFromUrdf(str(URDF))
        names = {**many, "pin": pin, "model": model, "data": model.createData(), "out": np.empty((COUNT, arm.nv))}
        loop = f"for i in range({COUNT}): out[i] = pin.aba(model, data, q[i], v[i], tau[i])"
        entries["pin.aba in a Python loop"] = statement(loop, names)
        if hasattr(pin, "ModelPool"):
            names["pool"] = pin.ModelPool(model, cores)
            names |= {f"{x}_": np.asfortranarray(many[x].T) for x in ("q", "v", "tau")}
            names["threads"] = cores
            entries["pin.abaInParallel, all cores"] = statement("pin.abaInParallel(threads, pool, q_, v_, tau_)", names)
    times = race(entries, max(rounds // 4, 5))
    mine = times["Articula, one thread, Python"]
    print(f"\n{COUNT} states of arm7, forward dynamics, ns a state; {cores} cores\n")
    row(["", "ns", "beside one thread, Python"], markdown)
    if markdown:
        row(["---"] * 3, markdown)
    for key, time in times.items():
        row([key, f"{time / COUNT:.1f}", f"{time / mine:.3f}"], markdown)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    arm = articula.load(URDF)
    rng = np.random.default_rng(1)
    state = {"q": arm.random(1), **{x: rng.normal(size=arm.nv) for x in ("v", "a", "tau")}}
    one_state(arm, state, arguments.rounds, arguments.markdown)
    many_states(arm, arguments.rounds, arguments.markdown)


if __name__ == "__main__":
    main()
