"""Simulation, rollouts, operators, task spaces, closed chains, regulators, counts; and every example in a docstring."""

import doctest
import importlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import articula


@pytest.mark.parametrize("module", ["_model", "spec", "motion", "spaces", "operators", "convert"])
def test_examples_in_docstrings(module):
    found = importlib.import_module(f"articula.{module}")
    runner = doctest.DocTestRunner()
    attempted = 0
    for test in doctest.DocTestFinder().find(found, extraglobs={"articula": articula, "np": np}):
        attempted += runner.run(test).attempted
    assert attempted > 1
    assert runner.summarize(verbose=False).failed == 0


def test_page_of_the_documentation():
    result = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, globs={"articula": articula, "np": np})
    assert result.attempted > 15 and result.failed == 0


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples" / "python").glob("*.py")))
def test_example_files(example):
    arguments = ["20000"] if example == "batch.py" else []
    run = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / example), *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_simulation_keeps_energy(tmp_path):
    arm = articula.load("double_pendulum")
    recording = articula.simulate(arm, duration=1, q=[1, 0.5], damping=False, friction=False, progress=False)
    assert len(recording) == 101 and recording.time[-1] == 1
    assert np.max(np.abs(recording["energy_change"])) < 1e-6
    for ending in ("csv", "npz", "h5"):
        path = tmp_path / f"motion.{ending}"
        recording.save(path)
        np.testing.assert_array_equal(articula.Recording.load(path).q, recording.q)
    try:
        page = recording.report(tmp_path / "motion.html")
    except articula.Error as error:
        assert "page" in str(error)  # built without Node.js
    else:
        assert "<html" in page and "<iframe" in recording._repr_html_()


def test_controllers():
    arm = articula.load("arm7")
    target = np.full(7, 0.3)
    asked = []

    def control(time, q, v):
        asked.append(time)
        return 50 * (target - q) - 10 * v + arm.gravity_forces(q)

    always = articula.simulate(arm, duration=2, controllers=control, integrator="rk4", step=5e-3)
    np.testing.assert_allclose(always.q[-1], target, atol=0.05)
    asked.clear()
    articula.simulate(arm, duration=0.1, controllers=[(control, 0.01)], step=1e-3)
    assert 10 <= len(asked) <= 12
    for wrong in (lambda t, q, v: [1.0], lambda t, q, v: "x", lambda t, q, v: np.full(7, np.nan), 3, [None]):
        with pytest.raises(articula.Error):
            articula.simulate(arm, duration=0.1, controllers=wrong if callable(wrong) else [wrong])
    with pytest.raises(ZeroDivisionError):
        articula.simulate(arm, duration=0.1, controllers=lambda t, q, v: 1 / 0)
    for wrong in ({"duration": -1}, {"duration": "x"}, {"duration": 1, "integrator": "magic"}, {"duration": 1, "q": [1]}, {"duration": 1, "limits": "soft"}):
        with pytest.raises(articula.Error):
            articula.simulate(arm, **wrong)


def test_rollouts():
    arm = articula.load("arm7")
    q = arm.random(1, 6)
    path = articula.rollout(arm, q, np.zeros(7), np.zeros(7), step=1e-3, steps=20, every=10)
    assert path.q.shape == (6, 2, 7)
    alone = articula.simulate(arm, duration=0.02, q=q[2], damping=False, friction=False, step=1e-3, every=0.01)
    np.testing.assert_allclose(path.q[2], alone.q[1:], atol=1e-10)
    each = articula.rollout(arm, q, np.zeros(7), np.zeros((6, 20, 7)), step=1e-3, steps=20, every=10)
    np.testing.assert_allclose(each.q, path.q, atol=1e-14)
    for wrong in ({"steps": 0}, {"steps": 5, "every": 2}, {"step": np.nan}, {"integrator": "rk45"}, {"threads": "x"}):
        with pytest.raises(articula.Error):
            articula.rollout(arm, q, np.zeros(7), **wrong)


def test_operators(arm):
    from articula.operators import D, H, I, K, M, inv, phi, rotor, star

    q = arm.random(3)
    mass = (H * phi * M * star(phi) * star(H) + rotor).at(arm, q)
    assert mass.shape == (7, 7)
    np.testing.assert_allclose(mass.dense(), arm.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(mass @ np.arange(7.0), arm.mass_matrix(q) @ np.arange(7.0), atol=1e-12)
    innovations = (I + H * phi * K) * D * star(I + H * phi * K)
    np.testing.assert_allclose(innovations.at(arm, q).dense(), arm.mass_matrix(q), atol=1e-11)
    inverse = inv(H * phi * M * star(phi) * star(H) + rotor).at(arm, q)
    np.testing.assert_allclose(inverse.dense(), arm.inverse_mass_matrix(q), rtol=1e-8, atol=1e-8)
    residuals = articula.operators.identities(arm, q, np.ones(7))
    assert len(residuals) > 40 and max(r.residual for r in residuals) < 1e-9
    for wrong in (lambda: H * 3, lambda: mass @ [1], lambda: (H * H).at(arm, q), lambda: mass.expression.at(arm, [1]), lambda: H.at("arm", q)):
        with pytest.raises(articula.Error):
            wrong()


def test_task_space(arm):
    q, v = arm.random(3), np.ones(7)
    name = arm.frames[-1].name
    space = articula.TaskSpace(arm, name)
    with pytest.raises(articula.Error, match="update"):
        space.omega()
    space.update(q, v)
    J = arm.jacobian(q, frame=name)
    np.testing.assert_allclose(space.omega(), J @ arm.inverse_mass_matrix(q) @ J.T, atol=1e-9)
    np.testing.assert_allclose(space.velocity(), J @ v, atol=1e-12)
    u = np.arange(6.0)
    a = arm.forward_dynamics(q, v, space.joint_forces(space.motion_force(u)))
    np.testing.assert_allclose(J @ a + arm.jacobian_dot_v(q, v, frame=name), u, atol=1e-8)
    assert space.rank() == 6
    for wrong in ("nothing", [], 3, [3]):
        with pytest.raises((articula.Error, TypeError)):
            articula.TaskSpace(arm, wrong)
    with pytest.raises(articula.Error):
        articula.TaskSpace(arm, name, kind="shape")


def test_scenes():
    scene = articula.Scene("two_arms")
    motion = scene.forward_dynamics(scene.q, scene.v, scene.tau)
    assert motion.a.shape == (scene.nv,) and motion.forces.shape == (len(scene.constraints), 6)
    assert np.all(np.isfinite(motion.a)) and motion.rank > 0
    for wrong in ("no_scene", 3):
        with pytest.raises(articula.Error):
            articula.Scene(wrong)


def test_counts(arm):
    counts = articula.count(arm)
    assert counts["forward_dynamics"] == articula.count(arm, "forward_dynamics")
    assert articula.count(arm, "forward_dynamics", customized=True).multiplications < counts["forward_dynamics"].multiplications
    with pytest.raises(articula.Error):
        articula.count(arm, "sorting")


def test_views(arm, tmp_path):
    try:
        page = articula.view(arm)
    except articula.Error as error:
        assert "page" in str(error)
        return
    page.save(tmp_path / "arm.html")
    assert "<html" in page.page and arm._repr_html_().startswith("<iframe")


def test_regulators():
    with pytest.raises(articula.Error, match="B"):
        articula.lqr(np.eye(2), np.eye(3), np.eye(2), np.eye(2))
    with pytest.raises(articula.SingularError):
        articula.lqr(np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1))
