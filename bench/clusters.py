#!/usr/bin/env python3
"""What sharding costs: bench/clusters.py PROGRAM [efficiency] [shards] [merge] [others]; without names, all but the last.

efficiency: two shards at once on two cores, against one process of one thread, and two that share nothing. shards: a fixed job in 1, 10, 1000, ..
parts. merge: time and memory over 10^8 rows. others: runs per second and core beside a Python loop with pin and mujoco
under Dask (PyPI). Processor times stand beside wall times, for machines that are busy with other work.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

PROGRAM = os.path.abspath(sys.argv[1])


def timed(*commands):
    """Wall and processor seconds of commands that run at the same time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for child in [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]:
        assert child.wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def job(folder, runs):
    with open(f"{folder}/d.json", "w") as file:
        file.write('{"q": {"*": {"normal": [0, 0.5]}}}')
    return [PROGRAM, "simulate", "arm7", "--duration", "1", "--step", "0.01", "--monte-carlo", str(runs), "--distributions", f"{folder}/d.json", "--threads", "1"]


def efficiency(folder):
    """Ratios within each round, and their medians: a machine's clock changes from one round to the next."""
    names = ("one process, a file", "two at once, half the runs each", "one shard", "two shards at once")
    rounds = []
    for repeat in range(3):
        command, out, taken = job(folder, 480000), f"{folder}/e{repeat}", {}
        taken[names[0]] = timed([*command, "--out", out + ".csv"])
        taken[names[1]] = timed(*[[*job(folder, 240000), "--seed", str(i), "--out", f"{out}.{i}.csv"] for i in (0, 1)])
        taken[names[2]] = timed([*command, "--shard", "0/1", "--out", out + ".1/"])
        taken[names[3]] = timed(*[[*command, "--shard", f"{i}/2", "--out", out + ".2/"] for i in (0, 1)])
        rounds.append(taken)
    print("| best | wall s | processor s |\n|---|---|---|")
    for name in names:
        print(f"| {name} | {min(r[name][0] for r in rounds):.2f} | {min(r[name][1] for r in rounds):.2f} |")
    median = lambda first, second, what: statistics.median(r[first][what] / r[second][what] for r in rounds)
    print(f"\nefficiency of two shards, medians of {len(rounds)} rounds (load {os.getloadavg()[0]:.1f}): {median(names[0], names[3], 0) / 2:.3f} of ideal by wall time, "
          f"{median(names[0], names[3], 1):.3f} by processor time")
    print(f"two processes that know nothing of each other: {median(names[0], names[1], 0) / 2:.3f} by wall time, {median(names[0], names[1], 1):.3f} by processor time; "
          f"two shards beside these: {median(names[1], names[3], 0):.3f} and {median(names[1], names[3], 1):.3f}")


