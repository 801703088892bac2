"""Linearize a double pendulum where it stands upright, and let a regulator bring it back there.

python examples/python/lqr.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula

Vector = NDArray[np.float64]
pendulum = articula.load("double_pendulum")
upright = np.array([np.pi, 0.0])

A, B = articula.state_space(pendulum, upright)
print("poles without control:", np.round(np.linalg.eigvals(A), 2))
regulator = articula.lqr(A, B, np.diag([10.0, 10, 1, 1]), np.eye(2))
print("poles with it:        ", np.round(regulator.poles, 2))

hold = pendulum.gravity_forces(upright)


def control(time: float, q: Vector, v: Vector) -> Vector:
    x = np.concatenate([pendulum.difference(upright, q), v])
    return np.asarray(hold - regulator.K @ x)


figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for push in (0.2, 0.5, 0.9):
    motion = articula.simulate(pendulum, duration=5, q=upright + [push, -push], controllers=control, step=5e-3)
    error = np.array([pendulum.distance(upright, q) for q in motion.q])
    print(f"from {push} rad off: {error[-1]:.1e} rad off after {motion.time[-1]:g} s")
    axes.semilogy(motion.time, error, label=f"{push} rad off at first")
axes.set_xlabel("time, s")
axes.set_ylabel("distance from upright, rad")
axes.legend()
picture = sys.argv[1] if len(sys.argv) > 1 else "lqr.png"
figure.savefig(picture)
print("picture:", picture)
