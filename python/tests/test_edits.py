"""Edits of specifications, tables of parameters, files in other formats, and what files say beside the model."""

import copy
import pickle

import numpy as np
import pytest

import articula
from conftest import states

KEYFRAMES = """<mujoco model="two">
  <option gravity="0 1 -3"/>
  <worldbody>
    <body name="upper"><joint name="shoulder" type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      <body name="lower" pos="0 0 -0.5"><joint name="elbow" type="hinge" axis="0 1 0"/><geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4"/></body>
    </body>
  </worldbody>
  <keyframe><key name="bent" qpos="0.5 -1" qvel="0 2"/><key name="straight" qpos="0 0"/></keyframe>
</mujoco>"""


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(KEYFRAMES)
    return path


def test_what_a_file_says(two):
    model = articula.load(two)
    assert model.gravity == (0, 1, -3) and articula.load(two, gravity=(0, 0, -9.81)).gravity == (0, 0, -9.81)
    assert articula.load("arm7").gravity == (0, 0, -9.81) and articula.load("arm7").states == {}
    for same in (model, pickle.loads(pickle.dumps(model)), copy.copy(model), model.with_gravity((0, 0, 0))):
        assert list(same.states) == ["qpos0", "bent", "straight"]
        np.testing.assert_array_equal(same.states["bent"].q, [0.5, -1])
        np.testing.assert_array_equal(same.states["bent"].v, [0, 2])
        np.testing.assert_array_equal(same.states["straight"].v, [0, 0])
    assert np.all(np.isfinite(model.forward_dynamics(*model.states["bent"], np.zeros(2))))
    model.states["bent"].q[:] = 7  # a copy
    assert model.states["bent"].q[0] == 0.5


def test_states_of_a_free_base(two):
    model = articula.load(two, base="free")
    state = model.states["bent"]
    assert state.q.shape == (model.nq,) and state.v.shape == (model.nv,)
    np.testing.assert_array_equal(state.q, [*model.neutral()[: model.nq - 2], 0.5, -1])


