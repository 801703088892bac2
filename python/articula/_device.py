"""Calls on arrays that live on a GPU: from the arrays of torch, JAX, CuPy and others to addresses, and back."""

from __future__ import annotations

import math
import sys
import weakref
from typing import Any

from . import _core
from ._errors import Error

used: weakref.WeakSet[Any] = weakref.WeakSet()  # models that have been


class Array:
    """Numbers on a GPU that belong to nobody else's library; torch, JAX and CuPy take it by `from_dlpack`, others by
    `__cuda_array_interface__`."""

    def __init__(self, shape: tuple[int, ...], kind: str, device: int) -> None:
        self.shape, self.dtype, self._device = shape, kind, device
        self._made, self._address = _core._device_empty(kind == "float32", device, list(shape))

    def __dlpack__(self, **options: Any) -> Any:
        return self._made.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": "<f4" if self.dtype == "float32" else "<f8", "data": (self._address, False), "version": 3, "strides": None}

    def __repr__(self) -> str:
        return f"articula.cuda.Array(shape={self.shape}, {self.dtype}, GPU {self._device})"


def lives_on_gpu(x: Any) -> bool:
    """Whether an argument is an array in the memory of a GPU."""
    if type(x).__module__ == "numpy" or isinstance(x, (list, tuple, float, int)):
        return False
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[0]) in (2, 13)  # CUDA's own and managed memory
    return hasattr(x, "__cuda_array_interface__")


class _Library:
    """How one library's arrays are read and made. This one: whatever has `__cuda_array_interface__`, as it is."""

    waits = True  # for the results: the library does not know the stream

    def __init__(self, example: Any) -> None:
        self.device = int(example.__dlpack_device__()[1]) if hasattr(example, "__dlpack_device__") else 0

    def stream(self, x: Any) -> int:
        return int(x.__cuda_array_interface__.get("stream") or 0)

    def kind(self, x: Any) -> str:
        kind = str(x.__cuda_array_interface__["typestr"])
        return {"f4": "float32", "f8": "float64"}.get(kind[1:], kind)

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.__cuda_array_interface__["shape"])

    def here(self, x: Any) -> Any:
        raise Error("expected all arrays on the GPU")

    def plain(self, x: Any, shape: tuple[int, ...], kind: str) -> Any:
        about = x.__cuda_array_interface__
        if self.kind(x) != kind or tuple(about["shape"]) != shape or about.get("strides"):
            raise Error(f"expected a contiguous array of {kind}, shape {shape}; convert it by its own library")
        return x

    def address(self, x: Any) -> int:
        return int(x.__cuda_array_interface__["data"][0])

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        return Array(shape, kind, self.device)

    def result(self, x: Any) -> Any:
        return x

    def whole(self, x: Any) -> Any:
        return x

    def by_columns(self, x: Any) -> bool:
        """Whether neighbouring states are neighbours in memory: shape (B, n), each number of all states in a row."""
        return False

    def columns(self, shape: tuple[int, ...], kind: str) -> Any:
        raise NotImplementedError


class _Torch(_Library):
    waits = False

    def __init__(self, example: Any) -> None:
        self.torch = sys.modules["torch"]
        self.where = example.device
        self.device = int(example.device.index or 0)

    def stream(self, x: Any) -> int:
        return int(self.torch.cuda.current_stream(self.where).cuda_stream)

    def kind(self, x: Any) -> str:
        return str(x.dtype).removeprefix("torch.")

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def here(self, x: Any) -> Any:
        return self.torch.as_tensor(x, device=self.where)

    def plain(self, x: Any, shape: tuple[int, ...], kind: str) -> Any:
        return x.detach().to(getattr(self.torch, kind)).expand(shape).contiguous()

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        return self.torch.empty(shape, dtype=getattr(self.torch, kind), device=self.where)

    def whole(self, x: Any) -> Any:
        return x.to(self.torch.int64)

    def by_columns(self, x: Any) -> bool:
        return bool(x.dim() == 2 and x.shape[0] > 1 and x.stride() == (1, x.shape[0]))

    def columns(self, shape: tuple[int, ...], kind: str) -> Any:
        return self.empty((*shape[1:], shape[0]), kind).permute(len(shape) - 1, *range(len(shape) - 1))


