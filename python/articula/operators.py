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
from .recording import model_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model


__all__ = [
    "B", "D", "E", "E_phi", "E_psi", "Expression", "G", "Gamma", "H", "H_full", "I", "IdentityResidual", "K", "L", "M", "Omega",
    "Operator", "P", "R", "S", "identities", "inv", "phi", "psi", "rotor", "star", "tau_bar",
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

    def at(self, model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Operator:
        """The operator at a state of a model."""
        return Operator(self, model, q, v)

    def __repr__(self) -> str:
        return f"<articula.operators: {self.text}>"


class Operator:
    """An expression at a state: `operator @ x`, `dense()`, `shape`."""

    def __init__(self, expression: Expression, model: Model, q: ArrayLike, v: ArrayLike | None = None) -> None:
        model = model_of("operators", model)
        speeds = None if v is None else vector("operators", "v", v, model.nv)
        self.expression = _expression(expression)
        self._at = _core._OperatorAt(model, expression.text, vector("operators", "q", q, model.nq), speeds)

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


def identities(model: Model, q: ArrayLike, v: ArrayLike | None = None, *, seed: int = 1) -> list[IdentityResidual]:
    """Every identity of the algebra, checked at a state."""
    model = model_of("identities", model)
    at, speeds = vector("identities", "q", q, model.nq), vector("identities", "v", v, model.nv)
    return [IdentityResidual(*entry) for entry in _core._identities(model, at, speeds, whole("identities", "seed", seed, 0, 2**64 - 1))]


H, phi, psi, M, P, D, G, K, L = (Expression(name) for name in "H phi psi M P D G K L".split())
tau_bar, E_phi, E_psi, S, R, Omega, E, rotor, Gamma, H_full, I = (  # noqa: E741
    Expression(name) for name in "tau_bar E_phi E_psi S R Omega E rotor Gamma H_full I".split()
)
