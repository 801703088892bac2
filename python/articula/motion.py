"""Motion over time: simulate, rollout, recordings, views."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, Union

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Model, _folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Controller = Callable[[float, NDArray[np.float64], NDArray[np.float64]], ArrayLike]

__all__ = ["Recording", "Rollout", "View", "rollout", "simulate", "view"]


def _model(function: str, model: Any) -> Model:
    if not isinstance(model, Model):
        raise Error(f"{function}: model is of type {type(model).__name__}; expected an articula.Model")
    return model


def vector(function: str, name: str, x: Any, size: int, default: Any = None) -> Any:
    """One vector of float64, or the default where nothing is given."""
    import numpy as np

    if x is None:
        return np.zeros(size) if default is None else default
    array = as_array(function, name, x)
    if array.shape != (size,):
        raise Error(f"{function}: {name} has shape {array.shape}; expected ({size},)")
    return np.require(array, np.float64, ["C", "A"]).view(np.ndarray)


def _number(function: str, name: str, x: Any) -> float:
    try:
        return float(x)
    except (TypeError, ValueError):
        raise Error(f"{function}: {name} is {x!r}; expected a number") from None


def _whole(function: str, name: str, x: Any, least: int) -> int:
    import operator

    try:
        number = operator.index(x)
    except TypeError:
        number = least - 1
    if number < least or isinstance(x, bool):
        raise Error(f"{function}: {name} is {x!r}; expected a whole number from {least} on")
    return number


def _urdf_of(model: Model) -> str:
    """The shipped file of that name, for the links' looks."""
    path = os.path.join(_folder(), model.name + ".urdf")
    return path if os.path.isfile(path) else ""


def _framed(page: str, height: int = 600) -> str:
    import html

    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'


class Recording:
    """A recorded motion: named columns with units, a row for each time.

    Example:
        >>> recording = articula.simulate(articula.load("double_pendulum"), duration=0.1)
        >>> float(recording["time"][-1])
        0.1
        >>> recording.q.shape
        (11, 2)
    """

    def __init__(self, columns: Sequence[tuple[str, str]], about: Sequence[tuple[str, str]], numbers: NDArray[np.float64], model: Model | None = None) -> None:
        self._columns, self._about, self._numbers, self._model = list(columns), list(about), numbers, model
        self._places = {name: i for i, (name, _) in enumerate(self._columns)}

    @property
    def columns(self) -> list[str]:
        """The names of the columns; the first is "time"."""
        return list(self._places)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column."""
        return dict(self._columns)

    @property
    def about(self) -> dict[str, str]:
        """Model, integrator and what else was said of it."""
        return dict(self._about)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self._places:
            raise Error(f"the recording has no column {name!r}; it has {', '.join(self._places)}")
        return self._numbers[:, self._places[name]]

    def _starting(self, prefix: str) -> NDArray[np.float64]:
        return self._numbers[:, [i for name, i in self._places.items() if name.startswith(prefix)]]

    @property
    def time(self) -> NDArray[np.float64]:
        """Seconds, shape (rows,)."""
        return self["time"]

    @property
    def q(self) -> NDArray[np.float64]:
        """Coordinates, shape (rows, nq)."""
        return self._starting("q:")

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, shape (rows, nv)."""
        return self._starting("v:")

    @property
    def tau(self) -> NDArray[np.float64]:
        """Joint forces, shape (rows, nv)."""
        return self._starting("tau:")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into a file, by its ending: .h5 or .hdf5, .npz, anything else is CSV."""
        import numpy as np

        numbers = np.require(self._numbers, np.float64, ["C", "A"])
        _core._write_recording(os.fspath(path), self._columns, self._about, numbers, len(numbers))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Recording:
        """What save wrote."""
        return Recording(*_core._read_recording(os.fspath(path)))

    def report(self, path: str | os.PathLike[str] | None = None, *, title: str = "", model: Model | None = None) -> str:
        """The motion as one HTML page that needs no network; into a file if one is named."""
        model = model or self._model
        if model is None:
            raise Error("report: the recording knows no model; expected model=")
        page: str = _core._report(model, self._columns, self._numbers, len(self), title, _urdf_of(model))
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_html_(self) -> str | None:
        try:
            return _framed(self.report())
        except Error:
            return None

    def __repr__(self) -> str:
        return f"<articula.Recording: {len(self)} rows, {len(self._columns)} columns, {self.about.get('model', '')}>"


class _Bar:
    """Progress on a terminal, once the work takes long."""

    def __init__(self, what: str) -> None:
        import time

        self.what, self.start, self.shown, self.clock = what, time.monotonic(), False, time.monotonic

    def __call__(self, part: float) -> None:
        if self.clock() - self.start > 2:
            print(f"\r{self.what}: {100 * part:3.0f} %", end="", file=sys.stderr, flush=True)
            self.shown = True

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def simulate(
    model: Model,
    *,
    duration: float,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    step: float = 1e-3,
    every: float = 1e-2,
    integrator: str = "rk4",
    damping: bool = True,
    friction: bool = True,
    limits: str = "none",
    controllers: Union[Controller, Sequence[Union[Controller, tuple[Controller, float]]]] = (),
    progress: bool = True,
) -> Recording:
    """The model's motion from (q, v), `tau` held throughout and controllers' forces added.

    A controller is a function f(time, q, v) -> tau, asked at every evaluation; or a pair (f, period), asked every
    `period` seconds and held in between. integrator: "euler", "symplectic_euler", "rk4", "rk45", "variational",
    "midpoint" or "cvode". damping, friction: what the model's joints state acts. limits: "none", "stiff", or, with
    rk45, "events". A row is recorded every `every` seconds.

    Example:
        >>> arm = articula.load("arm7")
        >>> held = articula.simulate(arm, duration=0.1, controllers=lambda t, q, v: arm.gravity_forces(q))
        >>> bool(np.max(np.abs(held.v)) < 1e-9)
        True
    """
    model = _model("simulate", model)
    if callable(controllers):
        controllers = [controllers]
    listed = []
    for entry in controllers:
        function, period = entry if isinstance(entry, tuple) else (entry, None)
        if not callable(function):
            raise Error(f"simulate: a controller is of type {type(function).__name__}; expected a function f(time, q, v) -> tau")

        def checked(t: float, q: Any, v: Any, function: Any = function) -> Any:
            return vector("simulate", "a controller's tau", function(t, q, v), model.nv)

        listed.append((checked, None if period is None else _number("simulate", "a controller's period", period)))
    for name, text in (("integrator", integrator), ("limits", limits)):
        if not isinstance(text, str):
            raise Error(f"simulate: {name} is of type {type(text).__name__}; expected a name")
    bar = _Bar("simulate") if progress and sys.stderr.isatty() else None
    result = _core._simulate(
        model, integrator, _number("simulate", "duration", duration), _number("simulate", "step", step), _number("simulate", "every", every),
        vector("simulate", "q", q, model.nq, model.neutral()), vector("simulate", "v", v, model.nv), vector("simulate", "tau", tau, model.nv),
        bool(damping), bool(friction), limits, listed, bar,
    )  # fmt: skip
    if bar:
        bar.end()
    columns, about, numbers = result
    return Recording(columns, about, numbers, model)


class Rollout(NamedTuple):
    """Trajectories: q has shape (..., times, nq), v (..., times, nv); the start is not among them."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


