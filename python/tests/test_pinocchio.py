"""Agreement with Pinocchio through the documented conversion, on the shipped robots and those of ARTICULA_ROBOTS."""

import os
import pathlib

import numpy as np
import pytest

import articula

pin = pytest.importorskip("pinocchio")
FOLDERS = [pathlib.Path(articula.__file__).parent / "models", *map(pathlib.Path, filter(None, [os.environ.get("ARTICULA_ROBOTS")]))]
FILES = [p for folder in FOLDERS for p in sorted(folder.glob("*.urdf"))]


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_agreement(path, base):
    try:
        model = articula.load(path, base=base)
        theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromUrdf(str(path))
    except (articula.ModelError, ValueError, RuntimeError) as error:
        pytest.skip(str(error))
    if any(joint.mimics >= 0 for joint in model.joints):
        with pytest.raises(articula.Error, match="follows"):
            articula.convert.pinocchio(model, model.neutral(), np.zeros(model.nv))
        return
    armature = np.zeros(model.nv)  # which Pinocchio's URDF reader leaves out
    for joint in model.joints:
        armature[joint.v_index : joint.v_index + joint.nv] = joint.armature
    theirs.armature = armature[articula.convert.pinocchio(model, model.neutral(), armature).order]
    data = theirs.createData()
    rng = np.random.default_rng(1)
    for seed in range(3):
        q, v, a, tau = model.random(seed), *rng.normal(size=(3, model.nv))
        q_, v_, order = articula.convert.pinocchio(model, q, v)
        assert (theirs.nq, theirs.nv) == (len(q_), len(v_))

        def close(ours, other):
            assert np.max(np.abs(ours - other)) <= 1e-10 * max(1.0, np.max(np.abs(other)))

        close(model.inverse_dynamics(q, v, a)[order], pin.rnea(theirs, data, q_, v_, a[order]))
        M = pin.crba(theirs, data, q_)
        close(model.mass_matrix(q)[np.ix_(order, order)], np.triu(M) + np.triu(M, 1).T)
        name = model.bodies[-1].name
        J = pin.computeFrameJacobian(theirs, data, q_, theirs.getFrameId(name), pin.LOCAL_WORLD_ALIGNED)
        close(model.jacobian(q, frame=name)[:, order], J[[3, 4, 5, 0, 1, 2]])
        try:
            accelerations = model.forward_dynamics(q, v, tau)
        except articula.SingularError as singular:  # a free base without mass, of which Pinocchio's numbers are rounding
            assert singular.joint == "root_joint" and model.bodies[0].mass == 0
            continue
        close(accelerations[order], pin.aba(theirs, data, q_, v_, tau[order]))
        d = model.linearized_forward(q, v, tau)
        pin.computeABADerivatives(theirs, data, q_, v_, tau[order])
        close(d.dq[np.ix_(order, order)], data.ddq_dq)
        close(d.dv[np.ix_(order, order)], data.ddq_dv)
