"""What a motion leaves: recordings, and pages of motions and models that show themselves in notebooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Recording", "View", "view"]


def model_of(function: str, model: Any) -> Model:
    """What is given as a model, if it is one."""
    if not isinstance(model, Model):
        raise Error(f"{function}: model is of type {type(model).__name__}; expected an articula.Model")
    return model


def flag(function: str, name: str, x: Any) -> bool:
    """True or False, NumPy's too."""
    if x is not True and x is not False and type(x).__name__ not in ("bool", "bool_"):
        raise Error(f"{function}: {name} is {x!r}; expected True or False")
    return bool(x)


def path_of(function: str, path: Any) -> str:
    """A file's path as the compiled part takes it."""
    try:
        text = os.fsdecode(os.fspath(path))
    except TypeError:
        raise Error(f"{function}: path is of type {type(path).__name__}; expected a file's path") from None
    try:
        sound = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise Error(f"{function}: path {text!r} has characters that no file's name has")
    return text


def write_page(function: str, path: Any, page: str) -> None:
    """Into a file; an error names it."""
    try:
        with open(path_of(function, path), "w", encoding="utf-8", errors="replace") as file:
            file.write(page)
    except OSError as error:
        raise Error(f"{function}: '{path}' cannot be written: {error.strerror}") from None


def framed(page: str, height: int = 600) -> str:
    """A page inside a notebook: whole, so that nothing is asked of the network or of files."""
    import html

    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'


class Columns:
    """Named columns of numbers: of a motion at its times, or of many runs at their ends."""

    def __init__(self, names: Sequence[str], numbers: Any, rows: str) -> None:
        kind = type(self).__name__
        self._numbers, self._places = as_array(kind, "numbers", numbers), {name: i for i, name in enumerate(names)}
        if self._numbers.ndim != 2 or self._numbers.shape[1] != len(names):
            raise Error(f"{kind}: numbers has shape {self._numbers.shape}; expected ({rows}, {len(names)})")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._places)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if not isinstance(name, str) or name not in self._places:
            raise Error(f"there is no column {name!r}; there are {', '.join(self._places)}")
        return self._numbers[:, self._places[name]]  # type: ignore[no-any-return]

    def _starting(self, prefix: str) -> NDArray[np.float64]:
        return self._numbers[:, [i for name, i in self._places.items() if name.startswith(prefix)]]  # type: ignore[no-any-return]

    @property
    def q(self) -> NDArray[np.float64]:
        """Coordinates, shape (rows, nq)."""
        return self._starting("q:")

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, shape (rows, nv)."""
        return self._starting("v:")


class Recording(Columns):
    """A recorded motion: named columns with units, a row for each time; in notebooks a page that plays it.

    `ended_by`: which of simulate's events ended it, None for none.

    Example:
        >>> recording = articula.simulate(articula.load("double_pendulum"), duration=0.1)
        >>> float(recording["time"][-1])
        0.1
        >>> recording.q.shape
        (11, 2)
    """

    def __init__(self, columns: Sequence[tuple[str, str]], about: Sequence[tuple[str, str]], numbers: NDArray[np.float64],
                 model: Model | None = None, scene: Any = None, ended_by: int | None = None) -> None:  # fmt: skip
        try:
            self._columns = [(str(name), str(unit)) for name, unit in columns]
            self._about = [(str(key), str(value)) for key, value in about]
        except (TypeError, ValueError):
            raise Error("Recording: columns and about are expected to be pairs of texts") from None
        super().__init__([name for name, _ in self._columns], numbers, "rows")
        self._model, self._scene, self.ended_by = model, scene, ended_by

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column."""
        return dict(self._columns)

    @property
    def about(self) -> dict[str, str]:
        """Model, integrator and what else was said of it."""
        return dict(self._about)

    @property
    def model(self) -> Model | None:
        """Whose motion it is; None where a file was read."""
        return self._model

    @property
    def time(self) -> NDArray[np.float64]:
        """Seconds, shape (rows,)."""
        return self["time"]

    @property
    def tau(self) -> NDArray[np.float64]:
        """Joint forces, shape (rows, nv)."""
        return self._starting("tau:")

    def _plain(self) -> Any:
        import numpy as np

        return np.require(self._numbers, np.float64, ["C", "A"]).view(np.ndarray)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into a file, by its ending: .h5 or .hdf5, .npz, anything else is CSV."""
        _core._write_recording(path_of("save", path), self._columns, self._about, self._plain(), len(self))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Recording:
        """What save wrote."""
        return Recording(*_core._read_recording(path_of("load", path)))

    def report(self, path: str | os.PathLike[str] | None = None, *, title: str = "", model: Model | None = None) -> str:
        """The motion as one HTML page that needs no network; into a file if one is named.

        model: whose motion it is, where a file was read.
        """
        model = self._model if model is None else model_of("report", model)
        if model is None:
            raise Error("report: the recording knows no model; expected model=")
        if not isinstance(title, str):
            raise Error(f"report: title is of type {type(title).__name__}; expected text")
        page: str = _core._report(model, self._columns, self._plain(), len(self), title, model._looks, self._scene)
        if path is not None:
            write_page("report", path, page)
        return page

    def _repr_html_(self) -> str | None:
        try:
            return framed(self.report())
        except Error:
            return None

    def __repr__(self) -> str:
        return f"<articula.Recording: {len(self)} rows, {len(self._columns)} columns, {self.about.get('model', '')}>"


class View:
    """A model as a page; shows itself in notebooks."""

    def __init__(self, page: str) -> None:
        if not isinstance(page, str):
            raise Error(f"View: page is of type {type(page).__name__}; expected the text of a page")
        self.page = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into an HTML file that needs no network."""
        write_page("save", path, self.page)

    def _repr_html_(self) -> str:
        return framed(self.page)

    def __repr__(self) -> str:
        return f"<articula.View: a page of {len(self.page)} characters; save(path), or as a notebook's last line>"


def view(model: Model) -> View:
    """The model, its mass matrix and the operational-space ellipsoid of its last frame as a page.

    Example:
        >>> page = articula.view(articula.load("arm7"))  # doctest: +SKIP
        >>> page.save("arm7.html")  # doctest: +SKIP
    """
    model = model_of("view", model)
    return View(_core._view(model, model._looks))
