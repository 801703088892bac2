"""Every algorithm of the list, by going over the list: against the command line, many against one, kinds, shapes, out=."""

import doctest
import json
import subprocess

import numpy as np
import pytest
from conftest import ALGORITHMS, BY_NAME, NAMES, call, options, parts, states

import articula


def close(x, y, tolerance):
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape
    assert np.max(np.abs(x - y), initial=0) <= tolerance * max(1.0, np.max(np.abs(y), initial=0))


def test_against_the_command_line(model, program):
    given = states(model, 3)
    text = json.dumps({"states": [{name: list(x[i]) for name, x in given.items()} for i in range(3)]})
    shown = [name for name in NAMES if BY_NAME[name]["mimics"]] + ["diagonalized"]
    run = subprocess.run(
        [program, "eval", model.name, *dict.fromkeys(shown), "--base", model.base, "--frame", model.frames[-1].name],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for i, expected in enumerate(json.loads(run.stdout)["results"]):
        state = {name: x[i] for name, x in given.items()}
        for name in expected:
            result = call(model, BY_NAME[name], state)
            if len(BY_NAME[name]["parts"]) > 1:
                assert [field.rstrip("_") for field in result._fields] == list(expected[name])  # lambda_
                for part, value in zip(result, expected[name].values()):
                    close(part, value, 1e-12)
            else:
                close(result, expected[name], 1e-12)
    assert set(expected) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_many_are_each_one(model, name):
    algorithm, given = BY_NAME[name], states(model, 21)
    together = parts(call(model, algorithm, given), algorithm)
    for i in (0, 7, 20):
        alone = parts(call(model, algorithm, {k: x[i] for k, x in given.items()}), algorithm)
        for x, y in zip(together, alone):
            close(x[i], y, 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_float32_keeps_its_kind(model, name):
    algorithm = BY_NAME[name]
    doubles, floats = states(model, 5), states(model, 5, kind=np.float32)
    for rows in (slice(None), 0):
        wide = parts(call(model, algorithm, {k: x[rows] for k, x in doubles.items()}), algorithm)
        narrow = parts(call(model, algorithm, {k: x[rows] for k, x in floats.items()}), algorithm)
        for x, y, (_, _, whole) in zip(narrow, wide, algorithm["parts"]):
            assert x.dtype == (np.int64 if whole else np.float32)
            close(x, y, 2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_leading_shapes_and_one_for_all(model, name):
    algorithm, given = BY_NAME[name], states(model, 6)
    flat = parts(call(model, algorithm, given), algorithm)
    cubes = parts(call(model, algorithm, {k: x.reshape(2, 3, -1) for k, x in given.items()}), algorithm)
    for x, y in zip(cubes, flat):
        assert x.shape[:2] == (2, 3)
        close(x.reshape(y.shape), y, 1e-14)
    mixed = {k: x if k == "q" else x[0] for k, x in given.items()}
    spread = {k: x if k == "q" else np.tile(x[0], (6, 1)) for k, x in given.items()}
    for x, y in zip(parts(call(model, algorithm, mixed), algorithm), parts(call(model, algorithm, spread), algorithm)):
        close(x, y, 1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_an_argument(model, name):
    """Lists, other kinds, strides, read-only arrays and subclasses give what plain arrays give."""
    algorithm, given = BY_NAME[name], states(model, 1)
    state = {k: x[0] for k, x in given.items()}
    expected = parts(call(model, algorithm, state), algorithm)

    class Mine(np.ndarray):
        pass

    def strided(x):
        return np.repeat(x, 2)[::2]

    def frozen(x):
        y = x.copy()
        y.flags.writeable = False
        return y

    def swapped(x):
        return x.astype(x.dtype.newbyteorder())

    for change in (list, tuple, strided, frozen, swapped, lambda x: x.view(Mine), memoryview):
        for x, y in zip(parts(call(model, algorithm, {k: change(x) for k, x in state.items()}), algorithm), expected):
            close(x, y, 1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_out_is_written_and_returned(model, name):
    algorithm, given = BY_NAME[name], states(model, 4)
    for rows in (0, slice(None)):
        state = {k: x[rows] for k, x in given.items()}
        expected = parts(call(model, algorithm, state), algorithm)
        out = [np.full(np.shape(x), -7, np.asarray(x).dtype) for x in expected]
        returned = parts(call(model, algorithm, state, out=out[0] if len(out) == 1 else tuple(out)), algorithm)
        for x, y, z in zip(out, expected, returned):
            assert z is x
            close(x, y, 1e-14)
        # not contiguous
        wide = [np.full((*np.shape(x), 2), -7, np.asarray(x).dtype) for x in expected]
        views = [x[..., 0] for x in wide]
        call(model, algorithm, state, out=views[0] if len(out) == 1 else views)
        for x, y in zip(wide, expected):
            close(x[..., 0], y, 1e-14)
            assert np.all(x[..., 1] == -7)


@pytest.mark.parametrize("name", NAMES)
def test_calls_that_differ_from_the_one_before(model, name):
    """With out= as a call returned it, what is the same from call to call is kept: none must see what is so no longer."""
    algorithm, frames = BY_NAME[name], BY_NAME[name]["frames"] != "none"
    out = {}
    for kind in (np.float64, np.float32):
        made = call(model, algorithm, {k: x[0] for k, x in states(model, 1, kind=kind).items()})
        out[kind] = type(made)(*map(np.array, made)) if len(algorithm["parts"]) > 1 else np.array(made)
    for i, frame in enumerate((0, -1, 0, 0, -1, -1)):
        kind = np.float32 if i in (1, 4) else np.float64
        state = {k: x[i] for k, x in states(model, 6, seed=i, kind=kind).items()}
        arguments = [state[k] for k in algorithm["arguments"]]
        more = {"frame": model.frames[frame].name} if frames else {}
        if "wrenches" in algorithm["keywords"] and i % 2:
            more["wrenches"] = np.full((len(model.bodies), 6), i, kind)
        expected = [np.copy(x) for x in parts(getattr(model, name)(*arguments, **more), algorithm)]
        given = getattr(model, name)(*arguments, **more, out=out[kind])
        if frames:  # the keywords in another order
            getattr(model, name)(*arguments, out=out[kind], **more)
        for x, y in zip(parts(given, algorithm), expected):
            np.testing.assert_array_equal(x, y)
        with pytest.raises((articula.Error, TypeError)):
            getattr(model, name)(*arguments, **more, out=3)


def test_out_may_be_an_argument(arm):
    s = {k: x[0] for k, x in states(arm, 1).items()}
    expected = arm.forward_dynamics(s["q"], s["v"], s["tau"])
    tau = s["tau"].copy()
    assert arm.forward_dynamics(s["q"], s["v"], tau, out=tau) is tau
    np.testing.assert_array_equal(tau, expected)


@pytest.mark.parametrize("name", NAMES)
def test_bound_calls(model, name):
    algorithm, given = BY_NAME[name], states(model, 4)
    if any(whole for _, _, whole in algorithm["parts"]):
        pytest.skip("integers are converted, which a bound call does not")
    for rows in (0, slice(None)):
        state = {k: np.ascontiguousarray(x[rows]) for k, x in given.items()}
        bound = model.bind(name, *(state[k] for k in algorithm["arguments"]), **options(model, algorithm))
        first = [np.copy(x) for x in parts(bound(), algorithm)]
        for x, y in zip(first, parts(call(model, algorithm, state), algorithm)):
            close(x, y, 1e-14)
        state["q"][...] = model.random(9, () if rows == 0 else 4)
        for x, y in zip(parts(bound(), algorithm), parts(call(model, algorithm, state), algorithm)):
            close(x, y, 1e-14)


def test_bound_arrays_cannot_go_bad(arm):
    q, v, tau = arm.neutral(), np.zeros(7), np.ones(7)
    bound = arm.bind("forward_dynamics", q, v, tau)
    q.resize(0, refcheck=False)
    with pytest.raises(articula.Error, match="resized"):
        bound()
    with pytest.raises(articula.Error, match="contiguous"):
        arm.bind("forward_dynamics", [0] * 7, v, tau)
    with pytest.raises(articula.Error, match="no algorithm"):
        arm.bind("backward_dynamics", q, v, tau)


@pytest.mark.parametrize("name", [n for n in NAMES if "wrenches" in BY_NAME[n]["keywords"]])
def test_external_forces(model, name):
    algorithm, given = BY_NAME[name], states(model, 3)
    wrenches = np.random.default_rng(3).normal(size=(3, len(model.bodies), 6))
    many = parts(call(model, algorithm, given, wrenches=wrenches), algorithm)
    shared = parts(call(model, algorithm, given, wrenches=wrenches[1]), algorithm)
    alone = parts(call(model, algorithm, {k: x[1] for k, x in given.items()}, wrenches=wrenches[1]), algorithm)
    for x, y, z in zip(many, shared, alone):
        close(x[1], z, 1e-10)
        close(y[1], z, 1e-10)


def test_frames_and_axes(model):
    given = {k: x[0] for k, x in states(model, 1).items()}
    index = len(model.frames) - 1
    by_index = model.jacobian(given["q"], frame=index)
    np.testing.assert_array_equal(by_index, model.jacobian(given["q"], frame=model.frames[index].name))
    np.testing.assert_array_equal(by_index, model.jacobian(given["q"], frame=np.int64(index)))
    rotation, position = model.pose(given["q"], frame=index)
    local = model.jacobian(given["q"], frame=index, axes="local")
    np.testing.assert_allclose(rotation @ local[:3], by_index[:3], atol=1e-13)
    spatial = model.jacobian(given["q"], frame=index, axes="spatial")
    np.testing.assert_allclose(by_index[3:], spatial[3:] + np.cross(spatial[:3].T, position).T, atol=1e-12)
    two = model.operational_space(given["q"], given["v"], frame=[index, index - 1])
    assert two.omega.shape == (12, 12)


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_threads_give_the_same_bits(model, threads):
    given = states(model, 300)
    expected = model.forward_dynamics(given["q"], given["v"], given["tau"], threads=1)
    np.testing.assert_array_equal(model.forward_dynamics(given["q"], given["v"], given["tau"], threads=threads), expected)


@pytest.mark.parametrize("name", NAMES)
def test_no_states_at_all(model, name):
    algorithm = BY_NAME[name]
    given = {k: x[:0] for k, x in states(model, 1).items()}
    for x in parts(call(model, algorithm, given), algorithm):
        assert x.shape[0] == 0


@pytest.mark.parametrize("name", NAMES)
def test_documentation(name):
    """The docstring has every argument, its examples run, and inspect sees the signature."""
    import inspect

    method = getattr(articula.Model, name)
    assert inspect.signature(method)
    for argument in BY_NAME[name]["arguments"] + BY_NAME[name]["keywords"]:
        assert f"    {argument}: " in method.__doc__
    tests = doctest.DocTestFinder().find(method, name, globs={"articula": articula, "np": np})
    runner = doctest.DocTestRunner()
    assert sum(runner.run(test).attempted for test in tests) >= 3
    assert runner.summarize(verbose=False).failed == 0


def test_all_are_methods():
    assert len(ALGORITHMS) >= 31
    for name in NAMES:
        assert callable(getattr(articula.Model, name))


def test_ways_to_linearize():
    """LIN's Algorithms 4 and 6, as they are used and as they are printed."""
    arm = articula.load("arm7")
    given = states(arm, 1)
    q, v, tau = (given[name][0] for name in ("q", "v", "tau"))
    expected = arm.linearized_forward(q, v, tau)
    for method in ("direct", "conventional", "numerical", "printed"):
        for found, wanted in zip(arm.linearized_forward(q, v, tau, method=method), expected):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max())
