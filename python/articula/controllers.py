"""Controllers of the library itself, for `controllers=`: without Python in the loop, and on all cores.

    >>> arm = articula.load("arm7")
    >>> hold = articula.controllers.PD(kp=100, kd=20, gravity=True)
    >>> float(abs(articula.simulate(arm, duration=0.1, controllers=hold).v).max()) < 1e-3
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence, Union

from ._arrays import as_array
from ._errors import Error
from .recording import flag

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._model import Model

__all__ = ["PD", "ComputedTorque", "DecoupledRates", "GravityCompensation", "OperationalSpace", "Task", "Tasks"]


class PD(NamedTuple):
    """tau = kp (reference - q) - kd v, and the gravity forces where `gravity`.

    kp, kd: a number for all velocities, or shape (nv,). reference: shape (nq,), or (times, configurations) between which
    it moves at constant velocity, or (times, q, v, a), smooth; None: where the motion begins. period: asked so often, seconds, and held in between;
    None: asked all the time. No controller drives a free base.
    """

    kp: ArrayLike
    kd: ArrayLike
    reference: Union[ArrayLike, tuple[ArrayLike, ...], None] = None
    gravity: bool = False
    period: float | None = None


class ComputedTorque(NamedTuple):
    """Inverse dynamics of the reference's acceleration + kp (reference - q) - kd v; arguments as PD's."""

    kp: ArrayLike
    kd: ArrayLike
    reference: Union[ArrayLike, tuple[ArrayLike, ...], None] = None
    period: float | None = None


class GravityCompensation(NamedTuple):
    """tau = g(q)."""

    period: float | None = None


class DecoupledRates(NamedTuple):
    """Each nu of the diagonalized equations a loop of its own, nu' = gains (the wanted nu - nu); see docs/diagonalized.md.

    gains: a number for all velocities, or shape (nv,). nu: shape (nv,); None: zero. gravity: nothing but gravity is
    compensated. Not for a free base, nor for mimic joints.
    """

    gains: ArrayLike
    nu: ArrayLike | None = None
    gravity: bool = False
    period: float | None = None


class OperationalSpace(NamedTuple):
    """A frame drawn to a pose, what freedom it leaves to a posture; see docs/operational_space.md.

    position, rotation: shapes (3,) and (3, 3), world axes; None: where the frame is when the motion begins. stiffness in
    1/s^2, damping in 1/s; those of turning are the same unless given. posture: shape (nq,); None: where the motion begins.
    sweeps: 4; or 3 or 2, which take terms of the tick before and need a period.
    """

    frame: str
    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    stiffness: float = 100.0
    damping: float = 20.0
    turning_stiffness: float | None = None
    turning_damping: float | None = None
    posture: ArrayLike | None = None
    posture_stiffness: float = 0.0
    posture_damping: float = 2.0
    sweeps: int = 4
    period: float | None = None


class Task(NamedTuple):
    """One of the `Tasks`.

    rows: "pose", "position", "orientation", or some of ("wx", "wy", "wz", "x", "y", "z"), in the axes of the frame `axes` or
    of the world. position, rotation and gains as OperationalSpace's. euler: a sequence such as "zyx", in whose angles all
    six rows are then controlled. press: (row, force) or (row, force, damping) each, rows counted among the task's: they
    push instead; first level only.
    """

    frame: str
    rows: str | Sequence[str] = "pose"
    axes: str | None = None
    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    euler: str | None = None
    angles: ArrayLike | None = None
    stiffness: float = 100.0
    damping: float = 20.0
    turning_stiffness: float | None = None
    turning_damping: float | None = None
    press: Sequence[tuple[float, ...]] = ()


class Tasks(NamedTuple):
    """Tasks in levels, a lower one acting only in what the ones before it leave free; a posture in what is left of all."""

    levels: Sequence[Sequence[Task]]
    posture: ArrayLike | None = None
    posture_stiffness: float = 0.0
    posture_damping: float = 2.0
    period: float | None = None


Controller = Union[PD, ComputedTorque, GravityCompensation, DecoupledRates, OperationalSpace, Tasks]
KINDS = (PD, ComputedTorque, GravityCompensation, DecoupledRates, OperationalSpace, Tasks)
ROWS = ("wx", "wy", "wz", "x", "y", "z")
NAMED_ROWS = {"pose": ROWS, "position": ROWS[3:], "orientation": ROWS[:3]}


def _gains(function: str, name: str, x: Any, model: Model) -> list[float]:
    import numpy as np

    array = as_array(function, f"a controller's {name}", x)
    if array.shape not in ((), (model.nv,)):
        raise Error(f"{function}: a controller's {name} has shape {array.shape}; expected a number or ({model.nv},)")
    return [float(gain) for gain in np.broadcast_to(array, (model.nv,))]


def _reference(function: str, x: Any, model: Model) -> tuple[list[float], list[float]]:
    if x is None:
        return [], []
    times: list[float] = []
    expected: Sequence[tuple[int, ...]] = [(model.nq,)]
    if isinstance(x, tuple) and len(x) in (2, 4):
        stamps = as_array(function, "a reference's times", x[0])
        if stamps.ndim != 1 or stamps.size == 0:
            raise Error(f"{function}: a reference's times have shape {stamps.shape}; expected (n,)")
        times = [float(t) for t in stamps]
        if len(x) == 4:
            parts = [as_array(function, f"a reference's {name}", part) for name, part in zip("qva", x[1:])]
            for name, part in zip("qva", parts):
                if part.shape != (len(times), model.nv):
                    raise Error(f"{function}: a reference's {name} has shape {part.shape}; expected {(len(times), model.nv)}")
            return times, [float(number) for part in parts for number in part.ravel()]
        x, expected = x[1], [(len(times), model.nq)]
    array = as_array(function, "a controller's reference", x)
    if array.shape not in expected:
        raise Error(f"{function}: a controller's reference has shape {array.shape}; expected {expected[0]}")
    return times, [float(number) for number in array.ravel()]


def _number(function: str, name: str, x: Any) -> float:
    array = as_array(function, f"a controller's {name}", x)
    if array.shape != ():
        raise Error(f"{function}: a controller's {name} has shape {array.shape}; expected a number")
    return float(array)


def _numbers(function: str, name: str, x: Any, shape: tuple[int, ...]) -> list[float]:
    if x is None:
        return []
    array = as_array(function, f"a controller's {name}", x)
    if array.shape != shape:
        raise Error(f"{function}: a controller's {name} has shape {array.shape}; expected {shape}")
    return [float(number) for number in array.ravel()]


def _word(function: str, name: str, x: Any) -> str:
    if x is not None and not isinstance(x, str):
        raise Error(f"{function}: a controller's {name} is of type {type(x).__name__}; expected a name")
    return x or ""


def _task(function: str, task: Any) -> tuple[Any, ...]:
    if not isinstance(task, Task):
        raise Error(f"{function}: a controller's task is of type {type(task).__name__}; expected a Task")
    rows = NAMED_ROWS.get(task.rows, ()) if isinstance(task.rows, str) else tuple(task.rows)
    if not rows or any(row not in ROWS for row in rows):
        raise Error(f"{function}: a task's rows are {task.rows!r}; expected one of {tuple(NAMED_ROWS)}, or some of {ROWS}")
    if task.angles is not None and task.euler is None:
        raise Error(f"{function}: a task's angles go with euler, the sequence of their axes")
    if task.euler is not None and task.rotation is not None:
        raise Error(f"{function}: a task takes a rotation, or euler and angles")
    gains = [_number(function, name, getattr(task, name)) for name in ("stiffness", "damping")]
    for name, same in zip(("turning_stiffness", "turning_damping"), gains[:2]):
        given = getattr(task, name)
        gains.append(same if given is None else _number(function, name, given))
    press = [[_number(function, "press", x) for x in push] for push in task.press]
    if any(len(push) not in (2, 3) or push[0] != int(push[0]) for push in press):
        raise Error(f"{function}: a task's press is {task.press!r}; expected (row, force) or (row, force, damping) each")
    return (
        _word(function, "frame", task.frame),
        _word(function, "axes", task.axes),
        [name in rows for name in ROWS],
        _numbers(function, "position", task.position, (3,)),
        _numbers(function, "rotation", task.rotation, (3, 3)),
        _word(function, "euler", task.euler),
        _numbers(function, "angles", task.angles, (3,)),
        gains,
        [(int(push[0]), push[1], push[2] if len(push) == 3 else 0.0) for push in press],
    )


def _operational(function: str, entry: OperationalSpace | Tasks, model: Model) -> tuple[Any, ...]:
    if isinstance(entry, OperationalSpace):
        if entry.sweeps not in (2, 3, 4) or isinstance(entry.sweeps, bool):
            raise Error(f"{function}: a controller's sweeps is {entry.sweeps!r}; expected 2, 3 or 4")
        if entry.sweeps < 4 and entry.period is None:
            raise Error(f"{function}: {entry.sweeps} sweeps take terms of the tick before, and ticks need a period")
        same = {name: getattr(entry, name) for name in Task._fields if name in OperationalSpace._fields}
        kind, levels, sweeps = "operational_space", [[_task(function, Task(**same))]], int(entry.sweeps)
    else:
        if not isinstance(entry.levels, (list, tuple)) or not entry.levels or not all(isinstance(level, (list, tuple)) and not isinstance(level, Task) for level in entry.levels):
            raise Error(f"{function}: Tasks takes a list of levels, each a list of tasks")
        kind, levels, sweeps = "tasks", [[_task(function, task) for task in level] for level in entry.levels], 4
    posture = _numbers(function, "posture", entry.posture, (model.nq,))
    gains = (_number(function, name, getattr(entry, name)) for name in ("posture_stiffness", "posture_damping"))
    return kind, None, entry.period, levels, posture, *gains, sweeps


def as_listed(function: str, entry: Any, model: Model) -> tuple[Any, ...] | None:
    """What the compiled part takes for one of the controllers here; None: it is another one."""
    if isinstance(entry, GravityCompensation):
        return "gravity_compensation", None, entry.period
    if isinstance(entry, (OperationalSpace, Tasks)):
        return _operational(function, entry, model)
    if isinstance(entry, DecoupledRates):
        rates = _gains(function, "gains", entry.gains, model)
        nu = [0.0] * model.nv if entry.nu is None else _gains(function, "nu", entry.nu, model)
        only_gravity = flag(function, "a controller's gravity", entry.gravity)
        return "decoupled_rates", None, entry.period, rates, [], [], nu, only_gravity
    if isinstance(entry, (PD, ComputedTorque)):
        gains = _gains(function, "kp", entry.kp, model), _gains(function, "kd", entry.kd, model)
        kind = "pd" if isinstance(entry, PD) else "computed_torque"
        gravity = isinstance(entry, PD) and flag(function, "a controller's gravity", entry.gravity)
        return kind, None, entry.period, *gains, *_reference(function, entry.reference, model), gravity
    return None
