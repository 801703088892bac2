"""Arrays that live on a GPU: here with a stand-in for the driver, whose GPU is this processor's memory; with torch, JAX and
CuPy where there is a GPU (ARTICULA_TEST_GPU=1)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import articula
import numpy as np
import pytest

BUILD = Path(os.environ["ARTICULA_PROGRAM"]).parent if "ARTICULA_PROGRAM" in os.environ else None
STAND_IN = BUILD / "libarticula_stand_in.so" if BUILD else None

FAKE = '''
import ctypes, gc, weakref
import articula, numpy as np


class There:
    """An array that another library would have on a GPU."""

    def __init__(self, x):
        self.kept = np.ascontiguousarray(x)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.kept.shape, "typestr": self.kept.dtype.str, "data": (self.kept.ctypes.data, False), "version": 3, "strides": None, "stream": 1}


def back(x):
    about = x.__cuda_array_interface__
    kind = ctypes.c_float if about["typestr"] == "<f4" else ctypes.c_double
    count = int(np.prod(about["shape"]))
    return np.ctypeslib.as_array((kind * count).from_address(about["data"][0])).reshape(about["shape"]).copy()


def said(f):
    try:
        f()
    except articula.Error as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


arm = articula.load("double_pendulum")
rng = np.random.default_rng(1)
q, v, tau = (rng.uniform(-1, 1, (40, 2)) for _ in range(3))
'''


def run(body: str, tmp_path: Path, **environment: str) -> str:
    script = tmp_path / "script.py"
    script.write_text(FAKE + textwrap.dedent(body))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "ARTICULA_CUDA_CACHE": str(tmp_path / "cache"), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_stand_in(body: str, tmp_path: Path) -> str:
    if STAND_IN is None or not STAND_IN.exists():
        pytest.skip("the stand-in for the driver is not built")
    return run(body, tmp_path, ARTICULA_CUDA_DRIVER=str(STAND_IN), ARTICULA_NVRTC=str(STAND_IN))


def test_results_are_the_processors(tmp_path: Path) -> None:
    out = on_stand_in(
        """
        assert articula.cuda.available() and articula.cuda.missing() == ""
        assert [d.name for d in articula.cuda.devices()] == ["stand-in"]
        a = arm.forward_dynamics(There(q), There(v), There(tau))
        assert isinstance(a, articula.cuda.Array) and a.shape == (40, 2) and a.__dlpack_device__() == (2, 0)
        print(np.abs(back(a) - arm.forward_dynamics(q, v, tau)).max() < 1e-12)
        # Another shape in front, float, several results, a frame.
        f = q.reshape(4, 10, 2).astype(np.float32)
        J = arm.jacobian(There(f), frame=arm.frames[-1].name, axes="local")
        print(back(J).dtype, J.shape, np.abs(back(J) - arm.jacobian(f, frame=arm.frames[-1].name, axes="local")).max() < 1e-5)
        d = arm.linearized_inverse(There(q), There(v), There(tau))
        print(all(np.abs(back(x) - y).max() < 1e-11 for x, y in zip(d, arm.linearized_inverse(q, v, tau))))
        """,
        tmp_path,
    )
    assert out.split("\n")[:3] == ["True", "float32 (4, 10, 6, 2) True", "True"]


def test_rollouts_are_the_processors(tmp_path: Path) -> None:
    out = on_stand_in(
        """
        forces = rng.uniform(-1, 1, (40, 6, 2))
        for tau_now, integrator in ((None, "rk4"), (tau, "symplectic_euler"), (forces, "rk4")):
            options = dict(step=1e-2, steps=6, every=3, integrator=integrator, damping=True)
            r = articula.rollout(arm, There(q), There(v), None if tau_now is None else There(tau_now), **options)
            right = articula.rollout(arm, q, v, tau_now, **options)
            print(r.q.shape, np.abs(back(r.q) - right.q).max() < 1e-12, np.abs(back(r.v) - right.v).max() < 1e-12)
        print(said(lambda: articula.rollout(arm, There(q), There(v), steps=5, every=2)))
        print(said(lambda: articula.rollout(arm, There(q), There(v), step=-1.0)))
        print(said(lambda: articula.rollout(arm, There(q), There(v[:7]))))
        q[7] = np.nan
        print(said(lambda: articula.rollout(arm, There(q), There(v))))
        """,
        tmp_path,
    ).split("\n")
    assert out[:3] == ["(40, 2, 2) True True"] * 3
    assert "steps is 5 and every 2" in out[3] and "step is -1" in out[4] and "v" in out[5] and "(7, 2)" in out[5]
    assert out[6].startswith("SingularError: rollout: state 7 ends at step 1")


def test_errors_are_clear(tmp_path: Path) -> None:
    out = on_stand_in(
        """
        print(said(lambda: arm.gravity_forces(There(np.zeros((3, 5))))))
        print(said(lambda: arm.gravity_forces(There(np.zeros((3, 2), np.int8)))))
        print(said(lambda: arm.forward_dynamics(There(q), There(v), tau)))
        print(said(lambda: arm.forward_dynamics(There(q), There(v), There(tau.astype(np.float32)))))
        """,
        tmp_path,
    ).split("\n")
    assert out[0].startswith("Error: gravity_forces: q has shape (3, 5)")
    assert "q: expected float64 or float32" in out[1]
    assert "tau: expected all arrays on the GPU" in out[2]
    assert "expected a contiguous array of float64" in out[3]


def test_singular_states_are_named(tmp_path: Path) -> None:
    out = on_stand_in(
        """
        q[7] = np.nan
        print(said(lambda: arm.forward_dynamics(There(q), There(v), There(tau))))
        print(said(lambda: arm.gravity_forces(There(q))))
        """,
        tmp_path,
    ).split("\n")
    assert out[0].startswith("SingularError: forward_dynamics") and "7" in out[0]
    assert out[1] == "nothing"


def test_without_a_driver_there_is_one_error(tmp_path: Path) -> None:
    out = run(
        """
        print(articula.cuda.available(), articula.cuda.devices())
        print(said(lambda: arm.gravity_forces(There(q))))
        """,
        tmp_path, ARTICULA_CUDA_DRIVER="/no/such/library.so",
    ).split("\n")  # fmt: skip
    assert out[0] == "False ()"
    assert "no GPU" in out[1] and out[1].count("Error") >= 1


def _rows(arm: articula.Model, kind: type) -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    return [rng.uniform(-1, 1, (500, arm.nv)).astype(kind) for _ in range(3)]


@pytest.mark.skipif("ARTICULA_TEST_GPU" not in os.environ, reason="no GPU is asked for")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_on_a_gpu(library: str, kind: type) -> None:
    pytest.importorskip(library)
    arm = articula.load("arm7")
    host = _rows(arm, kind)
    limit = 1e-10 if kind is np.float64 else 2e-3
    if library == "torch":
        import torch

        there, back = (lambda x: torch.as_tensor(x, device="cuda")), (lambda x: x.cpu().numpy())
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):  # the caller's stream
            arrays = [there(x) for x in host]
            a = arm.forward_dynamics(*arrays)
            doubled = a * 2
        stream.synchronize()
        assert a.device.type == "cuda" and np.array_equal(back(doubled), 2 * back(a))
        columns = [there(np.ascontiguousarray(x.T)).T for x in host]
        by_columns = arm.forward_dynamics(*columns)
        assert by_columns.stride() == (1, 500)
        M = arm.mass_matrix(columns[0])
        assert np.abs(back(M) - arm.mass_matrix(host[0])).max() < limit
        assert np.abs(back(by_columns) - back(a)).max() < limit
        out = torch.empty_like(arrays[0])
        assert arm.forward_dynamics(*arrays, out=out) is out and torch.equal(out, a)
        # One state for all, and one array of the processor's.
        assert arm.forward_dynamics(arrays[0], arrays[1][0], host[2][0]).shape == (500, 7)
    elif library == "cupy":
        import cupy

        there, back = cupy.asarray, cupy.asnumpy
        with cupy.cuda.Stream(non_blocking=True) as stream:
            arrays = [there(x) for x in host]
            a = arm.forward_dynamics(*arrays)
            stream.synchronize()
        assert isinstance(a, cupy.ndarray)
    else:
        import jax

        if kind is np.float64:
            jax.config.update("jax_enable_x64", True)
        there, back = jax.numpy.asarray, np.asarray
        arrays = [there(x) for x in host]
        a = arm.forward_dynamics(*arrays)
        assert isinstance(a, jax.Array) and next(iter(a.devices())).platform == "gpu"
    expected = arm.forward_dynamics(*host)
    assert np.abs(back(a) - expected).max() < limit * np.abs(expected).max()
    d = arm.linearized_forward(*arrays)
    assert all(np.abs(back(x) - y).max() < limit * np.abs(y).max() for x, y in zip(d, arm.linearized_forward(*host)))
    moved = articula.rollout(arm, *arrays, steps=4, every=2)
    by_processor = articula.rollout(arm, *host, steps=4, every=2)
    assert type(moved.q) is type(arrays[0]) and moved.v.shape == (500, 2, 7)
    assert all(np.abs(back(x) - y).max() < limit * np.abs(y).max() for x, y in zip(moved, by_processor))
    J = arm.jacobian(arrays[0], frame=arm.frames[-1].name)
    assert np.abs(back(J) - arm.jacobian(host[0], frame=arm.frames[-1].name)).max() < limit
    rank = back(arm.operational_space(arrays[0], arrays[1], frame=arm.frames[-1].name).rank)
    # In float some of these states are as good as singular.
    assert rank.dtype.kind == "i" and (rank == arm.operational_space(*host[:2], frame=arm.frames[-1].name).rank).mean() > 0.9
    articula.cuda.check()
