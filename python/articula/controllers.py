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

__all__ = ["PD", "ComputedTorque", "DecoupledRates", "GravityCompensation"]


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


Controller = Union[PD, ComputedTorque, GravityCompensation, DecoupledRates]
KINDS = (PD, ComputedTorque, GravityCompensation, DecoupledRates)


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


def as_listed(function: str, entry: Any, model: Model) -> tuple[Any, ...] | None:
    """What the compiled part takes for one of the controllers here; None: it is another one."""
    if isinstance(entry, GravityCompensation):
        return "gravity_compensation", None, entry.period
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