class _Cupy(_Library):
    waits = False

    def __init__(self, example: Any) -> None:
        self.cupy = sys.modules["cupy"]
        self.device = int(example.device.id)

    def stream(self, x: Any) -> int:
        return int(self.cupy.cuda.get_current_stream().ptr)

    def kind(self, x: Any) -> str:
        return str(x.dtype)

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def here(self, x: Any) -> Any:
        return self.cupy.asarray(x)

    def plain(self, x: Any, shape: tuple[int, ...], kind: str) -> Any:
        return self.cupy.ascontiguousarray(self.cupy.broadcast_to(x, shape), dtype=kind)

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        return self.cupy.empty(shape, kind)

    def whole(self, x: Any) -> Any:
        return x.astype("int64")

    def by_columns(self, x: Any) -> bool:
        return bool(x.ndim == 2 and x.shape[0] > 1 and x.T.flags.c_contiguous)

    def columns(self, shape: tuple[int, ...], kind: str) -> Any:
        return self.cupy.moveaxis(self.cupy.empty((*shape[1:], shape[0]), kind), -1, 0)


class _Jax(_Library):
    def __init__(self, example: Any) -> None:
        self.jax = sys.modules["jax"]
        self.where = next(iter(example.devices()))
        self.device = int(self.where.local_hardware_id if self.where.local_hardware_id is not None else self.where.id)

    def stream(self, x: Any) -> int:
        return 0

    def kind(self, x: Any) -> str:
        return str(x.dtype)

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def here(self, x: Any) -> Any:
        return self.jax.device_put(x, self.where)

    def plain(self, x: Any, shape: tuple[int, ...], kind: str) -> Any:
        return self.jax.numpy.broadcast_to(x.astype(kind), shape).block_until_ready()

    def address(self, x: Any) -> int:
        return x._address if isinstance(x, Array) else int(x.unsafe_buffer_pointer())

    def result(self, x: Any) -> Any:
        return self.jax.numpy.from_dlpack(x)

    def whole(self, x: Any) -> Any:
        return x.astype("int32")


def _library_of(x: Any) -> _Library:
    name = type(x).__module__.partition(".")[0]
    return {"torch": _Torch, "cupy": _Cupy, "jax": _Jax, "jaxlib": _Jax}.get(name, _Library)(x)


def _gathered(name: str, given: dict[str, Any], last_of: dict[str, tuple[int, ...]]) -> tuple[_Library, Any, dict[str, Any], str, tuple[int, ...]]:
    """The library of what was given, its first array on the GPU, all arrays there, their kind of number, and the dimensions
    before those of one state."""
    from ._arrays import common_shape

    first = next(x for argument, x in given.items() if argument in last_of and lives_on_gpu(x))
    library = _library_of(first)
    arrays: dict[str, Any] = {}
    for argument in last_of:
        x = given[argument]
        try:
            if not lives_on_gpu(x):
                x = library.here(x)
            elif type(_library_of(x)) is not type(library) or _library_of(x).device != library.device:
                raise Error("expected arrays of one library on one GPU")
            if library.kind(x) not in ("float32", "float64", "int32", "int64"):
                raise Error(f"expected float64 or float32, not {library.kind(x)}")
        except Error as error:
            raise Error(f"{name}: {argument}: {error}") from None
        arrays[argument] = x
    kinds = [library.kind(x) for argument, x in arrays.items() if hasattr(given[argument], "dtype") or lives_on_gpu(given[argument])]
    kind = "float32" if all(k == "float32" for k in kinds) else "float64"
    return library, first, arrays, kind, common_shape(name, [(argument, library.shape(x), last_of[argument]) for argument, x in arrays.items()])


def _plain(library: _Library, name: str, arrays: dict[str, Any], leading: tuple[int, ...], last_of: dict[str, tuple[int, ...]], kind: str) -> dict[str, Any]:
    try:
        return {a: library.plain(x, leading + last_of[a], kind) for a, x in arrays.items()}
    except Error as error:
        raise Error(f"{name}: {error}") from None


