"""Simulation, rollouts, operators, task spaces, closed chains, regulators, counts; and every example in a docstring."""

import doctest
import importlib
import json
import pickle
import re
import signal
import subprocess
import time

import numpy as np
import pytest

import articula


@pytest.mark.parametrize("module", ["_load", "_model", "derivatives", "spec", "tables", "motion", "recording", "controllers", "scenes", "spaces", "operators", "convert"])
def test_examples_in_docstrings(module):
    found = importlib.import_module(f"articula.{module}")
    runner = doctest.DocTestRunner()
    attempted = 0
    for test in doctest.DocTestFinder().find(found, extraglobs={"articula": articula, "np": np}):
        attempted += runner.run(test).attempted
    assert attempted > 1
    assert runner.summarize(verbose=False).failed == 0


def test_simulation_keeps_energy(tmp_path):
    arm = articula.load("double_pendulum")
    recording = articula.simulate(arm, duration=1, q=[1, 0.5], progress=False)
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


def test_controllers_of_the_library():
    """They do what the same in Python does."""
    from articula.controllers import PD, ComputedTorque, DecoupledRates, GravityCompensation

    arm = articula.load("arm7")
    q, target = np.full(7, 0.2), np.full(7, 0.3)
    pairs = [
        (PD(50, np.full(7, 10.0), target, gravity=True), lambda t, q, v: 50 * (target - q) - 10 * v + arm.gravity_forces(q)),
        (ComputedTorque(50, 10, target), lambda t, q, v: arm.inverse_dynamics(q, v, 50 * (target - q) - 10 * v)),
        (GravityCompensation(), lambda t, q, v: arm.gravity_forces(q)),
        (PD(50, 10, ([0, 1], [q, target])), lambda t, q, v: 50 * (0.2 + 0.1 * t - q) + 10 * (0.1 - v)),
        (PD(50, 10, period=0.01), (lambda t, q, v: 50 * (0.2 - q) - 10 * v, 0.01)),
    ]
    for ours, function in pairs:
        x = articula.simulate(arm, duration=0.1, q=q, controllers=ours, step=2e-3)
        y = articula.simulate(arm, duration=0.1, q=q, controllers=[function], step=2e-3)
        np.testing.assert_allclose(x.q, y.q, atol=1e-10)
    # Each nu a loop of its own, and a smooth reference that is followed exactly.
    still = articula.simulate(arm, duration=0.5, q=q, v=np.ones(7), controllers=DecoupledRates(3))
    energies = [arm.kinetic_energy(still.q[i], still.v[i]) for i in (0, -1)]
    np.testing.assert_allclose(energies[1], energies[0] * np.exp(-3), rtol=1e-6)
    zero, one = np.zeros(7), np.ones(7)
    smooth = ComputedTorque(1, 1, ([0, 0.5], [q, target], [zero, one], [one, zero]))
    followed = articula.simulate(arm, duration=0.5, q=q, controllers=smooth)
    np.testing.assert_allclose(followed.q[-1], target, atol=1e-8)
    np.testing.assert_allclose(followed.v[-1], one, atol=1e-6)
    for wrong in (DecoupledRates("x"), DecoupledRates([1, 2]), DecoupledRates(1, [1]), PD(1, 1, ([0, 1], [q, q], [q], [q, q]))):
        with pytest.raises(articula.Error):
            articula.simulate(arm, duration=0.1, controllers=wrong)
    for wrong in (PD("x", 1), PD(1, [1, 2]), PD(1, 1, [1, 2]), PD(1, 1, ([1], [1])), PD(1, 1, ([], [])), PD(1, 1, period=-1), GravityCompensation("x")):
        with pytest.raises(articula.Error):
            articula.simulate(arm, duration=0.1, controllers=wrong)


