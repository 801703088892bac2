"""Every row of docs/coming_from_*.md, evaluated with the other library and with ours, where it is installed."""

import pathlib
import re

import numpy as np
import pytest
from conftest import ROOT

import articula

PACKAGES = {"pinocchio": "pinocchio", "mujoco": "mujoco", "drake": "pydrake", "kdl": "PyKDL"}
ROWS = {"pinocchio": 24, "mujoco": 12, "drake": 12, "kdl": 7}


def evaluated(text, names):
    """Statements with ; between, the last of them an expression."""
    *before, last = text.split("; ")
    for statement in before:
        exec(statement, names)
    return eval(last, names)


@pytest.mark.parametrize("library", sorted(PACKAGES))
def test_rows(library):
    page = (ROOT / "docs" / f"coming_from_{library}.md").read_text()
    pytest.importorskip(PACKAGES[library])
    names = {"urdf": str(pathlib.Path(articula.__file__).parent / "models" / "arm7.urdf")}
    rows = 0
    for part in re.findall(r"```python\n.*?```|^\| `.*?\|$", page, re.S | re.M):
        if part.startswith("```"):
            exec(part[len("```python\n") : -3], names)
            continue
        theirs, ours = re.match(r"\| `(.*?)` \| `(.*?)` \|", part).groups()
        x, y = np.asarray(evaluated(theirs, names), float), np.asarray(evaluated(ours, names), float)
        assert x.shape == y.shape and np.max(np.abs(x - y)) <= 1e-9 * max(1.0, np.max(np.abs(y))), f"{theirs} is {x}; {ours} is {y}"
        rows += 1
    assert rows >= ROWS[library]


def test_pages_have_their_rows():
    """Where nothing else is installed: the right column runs as far as it does without the left one."""
    for library, least in ROWS.items():
        page = (ROOT / "docs" / f"coming_from_{library}.md").read_text()
        found = re.findall(r"^\| `(.*?)` \| `(.*?)` \|", page, re.M)
        assert len(found) >= least
        for _, ours in found:
            for method in re.findall(r"\barm\.(\w+)\(", ours):
                assert hasattr(articula.Model, method), method
