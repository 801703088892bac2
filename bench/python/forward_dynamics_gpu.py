#!/usr/bin/env python3
"""Forward dynamics of an arm by the same recursion in plain array code on a GPU: JAX (vmap, jit) and PyTorch.

usage: forward_dynamics_gpu.py MODEL.urdf [STATES]

Prints states per second in float and double. Revolute joints alone; the textbook form of the articulated-body algorithm,
six by six matrices, as one writes it with these libraries. Compares accelerations with each other.
"""
import sys
import time
import xml.etree.ElementTree as tree

import numpy as np


def rpy(r, p, y):
    c, s = np.cos, np.sin
    return (np.array([[c(y), -s(y), 0], [s(y), c(y), 0], [0, 0, 1]]) @ np.array([[c(p), 0, s(p)], [0, 1, 0], [-s(p), 0, c(p)]])
            @ np.array([[1, 0, 0], [0, c(r), -s(r)], [0, s(r), c(r)]]))


def numbers(element, key, default="0 0 0"):
    return np.array([float(x) for x in (element.get(key, default) if element is not None else default).split()])


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def read(path):
    """Bodies base to tip of a chain: placement of each joint, its axis, and the spatial inertia of its link."""
    root = tree.parse(path).getroot()
    links = {link.get("name"): link for link in root.findall("link")}
    joints = {j.find("parent").get("link"): j for j in root.findall("joint") if j.get("type") in ("revolute", "continuous")}
    fixed = {j.find("parent").get("link"): j for j in root.findall("joint") if j.get("type") == "fixed"}
    children = {j.find("child").get("link") for j in root.findall("joint")}
    at = next(name for name in links if name not in children)
    bodies = []
    while at in joints:
        j = joints[at]
        origin = j.find("origin")
        axis = numbers(j.find("axis"), "xyz", "1 0 0")
        link = links[j.find("child").get("link")]
        inertial = link.find("inertial")
        mass = float(inertial.find("mass").get("value"))
        placed = inertial.find("origin")
        c, R = numbers(placed, "xyz"), rpy(*numbers(placed, "rpy"))
        i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
        J = R @ np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]) @ R.T
        spatial = np.block([[J + mass * skew(c) @ skew(c).T, mass * skew(c)], [mass * skew(c).T, mass * np.eye(3)]])
        bodies.append((rpy(*numbers(origin, "rpy")), numbers(origin, "xyz"), axis / np.linalg.norm(axis), spatial))
        at = link.get("name")
    return bodies


def forward_dynamics(xp, bodies, q, v, tau, stack, constant):
    """One state, or, where arrays have a leading batch, all of them."""
    def cross_matrix(w):
        O = xp.zeros_like(w[..., 0])
        return stack([stack([O, -w[..., 2], w[..., 1]]), stack([w[..., 2], O, -w[..., 0]]), stack([-w[..., 1], w[..., 0], O])], -2)

    def motion(R, p):  # from the inboard body's axes to this one's
        E = xp.swapaxes(R, -1, -2)
        O = xp.zeros_like(E)
        top = xp.concatenate([E, O], -1)
        return xp.concatenate([top, xp.concatenate([-E @ cross_matrix(p), E], -1)], -2)

    def times(A, x):
        return (A @ x[..., None])[..., 0]

    V, X, S, IA, pA, c = [], [], [], [], [], []
    for k, (E, p, axis, I) in enumerate(bodies):
        K, Id = constant(skew(axis)), constant(np.eye(3))
        s, co = xp.sin(q[..., k])[..., None, None], xp.cos(q[..., k])[..., None, None]
        R = constant(E) @ (Id + s * K + (1 - co) * (K @ K))
        X.append(motion(R, xp.zeros_like(q[..., :3]) + constant(p)))
        S.append(constant(np.concatenate([axis, np.zeros(3)])))
        vj = S[k] * v[..., k, None]
        V.append(vj if k == 0 else times(X[k], V[k - 1]) + vj)
        w, u = cross_matrix(V[k][..., :3]), cross_matrix(V[k][..., 3:])
        O = xp.zeros_like(w)
        cross = xp.concatenate([xp.concatenate([w, O], -1), xp.concatenate([u, w], -1)], -2)
        c.append(times(cross, vj))
        IA.append(constant(I) + xp.zeros_like(cross))
        pA.append(-times(xp.swapaxes(cross, -1, -2), times(constant(I), V[k])))
    n = len(bodies)
    U, d, e = [None] * n, [None] * n, [None] * n
    for k in reversed(range(n)):
        U[k] = times(IA[k], S[k] + xp.zeros_like(V[k]))
        d[k] = (S[k] * U[k]).sum(-1)
        e[k] = tau[..., k] - (S[k] * pA[k]).sum(-1)
        if k == 0:
            break
        Ia = IA[k] - U[k][..., :, None] * U[k][..., None, :] / d[k][..., None, None]
        pa = pA[k] + times(Ia, c[k]) + U[k] * (e[k] / d[k])[..., None]
        Xt = xp.swapaxes(X[k], -1, -2)
        IA[k - 1] = IA[k - 1] + Xt @ Ia @ X[k]
        pA[k - 1] = pA[k - 1] + times(Xt, pa)
    out = []
    a = constant(np.array([0, 0, 0, 0, 0, 9.81])) + xp.zeros_like(V[0])
    for k in range(n):
        a = times(X[k], a) + c[k]
        qdd = (e[k] - (U[k] * a).sum(-1)) / d[k]
        out.append(qdd)
        a = a + S[k] * qdd[..., None]
    return stack(out, -1)


def best(run, wait, repetitions=10):
    run(), wait()
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        run(), wait()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    bodies = read(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    n = len(bodies)
    random = np.random.default_rng(1)
    x = [random.uniform(-1, 1, (count, n)) for _ in range(3)]
    few = {}
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    for name, dtype in (("float", jnp.float32), ("double", jnp.float64)):
        args = [jnp.asarray(y, dtype) for y in x]
        f = jax.jit(jax.vmap(lambda q, v, t: forward_dynamics(
            jnp, bodies, q, v, t, lambda a, axis=-1: jnp.stack(a, axis), lambda a: jnp.asarray(a, dtype))))
        begin = time.perf_counter()
        few[name] = np.asarray(f(*args)[:64])
        made = time.perf_counter() - begin
        s = best(lambda: f(*args).block_until_ready(), lambda: None)
        print(f"JAX {jax.__version__}, vmap and jit, {name}: {count} states in {s * 1e3:.3g} ms, {count / s:.3g} per second "
              f"(compiled in {made:.1f} s)", flush=True)
    import torch
    torch.swapaxes = torch.swapaxes if hasattr(torch, "swapaxes") else torch.transpose
    for name, dtype in (("float", torch.float32), ("double", torch.float64)):
        some = min(count, 1 << 18)
        args = [torch.tensor(y[:some], dtype=dtype, device="cuda") for y in x]
        run = lambda: forward_dynamics(torch, bodies, *args, lambda a, axis=-1: torch.stack(a, axis),
                                       lambda a: torch.tensor(a, dtype=dtype, device="cuda"))
        result = run()[:64].cpu().numpy()
        s = best(run, torch.cuda.synchronize, 3)
        print(f"PyTorch {torch.__version__}, batched, {name}: {some} states in {s * 1e3:.3g} ms, {some / s:.3g} per second, "
              f"{np.abs(result - few[name]).max() / np.abs(few[name]).max():.1e} from JAX", flush=True)


if __name__ == "__main__":
    main()
