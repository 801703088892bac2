"""A million states at once, by shape alone and on all cores: where an arm's hand is strong.

python examples/python/million_states.py [PICTURE.png [STATES]]
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np

import articula

count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
arm = articula.load("arm7")
rng = np.random.default_rng(1)
Q = arm.random(rng, count)
V = rng.normal(size=(count, arm.nv))
tau = np.zeros(arm.nv)  # one for all

out = np.empty((count, arm.nv))
start = time.perf_counter()
arm.forward_dynamics(Q, V, tau, out=out)
seconds = time.perf_counter() - start
print(f"{count} forward dynamics in {seconds:.3f} s: {1e9 * seconds / count:.0f} ns each")

alone = arm.forward_dynamics(Q[count // 2], V[count // 2], tau)
print("one alone gives the same:", np.allclose(alone, out[count // 2], rtol=1e-10, atol=1e-10))
single = arm.forward_dynamics(Q.astype(np.float32), V.astype(np.float32), tau.astype(np.float32))
print("in float32, off by at most", float(np.max(np.abs(single - out) / np.max(np.abs(out), axis=1, keepdims=True))))

# Where the hand is, and the force that one newton metre at every joint can hold there, upwards.
hand = arm.frames[-1].name
position = arm.pose(Q, frame=hand).position
upwards = arm.jacobian(Q, frame=hand)[:, 5]  # rows are (w, v): the last one is z
strength = 1 / np.max(np.abs(upwards), axis=1)
reach = np.hypot(position[:, 0], position[:, 1])
edges = [np.linspace(0, reach.max(), 120), np.linspace(position[:, 2].min(), position[:, 2].max(), 120)]
states, _, _ = np.histogram2d(reach, position[:, 2], bins=edges)
sums, _, _ = np.histogram2d(reach, position[:, 2], bins=edges, weights=np.minimum(strength, 20))
mean = np.where(states > 0, sums / np.maximum(states, 1), np.nan)

figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
image = axes.pcolormesh(edges[0], edges[1], mean.T, norm="log")
figure.colorbar(image, label="N held upwards per N m at the joints")
axes.set_xlabel("distance from the base's axis, m")
axes.set_ylabel("height, m")
axes.set_title(f"{count} configurations of {arm.name}")
axes.set_aspect("equal")
picture = sys.argv[1] if len(sys.argv) > 1 else "million_states.png"
figure.savefig(picture)
print("picture:", picture)
