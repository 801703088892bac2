"""First steps: load an arm, compute, linearize, let it fall, and draw the fall.

python examples/python/first_steps.py [PICTURE.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import articula

arm = articula.load("arm7")
print(arm)
for joint in arm.joints[:2]:
    print(f"  {joint.name}: {joint.kind}, from {joint.limits.lower} to {joint.limits.upper}")

q, v, tau = arm.random(1), np.zeros(arm.nv), np.ones(arm.nv)
a = arm.forward_dynamics(q, v, tau)
print("accelerations:", np.round(a, 3))
print("and back to forces:", np.round(arm.inverse_dynamics(q, v, a), 12))

hand = arm.frames[-1].name
pose = arm.pose(q, frame=hand)
print(f"{hand} is at", np.round(pose.position, 3))
print("its Jacobian has shape", arm.jacobian(q, frame=hand).shape)

d = arm.linearized_forward(q, v, tau)
print("da/dtau is M^-1:", np.allclose(d.dtau, arm.inverse_mass_matrix(q)))

fall = articula.simulate(arm, duration=1, q=q)
print(f"after {fall.time[-1]} s of falling, energy has changed by {fall['energy_change'][-1]:.2g} J")

figure, (angles, height) = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")
angles.plot(fall.time, fall.q, label=[joint.name for joint in arm.joints])
angles.set_ylabel("q, rad")
angles.legend(fontsize=7)
height.plot(fall.time, arm.pose(fall.q, frame=hand).position[:, 2])  # all rows at once
height.set_ylabel(f"height of {hand}, m")
height.set_xlabel("time, s")
picture = sys.argv[1] if len(sys.argv) > 1 else "first_steps.png"
figure.savefig(picture)
print("picture:", picture)
