"""What models are made from: links, joints and frames, to be built, edited and saved in Python."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, Sequence

from . import _core
from ._arrays import as_array
from ._errors import Error
from ._model import Limits, PerFreedom

__all__ = ["FrameSpec", "JointSpec", "LinkSpec", "ModelSpec"]

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
NO_LIMITS = Limits(-math.inf, math.inf, math.inf, math.inf)


def _numbers(name: str, x: Any, count: int | None = None) -> tuple[float, ...]:
    try:
        numbers = tuple(float(n) for n in as_array("specification", name, x).ravel())
    except Error:
        numbers = ()
    if len(numbers) != count and (count is not None or not numbers):
        raise Error(f"{name} is {x!r}; expected {count or 'some'} numbers")
    return numbers


def _number(name: str, x: Any) -> float:
    return _numbers(name, x, 1)[0]


def _per_freedom(name: str, x: Any) -> PerFreedom:
    numbers = _numbers(name, x)
    return numbers[0] if len(numbers) == 1 else numbers


def _text(name: str, x: Any) -> str:
    if not isinstance(x, str):
        raise Error(f"{name} is of type {type(x).__name__}; expected text")
    return x


def _pose(position: Any, rotation: Any) -> tuple[Any, Any]:
    return _numbers("rotation", rotation, 9), _numbers("position", position, 3)


def _mass(mass: Any, center_of_mass: Any, inertia: Any) -> tuple[Any, Any, Any]:
    return _number("mass", mass), _numbers("center_of_mass", center_of_mass, 3), _numbers("inertia", inertia, 6)


def _limits(limits: Any) -> tuple[PerFreedom, ...]:
    try:
        return tuple(_per_freedom("limits", x) for x in Limits(*limits))
    except TypeError:
        raise Error(f"limits is {limits!r}; expected articula.Limits") from None


@dataclass
class LinkSpec:
    """A link. center_of_mass in link axes; inertia about it: xx yy zz xy xz yz."""

    name: str
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def _as_tuple(self) -> tuple[Any, ...]:
        return _text("name", self.name), _mass(self.mass, self.center_of_mass, self.inertia), ""


@dataclass
class JointSpec:
    """A joint. rotation (nine numbers, row by row) and position: the joint at zero, in the parent's axes.

    kind: "fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar",
    "spherical", "free" or "translational". mimic: (joint, multiplier, offset).
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
            _pose(self.position, self.rotation),
            _numbers("axis", self.axis, 3), _numbers("second_axis", self.second_axis, 3), _number("pitch", self.pitch),
            _limits(self.limits), _per_freedom("damping", self.damping),
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
        return _text("name", self.name), _text("link", self.link), _pose(self.position, self.rotation), ""


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
        text: str = _core._write_model(self._as_tuple(), "model.urdf")
        if path is not None:
            from .recording import write_page

            write_page("write_urdf", path, text)
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into a file, by its ending: .urdf, .sdf or .world, .mjcf or .xml."""
        from .recording import path_of, write_page

        write_page("save", path, _core._write_model(self._as_tuple(), path_of("save", path)))

    # --- edits. Each keeps every link's frame where it is, and every other name and number as it was; links, joints and
    # frames are new records afterwards. Wrong names are an Error, and the specification is then as it was.
    def _edit(self, edit: Any, *given: Any) -> None:
        edited = ModelSpec._from_tuple(edit(self._as_tuple(), *given))
        self.links, self.joints, self.frames, self._beyond = edited.links, edited.joints, edited.frames, edited._beyond

    def lock_joint(self, joint: str, q: float | Sequence[float] = 0.0) -> None:
        """Holds a joint at its coordinates q: it becomes fixed, and so do those that follow it, by mimic or coupling.

        Example:
            >>> arm = articula.load("arm7")
            >>> spec = arm.spec
            >>> spec.lock_joint("wrist_roll", 0.3)
            >>> at = np.append(np.ones(6), 0.3)
            >>> np.allclose(articula.Model(spec).mass_matrix(np.ones(6)), arm.mass_matrix(at)[:6, :6])
            True
        """
        at = _per_freedom("q", q)
        self._edit(_core._lock_joint, _text("joint", joint), at if isinstance(at, tuple) else (at,))

    def remove_link(self, link: str) -> None:
        """Takes a link away with all that hangs from it, and what is said of either."""
        self._edit(_core._remove_link, _text("link", link))

    def rename(self, part: str, old: str, new: str) -> None:
        """Everywhere that the name occurs; part: "link", "joint" or "frame"."""
        self._edit(_core._rename, _text("part", part), _text("old", old), _text("new", new))

    def add_prefix(self, prefix: str) -> None:
        """Before the names of all links, joints, frames, and what else the file names."""
        self._edit(_core._add_prefix, _text("prefix", prefix))

    def attach(
        self, other: ModelSpec, frame: str, prefix: str = "", position: Sequence[float] = (0.0, 0.0, 0.0),
        rotation: Sequence[float] = IDENTITY,
    ) -> None:  # fmt: skip
        """Puts another model on a link or frame, at that pose in its axes; the other's names get the prefix.

        Example:
            >>> spec = articula.load("arm7").spec
            >>> spec.attach(articula.load("double_pendulum").spec, "flange", prefix="tool_")
            >>> articula.Model(spec).nv
            9
        """
        if not isinstance(other, ModelSpec):
            raise Error(f"attach: other is of type {type(other).__name__}; expected an articula.ModelSpec")
        self._edit(_core._attach, other._as_tuple(), _text("frame", frame), _text("prefix", prefix), _pose(position, rotation))

    def set_root(self, link: str) -> None:
        """Makes a link the root: joints on the way are turned around, with the same coordinates."""
        self._edit(_core._set_root, _text("link", link))

    def add_frame(
        self, name: str, on: str, position: Sequence[float] = (0.0, 0.0, 0.0), rotation: Sequence[float] = IDENTITY
    ) -> None:
        """A frame at that pose on a link or on another frame."""
        self._edit(_core._add_frame, _text("name", name), _text("on", on), _pose(position, rotation))

    def add_payload(
        self, frame: str, mass: float, center_of_mass: Sequence[float] = (0.0, 0.0, 0.0),
        inertia: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), *, name: str = "",
    ) -> None:  # fmt: skip
        """A link of this mass, welded to a link or frame; called "payload" ("payload2", ..) unless named."""
        self._edit(_core._add_payload, _text("frame", frame), _mass(mass, center_of_mass, inertia), _text("name", name))

    def add_rotor(self, joint: str, inertia: float, gear_ratio: float = 1.0) -> None:
        """Adds to the joint's armature what a rotor gives that turns `gear_ratio` times as fast as the joint."""
        self._edit(_core._add_rotor, _text("joint", joint), _number("inertia", inertia), _number("gear_ratio", gear_ratio))

    def scale(self, length: float, mass: float | None = None) -> None:
        """Every length times `length`, every mass times `mass`: length^3, the same stuff in another size, unless given."""
        size = _number("length", length)
        self._edit(_core._scale, size, size**3 if mass is None else _number("mass", mass))

    def split_joints(self, kinds: Sequence[str] = ()) -> None:
        """Joints of these kinds as ones of one freedom each, NAME, NAME_2, ..; the coordinates stay, in their order.

        Without kinds: all that can be split, universal, cylindrical and helical ones and others of several axes.
        """
        if isinstance(kinds, str) or not isinstance(kinds, Sequence):
            raise Error(f"split_joints: kinds is {kinds!r}; expected names of kinds")
        self._edit(_core._split_joints, [_text("a kind", kind) for kind in kinds])

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
