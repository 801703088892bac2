"""From whatever is given as an array to what the compiled part takes: contiguous NumPy arrays of one kind and shape."""

from __future__ import annotations

import sys
from typing import Any

from . import _core, _device, results
from ._errors import Error

_described: dict[str, dict[str, Any]] = {a["name"]: a for a in _core.algorithms()}


_LIBRARIES = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "cupy": "cupy"}


def _foreign(x: Any) -> str | None:
    """The library whose array it is, if results should be that library's."""
    return _LIBRARIES.get(type(x).__module__.partition(".")[0])


def as_given(array: Any, *given: Any) -> Any:
    """A result as an array of the library, and on the device, of the first argument that is not NumPy's; on the processor
    without a copy."""
    for x in given:
        library = _foreign(x)
        if library == "torch":
            made = sys.modules["torch"].from_numpy(array)
            return made if x.device.type == "cpu" else made.to(x.device)
        if library == "jax":
            device = next(iter(x.devices()), None) if hasattr(x, "devices") else None
            made = sys.modules["jax.numpy"].from_dlpack(array) if array.size and array.dtype != "float64" else sys.modules["jax.numpy"].asarray(array)
            return made if device is None or device.platform == "cpu" else sys.modules["jax"].device_put(made, device)
        if library == "cupy":
            return sys.modules["cupy"].asarray(array)
    return array


def as_array(function: str, name: str, x: Any) -> Any:
    """Any array-like of real numbers as a NumPy array of float64 or float32."""
    import numpy as np

    try:
        if _foreign(x) == "torch":
            array = x.detach().cpu().numpy()
        elif _foreign(x) == "cupy":
            array = x.get()
        elif hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
            array = np.from_dlpack(x)
        else:
            array = np.asarray(x)
    except Exception as error:
        raise Error(f"{function}: {name} is of type {type(x).__name__}; expected an array of numbers ({error})") from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise Error(f"{function}: {name} is an array of {array.dtype}; expected float64 or float32")
    return array


def common_kind(given: list[tuple[Any, Any]]) -> Any:
    """float32 if all that say a kind say so; `given`: what was given beside the array that it became."""
    import numpy as np

    kinds = [array.dtype for x, array in given if hasattr(x, "dtype") and array.dtype.kind == "f"]
    return np.float32 if kinds and all(kind == np.float32 for kind in kinds) else np.float64


def common_shape(function: str, shapes: list[tuple[str, tuple[int, ...], tuple[int, ...]]]) -> tuple[int, ...]:
    """The leading dimensions of all. `shapes`: name, shape, and the last dimensions that are expected."""
    import numpy as np

    leading = []
    for name, shape, last in shapes:
        if len(shape) < len(last) or shape[len(shape) - len(last) :] != last:
            numbers = ", ".join(map(str, last)) + ("," if len(last) == 1 else "")
            raise Error(
                f"{function}: {name} has shape {shape}; expected ({numbers}) for one state "
                f"or (..., {numbers.rstrip(',')}) for many"
            )
        leading.append(shape[: len(shape) - len(last)])
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape, _ in shapes)
        raise Error(f"{function}: shapes do not go together: {told}; expected the same leading dimensions") from None


def rows(array: Any, leading: tuple[int, ...], last: tuple[int, ...], kind: Any) -> Any:
    """A plain array of all states, one after the other; without leading dimensions, of the one state."""
    import numpy as np

    whole = np.broadcast_to(array, leading + last)
    shape = (-1, *last) if leading and 0 not in leading + last else (int(np.prod(leading)), *last) if leading else last
    return np.require(whole.reshape(shape), dtype=kind, requirements=["C", "A"])


def _check_out(function: str, key: str, out: Any, shape: tuple[int, ...], kind: Any) -> None:
    import numpy as np

    if not isinstance(out, np.ndarray):
        raise Error(f"{function}: {key} is of type {type(out).__name__}; expected a NumPy array of shape {shape}")
    if out.dtype != kind:
        raise Error(f"{function}: {key} is an array of {out.dtype}; expected {np.dtype(kind)}, as the arguments are")
    if out.shape != shape:
        raise Error(f"{function}: {key} has shape {out.shape}; expected {shape}")
    if not out.flags.writeable:
        raise Error(f"{function}: {key} is read-only; expected an array that can be written")


