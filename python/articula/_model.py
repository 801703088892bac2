"""Model: a mechanism ready for computation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, Tuple, Union

from . import _core
from ._arrays import as_array, as_given, common_kind, common_shape, rows
from ._errors import Error, ModelError, Problem, problems_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .spec import ModelSpec

__all__ = ["Body", "Frame", "Joint", "Limits", "Model", "NamedState"]

EARTH = (0.0, 0.0, -9.81)


PerFreedom = Union[float, Tuple[float, ...]]
"""One number, or one for each freedom of a joint where they differ."""


class Limits(NamedTuple):
    """How far, fast and hard a joint can go; infinite where nothing is said."""

    lower: PerFreedom
    upper: PerFreedom
    velocity: PerFreedom
    effort: PerFreedom


class Joint(NamedTuple):
    """A moving joint. A mimic joint shares its source's indices and has nq = nv = 0 of its own."""

    name: str
    kind: str
    q_index: int
    nq: int
    v_index: int
    nv: int
    body: int
    mimics: int
    multiplier: float
    offset: float
    axis: tuple[float, float, float]
    pitch: float
    limits: Limits
    damping: PerFreedom
    friction: PerFreedom
    armature: PerFreedom
    stiffness: PerFreedom
    spring_reference: PerFreedom


class Body(NamedTuple):
    """A moving body: a link with all that is welded to it. inertia: xx yy zz xy xz yz about the mass centre."""

    name: str
    inboard: int
    joint: int
    mass: float
    center_of_mass: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


class Frame(NamedTuple):
    """A named frame and where it sits on its body (-1: the world); rotation: nine numbers, row by row."""

    name: str
    body: int
    rotation: tuple[float, ...]
    position: tuple[float, float, float]


