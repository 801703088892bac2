"""The spatial operator algebra: expressions of operators, applied without forming a matrix.

    >>> from articula.operators import H, phi, M, rotor, star
    >>> arm = articula.load("arm7")
    >>> mass = (H * phi * M * star(phi) * star(H) + rotor).at(arm, arm.neutral())
    >>> bool(np.allclose(mass.dense(), arm.mass_matrix(arm.neutral())))
    True
    >>> tau = mass @ np.ones(7)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._errors import Error
from .motion import vector, whole
from .recording import flag, model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model


__all__ = [
    "AccelerationCovariance", "B", "D", "Derivation", "DerivationStep", "E", "E_phi", "E_psi", "Expression", "G", "G_ring", "Gamma",
    "H", "H_ddot", "H_dot", "H_f", "H_full", "I", "IdentityResidual", "J_ring", "K", "K_ring", "L", "M", "M_ring", "Omega", "Operator", "P", "P_ring", "R", "R_ring", "S",
    "acceleration_covariance", "derive", "identities", "inv", "phi", "psi", "root_D", "rotor", "star", "tau_bar",
]  # fmt: skip


class Expression:
    """Operators put together by *, +, -, star() and inv(); the grammar is that of `articula operators`."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise Error(f"operators: text is of type {type(text).__name__}; expected an expression's text")
        self.text = text

    def __mul__(self, other: Expression) -> Expression:
        return Expression(f"{_factor(self)} * {_factor(_expression(other))}")

    def __rmul__(self, number: float) -> Expression:
        try:
            return Expression(f"{float(number)!r} * {_factor(self)}")
        except (TypeError, ValueError):
            raise Error(f"operators: {number!r} is no number and no operator") from None

    def __add__(self, other: Expression) -> Expression:
        return Expression(f"{self.text} + {_factor(_expression(other))}")

    def __sub__(self, other: Expression) -> Expression:
        return Expression(f"{self.text} - {_factor(_expression(other))}")

    def __neg__(self) -> Expression:
        return Expression(f"-{_factor(self)}")

    def at(self, model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Operator:
        """The operator at a state of a model."""
        return Operator(self, model, q, v, a)

    def __repr__(self) -> str:
        return f"<articula.operators: {self.text}>"


class Operator:
    """An expression at a state: `operator @ x`, `dense()`, `shape`."""

    def __init__(self, expression: Expression, model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> None:
        model = model_of("operators", model)
        self.expression = _expression(expression)
        self._at = _core._OperatorAt(
            model, expression.text, vector("operators", "q", q, model.nq), _given("operators", "v", v, model), _given("operators", "a", a, model)
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._at.shape()  # type: ignore[no-any-return]

    def __matmul__(self, x: ArrayLike) -> NDArray[np.float64]:
        return self._at.apply(vector("operators", "x", x, self.shape[1]))  # type: ignore[no-any-return]

    def dense(self) -> NDArray[np.float64]:
        """The matrix, column by column."""
        return self._at.dense()  # type: ignore[no-any-return]

    def explain(self) -> str:
        """The sweeps over the bodies that it takes, with operation counts."""
        return str(self._at.explain())


class IdentityResidual(NamedTuple):
    """An identity of the algebra, and how far its sides are apart."""

    name: str
    source: str
    residual: float


def _expression(x: Any) -> Expression:
    if not isinstance(x, Expression):
        raise Error(f"operators: {x!r} is no operator; expected an expression of operators")
    return x


def _factor(x: Expression) -> str:
    return f"({x.text})" if " " in x.text or x.text.startswith("-") else x.text


def star(x: Expression) -> Expression:
    """The adjoint."""
    return Expression(f"star({_expression(x).text})")


def inv(x: Expression) -> Expression:
    """The inverse, of what the algebra can invert."""
    return Expression(f"inv({_expression(x).text})")


def B(*frames: str) -> Expression:
    """What takes forces at frames to the bodies."""
    if not frames or not all(isinstance(frame, str) for frame in frames):
        raise Error(f"B: frames is {frames!r}; expected names of frames")
    return Expression(f"B({', '.join(frames)})")


def _given(function: str, name: str, x: ArrayLike | None, model: Model) -> Any:
    return None if x is None else vector(function, name, x, model.nv)


def identities(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, seed: int = 1
) -> list[IdentityResidual]:  # fmt: skip
    """Every identity of the algebra, checked at a state: LIN's (more with a) and, up to 40 bodies that each have one freedom
    and no rotor inertia, DIAG's too.
    """
    model = model_of("identities", model)
    at, speeds = vector("identities", "q", q, model.nq), vector("identities", "v", v, model.nv)
    drawn = whole("identities", "seed", seed, 0, 2**64 - 1)
    return [IdentityResidual(*entry) for entry in _core._identities(model, at, speeds, _given("identities", "a", a, model), drawn)]


class DerivationStep(NamedTuple):
    """A form of an expression, and the identity that led to it (none at the start)."""

    text: str
    expression: str
    identity: str
    source: str
    residual: float


class Derivation(NamedTuple):
    """Steps from an expression to one with fewer sweeps, `result`."""

    steps: list[DerivationStep]
    result: Expression


def derive(
    expression: Expression, model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, matrix: bool = False
) -> Derivation:  # fmt: skip
    """A form that takes fewer sweeps, found by the identities, each step checked at the state.

    `matrix`: all columns are wanted, so sweeps side by side are preferred to sweeps in series.

    Example:
        >>> from articula.operators import H, M, derive, inv, phi, rotor, star
        >>> arm = articula.load("arm7")
        >>> found = derive(inv(H * phi * M * star(phi) * star(H) + rotor), arm, arm.neutral())
        >>> found.steps[-1].text
        '[I - H psi K]* D^-1 [I - H psi K]'
    """
    model = model_of("derive", model)
    at, speeds = vector("derive", "q", q, model.nq), vector("derive", "v", v, model.nv)
    rates = _given("derive", "a", a, model)
    steps, result = _core._derive(model, _expression(expression).text, at, speeds, rates, flag("derive", "matrix", matrix))
    return Derivation([DerivationStep(*step) for step in steps], Expression(result))


class AccelerationCovariance(NamedTuple):
    """Standard deviations of joint accelerations, (nv,), and covariances of the bodies' (w', v'), (bodies, 6, 6)."""

    joints: NDArray[np.float64]
    bodies: NDArray[np.float64]


def acceleration_covariance(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *,
    tau_deviation: ArrayLike | None = None, wrench_deviation: ArrayLike | None = None, mass_deviation: ArrayLike | None = None,
) -> AccelerationCovariance:  # fmt: skip
    """How uncertain accelerations are, in O(n), from independent standard deviations.

    Those of joint forces (nv), of (moment, force) on each body (6 per body, world axes at its joint), and of masses as a
    share of each body's (one per body).

    Example:
        >>> arm = articula.load("arm7")
        >>> from articula.operators import acceleration_covariance
        >>> found = acceleration_covariance(arm, arm.neutral(), tau_deviation=np.full(7, 0.5))
        >>> bool(np.allclose(found.joints**2, 0.25 * np.sum(arm.inverse_mass_matrix(arm.neutral()) ** 2, axis=1)))
        True
    """
    function = "acceleration_covariance"
    model = model_of(function, model)
    bodies = len(model.bodies)
    joints, of_bodies = _core._acceleration_covariance(
        model, vector(function, "q", q, model.nq), vector(function, "v", v, model.nv), vector(function, "tau", tau, model.nv),
        vector(function, "tau_deviation", tau_deviation, model.nv),
        vector(function, "wrench_deviation", wrench_deviation, 6 * bodies),
        vector(function, "mass_deviation", mass_deviation, bodies),
    )  # fmt: skip
    return AccelerationCovariance(joints, of_bodies)


H, phi, psi, M, P, D, G, K, L = (Expression(name) for name in "H phi psi M P D G K L".split())
tau_bar, E_phi, E_psi, S, R, Omega, E, rotor, Gamma, H_full, I = (  # noqa: E741
    Expression(name) for name in "tau_bar E_phi E_psi S R Omega E rotor Gamma H_full I".split()
)
root_D, H_dot, M_ring, P_ring, G_ring, K_ring, R_ring, J_ring, H_ddot, H_f = (
    Expression(name) for name in "root_D H_dot M_ring P_ring G_ring K_ring R_ring J_ring H_ddot H_f".split()
)
