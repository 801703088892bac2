"""Agreement with MuJoCo on MJCF files: small ones here, and all below the folder ARTICULA_MENAGERIE that MuJoCo loads.

ARTICULA_MENAGERIE=mujoco_menagerie PYTHONPATH=build/python/site python python/tests/test_mujoco.py   prints a table.
"""

import os
import pathlib
import sys
import warnings

import numpy as np
import pytest

import articula

mujoco = pytest.importorskip("mujoco")
STATES, RELATIVE = 20, 1e-9
FOLDER = os.environ.get("ARTICULA_MENAGERIE")
FILES = sorted(pathlib.Path(FOLDER).rglob("*.xml")) if FOLDER else []

SMALL = {
    "several joints in a body": """<mujoco><worldbody><body pos="0 0 1"><joint name="a" type="slide" axis="1 0 1" ref="0.3"/>
      <joint name="b" axis="0 1 0" pos="0.1 0 0.2" ref="20"/><joint name="c" axis="1 1 0" pos="0 0.3 0"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30"/><body pos="0.3 0 0"><joint type="ball" pos="0 0 0.1"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.2 0.5" size="0.05"/></body></body></worldbody></mujoco>""",
    "free bodies, solids and shells": """<mujoco><compiler angle="radian" eulerseq="ZYx"/><worldbody><body pos="1 2 3"
      euler="0.1 0.2 0.3"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.1 0.3" pos="0 1 0"
      shellinertia="true"/><geom type="capsule" size="0.1 0.3" pos="1 1 0" shellinertia="true"/><geom type="box" mass="3"
      size="0.1 0.3 0.2" pos="1 0 0" shellinertia="true" zaxis="1 2 3"/></body><body pos="0 1 0"><joint type="free"/>
      <geom size="0.3" density="300" xyaxes="0 1 0 -1 0 0.1"/><geom type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true" pos="2 0 0"/>
      </body></worldbody></mujoco>""",
    "meshes": """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="0.1 -0.2 0.3"
      refpos="0.1 0.2 0.3" refquat="1 2 3 4"/><mesh name="c" inertia="convex" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1 0.5 0.5 0.5 0.2 0.3 0.1"/>
      <mesh name="s" inertia="shell" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="0.1 0.1 0.1"/>
      <mesh name="e" inertia="exact" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="0.1 0.1 0.1"/></asset>
      <worldbody><body><joint axis="1 2 3"/><geom type="mesh" mesh="m" pos="1 0 0"/><body><joint/><geom type="mesh" mesh="c"/></body>
      <body><joint axis="1 0 0"/><geom type="mesh" mesh="s"/></body><body><joint axis="0 1 0"/><geom type="mesh" mesh="e" mass="2"/></body>
      <body><joint axis="0 1 0"/><geom type="box" mesh="e"/><geom type="capsule" mesh="e"/><geom type="sphere" mesh="e"/></body>
      </body></worldbody></mujoco>""",
    "frames, copies, default classes": """<mujoco><default><geom density="500"/><default class="x"><joint axis="0 1 0" armature="0.2"/>
      <geom type="box" size="0.1 0.1 0.2"/><default class="y"><joint damping="1"/></default></default></default><worldbody>
      <frame pos="0 0 1" euler="0 90 0" childclass="x"><replicate count="3" offset="0 0.5 0" euler="0 0 20" sep="-"><body name="b">
      <joint name="j" class="y"/><geom/><site name="s" pos="0 0 1"/><frame pos="0.2 0 0"><geom pos="0 0 1"/><joint axis="0 0 1"/></frame>
      </body></replicate></frame></worldbody><actuator><motor joint="j" gear="5" armature="0.01"/></actuator></mujoco>""",
    "what the compiler does to inertias": """<mujoco><compiler balanceinertia="true" boundmass="0.5" boundinertia="0.01"
      settotalmass="7" inertiagrouprange="0 1" angle="radian"/><worldbody><body><joint/><inertial pos="1 2 3" mass="2"
      diaginertia="1 2 5" axisangle="1 1 0 0.3"/><body pos="1 0 0"><joint axis="1 0 0"/><geom size="0.1"/><geom size="0.5" group="2"/>
      <body pos="0.3 0.2 0.1"/></body><body><joint axis="0 1 0"/><inertial pos="0 0 1" mass="1" fullinertia="2 3 4 0.1 0.2 0.3"/></body>
      </body></worldbody></mujoco>""",
}


