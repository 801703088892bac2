"""Task spaces and their control, diagonalized dynamics, regulators and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence, overload

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Model
from .motion import number, vector, whole
from .recording import flag, model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    _Vector = NDArray[np.float64]

__all__ = [
    "Count", "Counts", "DiagonalizedDynamics", "FramePose", "Regulator", "TaskController", "TaskSpace", "count", "lqr", "state_space",
]  # fmt: skip


class TaskSpace:
    """The operational space of frames: Lambda y'' + c + g = F, tau = J* F. One object per thread.

    kind: "pose" (six rows per frame), "position" or "orientation" (three). axes: a frame in whose axes the rows are; ""
    for the world's.

    Example:
        >>> arm = articula.load("arm7")
        >>> hand = articula.TaskSpace(arm, arm.frames[-1].name, kind="position")
        >>> hand.update(arm.random(1))
        >>> hand.omega().shape
        (3, 3)
    """

    def __init__(self, model: Model, frames: str | Sequence[str], *, kind: str = "pose", axes: str = "") -> None:
        names = [frames] if isinstance(frames, str) else list(frames) if isinstance(frames, (list, tuple)) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise Error(f"TaskSpace: frames is {frames!r}; expected names of frames")
        if not isinstance(kind, str) or not isinstance(axes, str):
            raise Error("TaskSpace: kind and axes are names")
        self.model = model_of("TaskSpace", model)
        self._space = _core._TaskSpace(model, names, kind, axes)

    @property
    def rows(self) -> int:
        """How many rows the tasks have together."""
        return int(self._space.rows)

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Sets the state; without v: at rest."""
        self._space.update(vector("update", "q", q, self.model.nq), vector("update", "v", v, self.model.nv))

    def omega(self) -> _Vector:
        """J M^-1 J*, rows x rows."""
        return self._space.omega()  # type: ignore[no-any-return]

    def lambda_(self) -> _Vector:
        """Its inverse, lost directions left out."""
        return self._space.lambda_()  # type: ignore[no-any-return]

    def coriolis(self) -> _Vector:
        """c of the equation of motion."""
        return self._space.coriolis()  # type: ignore[no-any-return]

    def gravity(self) -> _Vector:
        """g of the equation of motion."""
        return self._space.gravity()  # type: ignore[no-any-return]

    def velocity(self) -> _Vector:
        """y' = J v."""
        return self._space.velocity()  # type: ignore[no-any-return]

    def bias_acceleration(self) -> _Vector:
        """J' v."""
        return self._space.bias_acceleration()  # type: ignore[no-any-return]

    def free_acceleration(self) -> _Vector:
        """y'' with no joint forces."""
        return self._space.free_acceleration()  # type: ignore[no-any-return]

    def jacobian(self) -> _Vector:
        """J, rows x nv."""
        return self._space.matrix("jacobian")  # type: ignore[no-any-return]

    def jacobian_bar(self) -> _Vector:
        """The dynamically consistent inverse M^-1 J* Lambda, nv x rows."""
        return self._space.matrix("jacobian_bar")  # type: ignore[no-any-return]

    def null_space(self) -> _Vector:
        """Id - J* Jbar*, for joint forces, nv x nv."""
        return self._space.matrix("null_space")  # type: ignore[no-any-return]

    def motion_force(self, u: ArrayLike) -> _Vector:
        """F = Lambda u + c + g: the task force for which y'' = u."""
        return self._space.motion_force(vector("motion_force", "u", u, self.rows))  # type: ignore[no-any-return]

    def joint_forces(self, F: ArrayLike) -> _Vector:
        """tau = J* F."""
        return self._space.joint_forces(vector("joint_forces", "F", F, self.rows))  # type: ignore[no-any-return]

    def rank(self) -> int:
        """How many independent directions the tasks have here."""
        return int(self._space.rank())

    def lost(self) -> str:
        """What is lost, in words."""
        return str(self._space.lost())


