"""Types, stubs, docstrings, examples: what editors and readers see."""

import doctest
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import NAMES, ROOT

import articula

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
FEW = {"million_states": ["20000"], "monte_carlo": ["100"]}  # what a test has time for
MODULES = [articula, *(getattr(articula, name) for name in ("controllers", "convert", "derivatives", "operators", "results", "spec", "tables", "motion", "recording", "scenes", "spaces"))]


def run(*arguments, **more):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, **more)


@pytest.fixture(scope="session")
def drawing(tmp_path_factory):
    """The environment of a script that draws; its list of fonts is made once."""
    pytest.importorskip("matplotlib")
    return {**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path_factory.mktemp("matplotlib"))}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_draw_a_picture(example, tmp_path, drawing):
    done = run(example, "picture.png", *FEW.get(example.stem, []), cwd=tmp_path, env=drawing)
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000 and "picture: picture.png" in done.stdout


def test_there_are_six():
    assert [p.stem for p in EXAMPLES] == ["first_steps", "lqr", "million_states", "monte_carlo", "operational_space", "two_arms"]


def test_readme(tmp_path):
    """Its first example in Python runs; `make wheel` runs it in an empty environment, too."""
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    done = run("-c", code, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_strictly_typed(tmp_path):
    pytest.importorskip("mypy")
    pytest.importorskip("matplotlib")
    package = os.path.dirname(articula.__file__)
    done = run("-m", "mypy", "--strict", "--cache-dir", tmp_path, *EXAMPLES, package, cwd=tmp_path, env={**os.environ, "MYPYPATH": os.path.dirname(package)})
    assert done.returncode == 0, done.stdout


def test_stubs_are_as_the_module(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    # Private names of the compiled part are for the package itself, and have no types. Classes and functions of nanobind are
    # of its own kinds, which stubs cannot say; their members and signatures are compared.
    allowed = [r"articula\._core\..*\._.*", r"articula\._core\._.*", r"articula\._core\.Model", r"articula\._core\.algorithms", r"articula\._model\.Model", r"articula\.Model"]
    (tmp_path / "allowed").write_text("\n".join(allowed))
    done = run("-m", "mypy.stubtest", "articula", "--mypy-config-file", "mypy.ini", "--allowlist", "allowed", "--ignore-unused-allowlist", cwd=tmp_path,
               env={**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(articula.__file__))})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def public():
    """Every public class and function with its name; and methods and properties of the classes."""
    for module in MODULES:
        for name in module.__all__ if hasattr(module, "__all__") else [n for n in vars(module) if not n.startswith("_")]:
            yield f"{module.__name__}.{name}", getattr(module, name)


def members(name, thing):
    for member, value in vars(thing).items():
        if not member.startswith("_") and (callable(value) or isinstance(value, (property, staticmethod, classmethod))):
            yield f"{name}.{member}", getattr(thing, member)


def test_every_public_name_is_documented():
    names = 0
    for name, thing in public():
        if isinstance(thing, (articula.operators.Expression, dict)):
            continue  # H, phi, ..
        assert inspect.getdoc(thing), name
        names += 1
        for member, value in members(name, thing) if isinstance(thing, type) and thing.__module__.startswith("articula") else ():
            assert inspect.getdoc(value), member
            names += 1
    assert names > 150


def test_every_function_has_an_example():
    """And so has every class that is not a record; that they run is tested where docstrings are."""
    for name in articula.__all__:
        thing = getattr(articula, name)
        record = isinstance(thing, type) and (issubclass(thing, (tuple, Exception, dict)) or hasattr(thing, "__dataclass_fields__"))
        if callable(thing) and not record and name not in ("Model", "View", "MonteCarlo"):
            assert ">>> " in (thing.__doc__ or ""), name
    assert all(">>> " in getattr(articula.Model, name).__doc__ for name in NAMES)
    assert all(">>> " in getattr(articula.Model, name).__doc__ for name in ("integrate", "difference", "distance", "interpolate", "random", "neutral", "bind"))


PAGES = sorted(p for p in (ROOT / "docs").glob("*.md") if ">>> " in p.read_text() and not p.name.startswith("coming_from"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_pages_of_the_documentation(page):
    result = doctest.testfile(str(page), module_relative=False, globs={"articula": articula, "np": np})
    assert result.attempted > 2 and result.failed == 0