def of_mujoco(theirs, qpos, qvel):
    """A state of MuJoCo's as ours, and the matrix T of v = T qvel."""
    q, v, T = np.array(qpos), np.array(qvel), np.eye(theirs.nv)
    for joint in range(theirs.njnt):
        i, k, kind = theirs.jnt_qposadr[joint], theirs.jnt_dofadr[joint], theirs.jnt_type[joint]
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            q[i : i + 4] = qpos[[i + 1, i + 2, i + 3, i]]
        elif kind == mujoco.mjtJoint.mjJNT_FREE:
            q[i : i + 7] = qpos[[i + 4, i + 5, i + 6, i + 3, i, i + 1, i + 2]]
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, qpos[i + 3 : i + 7])
            T[k : k + 6, k : k + 6] = 0
            T[k : k + 3, k + 3 : k + 6] = np.eye(3)
            T[k + 3 : k + 6, k : k + 3] = R.reshape(3, 3).T
    return q, T @ v, T


def random_qpos(theirs, rng):
    qpos = rng.uniform(-2, 2, theirs.nq)
    mujoco.mj_normalizeQuat(theirs, qpos)
    return qpos


def differences(model, theirs, states=STATES):
    """The largest relative differences of mass matrix, bias and gravity forces, and poses of bodies."""
    assert (model.nq, model.nv) == (theirs.nq, theirs.nv)
    rng, data = np.random.default_rng(1), mujoco.MjData(theirs)
    worst = dict.fromkeys(["mass matrix", "bias forces", "gravity forces", "poses"], 0.0)

    weight = 9.81 * np.sum(theirs.body_mass)

    def note(what, ours, other):
        least = 1e-3 * weight if what.endswith("forces") else np.finfo(float).tiny  # below it they are zero but for rounding
        scale = max(np.max(np.abs(other), initial=0), least)
        worst[what] = max(worst[what], np.max(np.abs(ours - other), initial=0) / scale)

    frames = {f.name for f in model.frames}
    for _ in range(states):
        data.qpos[:], data.qvel[:] = random_qpos(theirs, rng), rng.normal(size=theirs.nv)
        data.qacc[:] = 0
        mujoco.mj_fwdPosition(theirs, data)
        mujoco.mj_fwdVelocity(theirs, data)
        q, v, T = of_mujoco(theirs, data.qpos, data.qvel)
        full = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, full) if mujoco.__version__ >= "4" else mujoco.mj_fullM(theirs, full, data.qM)
        M = model.mass_matrix(q)
        note("mass matrix", T.T @ M @ T, full)
        # d/dt (T) qvel: a free body's own axes turn, the world's do not.
        turning = np.zeros(theirs.nv)
        for joint in range(theirs.njnt):
            if theirs.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                k = theirs.jnt_dofadr[joint]
                turning[k + 3 : k + 6] = -np.cross(v[k : k + 3], v[k + 3 : k + 6])
        note("bias forces", T.T @ (model.inverse_dynamics(q, v, turning)), data.qfrc_bias)
        for b in range(1, theirs.nbody):
            name = mujoco.mj_id2name(theirs, mujoco.mjtObj.mjOBJ_BODY, b)
            if name in frames:
                pose = model.pose(q, frame=name)
                size = max(1.0, np.max(np.abs(data.xpos)))
                note("poses", np.r_[pose.rotation.ravel(), pose.position / size], np.r_[data.xmat[b], data.xpos[b] / size])
        data.qvel[:] = 0
        mujoco.mj_fwdVelocity(theirs, data)
        note("gravity forces", T.T @ model.gravity_forces(q), data.qfrc_bias)
    return worst


def compare(path):
    theirs = mujoco.MjModel.from_xml_path(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = articula.load(path, gravity=theirs.opt.gravity)
    return differences(model, theirs)


@pytest.mark.parametrize("name", SMALL)
def test_small(name, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(SMALL[name])
    worst = compare(path)
    assert max(worst.values()) < RELATIVE, worst


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_folder(path):
    try:
        if mujoco.MjModel.from_xml_path(str(path)).nbody == 1:
            pytest.skip("there is no body in it")
    except ValueError as error:
        pytest.skip(f"MuJoCo refuses it: {error}")
    worst = compare(path)
    assert max(worst.values()) < RELATIVE, worst


def main():
    good = loaded = refused = empty = 0
    for path in FILES:
        name = f"{path.parent.name}/{path.name}"
        try:
            if mujoco.MjModel.from_xml_path(str(path)).nbody == 1:
                empty += 1
                continue
        except ValueError as error:
            refused += 1
            print(f"{name}: MuJoCo refuses it: {str(error).splitlines()[0][:150]}", flush=True)
            continue
        loaded += 1
        try:
            worst = compare(path)
        except articula.ModelError as error:
            print(f"{name}: REFUSED {str(error)[:300]}", flush=True)
            continue
        agrees = max(worst.values()) < RELATIVE
        good += agrees
        print(f"{name}: {'agrees' if agrees else 'DIFFERS'} " + " ".join(f"{k} {v:.1e}" for k, v in worst.items()), flush=True)
    print(f"{good} of {loaded} files agree with MuJoCo {mujoco.__version__} to {RELATIVE}; it refuses {refused}, and {empty} have no body")
    return 0 if good == loaded else 1


if __name__ == "__main__":
    sys.exit(main())
