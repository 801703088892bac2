"""Closed chains: scenes of arms and objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _core, results
from ._arrays import as_array
from ._errors import Error
from ._load import _folder
from ._model import Model
from .motion import vector
from .recording import flag, path_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    _Vector = NDArray[np.float64]

__all__ = ["ConstrainedMotion", "Drift", "Scene"]


class ConstrainedMotion(NamedTuple):
    """Accelerations, the forces (moment, force) of each constraint on its second body, and the rank of Omega."""

    a: _Vector
    forces: _Vector
    rank: int


class Drift(NamedTuple):
    """The largest error of any constraint's row: metres or radians, and their rates."""

    position: float
    velocity: float


class Scene:
    """Arms, objects and how they hold on to each other (docs/closed_chains.md), from a scene file or a shipped name; or a
    model with the loops and couplings that its file states.

    project: move a state that does not fit onto the constraints, instead of an error. `q`, `v`, `tau`: the state that the
    file says; `constraints`: their names; `objects`: the frames of held objects. `articula.simulate` moves it. One object
    per thread.

    Example:
        >>> scene = articula.Scene("four_bar")
        >>> scene.forward_dynamics(scene.q, scene.v, scene.tau).a.shape == (scene.nv,)
        True
        >>> motion = articula.simulate(scene, duration=0.1)
        >>> scene.drift(motion.q[-1], motion.v[-1]).position < 1e-9
        True
    """

    def __init__(self, path: str | os.PathLike[str] | Model, *, project: bool = False) -> None:
        onto = flag("Scene", "project", project)
        if isinstance(path, Model):
            self._scene = _core._Scene.of_model(path, path._looks, onto)
        else:
            file = path_of("Scene", path)
            shipped = os.path.join(_folder(), file + ".json")
            if not os.path.isfile(file) and os.path.isfile(shipped):
                file = shipped
            self._scene = _core._Scene(file, _folder(), onto)
        self.q, self.v, self.tau = self._scene.initial()
        self.constraints: list[str] = self._scene.constraints()
        self.objects: list[str] = self._scene.objects()
        self._model = Model.__new__(Model)
        self._scene.fill_model(self._model)

    @property
    def model(self) -> Model:
        """All arms and objects as one tree, without the constraints."""
        return self._model

    @property
    def nq(self) -> int:
        """How many numbers a configuration has."""
        return self._model.nq

    @property
    def nv(self) -> int:
        """How many velocities there are."""
        return self._model.nv

    def _vectors(self, function: str, q: Any, v: Any, tau: Any = None) -> tuple[Any, ...]:
        return (vector(function, "q", q, self.nq), vector(function, "v", v, self.nv), vector(function, "tau", tau, self.nv))

    def _frames(self, function: str, frame: str | int | Sequence[str | int] | None) -> list[int]:
        """By number; the objects that are held, unless named."""
        names = self.objects if frame is None else [frame] if isinstance(frame, (str, int)) else frame
        try:
            known = [f.name for f in self._model.frames]
            frames = [known.index(name) if isinstance(name, str) else range(len(known))[name] for name in names]
        except (TypeError, ValueError, IndexError):
            raise Error(f"{function}: frame is {frame!r}; expected frames of the scene's model") from None
        if not frames:
            raise Error(f"{function}: the scene holds no object; expected frame=")
        return frames

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ConstrainedMotion:
        """The accelerations that tau causes in the closed chain, and the constraints' forces."""
        return ConstrainedMotion(*self._scene.forward_dynamics(*self._vectors("forward_dynamics", q, v, tau)))

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, wanted: ArrayLike, *, frame: str | int | Sequence[str | int] | None = None, share: str = "least_forces"
    ) -> _Vector:
        """Joint forces that make frames accelerate as wanted, zero where there is no motor.

        wanted: d/dt (w, v), world axes at the frames' origins, shape (6,) or (frames, 6). frame: the objects that are
        held, unless named. share: "least_forces" or "least_torques", which of the forces that do it are taken.
        """
        frames = self._frames("inverse_dynamics", frame)
        if share not in ("least_forces", "least_torques"):
            raise Error(f'inverse_dynamics: share is {share!r}; expected "least_forces" or "least_torques"')
        array = as_array("inverse_dynamics", "wanted", wanted)
        if array.shape != (len(frames), 6) and not (len(frames) == 1 and array.shape == (6,)):
            raise Error(f"inverse_dynamics: wanted has shape {array.shape}; expected ({len(frames)}, 6)")
        plain = vector("inverse_dynamics", "wanted", array.ravel(), 6 * len(frames))
        at, speeds, _ = self._vectors("inverse_dynamics", q, v)
        return self._scene.inverse_dynamics(at, speeds, plain, frames, share == "least_torques")  # type: ignore[no-any-return]

    def operational_space(self, q: ArrayLike, v: ArrayLike, *, frame: str | int | Sequence[str | int] | None = None) -> Any:
        """Lambda and its kin of frames in the closed mechanism, as Model.operational_space has them of the tree.

        frame: the objects that are held, unless named; several are stacked.

        Example:
            >>> scene = articula.Scene("two_arms")
            >>> scene.operational_space(scene.q, scene.v).omega.shape
            (6, 6)
        """
        at, speeds, _ = self._vectors("operational_space", q, v)
        frames = self._frames("operational_space", frame)
        return results.by_algorithm["operational_space"](*self._scene.operational_space(at, speeds, frames))

    def project(self, q: ArrayLike, v: ArrayLike) -> tuple[_Vector, _Vector]:
        """The state that fits the constraints and is nearest in the metric of the mass matrix."""
        return self._scene.project(*self._vectors("project", q, v)[:2])  # type: ignore[no-any-return]

    def drift(self, q: ArrayLike, v: ArrayLike) -> Drift:
        """How far a state is from fitting."""
        return Drift(*self._scene.drift(*self._vectors("drift", q, v)[:2]))

    def __repr__(self) -> str:
        return f"<articula.Scene: nq={self.nq}, nv={self.nv}, constraints {', '.join(self.constraints)}>"
