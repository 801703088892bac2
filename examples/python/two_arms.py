"""Two arms carry one object around a circle: closed-chain dynamics, and control of the object that they hold.

python examples/python/two_arms.py [PICTURE.png [PAGE.html]]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula

Vector = NDArray[np.float64]
scene = articula.Scene("two_arms")
print(scene)
model, object_frame = scene.model, scene.objects[0]
start = model.pose(scene.q, frame=object_frame)
radius, duration = 0.05, 4.0
motors = np.array([joint.kind != "free" for joint in model.joints for _ in range(joint.nv)])


def path(time: float) -> tuple[Vector, Vector, Vector]:
    """Position, velocity and acceleration: once around, beginning and ending at rest."""
    s = time / duration
    turn = 2 * np.pi * s**3 * (10 - 15 * s + 6 * s * s)
    rate = 2 * np.pi / duration * 30 * s * s * (1 - s) ** 2
    change = 2 * np.pi / duration**2 * 60 * s * (1 - s) * (1 - 2 * s)
    out = np.array([0, np.sin(turn), -np.cos(turn)])
    along = np.array([0, np.cos(turn), np.sin(turn)])
    return start.position + radius * (out + [0, 0, 1]), radius * rate * along, radius * (change * along - rate**2 * out)


def torques(time: float, q: Vector, v: Vector) -> Vector:
    position, velocity, acceleration = path(time)
    pose, speed = model.pose(q, frame=object_frame), model.frame_velocity(q, v, frame=object_frame)
    turned = pose.rotation @ start.rotation.T  # the object keeps its attitude
    error = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    wanted = np.concatenate([-400 * error - 40 * speed[:3], acceleration + 400 * (position - pose.position) + 40 * (velocity - speed[3:])])
    return np.asarray(scene.inverse_dynamics(q, v, wanted) - motors * v)  # what the object leaves free comes to rest


motion = articula.simulate(scene, duration=duration, tau=np.zeros(scene.nv), controllers=torques, integrator="symplectic_euler", step=4e-3, every=0.02)
carried = model.pose(motion.q, frame=object_frame).position
error = 1000 * np.linalg.norm(carried - [path(t)[0] for t in motion.time], axis=1)
print(f"the object stays within {error.max():.2f} mm of its path")
print(f"worst drift of a grasp: {scene.drift(motion.q[-1], motion.v[-1]).position:.1e} m")

figure, (circle, forces) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
circle.plot(carried[:, 1], carried[:, 2])
circle.set_xlabel("y, m")
circle.set_ylabel("z, m")
circle.set_aspect("equal")
circle.set_title("the object")
pulls = np.array([scene.forward_dynamics(*state).forces for state in zip(motion.q, motion.v, motion.tau)])
forces.plot(motion.time, np.linalg.norm(pulls[:, :, 3:], axis=2), label=scene.constraints)
forces.set_xlabel("time, s")
forces.set_ylabel("force of each hand, N")
forces.legend()
picture = sys.argv[1] if len(sys.argv) > 1 else "two_arms.png"
figure.savefig(picture)
print("picture:", picture)
if len(sys.argv) > 2:
    motion.report(sys.argv[2], title="Two arms carry an object")