class TaskController:
    """Torques that move frames as wanted, in levels: a lower one acts only in what the ones before it leave free.

    levels: for each level its tasks, a frame's name or (frame, kind) or (frame, kind, axes), as TaskSpace has them; one
    frame's name is one level with one task. Tasks are counted through all levels. Directions that are lost where an arm is
    singular are damped, so that it passes through. One object per thread.

    Example:
        >>> arm = articula.load("arm7")
        >>> control = articula.TaskController(arm, [["flange"]])
        >>> control.update(arm.random(1), np.zeros(7))
        >>> pose = control.pose(0)
        >>> control.follow(0, pose.rotation, pose.position + [0, 0, 0.01])
        >>> control.hold_posture(arm.neutral(), stiffness=10, damping=6)
        >>> control.torques().shape
        (7,)
    """

    def __init__(self, model: Model, levels: str | Sequence[Sequence[str | tuple[str, ...]]]) -> None:
        self.model = model_of("TaskController", model)
        given = [[levels]] if isinstance(levels, str) else levels
        plain = []
        if not isinstance(given, (list, tuple)) or not all(isinstance(level, (list, tuple)) and level for level in given) or not given:
            raise Error(f"TaskController: levels is {levels!r}; expected lists of tasks")
        for level in given:
            tasks = [(task,) if isinstance(task, str) else task for task in level]
            if not all(isinstance(task, tuple) and 1 <= len(task) <= 3 and all(isinstance(x, str) for x in task) for task in tasks):
                raise Error(f"TaskController: level {level!r}; expected frames' names or (frame, kind, axes)")
            plain.append([(*task, *("pose", "")[len(task) - 1 :]) for task in tasks])
        self._control = _core._TaskController(model, plain)

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Sets the state and clears all commands: tasks without one are asked for no acceleration."""
        self._control.update(vector("update", "q", q, self.model.nq), vector("update", "v", v, self.model.nv))

    def pose(self, task: int) -> FramePose:
        """Where a task's frame is."""
        return FramePose(*self._control.pose(whole("pose", "task", task, 0)))

    def accelerate(self, task: int, a: ArrayLike) -> None:
        """d/dt (w, v) of a task's frame, world axes."""
        self._control.accelerate(whole("accelerate", "task", task, 0), vector("accelerate", "a", a, 6))

    def follow(
        self, task: int, rotation: ArrayLike, position: ArrayLike, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None,
        *, stiffness: float = 100, damping: float = 20, turning_stiffness: float | None = None, turning_damping: float | None = None,
    ) -> None:  # fmt: skip
        """Follows a pose, its velocity (w, v) and d/dt of it, world axes at the frame's origin.

        Gains in 1/s^2 and 1/s, of turning the same unless given; damping = 2 sqrt(stiffness) is critical.
        """
        import numpy as np

        turning = stiffness if turning_stiffness is None else turning_stiffness, damping if turning_damping is None else turning_damping
        gains = np.array([number("follow", "a gain", x) for x in (stiffness, damping, *turning)])
        turn = _matrix("follow", "rotation", rotation, 3, 3)
        self._control.follow(
            whole("follow", "task", task, 0), turn, vector("follow", "position", position, 3),
            vector("follow", "velocity", velocity, 6), vector("follow", "acceleration", acceleration, 6), gains,
        )  # fmt: skip

    def press(self, task: int, row: int, force: float, *, damping: float = 0) -> None:
        """Makes one row of a task a force on what the frame touches."""
        self._control.press(whole("press", "task", task, 0), whole("press", "row", row, 0), number("press", "force", force), number("press", "damping", damping))

    def hold_posture(self, q: ArrayLike, stiffness: float, damping: float) -> None:
        """Draws the joints to q in what freedom the tasks leave."""
        at = vector("hold_posture", "q", q, self.model.nq)
        self._control.hold_posture(at, number("hold_posture", "stiffness", stiffness), number("hold_posture", "damping", damping))

    def limit_torques(self, limits: ArrayLike) -> None:
        """The largest torque of each velocity, infinity for none: levels are scaled down to what is left. Kept over updates."""
        self._control.limit_torques(vector("limit_torques", "limits", limits, self.model.nv))

    def torques(self) -> _Vector:
        """tau = C v + G and what the levels and the posture need."""
        return self._control.torques()  # type: ignore[no-any-return]

    def rank(self, level: int) -> int:
        """Independent directions of a level, given those before it; after torques()."""
        return int(self._control.rank(whole("rank", "level", level, 0)))


