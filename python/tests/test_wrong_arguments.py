"""Every callable of the package with every kind of wrong argument: only exceptions, and only those that are told of."""

import inspect

import numpy as np
import pytest

import articula

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402

ARM = articula.load("double_pendulum")


class Evil:
    """Whatever is asked of it fails in its own way."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __fspath__(self):
        return 3

    def __float__(self):
        raise TypeError("no number")

    def __index__(self):
        raise TypeError("no index")

    def __iter__(self):
        raise RuntimeError("no items")

    def __repr__(self):
        return "<evil>"


WRONG = [
    None, True, 0, 1, 2, -1, 2**40, 2**70, 0.01, -0.5, float("nan"), float("inf"), 1e300, 1j, "", "text", "double_pendulum", "rod2", "\0", "\ud800", b"bytes",
    [], [1], [0.1, 0.2], [[0.1, 0.2]] * 3, [1, [2]], (), (1, 2), {}, {"q": 1}, {"q": {"*": {"normal": (0, 1)}}}, set(), range(2), object(), Evil(), lambda *_: 0.0,
    lambda *_: np.zeros(2), int, np.zeros(2), np.zeros((3, 2)), np.zeros((3, 2))[:, ::-1], np.zeros(2, np.float32), np.zeros(2, object), np.zeros(2, "U3"), np.zeros(2, complex),
    np.zeros((2, 0)), np.zeros((0, 2)), np.zeros(()), np.float64(1), np.int8(1), np.ma.masked_array([1.0, 2], [True, False]), memoryview(b"1234"), np.eye(4), np.eye(2), np.eye(3),
    ARM, ARM.spec, articula.Error("x"), articula.operators.H,
]  # fmt: skip
anything = st.sampled_from(WRONG) | st.recursive(
    st.none() | st.floats() | st.text(max_size=4) | st.binary(max_size=4) | st.integers(-3, 5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2) | st.tuples(inner, inner),
    max_leaves=6,
)


def objects():
    """Something of every public class, made anew."""
    space, diagonal, scene = articula.TaskSpace(ARM, "rod2"), articula.DiagonalizedDynamics(ARM), articula.Scene("four_bar")
    control = articula.TaskController(ARM, "rod2")
    for x in (space, diagonal, control):
        x.update(np.zeros(2))
    recording = articula.simulate(ARM, duration=0.02)
    operator = articula.operators.H.at(ARM, np.zeros(2))
    many = articula.monte_carlo(ARM, runs=2, duration=0.01, distributions={})
    step, second = articula.LinearizedStep(ARM), articula.SecondOrder(ARM)
    return [ARM, ARM.spec, step, second, space, diagonal, scene, control, recording, operator, articula.operators.H, many, articula.View("page")]


def callables():
    found = {}
    for module in (articula, articula.operators, articula.convert, articula.controllers, articula.spec, articula.tables):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                found[f"{module.__name__}.{name}"] = thing
    for x in objects():
        for name in dir(x):
            if not name.startswith("_") and callable(getattr(x, name)):
                found[f"{type(x).__name__}.{name}"] = getattr(x, name)
        for name in ("__getitem__", "__matmul__", "__mul__", "__rmul__", "__add__", "__sub__", "__eq__"):
            if name in dir(type(x)):
                found[f"{type(x).__name__}.{name}"] = getattr(x, name)
    return found


CALLABLES = callables()
# Right values for what a call cannot do without, so that the others are looked at, too.
RIGHT = {
    "model": ARM, "q": np.zeros(2), "v": np.zeros(2), "tau": np.zeros(2), "a": np.zeros(2), "q0": np.zeros(2), "q1": np.ones(2), "t": 0.5, "duration": 0.02, "runs": 2,
    "distributions": {}, "frame": "rod2", "frames": "rod2", "levels": "rod2", "path": "double_pendulum", "expression": articula.operators.H, "algorithm": "forward_dynamics",
    "A": np.eye(2), "B": np.eye(2), "Q": np.eye(2), "R": np.eye(2), "spec": ARM.spec, "name": "forward_dynamics", "task": 0, "level": 0, "x": articula.operators.H,
    "h": 0.01, "first": (np.zeros(2),) * 3, "second": (np.ones(2),) * 3, "table": articula.DhTable(rows=[articula.DhRow()]), "G": np.eye(6), "other": ARM.spec,
    "joint": "hinge1", "link": "rod2", "on": "rod2", "old": "rod2", "new": "other", "part": "link", "prefix": "x_", "mass": 1.0, "inertia": 1.0, "length": 2.0,
}  # fmt: skip


def parameters(thing):
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    return [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def test_there_are_many():
    assert len(CALLABLES) > 130 and {"articula.load", "Model.forward_dynamics", "Recording.save", "Scene.inverse_dynamics", "articula.controllers.PD"} <= set(CALLABLES)


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_anything(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what is saved under a wrong name
    thing, known = CALLABLES[name], parameters(CALLABLES[name])

    def tried(*arguments, **keywords):
        if isinstance(keywords.get("duration"), (int, float)) and 0.1 < keywords["duration"] < 1e9:
            return  # a long motion is not wrong
        try:
            thing(*arguments, **keywords)
        except (articula.Error, TypeError, MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError):
                assert str(error).startswith("no ")  # Evil's own

    for parameter in known:  # one wrong, all else right
        for wrong in WRONG:
            keywords = {p.name: RIGHT[p.name] for p in known if p.name in RIGHT and p.kind != p.POSITIONAL_ONLY}
            if parameter.kind == parameter.POSITIONAL_ONLY:
                tried(wrong)
            else:
                tried(**{**keywords, parameter.name: wrong})
    names = [p.name for p in known if p.kind != p.POSITIONAL_ONLY]

    @hypothesis.settings(max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(st.lists(anything, max_size=5), st.dictionaries(st.sampled_from(names or ["nothing"]), anything, max_size=3))
    def run(arguments, keywords):
        tried(*arguments, **keywords)

    run()
    assert np.all(np.isfinite(ARM.forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))))  # and all goes on
