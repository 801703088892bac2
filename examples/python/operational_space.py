"""A hand is drawn out to where the arm is stretched, beyond its reach, and back: control passes through the singularity.

python examples/python/operational_space.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula

Vector = NDArray[np.float64]
arm = articula.load("arm7")
rest = np.array([0, 0.9, 0, 1.2, 0, -0.4, 0])
control = articula.TaskController(arm, [[("flange", "position")]])
control.update(rest)
begin = control.pose(0)
shoulder = arm.pose(rest, frame=arm.bodies[1].name).position
outward = begin.position - shoulder
outward /= np.linalg.norm(outward)
duration = 4.0


def wanted(time: float) -> Vector:
    """Half a metre out and back, at rest at both ends: farther than the arm reaches."""
    return np.asarray(begin.position + outward * 0.25 * (1 - np.cos(2 * np.pi * min(time, duration) / duration)))


def torques(time: float, q: Vector, v: Vector) -> Vector:
    control.update(q, v)
    control.follow(0, begin.rotation, wanted(time), stiffness=100, damping=20)
    control.hold_posture(rest, 10, 6)
    return control.torques()


motion = articula.simulate(arm, duration=duration + 1, q=rest, controllers=[(torques, 2e-3)], step=2e-3, integrator="symplectic_euler")
J = arm.jacobian(motion.q, frame="flange")[:, 3:]
smallest = np.linalg.svd(J, compute_uv=False)[:, -1]
distance = np.linalg.norm(arm.pose(motion.q, frame="flange").position - shoulder, axis=1)
asked = np.array([np.linalg.norm(wanted(t) - shoulder) for t in motion.time])
print(f"smallest singular value of J: {smallest.min():.3f} where it is stretched, {smallest[0]:.3f} at first")
print(f"the largest torque is {np.max(np.abs(motion.tau)):.0f} N m")
print(f"back at the start, the hand is {1000 * np.linalg.norm(arm.pose(motion.q[-1], frame='flange').position - begin.position):.1f} mm off")

figure, (reach, singular, torque) = plt.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained")
reach.plot(motion.time, asked, "--", label="asked for")
reach.plot(motion.time, distance, label="the hand")
reach.set_ylabel("from the shoulder, m")
reach.legend()
singular.semilogy(motion.time, smallest)
singular.set_ylabel("smallest singular value")
torque.plot(motion.time, motion.tau)
torque.set_ylabel("torques, N m")
torque.set_xlabel("time, s")
picture = sys.argv[1] if len(sys.argv) > 1 else "operational_space.png"
figure.savefig(picture)
print("picture:", picture)