class FramePose(NamedTuple):
    """Rotation (3 x 3) and position of a frame in the world."""

    rotation: _Vector
    position: _Vector


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
        self.model = model_of("DiagonalizedDynamics", model)
        self._dynamics = _core._Diagonal(model)

    def update(self, q: ArrayLike) -> None:
        """Sets the configuration."""
        self._dynamics.update(vector("update", "q", q, self.model.nq))

    def _map(self, what: str, x: Any) -> _Vector:
        return self._dynamics.map(what, vector(what, "x", x, self.model.nv))  # type: ignore[no-any-return]

    def rates_to_nu(self, v: ArrayLike) -> _Vector:
        """nu of joint velocities."""
        return self._map("rates_to_nu", v)

    def nu_to_rates(self, nu: ArrayLike) -> _Vector:
        """Joint velocities of nu."""
        return self._map("nu_to_rates", nu)

    def rates_to_xi(self, v: ArrayLike) -> _Vector:
        """xi of joint velocities."""
        return self._map("rates_to_xi", v)

    def xi_to_rates(self, xi: ArrayLike) -> _Vector:
        """Joint velocities of xi."""
        return self._map("xi_to_rates", xi)

    def forces_to_epsilon(self, tau: ArrayLike) -> _Vector:
        """epsilon of joint forces."""
        return self._map("forces_to_epsilon", tau)

    def epsilon_to_forces(self, epsilon: ArrayLike) -> _Vector:
        """Joint forces of epsilon."""
        return self._map("epsilon_to_forces", epsilon)

    def forces_to_kappa(self, tau: ArrayLike) -> _Vector:
        """kappa of joint forces."""
        return self._map("forces_to_kappa", tau)

    def kappa_to_forces(self, kappa: ArrayLike) -> _Vector:
        """Joint forces of kappa."""
        return self._map("kappa_to_forces", kappa)

    def coriolis_nu(self, nu: ArrayLike) -> _Vector:
        """C(q, nu), with gravity."""
        return self._map("coriolis_nu", nu)

    def coriolis_xi(self, xi: ArrayLike) -> _Vector:
        """C(q, xi), with gravity."""
        return self._map("coriolis_xi", xi)


class Regulator(NamedTuple):
    """u = -K x; the cost to go is x* P x; poles of A - B K."""

    K: _Vector
    P: _Vector
    poles: Any


def _matrix(function: str, name: str, x: Any, rows: int | None = None, columns: int | None = None) -> Any:
    import numpy as np

    array = as_array(function, name, x)
    if array.ndim != 2 or rows not in (None, array.shape[0]) or columns not in (None, array.shape[1]):
        raise Error(f"{function}: {name} has shape {array.shape}; expected ({rows or 'n'}, {columns or 'm'})")
    return np.require(array, np.float64, ["C", "A"]).view(np.ndarray)


def state_space(model: Model, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> tuple[_Vector, _Vector]:
    """A, 2 nv x 2 nv, and B, 2 nv x nv, of d/dt (dq, dv) = A (dq, dv) + B dtau; tau: the gravity forces where not given.

    Example:
        >>> pendulum = articula.load("double_pendulum")
        >>> A, B = articula.state_space(pendulum, [np.pi, 0])
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
    """
    model = model_of("state_space", model)
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
    K, P, poles = _core._regulator(a, b, _matrix("lqr", "Q", Q, n, n), _matrix("lqr", "R", R, m, m), n, m, flag("lqr", "discrete", discrete))
    return Regulator(K, P, np.array(poles))


class Count(NamedTuple):
    """The operations of one call."""

    multiplications: int
    additions: int
    divisions: int
    square_roots: int
    sines_cosines: int


class Counts(Dict[str, Count]):
    """Counts by algorithm; in notebooks a table."""

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{field.replace('_', ' ')}</th>" for field in Count._fields)
        lines = "".join(f"<tr><th>{name}</th>{''.join(f'<td>{n}</td>' for n in x)}</tr>" for name, x in self.items())
        return f"<table><tr><th></th>{head}</tr>{lines}</table>"


@overload
def count(model: Model, algorithm: None = None, *, customized: bool = False) -> Counts: ...
@overload
def count(model: Model, algorithm: str, *, customized: bool = False) -> Count: ...
def count(model: Model, algorithm: str | None = None, *, customized: bool = False) -> Count | Counts:
    """Exact operation counts of an algorithm on a model; of all that are counted, by name, where none is named.

    customized: operations with zeros, ones and other numbers known beforehand are left out.

    Example:
        >>> articula.count(articula.load("arm7"), "forward_dynamics").divisions > 0
        True
    """
    model = model_of("count", model)
    if algorithm is None:
        return Counts((name, Count(*_core._count(model, name, flag("count", "customized", customized)))) for name in _core._counted())
    if not isinstance(algorithm, str):
        raise Error(f"count: algorithm is of type {type(algorithm).__name__}; expected a name")
    return Count(*_core._count(model, algorithm, flag("count", "customized", customized)))
