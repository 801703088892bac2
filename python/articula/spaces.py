"""Task spaces, diagonalized dynamics, closed chains, regulators and counts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Model, _folder
from .motion import _model, vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Vector = NDArray[np.float64]

__all__ = ["ConstrainedMotion", "Count", "DiagonalizedDynamics", "Regulator", "Scene", "TaskSpace", "count", "lqr", "state_space"]


class TaskSpace:
    """The operational space of frames: Lambda y'' + c + g = F, tau = J* F. One object per thread.

    kind: "pose" (six rows a frame), "position" or "orientation" (three). axes: a frame in whose axes the rows are; ""
    for the world's.

    Example:
        >>> arm = articula.load("arm7")
        >>> hand = articula.TaskSpace(arm, arm.frames[-1].name, kind="position")
        >>> hand.update(arm.random(1))
        >>> hand.omega().shape
        (3, 3)
    """

    def __init__(self, model: Model, frames: str | Sequence[str], *, kind: str = "pose", axes: str = "") -> None:
        names = [frames] if isinstance(frames, str) else list(frames)
        if not names or not all(isinstance(name, str) for name in names):
            raise Error(f"TaskSpace: frames is {frames!r}; expected names of frames")
        if not isinstance(kind, str) or not isinstance(axes, str):
            raise Error("TaskSpace: kind and axes are names")
        self.model = _model("TaskSpace", model)
        self._space = _core._TaskSpace(model, names, kind, axes)

    @property
    def rows(self) -> int:
        """How many rows the tasks have together."""
        return int(self._space.rows)

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Sets the state; without v: at rest."""
        self._space.update(vector("update", "q", q, self.model.nq), vector("update", "v", v, self.model.nv))

    def omega(self) -> Vector:
        """J M^-1 J*, rows x rows."""
        return self._space.omega()  # type: ignore[no-any-return]

    def lambda_(self) -> Vector:
        """Its inverse, lost directions left out."""
        return self._space.lambda_()  # type: ignore[no-any-return]

    def coriolis(self) -> Vector:
        """c of the equation of motion."""
        return self._space.coriolis()  # type: ignore[no-any-return]

    def gravity(self) -> Vector:
        """g of the equation of motion."""
        return self._space.gravity()  # type: ignore[no-any-return]

    def velocity(self) -> Vector:
        """y' = J v."""
        return self._space.velocity()  # type: ignore[no-any-return]

    def bias_acceleration(self) -> Vector:
        """J' v."""
        return self._space.bias_acceleration()  # type: ignore[no-any-return]

    def free_acceleration(self) -> Vector:
        """y'' with no joint forces."""
        return self._space.free_acceleration()  # type: ignore[no-any-return]

    def jacobian(self) -> Vector:
        """J, rows x nv."""
        return self._space.matrix("jacobian")  # type: ignore[no-any-return]

    def jacobian_bar(self) -> Vector:
        """The dynamically consistent inverse M^-1 J* Lambda, nv x rows."""
        return self._space.matrix("jacobian_bar")  # type: ignore[no-any-return]

    def null_space(self) -> Vector:
        """Id - J* Jbar*, for joint forces, nv x nv."""
        return self._space.matrix("null_space")  # type: ignore[no-any-return]

    def motion_force(self, u: ArrayLike) -> Vector:
        """F = Lambda u + c + g: the task force for which y'' = u."""
        return self._space.motion_force(vector("motion_force", "u", u, self.rows))  # type: ignore[no-any-return]

    def joint_forces(self, F: ArrayLike) -> Vector:
        """tau = J* F."""
        return self._space.joint_forces(vector("joint_forces", "F", F, self.rows))  # type: ignore[no-any-return]

    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        return int(self._space.rank())

    def lost(self) -> str:
        """What is lost, in words."""
        return str(self._space.lost())


class DiagonalizedDynamics:
    """The equations of motion with a diagonal mass matrix: nu' + C(q, nu) = epsilon. One object per thread.

    Example:
        >>> arm = articula.load("arm7")
        >>> diagonal = articula.DiagonalizedDynamics(arm)
        >>> diagonal.update(arm.random(1))
        >>> nu = diagonal.rates_to_nu(np.ones(7))
        >>> np.allclose(diagonal.nu_to_rates(nu), 1)
        True
    """

    def __init__(self, model: Model) -> None:
        self.model = _model("DiagonalizedDynamics", model)
        self._dynamics = _core._Diagonal(model)

    def update(self, q: ArrayLike) -> None:
        """Sets the configuration."""
        self._dynamics.update(vector("update", "q", q, self.model.nq))

    def _map(self, what: str, x: Any) -> Vector:
        return self._dynamics.map(what, vector(what, "x", x, self.model.nv))  # type: ignore[no-any-return]

    def rates_to_nu(self, v: ArrayLike) -> Vector:
        """nu of joint velocities."""
        return self._map("rates_to_nu", v)

    def nu_to_rates(self, nu: ArrayLike) -> Vector:
        """Joint velocities of nu."""
        return self._map("nu_to_rates", nu)

    def rates_to_xi(self, v: ArrayLike) -> Vector:
        """xi of joint velocities."""
        return self._map("rates_to_xi", v)

    def xi_to_rates(self, xi: ArrayLike) -> Vector:
        """Joint velocities of xi."""
        return self._map("xi_to_rates", xi)

    def forces_to_epsilon(self, tau: ArrayLike) -> Vector:
        """epsilon of joint forces."""
        return self._map("forces_to_epsilon", tau)

    def epsilon_to_forces(self, epsilon: ArrayLike) -> Vector:
        """Joint forces of epsilon."""
        return self._map("epsilon_to_forces", epsilon)

    def forces_to_kappa(self, tau: ArrayLike) -> Vector:
        """kappa of joint forces."""
        return self._map("forces_to_kappa", tau)

    def kappa_to_forces(self, kappa: ArrayLike) -> Vector:
        """Joint forces of kappa."""
        return self._map("kappa_to_forces", kappa)

    def coriolis_nu(self, nu: ArrayLike) -> Vector:
        """C(q, nu), with gravity."""
        return self._map("coriolis_nu", nu)

    def coriolis_xi(self, xi: ArrayLike) -> Vector:
        """C(q, xi), with gravity."""
        return self._map("coriolis_xi", xi)