def call(model: Any, name: str, given: dict[str, Any]) -> Any:
    """What a method does whose arguments are not plain arrays already."""
    import numpy as np

    about = _described[name]
    body_count = len(model._bodies())
    last_of: dict[str, tuple[int, ...]] = {
        argument: (body_count, 6) if argument == "wrenches" else (model.nq if argument == "q" else model.nv,)
        for argument in (*about["arguments"], "wrenches")
        if argument in given
    }
    if any(_device.lives_on_gpu(given[argument]) for argument in last_of):
        made = _device.call(model, name, about, given, last_of)
        return made[0] if len(made) == 1 else results.by_algorithm[name](*made)
    arrays: list[tuple[str, Any, Any, tuple[int, ...]]] = []
    for argument, last in last_of.items():
        x = given[argument]
        arrays.append((argument, x, as_array(name, argument, x), last))
    kind = common_kind([(x, array) for _, x, array, _ in arrays])
    leading = common_shape(name, [(argument, array.shape, last) for argument, _, array, last in arrays])
    plain = {argument: rows(array, leading, last, kind) for argument, _, array, last in arrays}
    options = {key: given[key] for key in ("frame", "axes", "method", "threads") if key in given}

    frame_count = 1
    if about["frames"] == "several" and not isinstance(given["frame"], (str, int, np.integer)):
        try:
            frame_count = len(given["frame"])
        except TypeError:
            raise Error(f"{name}: frame is of type {type(given['frame']).__name__}; expected names or indices") from None
    shapes: list[tuple[int, ...]] = _core._shapes(model, name, frame_count)
    whole = [is_whole for _, _, is_whole in about["parts"]]
    parts = _results(name, about, given.get("out"), leading, shapes, kind)
    plain_parts = []
    for part, shape, is_whole in zip(parts, shapes, whole):
        lead = (int(np.prod(leading)),) if leading else ()
        if is_whole or not part.flags.c_contiguous or not part.flags.aligned:
            plain_parts.append(np.empty(lead + shape, kind))
        elif any(np.may_share_memory(part, x) for x in plain.values()):
            plain_parts.append(np.empty(lead + shape, kind))
        else:
            plain_parts.append(part.reshape(lead + shape).view(np.ndarray))
    out = plain_parts[0] if len(parts) == 1 else tuple(plain_parts)
    _core._compute(model, name, **plain, **options, out=out)
    for part, plain_part in zip(parts, plain_parts):
        if not np.may_share_memory(part, plain_part):
            part[...] = plain_part.reshape(part.shape)

    if given.get("out") is None:
        made = [as_given(part, *(x for _, x, _, _ in arrays)) for part in parts]
        parts = [part[()] if result is part and part.ndim == 0 else result for result, part in zip(made, parts)]
    return parts[0] if len(parts) == 1 else results.by_algorithm[name](*parts)


def _results(
    name: str, about: dict[str, Any], out: Any, leading: tuple[int, ...], shapes: list[tuple[int, ...]], kind: Any
) -> list[Any]:
    """The arrays that were given for the results, checked; or new ones."""
    import numpy as np

    kinds = [np.int64 if whole else kind for _, _, whole in about["parts"]]
    if out is None:
        return [np.empty(leading + shape, k) for shape, k in zip(shapes, kinds)]
    if len(shapes) == 1:
        parts, keys = [out], ["out"]
    else:
        keys = [f"out '{key}'" for key, _, _ in about["parts"]]
        if not isinstance(out, (tuple, list)) or len(out) != len(keys):
            told = f"{len(out)} arrays" if isinstance(out, (tuple, list)) else f"of type {type(out).__name__}"
            raise Error(f"{name}: out is {told}; expected a tuple of {len(keys)} arrays: {', '.join(k for k, _, _ in about['parts'])}")
        parts = list(out)
    for part, key, shape, k in zip(parts, keys, shapes, kinds):
        _check_out(name, key, part, leading + shape, k)
    return parts
