"""A million states at once: by shape alone, on all cores.

python examples/python/batch.py [STATES]
"""

import sys
import time

import numpy as np

import articula

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
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
