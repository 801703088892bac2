"""What the tests share."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import articula

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = articula.algorithms()
NAMES = [a["name"] for a in ALGORITHMS]
BY_NAME = {a["name"]: a for a in ALGORITHMS}


@pytest.fixture(scope="session", params=["arm7", "quadruped"])
def model(request):
    return articula.load(request.param, base="free" if request.param == "quadruped" else "fixed")


@pytest.fixture(scope="session")
def arm():
    return articula.load("arm7")


@pytest.fixture(scope="session")
def program():
    """The command-line program of the same sources."""
    for candidate in (os.environ.get("ARTICULA_PROGRAM"), ROOT / "build" / "articula", shutil.which("articula")):
        if candidate and pathlib.Path(candidate).is_file():
            return str(candidate)
    pytest.skip("no articula program: set ARTICULA_PROGRAM or run make build")


def states(model, count, seed=1, kind=np.float64):
    """Random states: every argument that any algorithm takes, by name, `count` rows each."""
    rng = np.random.default_rng(seed)
    given = {"q": model.random(seed, count)}
    for algorithm in ALGORITHMS:
        for name in algorithm["arguments"]:
            if name not in given:
                given[name] = rng.normal(size=(count, model.nv))
    return {name: x.astype(kind) for name, x in given.items()}


def options(model, algorithm):
    """The keywords without which the algorithm cannot be called."""
    last = model.frames[-1].name
    return {} if algorithm["frames"] == "none" else {"frame": last}


def parts(result, algorithm):
    return list(result) if len(algorithm["parts"]) > 1 else [result]


def call(model, algorithm, given, **more):
    arguments = [given[name] for name in algorithm["arguments"]]
    return getattr(model, algorithm["name"])(*arguments, **options(model, algorithm), **more)