def shards(folder):
    runs = 100_000
    print("| shards | processes | wall s | processor s | microseconds a run | bytes in the folder |\n|---|---|---|---|---|---|")
    for count in (1, 10, 1000, 100_000):
        command = job(folder, runs)
        out = f"{folder}/s{count}"
        # As many as make something: the others find that they have no block, and end. A hundred of these are timed.
        working = min(count, runs // 16)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        chosen = range(count) if count <= 1000 else range(0, count, 500)
        line = " ".join(command) + f" --out {out}/ --shard {{}}/{count}"
        subprocess.run(["xargs", "-P", "2", "-I", "{}", "sh", "-c", line], input="\n".join(map(str, chosen)), text=True, check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        scale = count / len(chosen)
        wall, cpu = (time.monotonic() - start) * scale, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * scale
        size = sum(os.path.getsize(f"{out}/{name}") for name in os.listdir(out)) * scale
        note = "" if scale == 1 else f" (every {int(scale)}th measured)"
        print(f"| {count}{note} | {working} | {wall:.1f} | {cpu:.1f} | {1e6 * cpu / runs:.1f} | {size:.2e} |", flush=True)


def merge(folder):
    """A folder as 64 shards leave it, with short rows: 10^8 of them."""
    rows, block, count = 10**8, 16384, 64
    out = f"{folder}/m"
    os.mkdir(out)
    header = "run,failed\n"
    with open(f"{out}/run.json", "w") as file:
        json.dump({"format": 1, "rows": rows, "block": block, "shards": count, "kind": "rows", "unit": 1, "about": {}, "command": ["articula"],
                   "where": "/", "header": header}, file)  # fmt: skip
    blocks = -(-rows // block)
    for shard in range(count):
        with open(f"{out}/shard-{shard:06}.csv", "wb") as file:
            for number in range(blocks * shard // count, blocks * (shard + 1) // count):
                first = number * block
                text = "".join(f"{i},0\n" for i in range(first, min(rows, first + block))).encode()
                head = f"# block {number} failed 0 bytes {len(text)} crc32 ".encode()
                file.write(head + f"{zlib.crc32(text, zlib.crc32(head)):08x}\n".encode() + text)
    for ending in ("csv", "h5"):
        merged = f"{folder}/merged.{ending}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(["/usr/bin/time", "-f", "%e %M", PROGRAM, "merge", out, "--out", merged], capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, kilobytes = said.stderr.split()[-2:]
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"merge of 10^8 rows in 64 shards into .{ending}, {os.path.getsize(merged) / 1e9:.2f} GB: {float(seconds):.1f} s, {cpu:.1f} s of processor "
              f"time, {int(kilobytes) / 1024:.0f} MB of memory", flush=True)  # fmt: skip
        if ending == "csv":
            with open(merged, "rb") as file:
                file.seek(-20, 2)
                assert file.read().endswith(b"\n99999999,0\n")
        os.remove(merged)


def others(folder):
    """The same fall, 100 steps of rk4 (mujoco: its own), of a 7-joint arm; one core each."""
    import numpy as np

    import articula

    runs, duration, step = 2000, 1.0, 0.01
    arm = articula.load("arm7")
    path = f"{folder}/arm.urdf"
    arm.save(path)
    with open(path) as file:
        text = file.read()
    starts = np.random.default_rng(1).normal(0, 0.5, (runs, 7))

    def with_articula(some):
        articula.monte_carlo(arm, runs=len(some) * 50, duration=duration, step=step, distributions={"q": {"*": {"normal": (0, 0.5)}}}, threads=1, progress=False)
        return 50 * len(some)

    def with_pin(some):
        import numpy as np
        import pinocchio as pin

        model = pin.buildModelFromXML(text)
        data = model.createData()
        tau = np.zeros(model.nv)
        for q in some:
            v = np.zeros(model.nv)
            for _ in range(round(duration / step)):
                k1 = pin.aba(model, data, q, v, tau).copy()
                k2 = pin.aba(model, data, q + step / 2 * v, v + step / 2 * k1, tau).copy()
                k3 = pin.aba(model, data, q + step / 2 * (v + step / 2 * k1), v + step / 2 * k2, tau).copy()
                k4 = pin.aba(model, data, q + step * (v + step / 2 * k2), v + step * k3, tau).copy()
                q = q + step * (v + step / 6 * (k1 + k2 + k3))
                v = v + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return len(some)

    def with_mujoco(some):
        import mujoco

        xml = text.replace("</robot>", '<mujoco><compiler discardvisual="true"/></mujoco></robot>')
        model = mujoco.MjModel.from_xml_string(xml)
        model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
        # Free motion, as the others': no damping, no friction, no contacts, no limits.
        model.dof_damping[:] = 0
        model.dof_frictionloss[:] = 0
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
        data = mujoco.MjData(model)
        for q in some:
            mujoco.mj_resetData(model, data)
            data.qpos[:] = q
            for _ in range(round(duration / step)):
                mujoco.mj_step(model, data)
        return len(some)

    from distributed import Client, LocalCluster

    print("| under Dask, one worker of one thread | runs per second and core |\n|---|---|")
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for name, function in (("articula.monte_carlo", with_articula), ("pin, a Python loop", with_pin), ("mujoco, a Python loop", with_mujoco)):
            def work(some, function=function):
                import time

                start = time.process_time()
                return function(some), time.process_time() - start

            client.submit(work, starts[:20], pure=False).result()
            done = [client.submit(work, some, pure=False).result() for some in np.array_split(starts, 10)]
            print(f"| {name} | {sum(n for n, _ in done) / sum(t for _, t in done):.0f} |", flush=True)


if __name__ == "__main__":
    for name in sys.argv[2:] or ["efficiency", "shards", "merge"]:
        with tempfile.TemporaryDirectory() as made:
            print(f"\n## {name}\n", flush=True)
            {"efficiency": efficiency, "shards": shards, "merge": merge, "others": others}[name](made)
