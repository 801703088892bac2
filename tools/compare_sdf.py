#!/usr/bin/env python3
"""Dynamics of SDF files here and in Drake (pip install drake). Usage: compare_sdf.py PROGRAM FILE..

For each file that both read, with a fixed base and joints of one freedom: the mass matrix and the bias forces at a random
state. Prints a summary; exit 1 if one differs by more than 1e-9 of the largest number, 77 if there is no Drake.
"""
import collections
import json
import logging
import pathlib
import subprocess
import sys

try:
    import numpy as np
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import BodyIndex
except ImportError:
    print("there is no Drake: pip install drake")
    sys.exit(77)

TOLERANCE = 1e-9


def articula(program, *words, state=None):
    done = subprocess.run([program, *words], input=json.dumps(state) if state else None, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def drake_plant(path, info):
    """With every link that stands still here welded to the world, unless a joint carries it."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for package in path.resolve().parents[1].iterdir():
        if (package / "model.config").exists():
            parser.package_map().Add(package.name, str(package))
    parser.AddModels(str(path))
    carried = {plant.get_joint(j).child_body().name() for j in plant.GetJointIndices()}
    names = {plant.get_body(BodyIndex(b)).name() for b in range(plant.num_bodies())}
    for frame in info["frames"]:
        if frame["body"] == "world" and frame["name"] in names - carried:
            at = RigidTransform(RotationMatrix(np.array(frame["rotation"])), frame["position"])
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(frame["name"]), at)
    plant.Finalize()
    return plant


def difference(program, path, info, plant, dice):
    joints, n = info["model"]["joints"], info["model"]["nv"]
    theirs = {plant.get_joint(j).name(): plant.get_joint(j) for j in plant.GetJointIndices()}
    if plant.num_velocities() != n or any(j["name"] not in theirs for j in joints):
        return None
    q, v = dice.uniform(-1, 1, n), dice.uniform(-1, 1, n)
    order, positions, velocities = np.zeros(n, int), np.zeros(n), np.zeros(n)
    for joint in joints:
        there = theirs[joint["name"]]
        order[joint["v_index"]] = there.velocity_start()
        positions[there.position_start()], velocities[there.velocity_start()] = q[joint["q_index"]], v[joint["v_index"]]
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, positions)
    plant.SetVelocities(context, velocities)
    matrix = plant.CalcMassMatrix(context)[np.ix_(order, order)]
    bias = (plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context))[order]
    ours = articula(program, "eval", str(path), "mass_matrix", "bias_forces", state={"q": list(q), "v": list(v)})["results"][0]
    return max(abs(matrix - ours["mass_matrix"]).max() / abs(matrix).max(), abs(bias - ours["bias_forces"]).max() / max(abs(bias).max(), 1e-3))


def main():
    logging.getLogger("drake").setLevel(logging.CRITICAL)
    program, files = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    dice, counts, worst, bad = np.random.default_rng(1), collections.Counter(), 0.0, 0
    for path in files:
        info = articula(program, "info", str(path), "--json")
        if info is None:
            counts["refused here"] += 1
            continue
        if info["model"]["nv"] == 0 or any(j["nv"] != 1 for j in info["model"]["joints"]):
            counts["nothing moves, or joints of several freedoms"] += 1
            continue
        try:
            plant = drake_plant(path, info)
        except Exception:  # pylint: disable=broad-except  # whatever Drake says
            counts["refused by Drake"] += 1
            continue
        off = difference(program, path, info, plant, dice)
        if off is None:
            counts["other joints in Drake"] += 1
            continue
        worst = max(worst, off)
        counts["agree" if off < TOLERANCE else "differ"] += 1
        if off >= TOLERANCE:
            bad += 1
            print(f"{path}: differs by {off:.2g}")
    print(f"worst {worst:.2g}; " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
