"""Derivatives that are no methods of Model: of a whole step of an integrator, and second ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Model
from .motion import number, vector, word
from .recording import flag, model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    _Vector = NDArray[np.float64]
    _Direction = tuple[ArrayLike, ArrayLike, ArrayLike]

__all__ = ["LinearizedStep", "SecondOrder", "StepDerivative"]


def _wrenches(function: str, model: Model, wrenches: Any) -> Any:
    import numpy as np

    if wrenches is None:
        return None
    array, shape = as_array(function, "wrenches", wrenches), (len(model.bodies), 6)
    if array.shape != shape:
        raise Error(f"{function}: wrenches has shape {array.shape}; expected {shape}")
    return np.require(array, np.float64, ["C", "A"]).view(np.ndarray)


class StepDerivative(NamedTuple):
    """(dq, dv) after the step = A (dq, dv) + B dtau, and where the step leads."""

    A: _Vector
    B: _Vector
    q_next: _Vector
    v_next: _Vector


class LinearizedStep:
    """The exact derivative of one step of an integrator: the discrete state space. One object per thread.

    integrator: "euler", "symplectic_euler", "rk4", "midpoint" or "variational".

    Example:
        >>> pendulum = articula.load("double_pendulum")
        >>> step = articula.LinearizedStep(pendulum, "rk4").compute([0.3, 0.1], np.zeros(2), np.zeros(2), 0.01)
        >>> step.A.shape, step.B.shape
        ((4, 4), (4, 2))
        >>> articula.lqr(step.A, step.B, np.eye(4), np.eye(2), discrete=True).K.shape
        (2, 4)
    """

    def __init__(self, model: Model, integrator: str = "rk4") -> None:
        self.model = model_of("LinearizedStep", model)
        self._step = _core._LinearizedStep(model, word("LinearizedStep", "integrator", integrator))

    def compute(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, h: float, *, wrenches: ArrayLike | None = None, damping: bool = False
    ) -> StepDerivative:
        """Of a step of h seconds with tau held; A is 2 nv x 2 nv, B 2 nv x nv, dq along the tangent spaces at q and q_next.

        wrenches: external forces, shape (bodies, 6), (moment, force) in world axes at each joint origin. damping: what the
        joints state acts.
        """
        model, name = self.model, "compute"
        state = vector(name, "q", q, model.nq), vector(name, "v", v, model.nv), vector(name, "tau", tau, model.nv)
        forces = _wrenches(name, model, wrenches)
        return StepDerivative(*self._step.compute(*state, number(name, "h", h), forces, flag(name, "damping", damping)))


class SecondOrder:
    """Second derivatives along two directions, in O(n). One object per thread.

    `first` = (dq, dv, da or dtau) is the direction of the first derivative, its components held while the state moves along
    `second`. On joints whose motions do not commute (spherical, free, planar) the order of the two matters.

    Example:
        >>> pendulum = articula.load("double_pendulum")
        >>> q, v, tau, zero = np.array([0.3, 0.1]), np.ones(2), np.zeros(2), np.zeros(2)
        >>> along_v = (zero, np.ones(2), zero)
        >>> second = articula.SecondOrder(pendulum).forward(q, v, tau, along_v, along_v)
        >>> least = pendulum.forward_dynamics(q, v - 1, tau), pendulum.forward_dynamics(q, v, tau), pendulum.forward_dynamics(q, v + 1, tau)
        >>> np.allclose(second, least[0] - 2 * least[1] + least[2])  # forward dynamics are quadratic in v
        True
    """

    def __init__(self, model: Model) -> None:
        self.model = model_of("SecondOrder", model)
        self._work = _core._SecondOrder(model)

    def _direction(self, function: str, name: str, given: Any) -> tuple[Any, Any, Any]:
        if not isinstance(given, (tuple, list)) or len(given) != 3:
            raise Error(f"{function}: {name} is {given!r}; expected a triple of vectors")
        x, y, z = (vector(function, name, part, self.model.nv) for part in given)
        return x, y, z

    def _compute(self, function: str, q: Any, v: Any, last: Any, first: Any, second: Any, wrenches: Any, damping: Any) -> Any:
        model = self.model
        state = vector(function, "q", q, model.nq), vector(function, "v", v, model.nv), vector(function, "a or tau", last, model.nv)
        ways = self._direction(function, "first", first), self._direction(function, "second", second)
        return self._work.compute(function == "forward", *state, *ways, _wrenches(function, model, wrenches), flag(function, "damping", damping))

    def inverse(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, first: _Direction, second: _Direction,
        *, wrenches: ArrayLike | None = None, damping: bool = False,
    ) -> _Vector:  # fmt: skip
        """The derivative along `second` of perturbed_inverse(q, v, a, *first)."""
        return self._compute("inverse", q, v, a, first, second, wrenches, damping)  # type: ignore[no-any-return]

    def forward(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, first: _Direction, second: _Direction,
        *, wrenches: ArrayLike | None = None, damping: bool = False,
    ) -> _Vector:  # fmt: skip
        """The derivative along `second` of perturbed_forward(q, v, tau, *first)."""
        return self._compute("forward", q, v, tau, first, second, wrenches, damping)  # type: ignore[no-any-return]