def test_controllers_of_frames():
    """OperationalSpace and Tasks are TaskController, and few sweeps agree for short ticks."""
    from articula.controllers import OperationalSpace, Task, Tasks

    arm, q = articula.load("arm7"), np.array([0.1, 0.6, 0.2, 1.1, 0.3, 0.5, 0.1])
    there, wanted = arm.pose(q, frame="hand"), [0.4, 0.1, 0.5]
    python = articula.TaskController(arm, [["hand"]])

    def control(time, at, v):
        python.update(at, v)
        python.follow(0, there.rotation, np.array(wanted), stiffness=100, damping=20)
        python.hold_posture(q, 0, 2)
        return python.torques()

    settings = dict(duration=0.2, q=q, step=2e-3)
    by_hand = articula.simulate(arm, controllers=[(control, 2e-3)], **settings)
    for ours in (OperationalSpace("hand", wanted, period=2e-3), Tasks([[Task("hand", position=wanted)]], period=2e-3)):
        np.testing.assert_allclose(articula.simulate(arm, controllers=ours, **settings).q, by_hand.q, atol=1e-8)

    def off(sweeps, period):
        ends = [articula.simulate(arm, duration=0.2, q=q, controllers=OperationalSpace("hand", wanted, sweeps=n, period=period)).q[-1] for n in (4, sweeps)]
        return np.max(np.abs(ends[0] - ends[1]))

    assert off(2, 2e-3) > 1e-4 and off(2, 1e-3) < 0.6 * off(2, 2e-3) and off(3, 2e-3) < off(2, 2e-3)
    # Levels, other rows and coordinates, a row that pushes.
    first = Task("hand", ("x", "y"), position=[0.4, 0.1, 0])
    end = articula.simulate(arm, duration=2, q=q, controllers=Tasks([[first], [Task("hand", "orientation")]])).q[-1]
    np.testing.assert_allclose(arm.pose(end, frame="hand").position[:2], [0.4, 0.1], atol=1e-3)
    turned = Task("hand", euler="zyx", angles=[0.3, 0.2, 0.1], position=wanted)
    end = arm.pose(articula.simulate(arm, duration=2, q=q, controllers=Tasks([[turned]])).q[-1], frame="hand")
    np.testing.assert_allclose(end.position, wanted, atol=1e-3)
    np.testing.assert_allclose(np.arctan2(end.rotation[1, 0], end.rotation[0, 0]), 0.3, atol=1e-3)
    pushing = Task("hand", "position", press=[(2, -1.0, 20)])
    end = articula.simulate(arm, duration=2, q=q, controllers=Tasks([[pushing]], posture_damping=5)).q[-1]
    assert arm.pose(end, frame="hand").position[2] < there.position[2] - 1e-4
    wrong = [
        OperationalSpace("foot"), OperationalSpace(3), OperationalSpace("hand", sweeps=2), OperationalSpace("hand", sweeps=5, period=1e-3),
        OperationalSpace("hand", [1, 2]), OperationalSpace("hand", posture=[1]), OperationalSpace("hand", stiffness="x"),
        Tasks([]), Tasks([Task("hand")]), Tasks([["hand"]]), Tasks([[Task("hand", "u")]]), Tasks([[Task("hand", ["u"])]]),
        Tasks([[Task("hand", angles=[1, 2, 3])]]), Tasks([[Task("hand", euler="zzx")]]), Tasks([[Task("hand", press=[(9, 1)])]]),
        Tasks([[Task("hand", press=[(1,)])]]), Tasks([[]]), Tasks([[Task("hand", axes="foot")]]),
    ]
    for controllers in wrong:
        with pytest.raises(articula.Error):
            articula.simulate(arm, duration=0.01, controllers=controllers)


def test_velocities_of_the_diagonalized_equations():
    arm = articula.load("arm7")
    settings = dict(duration=0.2, q=np.full(7, 0.3), v=np.ones(7))
    plain = articula.simulate(arm, **settings)
    for name in ("nu", "xi"):
        np.testing.assert_allclose(articula.simulate(arm, velocities=name, **settings).q, plain.q, atol=1e-8)
    for wrong in ("mu", 3, None):
        with pytest.raises(articula.Error):
            articula.simulate(arm, velocities=wrong, **settings)
    with pytest.raises(articula.Error):
        articula.simulate(articula.Scene("four_bar"), duration=0.1, velocities="nu")


