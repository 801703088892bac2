"""Models from Denavit-Hartenberg tables, and from screw axes as "Modern Robotics" has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Limits
from .spec import IDENTITY, NO_LIMITS, ModelSpec, _limits, _mass, _number, _numbers, _pose, _text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DhRow", "DhTable", "MassProperties", "ScrewChain", "ScrewLink", "mass_properties", "spec_of"]


@dataclass
class DhRow:
    """One joint and the link that it moves. The coordinate is added to theta, or, if kind is "prismatic", to d.

    center_of_mass and inertia (about it: xx yy zz xy xz yz) are in the axes of the row's DH frame.
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: str = "revolute"
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    limits: Limits = NO_LIMITS
    joint_name: str = ""
    link_name: str = ""

    def _as_tuple(self) -> tuple[Any, ...]:
        sizes = (_number(name, getattr(self, name)) for name in ("a", "alpha", "d", "theta"))
        return (*sizes, _text("kind", self.kind), _mass(self.mass, self.center_of_mass, self.inertia), *_rest(self))


@dataclass
class DhTable:
    """A Denavit-Hartenberg table; `spec_of` makes a specification of it.

    convention: "standard", frame i at the far end of link i, Rz(theta) Tz(d) Tx(a) Rx(alpha); or "modified", Craig's, frame
    i at joint i, Rx(alpha) Tx(a) Rz(theta) Tz(d). base_..: DH frame 0 in the base link; tool_..: the tool in the last one.
    """

    name: str = "dh_table"
    convention: str = "standard"
    rows: list[DhRow] = field(default_factory=list)
    base_position: Sequence[float] = (0.0, 0.0, 0.0)
    base_rotation: Sequence[float] = IDENTITY
    tool_position: Sequence[float] = (0.0, 0.0, 0.0)
    tool_rotation: Sequence[float] = IDENTITY


@dataclass
class ScrewLink:
    """Joint i and link i of a product of exponentials, T_0i = exp([S_1] q_1) .. exp([S_i] q_i) M_i.

    screw: S_i = (w, v) in the space frame at zero; |w| = 1, or w = 0 and |v| = 1. position, rotation: M_i, the link frame in
    the space frame at zero. center_of_mass and inertia are in that frame.
    """

    screw: Sequence[float] = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[float] = IDENTITY
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    limits: Limits = NO_LIMITS
    joint_name: str = ""
    link_name: str = ""

    def _as_tuple(self) -> tuple[Any, ...]:
        mass = _mass(self.mass, self.center_of_mass, self.inertia)
        return (_numbers("screw", self.screw, 6), _pose(self.position, self.rotation), mass, *_rest(self))


@dataclass
class ScrewChain:
    """A chain by its screw axes; `spec_of` makes a specification of it. tool_..: M, the tool in the space frame at zero."""

    name: str = "screw_chain"
    links: list[ScrewLink] = field(default_factory=list)
    tool_position: Sequence[float] = (0.0, 0.0, 0.0)
    tool_rotation: Sequence[float] = IDENTITY


class MassProperties(NamedTuple):
    """Mass, mass centre, and inertia about it: xx yy zz xy xz yz; link axes."""

    mass: float
    center_of_mass: tuple[float, ...]
    inertia: tuple[float, ...]


def _rest(row: DhRow | ScrewLink) -> tuple[Any, ...]:
    """What rows of both kinds end with."""
    numbers = (_number(name, getattr(row, name)) for name in ("armature", "damping", "friction"))
    return (*numbers, _limits(row.limits), _text("joint_name", row.joint_name), _text("link_name", row.link_name))


def _rows(name: str, rows: Any, kind: type) -> list[Any]:
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, kind) for row in rows):
        raise Error(f"spec_of: {name} is {rows!r}; expected a list of {kind.__name__}")
    return [row._as_tuple() for row in rows]


def spec_of(table: DhTable | ScrewChain) -> ModelSpec:
    """What a model is made from, of a table or a chain of screws.

    Links are "base", "link1", .., each with its frame at its joint, unless rows name them. The frames of the table are kept
    as "dh0", "dh1", .., those of a chain of screws as "frame1", .., and the tool's as "tool". Raises ModelError, which names
    the row that cannot be used.

    Example:
        >>> rows = [articula.DhRow(a=0.4, mass=1.0, center_of_mass=(-0.2, 0, 0)), articula.DhRow(a=0.3, mass=1.0)]
        >>> planar = articula.Model(articula.spec_of(articula.DhTable(rows=rows)))
        >>> planar.pose([0.0, 0.0], frame="tool").position
        array([0.7, 0. , 0. ])
    """
    if isinstance(table, DhTable):
        if table.convention not in ("standard", "modified"):
            raise Error(f'spec_of: convention is {table.convention!r}; expected "standard" or "modified"')
        base, tool = _pose(table.base_position, table.base_rotation), _pose(table.tool_position, table.tool_rotation)
        rows = _rows("rows", table.rows, DhRow)
        return ModelSpec._from_tuple(_core._spec_of_dh(_text("name", table.name), table.convention == "modified", rows, base, tool))
    if isinstance(table, ScrewChain):
        tool, links = _pose(table.tool_position, table.tool_rotation), _rows("links", table.links, ScrewLink)
        return ModelSpec._from_tuple(_core._spec_of_screws(_text("name", table.name), links, tool))
    raise Error(f"spec_of: table is of type {type(table).__name__}; expected a DhTable or a ScrewChain")


def mass_properties(G: ArrayLike) -> MassProperties:
    """Of a spatial inertia G = [[J, m p~], [-m p~, m Id]], 6 x 6, rotation first, as "Modern Robotics" has them.

    Example:
        >>> articula.mass_properties(np.diag([0.1, 0.2, 0.25, 3.0, 3.0, 3.0])).mass
        3.0
    """
    numbers = as_array("mass_properties", "G", G)
    if numbers.shape != (6, 6):
        raise Error(f"mass_properties: G has shape {numbers.shape}; expected (6, 6)")
    return MassProperties(*_core._mass_properties([float(x) for x in numbers.ravel()]))
