"""Models from files, by the names of shipped ones, and made to measure."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple, Sequence

from . import _core
from ._errors import Error, ModelError, Problem, problems_of
from ._model import EARTH, Model, base_of, gravity_of, refuse, restore

__all__ = ["check", "load", "shipped_models"]


def _folder() -> str:
    return os.path.join(os.path.dirname(__file__), "models")


def shipped_models() -> list[str]:
    """Names that `load` knows, beside files.

    Example:
        >>> "arm7" in articula.shipped_models()
        True
    """
    return sorted(name[:-5] for name in os.listdir(_folder()) if name.endswith(".urdf"))


class _Read(NamedTuple):
    """A model as its file says it."""

    spec: tuple[Any, ...]
    problems: tuple[Problem, ...] = ()
    gravity: tuple[float, float, float] | None = None
    states: tuple[tuple[str, list[float], list[float]], ...] = ()
    file: str = ""


def _read(source: Any, base: str, packages: dict[str, str]) -> _Read:
    try:
        path = os.fspath(source)
    except TypeError:
        raise Error(f"path is of type {type(source).__name__}; expected a file's path or the name of a model") from None
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if "\0" in path:
        raise Error(f"path {path!r} has a NUL character; expected a file's path or the name of a model")
    file = path if os.path.isfile(path) else ""
    if not file and path in shipped_models():
        file = os.path.join(_folder(), path + ".urdf")
    if file:
        spec, findings, gravity, states = _core._read_model(file, base, packages)
        return _Read(spec, problems_of(findings), gravity, states, file)
    if path.startswith("chain:"):
        numbers = path[6:].split(":")
        if len(numbers) > 2 or not all(n.isascii() and n.isdigit() for n in numbers) or not 1 <= int(numbers[0]) <= 10**6:
            raise Error(f"'{path}': expected chain:N or chain:N:SEED with N from 1 to 1000000, as in chain:10:7")
        return _Read(_core._chain(int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 1))
    raise ModelError(
        f"'{path}': there is no such file and no shipped model of that name; shipped: {', '.join(shipped_models())}"
    )


def _packages(packages: Any) -> dict[str, str]:
    try:
        found = {name: os.fsdecode(folder) for name, folder in packages.items()} if packages is not None else {}
    except (AttributeError, TypeError, ValueError):
        found = {"": ""}
    if not all(isinstance(name, str) and name and "\0" not in name + folder for name, folder in found.items()):
        raise Error(f"packages is {packages!r}; expected folders by the names of packages")
    return found


def load(
    path: str | os.PathLike[str], *, base: str = "fixed", gravity: Sequence[float] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Model:  # fmt: skip
    """A model from a file of any format that the library reads (docs/models.md), "chain:N[:SEED]", or the name of a shipped one.

    base: how the root link meets the world, "fixed" or "free". gravity: m/s^2 in world axes; None: the file's, or
    (0, 0, -9.81) where it states none. packages: folders by name, for meshes that the file names by package://NAME/..;
    then ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are asked. Raises ModelError.

    Example:
        >>> articula.load("quadruped", base="free").nv
        18
    """
    found = _read(path, base_of(base), _packages(packages))
    stated = EARTH if found.gravity is None else found.gravity
    refuse(found.problems)
    said: dict[str, Any] = {"states": tuple(found.states), "found": tuple(p for p in found.problems if p.severity == "warning")}
    if found.file:
        said["file"] = os.path.abspath(found.file)
    return restore(Model, found.spec, base, stated if gravity is None else gravity_of(gravity), said)


def check(
    path: str | os.PathLike[str], *, base: str = "fixed", packages: Mapping[str, str | os.PathLike[str]] | None = None
) -> tuple[Problem, ...]:
    """Everything wrong or suspicious in a model; empty: it is sound. Raises ModelError if it cannot be read at all.

    Example:
        >>> articula.check("arm7")
        ()
    """
    return _read(path, base_of(base), _packages(packages)).problems