def test_limits_of_closed_chains():
    platform = articula.Scene("stewart")
    motion = articula.simulate(platform, duration=1, integrator="rk45", limits="events", restitution=0.5)
    energy = motion["kinetic_energy"] + motion["potential_energy"]
    assert np.all(np.diff(energy) < 1e-6) and np.max(motion["velocity_drift"]) < 1e-8
    for joint in platform.model.joints:
        if joint.nq == 1:
            x = motion.q[:, joint.q_index]
            assert np.all(x < joint.limits.upper + 1e-9) and np.all(x > joint.limits.lower - 1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "cvode", "variational"])
def test_events(integrator):
    arm = articula.load("double_pendulum")
    motion = articula.simulate(arm, duration=5, q=[1.0, 0], integrator=integrator, events=[lambda t, q, v: 1 + q[0] ** 2, lambda t, q, v: q[0]])
    assert motion.ended_by == 1 and 0 < motion.time[-1] < 2 and abs(motion.q[-1, 0]) < 1e-9
    assert articula.simulate(arm, duration=0.1, q=[1.0, 0], events=lambda t, q, v: 1.0).ended_by is None
    for wrong in (3, "x", [3], lambda t, q, v: "x", lambda t, q, v: np.nan, lambda t: 1):
        with pytest.raises((articula.Error, TypeError)):
            articula.simulate(arm, duration=0.1, events=wrong)


