"""Work in pieces on the workers of an executor: threads, processes, MPI (mpi4py.futures), Dask, Ray's pool, joblib."""

from __future__ import annotations

import importlib
import pickle
from typing import Any, Callable, Sequence

from ._errors import Error

_tasks: dict[bytes, Any] = {}  # of this worker, by their text: a model is made once, not for each piece


def work(task: bytes, *piece: Any) -> Any:
    """On a worker: the task's function of what all pieces share and of this one."""
    if task not in _tasks:
        while len(_tasks) >= 8:
            _tasks.pop(next(iter(_tasks)))
        _tasks[task] = pickle.loads(task)
    function, shared = _tasks[task]
    return function(*shared, *piece)


def _pickled(name: str, task: Any) -> bytes:
    try:
        return pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        try:
            return bytes(importlib.import_module("cloudpickle").dumps(task))  # functions that have no name in a module
        except ImportError:
            raise Error(f"{name}: what the workers need cannot be pickled ({error}); install cloudpickle, or name controllers in a module") from None


def share_out(name: str, executor: Any, function: Callable[..., Any], shared: Sequence[Any], pieces: Sequence[tuple[Any, ...]], told: Any) -> list[Any]:
    """What the function gives for each piece, in their order. Progress is told; Ctrl-C and errors cancel what has not begun."""
    task = _pickled(name, (function, tuple(shared)))
    if hasattr(executor, "submit"):  # concurrent.futures, mpi4py.futures, Dask
        options = {"pure": False} if type(executor).__module__.startswith("distributed") else {}
        waiting = [executor.submit(work, task, *piece, **options) for piece in pieces]
        finish = [future.result for future in waiting]
    elif hasattr(executor, "apply_async"):  # multiprocessing's pool, and Ray's
        waiting = [executor.apply_async(work, (task, *piece)) for piece in pieces]
        finish = [result.get for result in waiting]
    elif type(executor).__module__.startswith("joblib"):
        later = importlib.import_module("joblib").delayed(work)
        return list(executor(later(task, *piece) for piece in pieces))
    else:
        raise Error(f"{name}: executor is of type {type(executor).__name__}; expected one with submit (concurrent.futures, Dask), a pool, or joblib.Parallel")
    results = []
    try:
        for done, wait in enumerate(finish):
            results.append(wait())
            if told is not None:
                told((done + 1) / len(finish))
    except BaseException:
        for future in waiting:
            if hasattr(future, "cancel"):
                future.cancel()
        raise
    return results


def blocks_of(runs: int, unit: int = 16) -> list[tuple[int, int]]:
    """(first, count) of pieces that begin at multiples of `unit`: some hundred of them, none very large."""
    size = unit * max(1, min(-(-runs // (128 * unit)), 65536 // unit))
    return [(first, min(size, runs - first)) for first in range(0, runs, size)]
