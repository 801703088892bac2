"""Whatever is given wrongly is an exception that says what, and never worse."""

import copy

import numpy as np
import pytest
from conftest import BY_NAME, NAMES, call, options, parts, states

import articula

WRONG_KINDS = ["text", b"bytes", None, object(), 3, 2.5, {}, {"q": 1}, lambda: 0, np.array(["a"] * 7), np.ones(7) * 1j,
               np.array([None] * 7), [[1, 2], [3]], np.ones(7, bool), np.ma.masked]  # fmt: skip


def wrong_arrays(n):
    return [np.ones(n + 1), np.ones(n - 1), np.ones(()), np.ones((n, 1)), np.ones((3, n + 1)), np.ones(0), np.ones((2, 3, n - 1))]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arrays_are_named(model, name):
    algorithm = BY_NAME[name]
    given = {k: x[0] for k, x in states(model, 1).items()}
    for argument in algorithm["arguments"]:
        n = model.nq if argument == "q" else model.nv
        for wrong in [*WRONG_KINDS, *wrong_arrays(n)]:
            with pytest.raises(articula.Error, match=f"{name}: .*{argument}") as caught:
                call(model, algorithm, {**given, argument: wrong})
            assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_calls(model, name):
    algorithm, method = BY_NAME[name], getattr(model, name)
    given = states(model, 1)
    arguments = [given[k][0] for k in algorithm["arguments"]]
    needed = options(model, algorithm)
    with pytest.raises(TypeError, match=algorithm["arguments"][-1]):
        method(*arguments[:-1], **needed)
    with pytest.raises(TypeError, match="position"):
        method(*arguments, arguments[0], **needed)
    with pytest.raises(TypeError, match="'nonsense'"):
        method(*arguments, **needed, nonsense=1)
    with pytest.raises(TypeError, match="two values"):
        method(*arguments, **needed, q=arguments[0])
    with pytest.raises(TypeError):
        method.__get__(None, articula.Model)(*arguments, **needed) if False else getattr(articula.Model, name)(3, *arguments)
    if needed:
        with pytest.raises(TypeError, match="frame"):
            method(*arguments)
        for wrong in ("no such frame", -1, 10**6, 10**30, 2.5, object(), b"x", True):
            with pytest.raises(articula.Error):
                method(*arguments, frame=wrong)
    for keyword, wrongs in (("axes", ("World", 1, b"world", ["world"])), ("method", ("fast", 0)), ("threads", (0, -1, 1.5, "all", 10**9, True))):
        for wrong in wrongs if keyword in algorithm["keywords"] else ():
            with pytest.raises(articula.Error, match=keyword):
                method(*arguments, **needed, **{keyword: wrong})


@pytest.mark.parametrize("name", NAMES)
def test_wrong_out(model, name):
    algorithm = BY_NAME[name]
    given = {k: x[0] for k, x in states(model, 1).items()}
    right = [np.array(x) for x in parts(call(model, algorithm, given), algorithm)]
    frozen = copy.deepcopy(right)
    for x in frozen:
        x.flags.writeable = False
    several = [
        [np.zeros((*x.shape, 2)) for x in right], [x.astype(np.float16) for x in right], [x.tolist() for x in right], frozen,
        [object() for _ in right],
    ]  # fmt: skip
    wrongs = several if len(right) > 1 else [x[0] for x in several]
    for wrong in [*wrongs, "text", 3, {}, *([[], right[:-1], right[0]] if len(right) > 1 else [right])]:
        with pytest.raises(articula.Error, match="out"):
            call(model, algorithm, given, out=wrong)


def test_shapes_that_do_not_go_together(arm):
    with pytest.raises(articula.Error, match=r"q \(3, 7\), v \(4, 7\)"):
        arm.bias_forces(np.zeros((3, 7)), np.zeros((4, 7)))
    for wrong in (np.zeros(6), np.zeros((6, 7)), "x", np.zeros((2, 7, 6))):
        with pytest.raises(articula.Error, match="wrenches|do not go together"):
            arm.forward_dynamics(np.zeros((3, 7)), np.zeros(7), np.zeros(7), wrenches=wrong)


def on_its_axis():
    """A point mass that a second joint can bring onto the first one's axis, where nothing resists that."""
    spec = articula.ModelSpec("light")
    spec.links += [articula.LinkSpec("arm"), articula.LinkSpec("hand", 1.0, (0, 0, 1))]
    spec.joints += [
        articula.JointSpec("shoulder", "world", "arm", axis=(0, 0, 1)),
        articula.JointSpec("wrist", "arm", "hand", axis=(0, 1, 0)),
    ]
    return articula.Model(spec)


def test_singular():
    light, zero = on_its_axis(), np.zeros(2)
    assert np.all(np.isfinite(light.forward_dynamics(np.ones(2), zero, zero)))
    with pytest.raises(articula.SingularError, match="shoulder") as caught:
        light.forward_dynamics(zero, zero, zero)
    assert caught.value.joint == "shoulder" and caught.value.states is None
    q = np.ones((5, 2))
    q[3] = 0
    with pytest.raises(articula.SingularError, match="shoulder") as caught:
        light.forward_dynamics(q, zero, zero)
    assert caught.value.joint == "shoulder" and caught.value.states == (3,)


