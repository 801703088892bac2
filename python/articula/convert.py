"""Between Articula's conventions and those of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._arrays import as_array
from ._errors import Error
from ._model import Joint, Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["PinocchioState", "pinocchio"]


class PinocchioState(NamedTuple):
    """A state as Pinocchio has it. `order`: Pinocchio's vectors of velocities, accelerations and forces are x[..., order]."""

    q: NDArray[Any]
    v: NDArray[Any]
    order: NDArray[Any]


def _pinocchio_order(model: Model) -> list[Joint]:
    """Depth first, children by their joints' names, as urdfdom gives them to Pinocchio."""
    spec = model.spec
    joints = {joint.name: joint for joint in model.joints}
    children: dict[str, list[Any]] = {}
    for joint in spec.joints:
        children.setdefault(joint.parent, []).append(joint)
    moved = {joint.child for joint in spec.joints}
    roots = [link.name for link in spec.links if link.name not in moved] or ["world"]
    order = [model.joints[0]] if model.base == "free" else []
    ahead: list[tuple[str, str | None]] = [(root, None) for root in reversed(roots)]
    while ahead:
        link, through = ahead.pop()
        if through is not None and through in joints and joints[through] not in order:
            order.append(joints[through])
        for child in sorted(children.get(link, []), key=lambda j: str(j.name), reverse=True):
            ahead.append((child.child, child.name))
    return order


def pinocchio(model: Model, q: ArrayLike, v: ArrayLike) -> PinocchioState:
    """A state of ours as Pinocchio's model of the same URDF file has it (pin.JointModelFreeFlyer for a free base).

    What differs: Pinocchio orders joints by name among siblings, has (position, quaternion) and (v, w) for a free joint
    where we have (quaternion, position) and (w, v), and (cos, sin) for a continuous joint where we have the angle.
    Its URDF reader leaves rotor inertias out: theirs.armature = armature[order] puts them in. Jacobians' and frame velocities' rows are (v, w) there, (w, v) here: pin.LOCAL_WORLD_ALIGNED is our axes="world".

    Example:
        >>> arm = articula.load("arm7")
        >>> state = articula.convert.pinocchio(arm, arm.neutral(), np.ones(7))
        >>> state.v
        array([1., 1., 1., 1., 1., 1., 1.])
    """
    import numpy as np

    if not isinstance(model, Model):
        raise Error(f"pinocchio: model is of type {type(model).__name__}; expected an articula.Model")
    q_, v_ = as_array("pinocchio", "q", q), as_array("pinocchio", "v", v)
    for name, x, n in (("q", q_, model.nq), ("v", v_, model.nv)):
        if x.ndim < 1 or x.shape[-1] != n:
            raise Error(f"pinocchio: {name} has shape {x.shape}; expected (..., {n})")
    coordinates: list[Any] = []
    order: list[int] = []
    for joint in _pinocchio_order(model):
        mine = [q_[..., joint.q_index + i] for i in range(joint.nq)]
        rates = list(range(joint.v_index, joint.v_index + joint.nv))
        if joint.mimics >= 0:
            raise Error(f"pinocchio: joint '{joint.name}' follows another one, which Pinocchio's models do not have")
        if joint.kind == "continuous":
            coordinates += [np.cos(mine[0]), np.sin(mine[0])]
        elif joint.kind == "free":
            coordinates += mine[4:] + mine[:4]
            rates = rates[3:] + rates[:3]
        elif joint.kind == "planar":
            coordinates += [mine[1], mine[2], np.cos(mine[0]), np.sin(mine[0])]
            rates = rates[1:] + rates[:1]
        elif joint.kind in ("revolute", "prismatic", "spherical"):
            coordinates += mine
        else:
            raise Error(f"pinocchio: joint '{joint.name}' is {joint.kind}, which Pinocchio's URDF reader does not have")
        order += rates
    indices = np.array(order, dtype=np.intp)
    return PinocchioState(np.stack(coordinates, axis=-1) if coordinates else q_, v_[..., indices], indices)
