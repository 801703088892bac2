"""A Slurm of one node for tests: munged, slurmctld and slurmd on this machine, from a folder of their own. Needs root."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo"]


def missing():
    """Why there can be none here, or nothing."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
    if absent:
        return "not installed: " + ", ".join(absent)
    return "" if os.geteuid() == 0 else "slurmd needs root"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def slurm(folder):
    """Yields an environment in which srun and sbatch work."""
    folder = pathlib.Path(folder)
    host = socket.gethostname().split(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key, munge = folder / "munge.key", folder / "munge.socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    (folder / "slurm.conf").write_text(f"""
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
""")
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}
    started = []

    def start(*command):
        log = open(folder / (command[0] + ".out"), "wb")
        started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    try:
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}", f"--pid-file={folder}/munged.pid",
              f"--seed-file={folder}/munged.seed", f"--log-file={folder}/munged.log")
        for _ in range(100):
            if munge.exists():
                break
            time.sleep(0.1)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        for _ in range(150):
            said = subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True).stdout
            if said.strip() == "idle":
                break
            time.sleep(0.2)
        else:
            raise RuntimeError("Slurm does not come up: " + "".join((folder / f"{n}.out").read_text()[-2000:] for n in ("munged", "slurmctld", "slurmd")))
        yield environment
    finally:
        for process in reversed(started):
            process.terminate()
        for process in reversed(started):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