def test_states_of_many_that_are_not_finite(arm):
    q = np.zeros((20_000, 7))
    q[17], q[19_000] = np.nan, np.inf
    out = np.zeros((20_000, 7))
    with pytest.raises(articula.Error, match="not finite") as caught:
        arm.forward_dynamics(q, np.zeros(7), np.ones(7), out=out)
    assert not isinstance(caught.value, articula.SingularError) and caught.value.states == (17, 19_000)
    assert np.all(np.isnan(out[17])) and np.all(np.isfinite(out[18:19_000]))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_are_none(model, name):
    """NaN and infinity are numbers: there is a result or an articula.Error."""
    algorithm = BY_NAME[name]
    for wrong in (np.nan, np.inf, 1e300):
        for rows in (0, slice(None)):
            given = {k: np.full_like(x[rows], wrong) for k, x in states(model, 3).items()}
            try:
                call(model, algorithm, given)
            except articula.Error:
                pass


def test_models_that_are_none(arm):
    for make in (lambda: articula.Model.__new__(articula.Model), lambda: articula._core.Model.__new__(articula._core.Model)):
        empty = make()
        for name in NAMES:
            with pytest.raises((articula.Error, TypeError)):
                getattr(empty, name)(np.zeros(7), np.zeros(7), np.zeros(7))
        with pytest.raises(articula.Error):
            empty.nq
        with pytest.raises(articula.Error):
            empty._spec()
    with pytest.raises(AttributeError):
        arm.name = "other"
    with pytest.raises(AttributeError):
        arm.extra = 1


@pytest.mark.parametrize("source", ["no_such_model", "", ".", "chain:0", "chain:x", "chain:3:4:5", "a\0b", 3, None, b"\xff"])
def test_sources_that_are_none(source):
    with pytest.raises(articula.Error):
        articula.load(source)
    with pytest.raises(articula.Error):
        articula.check(source)


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "wrong.urdf"
    path.write_text('<robot name="r">\n<link name="a"><inertial><mass value="-1"/></inertial></link>\n<link name="b"/></robot>')
    with pytest.raises(articula.ModelError) as caught:
        articula.load(path)
    assert caught.value.problems and all(p.file == str(path) for p in caught.value.problems if p.file)
    assert any(p.line == 2 and p.severity == "error" for p in caught.value.problems)
    assert articula.check(path) == caught.value.problems
    path.write_text("not xml at all")
    with pytest.raises(articula.ModelError):
        articula.load(path)


def test_wrong_options():
    for wrong in ("floating", 1, None):
        with pytest.raises(articula.Error, match="base"):
            articula.load("arm7", base=wrong)
    for wrong in (9.81, (1, 2), "abc", (1, 2, None), (1, 2, "x")):
        with pytest.raises(articula.Error, match="gravity"):
            articula.load("arm7", gravity=wrong)


def test_compiled_part_alone(arm):
    """The functions that the package calls itself refuse what is not as they need it."""
    core = articula._core
    for wrong in ([1], np.zeros(3), None, np.zeros((2, 7))[:, ::2], "x"):
        with pytest.raises((articula.Error, TypeError)):
            arm._move("integrate", 2, wrong, wrong, None, wrong)
        with pytest.raises((articula.Error, TypeError)):
            arm._random(1, 2, wrong)
        with pytest.raises((articula.Error, TypeError)):
            core._compute(arm, "mass_matrix", q=wrong)
        with pytest.raises((articula.Error, TypeError)):
            core._compute(wrong, "mass_matrix", q=np.zeros(7))
        for of_spec in (lambda x: core.Model(x, "fixed", (0, 0, 0)), lambda x: core._remove_link(x, "a"), lambda x: core._attach(arm._spec(), x, "flange", "", x),
                        lambda x: core._write_model(x, "a.urdf"), lambda x: core._spec_of_dh("a", False, [x], x, x), lambda x: core._spec_of_screws("a", [x], x)):  # fmt: skip
            with pytest.raises((articula.Error, TypeError, IndexError, RuntimeError, KeyError, ValueError)):
                of_spec(wrong)
        with pytest.raises((articula.Error, TypeError)):
            core._SecondOrder(arm).compute(True, wrong, wrong, wrong, (wrong,) * 3, (wrong,) * 3, wrong, False)
        with pytest.raises((articula.Error, TypeError)):
            core._LinearizedStep(arm, "rk4").compute(wrong, wrong, wrong, 0.1, wrong, False)


def test_anything_at_all(arm):
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5) | st.complex_numbers(),
        lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=3), inner, max_size=3) | st.tuples(inner, inner),
        max_leaves=10,
    )
    sevens = st.lists(st.floats(), min_size=7, max_size=7)

    @hypothesis.settings(max_examples=300, deadline=None)
    @hypothesis.given(st.sampled_from(NAMES), st.lists(anything | sevens, max_size=7),
                      st.dictionaries(st.sampled_from(["q", "v", "tau", "out", "frame", "axes", "method", "threads", "wrenches"]), anything, max_size=4))
    def run(name, arguments, keywords):
        try:
            getattr(arm, name)(*arguments, **keywords)
        except (articula.Error, TypeError):
            pass

    run()