class ConstrainedMotion(NamedTuple):
    """Accelerations, the forces (moment, force) of each constraint on its second body, and the rank of Omega."""

    a: Vector
    forces: Vector
    rank: int


class Scene:
    """Arms, objects and how they hold on to each other (docs/closed_chains.md), from a scene file or a shipped name.

    project: move a state that does not fit onto the constraints, instead of an error. One object per thread.

    Example:
        >>> scene = articula.Scene("four_bar")
        >>> scene.forward_dynamics(scene.q, scene.v, scene.tau).a.shape == (scene.nv,)
        True
    """

    def __init__(self, path: str | os.PathLike[str], *, project: bool = False) -> None:
        try:
            file = os.fsdecode(os.fspath(path))
        except TypeError:
            raise Error(f"Scene: path is of type {type(path).__name__}; expected a file's path or the name of a scene") from None
        shipped = os.path.join(_folder(), file + ".json")
        if not os.path.isfile(file) and os.path.isfile(shipped):
            file = shipped
        self._scene = _core._Scene(file, _folder(), bool(project))
        #: The initial state.
        self.q, self.v, self.tau = self._scene.initial()
        self.nq, self.nv, self.constraints = self._scene.sizes()

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ConstrainedMotion:
        """The accelerations that tau causes in the closed chain, and the constraints' forces."""
        vectors = (vector("forward_dynamics", name, x, n) for name, x, n in (("q", q, self.nq), ("v", v, self.nv), ("tau", tau, self.nv)))
        return ConstrainedMotion(*self._scene.forward_dynamics(*vectors))


class Regulator(NamedTuple):
    """u = -K x; the cost to go is x* P x; poles of A - B K."""

    K: Vector
    P: Vector
    poles: Any


def _matrix(function: str, name: str, x: Any, rows: int | None = None, columns: int | None = None) -> Any:
    import numpy as np

    array = as_array(function, name, x)
    if array.ndim != 2 or rows not in (None, array.shape[0]) or columns not in (None, array.shape[1]):
        raise Error(f"{function}: {name} has shape {array.shape}; expected ({rows or 'n'}, {columns or 'm'})")
    return np.require(array, np.float64, ["C", "A"]).view(np.ndarray)


def state_space(model: Model, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> tuple[Vector, Vector]:
    """A, 2 nv x 2 nv, and B, 2 nv x nv, of d/dt (dq, dv) = A (dq, dv) + B dtau; tau: the gravity forces where not given."""
    model = _model("state_space", model)
    at = vector("state_space", "q", q, model.nq)
    forces = vector("state_space", "tau", tau, model.nv, model.gravity_forces(at))
    return _core._state_space(model, at, vector("state_space", "v", v, model.nv), forces)  # type: ignore[no-any-return]


def lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, *, discrete: bool = False) -> Regulator:
    """The linear quadratic regulator of dx/dt = A x + B u, or of x_next = A x + B u.

    Example:
        >>> arm = articula.load("double_pendulum")
        >>> A, B = articula.state_space(arm, arm.neutral())
        >>> regulator = articula.lqr(A, B, np.eye(4), np.eye(2))
        >>> bool(np.all(regulator.poles.real < 0))
        True
    """
    import numpy as np

    a = _matrix("lqr", "A", A)
    n = a.shape[0]
    a, b = _matrix("lqr", "A", A, n, n), _matrix("lqr", "B", B, n)
    m = b.shape[1]
    K, P, poles = _core._regulator(a, b, _matrix("lqr", "Q", Q, n, n), _matrix("lqr", "R", R, m, m), n, m, bool(discrete))
    return Regulator(K, P, np.array(poles))


class Count(NamedTuple):
    """The operations of one call."""

    multiplications: int
    additions: int
    divisions: int
    square_roots: int
    sines_cosines: int


def count(model: Model, algorithm: str | None = None, *, customized: bool = False) -> Any:
    """Exact operation counts of an algorithm on a model; of all that are counted, by name, where none is named.

    customized: operations with zeros, ones and other numbers known beforehand are left out.

    Example:
        >>> articula.count(articula.load("arm7"), "forward_dynamics").divisions > 0
        True
    """
    model = _model("count", model)
    if algorithm is None:
        return {name: Count(*_core._count(model, name, bool(customized))) for name in _core._counted()}
    if not isinstance(algorithm, str):
        raise Error(f"count: algorithm is of type {type(algorithm).__name__}; expected a name")
    return Count(*_core._count(model, algorithm, bool(customized)))