def rollout(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    step: float = 1e-3,
    steps: int = 1,
    every: int = 1,
    integrator: str = "rk4",
    damping: bool = False,
    threads: int | None = None,
) -> Rollout:
    """Many trajectories at once, `steps` steps each, of which every `every`th state is kept.

    q: shape (..., nq), v: (..., nv), tau: (..., nv) held, or (..., steps, nv) a force for each step (as many
    dimensions as q and v have, and one more).

    Example:
        >>> arm = articula.load("arm7")
        >>> articula.rollout(arm, arm.random(1, 100), np.zeros(7), steps=10, every=5).q.shape
        (100, 2, 7)
    """
    import numpy as np

    from ._arrays import common_shape, rows

    model = _model("rollout", model)
    steps, every = _whole("rollout", "steps", steps, 1), _whole("rollout", "every", every, 1)
    count_of_threads = 0 if threads is None else _whole("rollout", "threads", threads, 1)
    if not isinstance(integrator, str):
        raise Error(f"rollout: integrator is of type {type(integrator).__name__}; expected a name")
    arrays: list[tuple[str, Any, tuple[int, ...]]] = [("q", as_array("rollout", "q", q), (model.nq,)), ("v", as_array("rollout", "v", v), (model.nv,))]
    leading = common_shape("rollout", [(name, x.shape, last) for name, x, last in arrays])
    last: tuple[int, ...] = (model.nv,)
    if tau is not None:
        forces = as_array("rollout", "tau", tau)
        if forces.ndim == len(leading) + 2:
            last = (steps, model.nv)
        arrays.append(("tau", forces, last))
        leading = common_shape("rollout", [(name, x.shape, n) for name, x, n in arrays])
    count = int(np.prod(leading))
    plain = [rows(x, leading, n, np.float64).reshape(count, *n) for _, x, n in arrays]
    q_path, v_path = _core._rollout(
        model, count, plain[0], plain[1], plain[2] if tau is not None else None, len(last) == 2,
        _number("rollout", "step", step), steps, every, integrator, bool(damping), min(count_of_threads, 1024),
    )  # fmt: skip
    return Rollout(q_path.reshape(*leading, -1, model.nq), v_path.reshape(*leading, -1, model.nv))


class View:
    """A model as a page; shows itself in notebooks."""

    def __init__(self, page: str) -> None:
        self.page = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into an HTML file that needs no network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def _repr_html_(self) -> str:
        return _framed(self.page)


def view(model: Model) -> View:
    """The model, its mass matrix and the operational-space ellipsoid of its last frame as a page."""
    return View(_core._view(_model("view", model), _urdf_of(model)))
