"""What models are made from: links, joints and frames, to be built and edited in Python."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, Sequence

from . import _core
from ._errors import Error
from ._model import Limits, PerFreedom

__all__ = ["FrameSpec", "JointSpec", "LinkSpec", "ModelSpec"]

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
NO_LIMITS = Limits(-math.inf, math.inf, math.inf, math.inf)


def _numbers(name: str, x: Any, count: int) -> tuple[float, ...]:
    import numpy as np

    try:
        numbers = tuple(float(n) for n in np.asarray(x, dtype=float).ravel())
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != count:
        raise Error(f"{name} is {x!r}; expected {count} numbers")
    return numbers


def _number(name: str, x: Any) -> float:
    return _numbers(name, x, 1)[0]


def _per_freedom(name: str, x: Any) -> PerFreedom:
    import numpy as np

    return _number(name, x) if np.ndim(x) == 0 else _numbers(name, x, len(x))


def _text(name: str, x: Any) -> str:
    if not isinstance(x, str):
        raise Error(f"{name} is of type {type(x).__name__}; expected text")
    return x


@dataclass
class LinkSpec:
    """A link. center_of_mass in link axes; inertia about it: xx yy zz xy xz yz."""

    name: str
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def _as_tuple(self) -> tuple[Any, ...]:
        mass = _number("mass", self.mass), _numbers("center_of_mass", self.center_of_mass, 3), _numbers("inertia", self.inertia, 6)
        return _text("name", self.name), mass, ""


@dataclass
class JointSpec:
    """A joint. rotation (nine numbers, row by row) and position: the joint at zero, in the parent's axes.

    kind: "fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar",
    "spherical" or "free". mimic: (joint, multiplier, offset).
    """

    name: str
    parent: str
    child: str
    kind: str = "revolute"
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[float] = IDENTITY
    axis: Sequence[float] = (1.0, 0.0, 0.0)
    second_axis: Sequence[float] = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    limits: Limits = NO_LIMITS
    damping: PerFreedom = 0.0
    friction: PerFreedom = 0.0
    armature: PerFreedom = 0.0
    stiffness: PerFreedom = 0.0
    spring_reference: PerFreedom = 0.0
    mimic: tuple[str, float, float] | None = None

    def _as_tuple(self) -> tuple[Any, ...]:
        mimic = None
        if self.mimic is not None:
            joint, multiplier, offset = self.mimic
            mimic = _text("mimic's joint", joint), _number("multiplier", multiplier), _number("offset", offset)
        return (
            _text("name", self.name), _text("kind", self.kind), _text("parent", self.parent), _text("child", self.child),
            (_numbers("rotation", self.rotation, 9), _numbers("position", self.position, 3)),
            _numbers("axis", self.axis, 3), _numbers("second_axis", self.second_axis, 3), _number("pitch", self.pitch),
            tuple(_per_freedom("limits", x) for x in Limits(*self.limits)), _per_freedom("damping", self.damping),
            _per_freedom("friction", self.friction), _per_freedom("armature", self.armature),
            _per_freedom("stiffness", self.stiffness), _per_freedom("spring_reference", self.spring_reference), mimic, "",
        )  # fmt: skip


@dataclass
class FrameSpec:
    """A named pose on a link."""

    name: str
    link: str
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[float] = IDENTITY

    def _as_tuple(self) -> tuple[Any, ...]:
        placement = _numbers("rotation", self.rotation, 9), _numbers("position", self.position, 3)
        return _text("name", self.name), _text("link", self.link), placement, ""


@dataclass
class ModelSpec:
    """Links, joints and frames; `articula.Model(spec)` builds the model.

    Example:
        >>> spec = articula.ModelSpec("pendulum")
        >>> spec.links.append(articula.LinkSpec("rod", mass=1.0, center_of_mass=(0, 0, -0.5)))
        >>> spec.joints.append(articula.JointSpec("hinge", "world", "rod", axis=(0, 1, 0)))
        >>> articula.Model(spec).nv
        1
    """

    name: str = "model"
    links: list[LinkSpec] = field(default_factory=list)
    joints: list[JointSpec] = field(default_factory=list)
    frames: list[FrameSpec] = field(default_factory=list)
    _beyond: tuple[Any, Any, Any] = field(default=((), (), ()), repr=False)  # motors, loops, couplings of the file

    def write_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """The specification as URDF text, and into a file if one is named."""
        text: str = _core._write_urdf(self._as_tuple())
        if path is not None:
            from .recording import write_page

            write_page("write_urdf", path, text)
        return text

    def _as_tuple(self) -> tuple[Any, ...]:
        groups = []
        for name, kind in (("links", LinkSpec), ("joints", JointSpec), ("frames", FrameSpec)):
            for x in getattr(self, name):
                if not isinstance(x, kind):
                    raise Error(f"{name} has a {type(x).__name__}; expected {kind.__name__}")
            groups.append(tuple(x._as_tuple() for x in getattr(self, name)))
        return (_text("name", self.name), *groups, *self._beyond)

    @staticmethod
    def _from_tuple(plain: tuple[Any, ...]) -> ModelSpec:
        spec = ModelSpec(plain[0])
        spec.links = [LinkSpec(name, *mass) for name, mass, _ in plain[1]]
        for j in plain[2]:
            name, kind, parent, child, (rotation, position), axis, second_axis, pitch, limits, *rest = j
            joint = JointSpec(name, parent, child, kind, position, rotation, axis, second_axis, pitch, Limits(*limits))
            joint.damping, joint.friction, joint.armature, joint.stiffness, joint.spring_reference, joint.mimic = rest[:6]
            spec.joints.append(joint)
        spec.frames = [FrameSpec(name, link, position, rotation) for name, link, (rotation, position), _ in plain[3]]
        spec._beyond = plain[4], plain[5], plain[6]
        return spec