def _addresses(library: _Library, arrays: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {a: (library.address(x), math.prod(library.shape(x))) for a, x in arrays.items()}


def _done(model: Any, library: _Library) -> None:
    used.add(model)
    if library.waits:
        _core._device_check(model)


def _dimensions(x: Any) -> int:
    import numpy as np

    return len(_library_of(x).shape(x) if lives_on_gpu(x) else np.shape(x))


def rollout(model: Any, given: dict[str, Any], step: float, steps: int, every: int, integrator: str, damping: bool) -> tuple[Any, Any]:
    """Paths of q and v; given: q, v and, where there are forces, tau, held or of each step."""
    one: dict[str, tuple[int, ...]] = {"q": (model.nq,), "v": (model.nv,)}
    if "tau" in given:
        dimensions = {a: _dimensions(x) for a, x in given.items()}
        one["tau"] = (steps, model.nv) if dimensions["tau"] == max(dimensions["q"], dimensions["v"]) + 1 else (model.nv,)
    library, first, arrays, kind, leading = _gathered("rollout", given, one)
    if steps % every:
        raise Error(f"rollout: steps is {steps} and every {every}; expected steps a multiple of every")
    arrays = _plain(library, "rollout", arrays, leading, one, kind)
    paths = [library.empty((*leading, steps // every, n), kind) for n in (model.nq, model.nv)]
    if math.prod(leading) > 0:
        _core._device_rollout(
            model, kind == "float32", library.device, library.stream(first), _addresses(library, arrays),
            [(library.address(x), math.prod(leading) * (steps // every) * n) for x, n in zip(paths, (model.nq, model.nv))],
            step, steps, every, integrator, damping,
        )  # fmt: skip
        _done(model, library)
    return library.result(paths[0]), library.result(paths[1])


def call(model: Any, name: str, about: dict[str, Any], given: dict[str, Any], last_of: dict[str, tuple[int, ...]]) -> list[Any]:
    """The results of an algorithm, one for each part. last_of: the arrays among what was given, and the dimensions of one
    state."""
    if given.get("method", "automatic") != "automatic":
        raise Error(f"{name}: method is {given['method']!r}; on a GPU there is one, \"automatic\"")
    library, first, arrays, kind, leading = _gathered(name, given, last_of)
    count = math.prod(leading)
    columns = len(leading) == 1 and all(
        library.by_columns(x) and library.kind(x) == kind and library.shape(x)[0] == count for x in arrays.values()
    )
    if not columns:
        arrays = _plain(library, name, arrays, leading, last_of, kind)
    frames = given.get("frame", ())
    if isinstance(frames, (str, int)) or hasattr(frames, "__index__"):
        frames = (frames,)
    shapes = [leading + tuple(shape) for shape in _core._shapes(model, name, len(frames) or 1)]
    results = _results(library, name, about, given.get("out"), shapes, kind, columns)
    if count > 0:
        _core._device_compute(
            model, name, kind == "float32", library.device, library.stream(first), columns,
            _addresses(library, arrays), [(library.address(x), math.prod(shape)) for x, shape in zip(results, shapes)], list(frames), "world" if given.get("axes") is None else given["axes"],
        )  # fmt: skip
        _done(model, library)
    made = [library.result(x) for x in results]
    return [library.whole(x) if whole else x for x, (_, _, whole) in zip(made, about["parts"])]


def _results(library: _Library, name: str, about: dict[str, Any], out: Any, shapes: list[tuple[int, ...]], kind: str, columns: bool) -> list[Any]:
    """The arrays that were given for the results, checked; or new ones."""
    make = library.columns if columns else library.empty
    if out is None:
        return [make(shape, kind) for shape in shapes]
    parts = [out] if len(shapes) == 1 else list(out) if isinstance(out, (tuple, list)) else []
    if len(parts) != len(shapes):
        raise Error(f"{name}: out: expected a tuple of {len(shapes)} arrays")
    if columns or any(whole for _, _, whole in about["parts"]) or type(library) is _Jax:
        raise Error(f"{name}: out: on a GPU only for arrays of floats by rows, of a library whose arrays can be written")
    for x, shape in zip(parts, shapes):
        if not lives_on_gpu(x) or library.kind(x) != kind or library.shape(x) != shape or library.plain(x, shape, kind) is not x and library.address(library.plain(x, shape, kind)) != library.address(x):
            raise Error(f"{name}: out: expected contiguous arrays on the GPU of {kind} and shape {shape}")
    return parts