class NamedState(NamedTuple):
    """A state that the model's file names: coordinates and velocities."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]


def restore(cls: type[Model], spec: tuple[Any, ...], base: str, gravity: Sequence[float], said: Mapping[str, Any] = {}) -> Model:
    """A model of what was a sound one; `said`: what its file says beside the specification."""
    model = cls.__new__(cls)
    _core.Model.__init__(model, spec, base, gravity)
    object.__setattr__(model, "_kept", dict(said))
    return model


def refuse(problems: Sequence[Problem]) -> None:
    """Raises ModelError if one of them is an error."""
    errors = [p for p in problems if p.severity == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more: see .problems)" if len(errors) > 1 else ""
        raise ModelError(f"{errors[0]}{more}", problems)


def gravity_of(gravity: Any) -> tuple[float, float, float]:
    import numpy as np

    array = as_array("load", "gravity", gravity)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise Error(f"gravity is {gravity!r}; expected three numbers, m/s^2 in world axes")
    x, y, z = (float(number) for number in array)
    return x, y, z


def base_of(base: Any) -> str:
    if not isinstance(base, str) or base not in ("fixed", "free"):
        raise Error(f'base is {base!r}; expected "fixed" or "free"')
    return base


class Model(_core.Model):
    """A mechanism ready for computation: immutable, shareable between threads, picklable.

    Models come from `articula.load`, or from a `ModelSpec`. Every algorithm is a method.

    Example:
        >>> arm = articula.load("arm7")
        >>> arm
        <articula.Model 'arm7': 7 joints, nq=7, nv=7, fixed base, 21.3 kg>
    """

    __slots__ = ("_kept",)
    _kept: dict[str, Any]

    def __init__(self, spec: ModelSpec, *, base: str = "fixed", gravity: Sequence[float] = EARTH) -> None:
        from .spec import ModelSpec as Spec

        if not isinstance(spec, Spec):
            raise Error(f"spec is of type {type(spec).__name__}; expected an articula.ModelSpec")
        plain = spec._as_tuple()
        refuse(problems_of(_core._problems(plain, base_of(base))))
        super().__init__(plain, base, gravity_of(gravity))

    def _keep(self, key: str, make: Any) -> Any:
        try:
            kept = self._kept
        except AttributeError:
            kept = {}
            object.__setattr__(self, "_kept", kept)
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Model cannot be changed; '{name}' is not set")

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The moving joints."""
        made: tuple[Joint, ...] = self._keep(
            "joints",
            lambda: tuple(Joint._make((*j[:12], Limits(*j[12]), *j[13:])) for j in self._joints()),  # type: ignore[attr-defined]
        )
        return made

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies, base to tip."""
        made: tuple[Body, ...] = self._keep("bodies", lambda: tuple(Body(*b) for b in self._bodies()))  # type: ignore[attr-defined]
        return made

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The named frames: every link is one, and so are those added by name."""
        made: tuple[Frame, ...] = self._keep("frames", lambda: tuple(Frame(*f) for f in self._frames()))  # type: ignore[attr-defined]
        return made

    @property
    def spec(self) -> ModelSpec:
        """A copy of what the model was built from, to be edited and built again."""
        from .spec import ModelSpec as Spec

        return Spec._from_tuple(self._spec())  # type: ignore[attr-defined]

    @property
    def _looks(self) -> str:
        """The file that says what the links look like; nothing: they are drawn as capsules."""
        file: str = self._keep("file", str)
        return file if os.path.isfile(file) else ""

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Everything suspicious that was found when the model was read and built."""
        found: tuple[Problem, ...] = self._keep("found", lambda: problems_of(self._warnings()))  # type: ignore[attr-defined]
        return found

    def with_gravity(self, gravity: Sequence[float]) -> Model:
        """The same model under another gravity."""
        return restore(type(self), self._spec(), self.base, gravity_of(gravity), self._said())  # type: ignore[attr-defined]

    def _said(self, *keys: str) -> dict[str, Any]:
        """Of what its file says beside the specification: these, or all."""
        return {key: self._kept[key] for key in keys or ("file", "states", "found") if key in getattr(self, "_kept", ())}

    @property
    def states(self) -> dict[str, NamedState]:
        """The states that the model's file names (keyframes of MJCF); with base="free" the root is at its neutral pose.

        Example:
            >>> articula.load("arm7").states
            {}
        """
        import numpy as np

        made = {}
        for name, q, v in self._said("states").get("states", ()):
            root = (self.neutral()[: self.nq - len(q)], np.zeros(self.nv - len(v)))
            made[name] = NamedState(np.concatenate([root[0], q]), np.concatenate([root[1], v]))
        return made

    @property
    def has_loops(self) -> bool:
        """Whether its file states loops or couplings: the methods here are of the tree alone, `articula.Scene(model)` has
        them; `simulate`, `rollout` and `monte_carlo` obey them.

        Example:
            >>> articula.load("arm7").has_loops
            False
        """
        found: bool = self._keep("loops", lambda: any(self._spec()[5:7]))  # type: ignore[attr-defined]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into a file, by its ending: .urdf, .sdf or .world, .mjcf or .xml (ModelSpec.save)."""
        self.spec.save(path)

    # --- the configuration space
    def neutral(self) -> NDArray[np.float64]:
        """Zeros and identity quaternions, shape (nq,).

        Example:
            >>> articula.load("quadruped", base="free").neutral()[:7]
            array([0., 0., 0., 1., 0., 0., 0.])
        """
        import numpy as np

        return np.array(self._neutral())  # type: ignore[attr-defined]

    def random(self, rng: np.random.Generator | int | None = None, shape: int | tuple[int, ...] = ()) -> NDArray[np.float64]:
        """Configurations within the joints' limits, shape (*shape, nq).

        rng: a NumPy generator, a seed (the numbers are those of the command line for it), or None.

        Example:
            >>> articula.load("arm7").random(1, (4, 5)).shape
            (4, 5, 7)
        """
        import operator

        import numpy as np

        if rng is None or isinstance(rng, np.random.Generator):
            seed = int((rng or np.random.default_rng()).integers(2**63))
        elif isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and 0 <= rng < 2**64:
            seed = int(rng)
        else:
            raise Error(f"random: rng is {rng!r}; expected a numpy.random.Generator, a seed from 0 on, or None")
        try:
            leading = tuple(operator.index(n) for n in ((shape,) if isinstance(shape, (int, np.integer)) else shape))
            result = np.empty((*leading, self.nq))
        except MemoryError:
            raise
        except Exception:  # whatever the given thing's own conversions raise
            raise Error(f"random: shape is {shape!r}; expected a whole number or a tuple of them") from None
        count = int(np.prod(leading))
        self._random(seed, count, result.reshape(count, self.nq))  # type: ignore[attr-defined]
        return result

    def _moved(self, what: str, x: Any, y: Any, names: tuple[str, str], t: Any = None) -> Any:
        import numpy as np

        sizes = {"integrate": (self.nq, self.nv, self.nq), "difference": (self.nq, self.nq, self.nv)}
        nx, ny, n_out = sizes.get(what, (self.nq, self.nq, self.nq))
        given = [(names[0], x, as_array(what, names[0], x), (nx,)), (names[1], y, as_array(what, names[1], y), (ny,))]
        if t is not None:
            given.append(("t", t, as_array(what, "t", t)[..., None], (1,)))
        kind = common_kind([(array, made) for _, array, made, _ in given[:2]])
        leading = common_shape(what, [(name, made.shape, last) for name, _, made, last in given])
        count = int(np.prod(leading))
        plain = [rows(made, leading, last, kind).reshape(count, *last) for _, _, made, last in given]
        out = np.empty((count, n_out), kind)
        self._move(what, count, plain[0], plain[1], plain[2] if t is not None else None, out)  # type: ignore[attr-defined]
        return as_given(out.reshape(*leading, n_out), x, y)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """Where the constant velocity v, shape (..., nv), leads from q, shape (..., nq), in a unit of time.

        Example:
            >>> articula.load("double_pendulum").integrate([0.0, 0.0], [0.5, 1.0])
            array([0.5, 1. ])
        """
        result: NDArray[Any] = self._moved("integrate", q, v, ("q", "v"))
        return result

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[Any]:
        """The velocity that leads from q0 to q1 in a unit of time: the inverse of integrate, shape (..., nv).

        Example:
            >>> articula.load("double_pendulum").difference([0.0, 0.0], [0.5, 1.0])
            array([0.5, 1. ])
        """
        result: NDArray[Any] = self._moved("difference", q0, q1, ("q0", "q1"))
        return result

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> Any:
        """The length of difference(q0, q1), shape (...).

        Example:
            >>> float(articula.load("double_pendulum").distance([0.0, 0.0], [3.0, 4.0]))
            5.0
        """
        import numpy as np

        length = np.linalg.norm(as_array("distance", "q", self._moved("difference", q0, q1, ("q0", "q1"))), axis=-1)
        return as_given(length, q0, q1)

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> NDArray[Any]:
        """The point at t, shape (...), on the way of constant velocity from q0 (t = 0) to q1 (t = 1).

        Example:
            >>> articula.load("double_pendulum").interpolate([0.0, 0.0], [1.0, 2.0], [0.0, 0.5]).tolist()
            [[0.0, 0.0], [0.5, 1.0]]
        """
        result: NDArray[Any] = self._moved("interpolate", q0, q1, ("q0", "q1"), t)
        return result

    # --- as a value
    def _content(self) -> Any:
        def make() -> Any:
            name, *groups = self._spec()  # type: ignore[attr-defined]
            without_files = tuple(tuple(x[:-1] for x in group) for group in groups)
            return repr((name, without_files, self.base, self.gravity))

        return self._keep("content", make)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self is other or bool(self._content() == other._content())

    def __hash__(self) -> int:
        return hash(self._content())

    def __reduce__(self) -> Any:
        return restore, (type(self), self._spec(), self.base, self.gravity, self._said("states", "found"))  # type: ignore[attr-defined]

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self

    def __repr__(self) -> str:
        joints = len(self.joints)
        return (
            f"<articula.Model '{self.name}': {joints} joint{'' if joints == 1 else 's'}, nq={self.nq}, nv={self.nv}, "
            f"{self.base} base, {self.mass:.4g} kg>"
        )

    def _repr_html_(self) -> str | None:
        from .recording import view

        try:
            return view(self)._repr_html_()
        except Error:
            return None
