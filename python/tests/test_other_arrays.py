"""Arrays of other libraries: on the processor they are used as they are, and results are theirs."""

import numpy as np
import pytest

import articula


def test_dlpack_alone(arm):
    """Something that is an array by DLPack and nothing else."""

    class Mine:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **keywords):
            return self.x.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    q = arm.random(1)
    np.testing.assert_array_equal(arm.mass_matrix(Mine(q)), arm.mass_matrix(q))


def check(arm, library, make, numbers):
    q, v = arm.random(1, 5), np.ones(7)
    for kind in (np.float64, np.float32):
        given = make(q.astype(kind)), make(v.astype(kind))
        result = arm.bias_forces(*given)
        assert type(result).__module__.split(".")[0].startswith(library[:3])
        np.testing.assert_array_equal(numbers(result), arm.bias_forces(q.astype(kind), v.astype(kind)))
        moved = arm.integrate(*given)
        assert type(moved) is type(result)
        parts = arm.linearized_inverse(given[0], given[1], given[1])
        assert all(type(x) is type(result) for x in parts)
    assert type(arm.bias_forces(make(q), v)) is type(result)


def test_torch(arm):
    torch = pytest.importorskip("torch")
    check(arm, "torch", torch.from_numpy, lambda x: x.numpy())
    q = torch.zeros(3, 7, dtype=torch.float64)
    out = arm.gravity_forces(q)
    assert out.dtype == torch.float64 and out.device == q.device


def test_jax(arm):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    check(arm, "jax", jax.numpy.asarray, np.asarray)
