"""Monte Carlo of a fall: an arm's motors fail. Where is the hand a second later, and how fast has it been?

python examples/python/monte_carlo.py [PICTURE.png [RUNS]]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import articula

runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
arm = articula.load("arm7")
result = articula.monte_carlo(
    arm,
    runs=runs,
    duration=1,
    q=np.array([0, 0.4, 0, 0.8, 0, 0.4, 0]),
    damping=True,
    distributions={
        "q": {"*": {"normal": (0, 0.05)}},
        "v": {"*": {"uniform": (-0.2, 0.2)}},
        "mass": {"*": {"uniform": (0.9, 1.1)}},
    },
)
print(result)
hand = arm.frames[-1].name
position = arm.pose(result.q, frame=hand).position  # of all runs at once
print("the hand is at", np.round(position.mean(axis=0), 2), "m, deviation", np.round(position.std(axis=0), 2), "m")
print(f"fastest joint: {np.max(result['largest_speed']):.1f} rad/s, in half of the runs below {np.median(result['largest_speed']):.1f}")

figure, (where, speed) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
points = where.scatter(np.hypot(position[:, 0], position[:, 1]), position[:, 2], s=3, c=result["largest_speed"])
figure.colorbar(points, label="largest speed, rad/s")
where.set_xlabel("distance from the base's axis, m")
where.set_ylabel("height, m")
where.set_title(f"{hand}, one second later")
speed.hist(result["largest_speed"], bins=40)
speed.set_xlabel("largest speed of a joint, rad/s")
speed.set_ylabel("runs")
picture = sys.argv[1] if len(sys.argv) > 1 else "monte_carlo.png"
figure.savefig(picture)
print("picture:", picture)