def test_limits_bounce():
    spec = articula.ModelSpec("ball")
    spec.links.append(articula.LinkSpec("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1, 0, 0, 0)))
    spec.joints.append(articula.JointSpec("height", "world", "ball", "prismatic", axis=(0, 0, 1), limits=articula.Limits(0.0, 10.0, np.inf, np.inf)))
    ball = articula.Model(spec)
    motion = articula.simulate(ball, duration=1.2, q=[1.0], integrator="rk45", limits="events", restitution=0.5)
    assert motion.q.min() > -1e-9
    assert motion.q[motion.time > 0.5].max() == pytest.approx(0.25, abs=1e-3)  # half the speed, a quarter of the height


@pytest.mark.parametrize("work", ["simulate", "rk45", "rollout", "monte_carlo", "integrate"])
def test_long_work_hears_interrupts(work):
    """Within a tenth of a second, of the processor's time."""
    arm, light = articula.load("chain:20"), articula.load("double_pendulum")
    begin = {}

    def interrupt(*_):
        begin["at"] = time.process_time()
        raise KeyboardInterrupt

    calls = {
        "simulate": lambda: articula.simulate(arm, duration=1000, every=100, step=1e-4),
        "rk45": lambda: articula.simulate(light, q=[1.0, 2.0], duration=1e5, every=1e5, integrator="rk45"),
        "rollout": lambda: articula.rollout(arm, arm.random(1, 3), np.zeros(20), step=1e-6, steps=10**7, every=10**7, threads=1),
        "monte_carlo": lambda: articula.monte_carlo(arm, runs=10**5, duration=10, distributions={}, threads=1),
        "integrate": lambda: arm.integrate(np.broadcast_to(arm.neutral(), (10**7, 20)), np.zeros(20)),
    }
    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.1 if work != "integrate" else 0.9)
        with pytest.raises(KeyboardInterrupt):
            calls[work]()
        assert time.process_time() - begin["at"] < 0.1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_monte_carlo(program, tmp_path):
    """The numbers of the command line, on any number of threads, with controllers of both kinds."""
    arm = articula.load("double_pendulum")
    link = arm.bodies[-1].name
    drawn = {"q": {"*": {"normal": [0, 0.5]}}, "v": {"*": {"uniform": [-1, 1]}}, "mass": {link: {"uniform": [0.5, 2]}}, "torque": {"joint1": {"normal": [0, 1]}}}
    result = articula.monte_carlo(arm, runs=40, duration=0.2, distributions=drawn, seed=7)
    assert len(result) == 40 and not result.errors and result.q.shape == (40, 2) and "40 runs" in repr(result)
    np.testing.assert_array_equal(result.q, articula.monte_carlo(arm, runs=40, duration=0.2, distributions=drawn, seed=7, threads=1).q)
    (tmp_path / "d.json").write_text(json.dumps(drawn))
    run = subprocess.run([program, "simulate", "double_pendulum", "--duration", "0.2", "--step", "0.001", "--monte-carlo", "40", "--seed", "7",
                          "--distributions", str(tmp_path / "d.json")], capture_output=True, text=True, check=True)  # fmt: skip
    names, *lines = [line.split(",") for line in run.stdout.splitlines()]
    table = {name: np.array([float(line[i]) for line in lines]) for i, name in enumerate(names) if name != "error"}
    for name in result.columns:
        np.testing.assert_allclose(result[name], table[name], rtol=1e-12, atol=1e-12)
    held = [
        articula.monte_carlo(arm, runs=4, duration=0.1, distributions=drawn, controllers=c)
        for c in (articula.controllers.GravityCompensation(), lambda t, q, v: arm.gravity_forces(q))
    ]
    del drawn["mass"]  # the function knows the model's own masses alone
    held = [
        articula.monte_carlo(arm, runs=4, duration=0.1, distributions=drawn, controllers=c)
        for c in (articula.controllers.GravityCompensation(), lambda t, q, v: arm.gravity_forces(q))
    ]
    np.testing.assert_allclose(held[0].q, held[1].q, atol=1e-12)
    assert "<table>" in held[0]._repr_html_()
    some = articula.monte_carlo(arm, runs=20, duration=0.1, distributions={"mass": {link: {"uniform": (-1, 1)}}})
    assert 0 < len(some.errors) < 20 and np.all(np.isnan(some.q[list(some.errors)]))
    with pytest.raises(ZeroDivisionError):
        articula.monte_carlo(arm, runs=4, duration=0.1, distributions={}, controllers=lambda t, q, v: 1 / 0)
    for wrong in ({"x": {}}, {"x": {"*": {"normal": (0, 1)}}}, {"q": {"nobody": {"normal": (0, 1)}}}, {"q": {"*": {"normal": (0, -1)}}}, {"q": {"*": {"gamma": (0, 1)}}},
                  {"q": {"*": {"normal": (0,)}}}, {"q": 3}, 3, {"q": {"*": {"uniform": (np.nan, 1)}}}):  # fmt: skip
        if wrong != {"x": {}}:
            with pytest.raises(articula.Error):
                articula.monte_carlo(arm, runs=2, duration=0.1, distributions=wrong)


def test_rollouts():
    arm = articula.load("arm7")
    q = arm.random(1, 6)
    path = articula.rollout(arm, q, np.zeros(7), np.zeros(7), step=1e-3, steps=20, every=10)
    assert path.q.shape == (6, 2, 7)
    alone = articula.simulate(arm, duration=0.02, q=q[2], step=1e-3, every=0.01)
    np.testing.assert_allclose(path.q[2], alone.q[1:], atol=1e-10)
    each = articula.rollout(arm, q, np.zeros(7), np.zeros((6, 20, 7)), step=1e-3, steps=20, every=10)
    np.testing.assert_allclose(each.q, path.q, atol=1e-14)
    parts = articula.rollout(arm, q[:, None], np.zeros(7), np.zeros((6, 1, 3000, 7)), step=1e-5, steps=3000, every=1000, threads=1)
    whole = articula.rollout(arm, q[:, None], np.zeros(7), None, step=1e-5, steps=3000, every=1, threads=2)
    np.testing.assert_array_equal(parts.q, whole.q[..., 999::1000, :])
    bad = np.array(q)
    bad[4] = np.nan
    with pytest.raises(articula.Error, match="not finite") as caught:
        articula.rollout(arm, bad, np.zeros(7), steps=2)
    assert type(caught.value) is articula.Error and caught.value.states == (4,)
    for wrong in ({"steps": 0}, {"steps": 5, "every": 2}, {"step": np.nan}, {"integrator": "rk45"}, {"threads": "x"}):
        with pytest.raises(articula.Error):
            articula.rollout(arm, q, np.zeros(7), **wrong)


def test_operators(arm):
    from articula.operators import D, H, H_ddot, H_dot, H_f, I, K, M, M_ring, inv, phi, rotor, star

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
    chain = articula.load("double_pendulum")
    residuals = articula.operators.identities(chain, [0.1, 0.2], [1, 2], [3, 4])
    assert any("DIAG (42)" in r.source for r in residuals) and max(r.residual for r in residuals) < 1e-9
    by_q = H * phi * (H_f + 2 * M_ring * star(phi) * star(H_dot) + M * star(phi) * star(H_ddot))  # LIN's B_D
    v, a = np.ones(7), np.arange(7.0)
    np.testing.assert_allclose(by_q.at(arm, q, v, a).dense(), arm.linearized_inverse(q, v, a).dq, atol=1e-10)
    bare = articula.operators.derive(inv(H * phi * M * star(phi) * star(H)), arm, q)
    assert bare.steps[-1].text == "[I - H psi K]* D^-1 [I - H psi K]"
    np.testing.assert_allclose(bare.result.at(arm, q).dense() @ (H * phi * M * star(phi) * star(H)).at(arm, q).dense(), np.eye(7), atol=1e-9)
    with pytest.raises(articula.Error, match="accelerations"):
        by_q.at(arm, q, v).dense()
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


def test_task_controllers(arm):
    q, v = np.array([0.2, 0.5, 0.1, 1.2, -0.3, 0.8, 0]), np.full(7, 0.1)
    control = articula.TaskController(arm, "flange")
    control.update(q, v)
    pose = control.pose(0)
    np.testing.assert_allclose(pose.position, arm.pose(q, frame="flange").position, atol=1e-12)
    control.accelerate(0, np.arange(6.0))
    a = arm.forward_dynamics(q, v, control.torques())
    np.testing.assert_allclose(arm.jacobian(q, frame="flange") @ a + arm.jacobian_dot_v(q, v, frame="flange"), np.arange(6.0), atol=1e-7)
    assert control.rank(0) == 6
    two = articula.TaskController(arm, [[("flange", "position")], [("flange", "orientation", "")]])
    two.update(q, v)
    two.follow(0, pose.rotation, pose.position, stiffness=400, damping=40)
    two.follow(1, pose.rotation, pose.position, turning_stiffness=400, turning_damping=40)
    two.hold_posture(q, 10, 6)
    two.limit_torques(np.full(7, 1.0))
    assert np.max(np.abs(two.torques())) <= 1 + 1e-9
    for wrong in ("nothing", [], [[]], [["nothing"]], [[3]], [[("flange", "shape")]], [["flange", ("flange", "position", "", "")]], 3):
        with pytest.raises(articula.Error):
            articula.TaskController(arm, wrong)
    for wrong in (lambda: two.pose(2), lambda: two.accelerate(0, [1]), lambda: two.follow(0, np.eye(2), [0, 0, 0]), lambda: two.press(0, 9, 1.0), lambda: two.rank(7),
                  lambda: articula.TaskController(arm, "flange").torques(), lambda: two.press("x", 0, 1)):  # fmt: skip
        with pytest.raises(articula.Error):
            wrong()


def test_scenes():
    scene = articula.Scene("two_arms")
    motion = scene.forward_dynamics(scene.q, scene.v, scene.tau)
    assert motion.a.shape == (scene.nv,) and motion.forces.shape == (len(scene.constraints), 6)
    assert np.all(np.isfinite(motion.a)) and motion.rank > 0 and "left" in repr(scene)
    wanted = np.array([0, 0, 0, 0.1, 0.2, 0.3])
    tau = scene.inverse_dynamics(scene.q, scene.v, wanted)
    a = scene.forward_dynamics(scene.q, scene.v, tau).a
    J, bias = scene.model.jacobian(scene.q, frame=scene.objects[0]), scene.model.jacobian_dot_v(scene.q, scene.v, frame=scene.objects[0])
    np.testing.assert_allclose(J @ a + bias, wanted, atol=1e-8)
    space = scene.operational_space(scene.q, scene.v)
    np.testing.assert_allclose(np.trace(space.omega @ space[1]), space.rank, atol=1e-8)
    assert space.jacobian_bar.shape == (scene.nv, 6)
    with pytest.raises(articula.Error):
        scene.operational_space(scene.q, scene.v, frame="nobody")
    least = scene.inverse_dynamics(scene.q, scene.v, [wanted], frame=[scene.objects[0]], share="least_torques")
    assert np.linalg.norm(least) <= np.linalg.norm(tau) + 1e-9
    assert pickle.loads(pickle.dumps(scene.model)) == scene.model
    off = scene.model.integrate(scene.q, np.full(scene.nv, 1e-3))
    assert scene.drift(off, scene.v).position > 1e-4
    q, v = scene.project(off, scene.v)
    assert scene.drift(q, v).position < 1e-10
    moved = articula.simulate(scene, duration=0.05, integrator="rk45", every=0.01)
    assert len(moved) == 6 and moved.model is scene.model and scene.drift(moved.q[-1], moved.v[-1]).position < 1e-9
    for wrong in ("no_scene", 3, "arm7", __file__):
        with pytest.raises(articula.Error):
            articula.Scene(wrong)
    for more in ({"limits": "events"}, {"controllers": [(lambda t, q, v: q, 0.1)]}, {"integrator": "none"}, {"q": [1]}, {"q": off}):
        with pytest.raises(articula.Error):
            articula.simulate(scene, duration=0.01, **more)
    for more in ({"frame": "nobody"}, {"frame": 10**6}, {"share": 3}, {"frame": []}):
        with pytest.raises(articula.Error):
            scene.inverse_dynamics(scene.q, scene.v, wanted, **more)


def test_counts(arm):
    counts = articula.count(arm)
    assert counts["forward_dynamics"] == articula.count(arm, "forward_dynamics")
    assert articula.count(arm, "forward_dynamics", customized=True).multiplications < counts["forward_dynamics"].multiplications
    assert "<table>" in counts._repr_html_()
    with pytest.raises(articula.Error):
        articula.count(arm, "sorting")


@pytest.mark.parametrize("source", ["arm7", "chain:4"])
def test_views(source, tmp_path):
    """Pages stand alone: nothing in them is loaded from elsewhere."""
    arm = articula.load(source)
    try:
        page = articula.view(arm)
    except articula.Error as error:
        assert "page" in str(error)  # built without Node.js
        assert arm._repr_html_() is None
        return
    page.save(tmp_path / "arm.html")
    assert (tmp_path / "arm.html").read_text() == page.page and "<html" in page.page
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?!data:|#)[^\"'> ]+", page.page)
    for shown in (arm, page, articula.simulate(arm, duration=0.05)):
        html = shown._repr_html_()
        assert html.startswith('<iframe srcdoc="') and html.count("<") == 2  # all that is inside is quoted
    with pytest.raises(articula.Error, match="cannot be written"):
        page.save(tmp_path / "no" / "such" / "folder.html")


def test_regulators():
    with pytest.raises(articula.Error, match="B"):
        articula.lqr(np.eye(2), np.eye(3), np.eye(2), np.eye(2))
    with pytest.raises(articula.SingularError):
        articula.lqr(np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1))
