"""Monte Carlo, sweeps and rollouts on executors: the same bits as without one."""

import concurrent.futures
import threading

import numpy as np
import pytest

import articula

DRAWN = {"q": {"*": {"normal": (0, 0.3)}}, "mass": {"rod2": {"uniform": (-0.1, 2)}}}


@pytest.fixture(scope="module")
def pendulum():
    return articula.load("double_pendulum")


@pytest.fixture(scope="module", params=["threads", "processes", "pool", "joblib"])
def executor(request):
    if request.param == "threads":
        with concurrent.futures.ThreadPoolExecutor(3) as made:
            yield made
    elif request.param == "processes":
        import multiprocessing

        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as made:
            yield made
    elif request.param == "pool":
        import multiprocessing.pool

        with multiprocessing.pool.ThreadPool(2) as made:
            yield made
    else:
        yield pytest.importorskip("joblib").Parallel(n_jobs=2)


def test_monte_carlo(pendulum, executor):
    for runs in (1, 17, 5000):
        one = articula.monte_carlo(pendulum, runs=runs, duration=0.1, step=0.01, distributions=DRAWN, seed=3)
        other = articula.monte_carlo(pendulum, runs=runs, duration=0.1, step=0.01, distributions=DRAWN, seed=3, executor=executor)
        assert one.columns == other.columns and one.errors == other.errors
        assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in one.columns)
    assert other.errors  # some masses are negative: numbers of runs are those of all


def test_controllers_and_errors(pendulum, executor):
    hold = articula.controllers.PD(kp=10, kd=1)
    settings = dict(runs=40, duration=0.05, step=0.01, distributions={"q": {"*": {"normal": (0, 0.3)}}}, controllers=hold)
    np.testing.assert_array_equal(articula.monte_carlo(pendulum, **settings).q, articula.monte_carlo(pendulum, **settings, executor=executor).q)
    with pytest.raises(articula.Error, match="joint9"):
        articula.monte_carlo(pendulum, runs=3, duration=0.1, distributions={"q": {"joint9": {"normal": (0, 1)}}}, executor=executor)


def test_rollout(pendulum, executor):
    q, v = pendulum.random(1, 1000), np.zeros(2)
    tau = np.random.default_rng(1).normal(size=(1000, 4, 2))
    for force in (None, np.ones(2), tau):
        one = articula.rollout(pendulum, q, v, force, steps=4, every=2)
        other = articula.rollout(pendulum, q, v, force, steps=4, every=2, executor=executor)
        np.testing.assert_array_equal(one.q, other.q)
        np.testing.assert_array_equal(one.v, other.v)
    assert articula.rollout(pendulum, q[:0], v, steps=2, executor=executor).q.shape == (0, 2, 2)


def test_sweep(pendulum, executor):
    axes = {"q:joint1": [0.1, 0.2, 0.3], "mass:rod2": [0.5, 1, 2], "gravity:z": [-9.81, -1.62], "damping:*": [0.1, 0.4]}
    one = articula.sweep(pendulum, axes, duration=0.1, step=0.01, damping=True)
    assert len(one) == 36 and one.draws.shape == (36, 5)
    other = articula.sweep(pendulum, axes, duration=0.1, step=0.01, damping=True, executor=executor)
    assert all(np.array_equal(one[name], other[name]) for name in one.columns)
    assert len(np.unique(one["q:joint1"])) == 36  # each number acts


def test_a_sweep_is_that_of_the_program(pendulum, program, tmp_path):
    import subprocess

    for design in ("latin_hypercube", "sobol"):
        result = articula.sweep(pendulum, {"q:joint1": (-1, 1), "mass:rod1": (0.5, 2)}, duration=0.1, step=0.01, design=design, points=33, seed=4)
        (tmp_path / "s.json").write_text('{"design": "%s", "points": 33, "axes": {"q:joint1": {"least": -1, "largest": 1}, "mass:rod1": {"least": 0.5, "largest": 2}}}' % design)
        said = subprocess.run(
            [program, "simulate", "double_pendulum", "--duration", "0.1", "--step", "0.01", "--seed", "4", "--sweep", str(tmp_path / "s.json")],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        at = said[0].split(",").index("q:joint2")
        assert [float(line.split(",")[at]) for line in said[1:]] == result["q:joint2"].tolist()
    alone = articula.simulate(pendulum, duration=0.1, step=0.01, q=[0.25, 0], integrator="rk4")
    one = articula.sweep(pendulum, {"q:joint1": [0.25], "gravity:z": [-9.81]}, duration=0.1, step=0.01)
    np.testing.assert_array_equal(one.q[0], alone.q[-1])


def test_wrong_arguments(pendulum):
    for axes in ({"q": [1]}, {"q:joint1": "x"}, {"q:joint1": []}, {}, 3, {"p:joint1": [1]}):
        with pytest.raises(articula.Error):
            articula.sweep(pendulum, axes, duration=0.1)
    with pytest.raises(articula.Error, match="design"):
        articula.sweep(pendulum, {"q:joint1": [1]}, duration=0.1, design="dice")
    with pytest.raises(articula.Error, match="executor"):
        articula.monte_carlo(pendulum, runs=3, duration=0.1, distributions={}, executor=3)


def test_an_error_cancels_what_has_not_begun(pendulum):
    cancelled = []

    class Broken:
        class Future:
            def result(self):
                raise KeyboardInterrupt

            def cancel(self):
                cancelled.append(threading.get_ident())

        def submit(self, *_):
            return self.Future()

    with pytest.raises(KeyboardInterrupt):
        articula.monte_carlo(pendulum, runs=1000, duration=0.1, distributions={}, executor=Broken())
    assert len(cancelled) > 10
