"""GPUs: what is there, and calls on arrays that live on one.

The methods of a model take arrays of torch, JAX and CuPy that live on a GPU, and whatever has
`__cuda_array_interface__`; they compute there, on the caller's stream, and give arrays of the same kind (docs/gpu.md).

    >>> articula.cuda.available()                        # doctest: +SKIP
    True
    >>> q = torch.rand(100_000, 7, device="cuda")        # doctest: +SKIP
    >>> arm.gravity_forces(q).device                     # doctest: +SKIP
    device(type='cuda', index=0)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core, _device
from ._device import Array

__all__ = ["Array", "Device", "available", "check", "devices", "missing"]


class Device(NamedTuple):
    """A GPU."""

    number: int
    name: str
    capability: tuple[int, int]
    memory: int
    processors: int


def devices() -> tuple[Device, ...]:
    """All GPUs; none where there is no driver."""
    return tuple(
        Device(number, name, (major, minor), memory, processors)
        for number, name, major, minor, memory, processors in _core._devices()
    )


def missing() -> str:
    """What is missing to compute on a GPU, driver or compiler; empty: nothing."""
    return str(_core._device_missing())


def available() -> bool:
    """Whether there is a GPU, and a compiler for it."""
    return not missing()


def check() -> None:
    """Waits for all calls on GPUs. SingularError names the first state in which some joint has nothing to move: its results
    are NaN, all others are done."""
    for model in list(_device.used):
        _core._device_check(model)


def __dir__() -> list[Any]:
    return sorted(__all__)