def test_warnings_name_the_file(tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(articula.load("double_pendulum").spec.write_urdf().replace("</robot>", "<joint_typo/></robot>"))
    found = articula.load(path).warnings
    assert found == tuple(p for p in articula.check(path) if p.severity == "warning")
    assert all(p.file for p in found)


def test_loops_of_a_file(tmp_path):
    """Two rods side by side, their ends held together: one pendulum of both."""
    body = '<body name="{0}"><joint name="{0}_hinge" type="hinge" axis="0 1 0"/><geom type="capsule" size="{1}" fromto="0 0 0 0 0 -0.5"/></body>'
    path = tmp_path / "rods.xml"
    both = body.format("left", 0.05) + body.format("right", 0.03)
    path.write_text(f'<mujoco><worldbody>{both}</worldbody><equality><connect body1="left" body2="right" anchor="0 0 -0.5"/></equality></mujoco>')
    model = articula.load(path)
    assert model.has_loops and pickle.loads(pickle.dumps(model)).has_loops and not articula.load("arm7").has_loops
    scene = articula.Scene(model)
    assert len(scene.constraints) == 1 and scene.model.nv == 2
    at = np.full(2, 0.4)
    expected = -model.gravity_forces(at).sum() / np.trace(model.mass_matrix(at))
    np.testing.assert_allclose(scene.forward_dynamics(at, np.zeros(2), np.zeros(2)).a, [expected] * 2, rtol=1e-9)
    motion = articula.simulate(model, duration=0.5, q=at)
    np.testing.assert_allclose(motion.q[:, 0], motion.q[:, 1], atol=1e-9)
    assert abs(motion.q[-1, 0] - 0.4) > 0.1 and "<html" in motion.report()
    np.testing.assert_allclose(articula.simulate(scene, duration=0.5, q=at).q, motion.q, atol=1e-12)
    with pytest.raises(articula.Error, match="is not closed"):
        articula.simulate(model, duration=0.1, q=[0.4, 0.1])
    for more in ({"integrator": "variational"}, {"integrator": "cvode"}):
        np.testing.assert_allclose(articula.simulate(model, duration=0.5, q=at, **more).q[-1], motion.q[-1], atol=1e-4)
    with pytest.raises(articula.Error, match="open chains"):
        articula.simulate(model, duration=0.1, velocities="nu")

    # One motor holds both, sampled or not.
    def hold(t, q, v):
        return np.array([200 * (0.4 - q[0]) - 20 * v[0], 0])

    for controllers in (hold, [(hold, 0.001)], articula.controllers.PD([200, 0], [20, 0], reference=at)):
        held = articula.simulate(model, duration=1, q=at, controllers=controllers)
        np.testing.assert_allclose(held.q[:, 0], held.q[:, 1], atol=1e-9)
        assert np.max(np.abs(held.q - 0.4)) < 0.2 < np.max(np.abs(articula.simulate(model, duration=1, q=at).q - 0.4))


def test_many_motions_stay_closed(tmp_path):
    """Rollouts and Monte Carlo are of the closed mechanism."""
    body = '<body name="{0}"><joint name="{0}_hinge" type="hinge" axis="0 1 0" damping="0.1"/><geom type="capsule" size="{1}" fromto="0 0 0 0 0 -0.5"/></body>'
    path = tmp_path / "rods.xml"
    both = body.format("left", 0.05) + body.format("right", 0.03)
    path.write_text(f'<mujoco><worldbody>{both}</worldbody><equality><connect body1="left" body2="right" anchor="0 0 -0.5"/></equality></mujoco>')
    model = articula.load(path)
    q, v = np.repeat(np.linspace(-1, 1, 50)[:, None], 2, axis=1), np.zeros((50, 2))
    tau = np.tile([0.3, 0], (50, 200, 1))
    for more in ({}, {"damping": True}):
        path_of_all = articula.rollout(model, q, v, tau, steps=200, every=50, **more)
        assert path_of_all.q.shape == (50, 4, 2)
        np.testing.assert_allclose(path_of_all.q[..., 0], path_of_all.q[..., 1], atol=1e-10)
        alone = articula.simulate(model, duration=0.2, every=0.05, q=q[7], tau=[0.3, 0], **more)
        np.testing.assert_allclose(path_of_all.q[7], alone.q[1:], atol=1e-12)
        np.testing.assert_allclose(path_of_all.v[7], alone.v[1:], atol=1e-12)
    for threads in (1, 3):
        np.testing.assert_array_equal(articula.rollout(model, q, v, tau, steps=200, every=50, threads=threads, damping=True).q, path_of_all.q)
    with pytest.raises(articula.Error, match="trajectory 1 does not begin on constraint"):
        articula.rollout(model, [[0.1, 0.1], [0.1, 0.2]], np.zeros(2), steps=2)
    drawn = {"q": {"*": {"normal": (0, 0.3)}}, "mass": {"left": {"uniform": (0.5, 2)}}}
    result = articula.monte_carlo(model, runs=30, duration=0.2, distributions=drawn, q=[0.4, 0.4])
    assert not result.errors and np.std(result.q[:, 0]) > 0.05
    np.testing.assert_allclose(result.q[:, 0], result.q[:, 1], atol=1e-10)
    assert np.max(np.abs(result["energy_change"])) < 1e-8
    scene = articula.Scene("four_bar")
    result = articula.monte_carlo(scene, runs=5, duration=0.1, distributions={"torque": {"*": {"normal": (0, 0.1)}}})
    assert not result.errors and np.max(result["constraint_drift"]) < 1e-9
    rolled = articula.rollout(scene, scene.q, scene.v, scene.tau, steps=100, every=100)
    moved = articula.simulate(scene, duration=0.1)
    np.testing.assert_allclose(rolled.q[-1], moved.q[-1], atol=1e-12)


def test_packages(tmp_path):
    folder = tmp_path / "elsewhere"
    path = tmp_path / "a.urdf"
    path.write_text(articula.load("double_pendulum").spec.write_urdf())
    assert articula.load(path, packages={"robot": folder}).nv == 2
    for wrong in (3, {"a": 1}, {"": "x"}, ["ab"], "text"):
        with pytest.raises(articula.Error, match="packages"):
            articula.load(path, packages=wrong)


@pytest.mark.parametrize("ending", ["urdf", "sdf", "mjcf", "xml"])
def test_saved_in_any_format(arm, tmp_path, ending):
    path = tmp_path / f"arm.{ending}"
    arm.save(path)
    again, s = articula.load(path), {k: x[0] for k, x in states(arm, 1).items()}
    np.testing.assert_allclose(again.mass_matrix(s["q"]), arm.mass_matrix(s["q"]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.bias_forces(s["q"], s["v"]), arm.bias_forces(s["q"], s["v"]), rtol=0, atol=1e-11)
    with pytest.raises(articula.Error, match="ending"):
        arm.save(tmp_path / "arm.doc")
    with pytest.raises(articula.Error, match="cannot be written"):
        arm.save(tmp_path / "nowhere" / "arm.urdf")


def edited(model, edit, *given, **more):
    spec = model.spec
    getattr(spec, edit)(*given, **more)
    return articula.Model(spec, base=model.base)


def test_locked_joints_leave_a_block(arm):
    q = arm.random(3)
    name = arm.joints[3].name
    locked = edited(arm, "lock_joint", name, q[3])
    rest = [0, 1, 2, 4, 5, 6]
    np.testing.assert_allclose(locked.mass_matrix(q[rest]), arm.mass_matrix(q)[np.ix_(rest, rest)], atol=1e-13)
    np.testing.assert_allclose(locked.gravity_forces(q[rest]), arm.gravity_forces(q)[rest], atol=1e-12)


def test_other_edits_do_what_they_say(arm):
    q, hand = arm.random(4), arm.frames[-1].name
    M, J = arm.mass_matrix(q), arm.jacobian(q, frame=hand)
    loaded = edited(arm, "add_payload", hand, 2.0)
    np.testing.assert_allclose(loaded.mass_matrix(q), M + 2 * J[3:].T @ J[3:], atol=1e-12)
    geared = edited(arm, "add_rotor", arm.joints[2].name, 1e-4, 50)
    np.testing.assert_allclose(geared.mass_matrix(q) - M, np.diag([0, 0, 0.25, 0, 0, 0, 0]), atol=1e-13)
    np.testing.assert_allclose(edited(arm, "scale", 2.0).mass_matrix(q), 32 * M, rtol=1e-12, atol=1e-13)  # mass 8, lengths 2
    np.testing.assert_allclose(edited(arm, "scale", 2.0, 3.0).mass_matrix(q), 12 * M, rtol=1e-12, atol=1e-13)
    framed = edited(arm, "add_frame", "tip", hand, position=(0, 0, 0.1))
    tip, at = framed.pose(q, frame="tip"), arm.pose(q, frame=hand)
    np.testing.assert_allclose(tip.position, at.position + 0.1 * at.rotation[:, 2], atol=1e-14)
    named = edited(arm, "rename", "joint", arm.joints[0].name, "first")
    assert named.joints[0].name == "first" and edited(arm, "add_prefix", "left_").joints[0].name == "left_" + arm.joints[0].name
    shorter = edited(arm, "remove_link", arm.bodies[5].name)
    assert shorter.nv == 5
    both = arm.spec
    both.attach(articula.load("double_pendulum").spec, hand, "tool_", position=(0, 0, 0.2))
    together = articula.Model(both)
    assert together.nv == 9 and together.mass == pytest.approx(arm.mass + articula.load("double_pendulum").mass)


def test_another_root(arm):
    q = dict(zip((joint.name for joint in arm.joints), arm.random(5)))
    free = articula.load("arm7", base="free")
    turned = edited(free, "set_root", arm.bodies[-1].name)
    assert turned.nv == free.nv and turned.mass == pytest.approx(free.mass)
    ends = arm.bodies[0].name, arm.bodies[-1].name

    def apart(model):  # the one end as the other sees it
        at = model.neutral()
        for joint in model.joints[1:]:
            at[joint.q_index] = q[joint.name]
        first, last = (model.pose(at, frame=name) for name in ends)
        return first.rotation.T @ (last.position - first.position)

    np.testing.assert_allclose(apart(turned), apart(free), atol=1e-12)


def test_wrong_edits_leave_all_as_it_was(arm):
    spec = arm.spec
    for edit, given in (
        ("lock_joint", ("elbwo",)), ("lock_joint", (arm.joints[0].name, (1.0, 2.0))), ("remove_link", ("nothing",)), ("rename", ("thing", "a", "b")),
        ("rename", ("joint", arm.joints[0].name, arm.joints[1].name)), ("set_root", ("nothing",)), ("add_frame", (arm.frames[0].name, arm.frames[0].name)),
        ("attach", (arm.spec, "nothing")), ("attach", ("arm7", arm.frames[0].name)), ("add_rotor", ("nothing", 1.0)), ("scale", (-1.0,)), ("split_joints", (["x"],)),
    ):  # fmt: skip
        with pytest.raises(articula.Error):
            getattr(spec, edit)(*given)
        assert articula.Model(spec) == arm


def test_split_joints():
    spec = articula.ModelSpec("wrist")
    spec.links.append(articula.LinkSpec("hand", 1.0, (0, 0, -0.3), (0.1, 0.2, 0.25, 0, 0, 0)))
    spec.joints.append(articula.JointSpec("wrist", "world", "hand", "universal"))
    whole = articula.Model(spec)
    spec.split_joints()
    split = articula.Model(spec)
    assert [j.kind for j in split.joints] == ["revolute", "revolute"]
    np.testing.assert_allclose(split.mass_matrix([0.3, 0.4]), whole.mass_matrix([0.3, 0.4]), atol=1e-14)


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array({"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis])


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_denavit_hartenberg_tables(convention):
    rng = np.random.default_rng(1)
    sizes, q = rng.normal(size=(4, 4)), rng.normal(size=4)
    kinds = ["revolute", "revolute", "prismatic", "revolute"]
    rows = [articula.DhRow(*x, kind=kind, mass=1.0, inertia=(0.1, 0.1, 0.1, 0, 0, 0)) for x, kind in zip(sizes, kinds)]
    model = articula.Model(articula.spec_of(articula.DhTable("robot", convention, rows, tool_position=(0.1, 0, 0.2))))
    R, p = np.eye(3), np.zeros(3)
    for (a, alpha, d, theta), kind, x in zip(sizes, kinds, q):
        theta, d = (theta, d + x) if kind == "prismatic" else (theta + x, d)
        by_x, by_z = (rotation("x", alpha), np.array([a, 0, 0])), (rotation("z", theta), np.array([0, 0, d]))
        for turn, shift in (by_z, by_x) if convention == "standard" else (by_x, by_z):  # both commute along their axis
            p, R = p + R @ shift, R @ turn
    tool = model.pose(q, frame="tool")
    np.testing.assert_allclose(tool.rotation, R, atol=1e-13)
    np.testing.assert_allclose(tool.position, p + R @ [0.1, 0, 0.2], atol=1e-13)
    with pytest.raises(articula.ModelError, match="2"):
        articula.spec_of(articula.DhTable(rows=[articula.DhRow(), articula.DhRow(a=float("nan"))]))


def test_screws():
    """A planar arm of two links, by hand: M(q) of MR9, example 8.1."""
    m, L = (1.5, 0.7), (0.8, 0.5)
    links = [
        articula.ScrewLink((0, 0, 1, 0, 0, 0), position=(L[0], 0, 0), mass=m[0]),
        articula.ScrewLink((0, 0, 1, 0, -L[0], 0), position=(L[0] + L[1], 0, 0), mass=m[1]),
    ]
    model = articula.Model(articula.spec_of(articula.ScrewChain(links=links, tool_position=(L[0] + L[1], 0, 0))), gravity=(0, -9.81, 0))
    c = np.cos(0.6)
    off = m[1] * (L[0] * L[1] * c + L[1] ** 2)
    M = [[m[0] * L[0] ** 2 + m[1] * (L[0] ** 2 + 2 * L[0] * L[1] * c + L[1] ** 2), off], [off, m[1] * L[1] ** 2]]
    np.testing.assert_allclose(model.mass_matrix([0.2, 0.6]), M, atol=1e-13)
    at = [L[0] * np.cos(0.2) + L[1] * np.cos(0.8), L[0] * np.sin(0.2) + L[1] * np.sin(0.8), 0]
    np.testing.assert_allclose(model.pose([0.2, 0.6], frame="tool").position, at, atol=1e-14)
    found = articula.mass_properties(np.diag([0.1, 0.2, 0.25, 3, 3, 3]))
    assert found.mass == 3 and found.inertia[:3] == pytest.approx((0.1, 0.2, 0.25))
    for wrong in (np.eye(5), np.diag([1, 1, 1, 1, 2, 3.0])):
        with pytest.raises(articula.Error):
            articula.mass_properties(wrong)
    with pytest.raises(articula.Error):
        articula.spec_of(articula.ScrewChain(links=[articula.ScrewLink((0, 0, 2, 0, 0, 0))]))


@pytest.mark.parametrize("integrator", ["euler", "symplectic_euler", "rk4", "midpoint", "variational"])
def test_derivatives_of_a_step(integrator):
    model, h, eps = articula.load("double_pendulum"), 0.01, 1e-6
    q, v, tau = np.array([0.3, -0.8]), np.array([1.0, -2.0]), np.array([0.5, 0.2])
    step = articula.LinearizedStep(model, integrator)
    found = step.compute(q, v, tau, h)
    recorded = articula.simulate(model, duration=h, step=h, every=h, q=q, v=v, tau=tau, integrator=integrator)
    np.testing.assert_allclose(np.r_[found.q_next, found.v_next], np.r_[recorded.q[-1], recorded.v[-1]], atol=1e-12)
    for i, column in enumerate(np.vstack([found.A.T, found.B.T])):
        ends = []
        for sign in (1, -1):
            x = np.r_[q, v, tau]
            x[i] += sign * eps
            moved = step.compute(x[:2], x[2:4], x[4:], h)
            ends.append(np.r_[moved.q_next, moved.v_next])
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * eps), column, atol=1e-7)
    with pytest.raises(articula.Error, match="rk45"):
        articula.LinearizedStep(model, "rk45")


def test_external_forces_in_a_step(arm):
    q, v, tau, w = arm.random(1), np.zeros(7), np.zeros(7), np.full((7, 6), 0.3)
    found = articula.LinearizedStep(arm, "euler").compute(q, v, tau, 0.01, wrenches=w)
    np.testing.assert_allclose(found.v_next, 0.01 * arm.forward_dynamics(q, v, tau, wrenches=w), atol=1e-13)
    with pytest.raises(articula.Error, match="wrenches"):
        articula.LinearizedStep(arm, "euler").compute(q, v, tau, 0.01, wrenches=w[1:])


@pytest.mark.parametrize("which", ["inverse", "forward"])
def test_second_derivatives(model, which):
    s, eps = {k: x[0] for k, x in states(model, 1).items()}, 1e-5
    rng = np.random.default_rng(2)
    first, second = (tuple(rng.normal(size=(3, model.nv))) for _ in range(2))
    last = s["a"] if which == "inverse" else s["tau"]
    along = getattr(model, f"perturbed_{which}")
    ends = [
        along(model.integrate(s["q"], t * second[0]), s["v"] + t * second[1], last + t * second[2], *first) for t in (eps, -eps)
    ]
    found = getattr(articula.SecondOrder(model), which)(s["q"], s["v"], last, first, second)
    expected = (ends[0] - ends[1]) / (2 * eps)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.max(np.abs(expected)))


def test_a_tendon_over_three_joints_is_pickled(tmp_path):
    path = tmp_path / "tendon.xml"
    bodies = "".join(f'<body name="b{i}"><joint name="j{i}" axis="0 1 0"/><geom type="sphere" size="0.1" pos="0.3 0 0" mass="1"/></body>' for i in range(3))
    joints = "".join(f'<joint joint="j{i}" coef="{i + 1}"/>' for i in range(3))
    path.write_text(
        f'<mujoco><worldbody>{bodies}</worldbody><tendon><fixed name="t">{joints}</fixed></tendon>'
        '<equality><tendon tendon1="t"/></equality></mujoco>'
    )
    model = articula.load(path)
    again = pickle.loads(pickle.dumps(model))
    motions = [articula.simulate(m, q=np.zeros(3), duration=0.1, step=1e-3).q[-1] for m in (model, again)]
    np.testing.assert_array_equal(*motions)
    np.testing.assert_allclose(motions[0] @ [1, 2, 3], 0, atol=1e-9)
