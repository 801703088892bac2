"""The same runs on every engine that is installed, to the same bytes as one process: make clusters.

ARTICULA_PROGRAM is the program; ARTICULA_CLUSTER_RUNS how many runs (100000). Engines that are not there are skipped.
"""
import concurrent.futures
import functools
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import slurm  # noqa: E402

PROGRAM = os.environ.get("ARTICULA_PROGRAM", "build/articula")
RUNS = int(os.environ.get("ARTICULA_CLUSTER_RUNS", "100000"))
DRAWN = {"q": {"*": {"normal": [0, 0.5]}}, "mass": {"rod2": {"uniform": [0.5, 2]}}}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def needs(*programs):
    absent = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(absent), reason="not installed: " + ", ".join(absent))


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **{"env": ENVIRONMENT, **options})
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def folder():
    import json

    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        with open(f"{made}/d.json", "w") as file:
            json.dump(DRAWN, file)
        yield made


@pytest.fixture(scope="module")
def command(folder):
    return [os.path.abspath(PROGRAM), "simulate", "double_pendulum", "--duration", "0.2", "--step", "0.01", "--seed", "11",
            "--monte-carlo", str(RUNS), "--distributions", f"{folder}/d.json"]  # fmt: skip


@pytest.fixture(scope="module")
def one(command, folder):
    """The bytes of one process."""
    run([*command, "--out", f"{folder}/one.csv"])
    with open(f"{folder}/one.csv", "rb") as file:
        return file.read()


def merged(folder, name):
    run([os.path.abspath(PROGRAM), "merge", f"{folder}/{name}", "--out", f"{folder}/{name}.csv"])
    with open(f"{folder}/{name}.csv", "rb") as file:
        return file.read()


@needs("mpirun")
def test_open_mpi(command, one, folder):
    run(["mpirun", "--oversubscribe", "-n", "5", *command, "--out", f"{folder}/mpi/"])
    assert merged(folder, "mpi") == one


@needs("mpirun")
def test_open_mpi_with_thieves(command, one, folder):
    run(["mpirun", "--oversubscribe", "-n", "3", *command, "--steal", "--out", f"{folder}/steal/"])
    assert merged(folder, "steal") == one


@needs("parallel")
def test_gnu_parallel(command, one, folder):
    run(["parallel", "-j", "3", *command, "--threads", "1", "--out", f"{folder}/parallel/", "--shard", "{}/7", ":::", *map(str, range(7))])
    assert merged(folder, "parallel") == one


@pytest.fixture(scope="module")
def evaluation(folder):
    """States in a file, the command that evaluates them, and the bytes of one process."""
    program = os.path.abspath(PROGRAM)
    run([program, "rollout", "double_pendulum", "--count", str(RUNS // 20), "--duration", "0.19", "--step", "0.01", "--every", "0.01", "--distributions",
         f"{folder}/d.json", "--out", f"{folder}/states.npz"])  # fmt: skip
    command = [program, "eval", "double_pendulum", "forward_dynamics", "mass_matrix", "--states", f"{folder}/states.npz"]
    run([*command, "--out", f"{folder}/one.npz"])
    with open(f"{folder}/one.npz", "rb") as file:
        return command, file.read()


def merged_arrays(folder, name):
    run([os.path.abspath(PROGRAM), "merge", f"{folder}/{name}", "--out", f"{folder}/{name}.npz"])
    with open(f"{folder}/{name}.npz", "rb") as file:
        return file.read()


@needs("mpirun")
def test_open_mpi_eval(evaluation, folder):
    command, one = evaluation
    run(["mpirun", "--oversubscribe", "-n", "3", *command, "--steal", "--out", f"{folder}/mpi_eval/"])
    assert merged_arrays(folder, "mpi_eval") == one


@needs("parallel")
def test_gnu_parallel_eval(evaluation, folder):
    command, one = evaluation
    run(["parallel", "-j", "2", *command, "--out", f"{folder}/parallel_eval/", "--shard", "{}/5", ":::", *map(str, range(5))])
    assert merged_arrays(folder, "parallel_eval") == one


@pytest.fixture(scope="module")
def slurm_environment(folder):
    if slurm.missing():
        pytest.skip("Slurm: " + slurm.missing())
    os.mkdir(f"{folder}/slurm")
    with slurm.slurm(f"{folder}/slurm") as environment:
        yield environment


def test_slurm_srun(command, one, folder, slurm_environment):
    run(["srun", "-n", "4", *command, "--out", f"{folder}/srun/"], env=slurm_environment)
    assert merged(folder, "srun") == one


def test_slurm_srun_eval(evaluation, folder, slurm_environment):
    command, one = evaluation
    run(["srun", "-n", "3", *command, "--out", f"{folder}/srun_eval/"], env=slurm_environment)
    assert merged_arrays(folder, "srun_eval") == one


def test_slurm_array_of_steps(command, one, folder, slurm_environment):
    with open(f"{folder}/falls.sh", "w") as script:
        script.write("#!/bin/sh\n#SBATCH --array=0-2\n#SBATCH --ntasks=2\nsrun " + " ".join(command) + f" --out {folder}/array/\n")
    run(["sbatch", "--wait", "--output", f"{folder}/falls.%a.log", f"{folder}/falls.sh"], env=slurm_environment, cwd=folder)
    assert merged(folder, "array") == one


# --- from Python: processes, Dask, Ray, joblib, MPI -------------------------------------------------------------------
def python_runs(executor=None):
    articula = pytest.importorskip("articula")
    return articula.monte_carlo(articula.load("double_pendulum"), runs=RUNS, duration=0.2, step=0.01, seed=11, distributions=DRAWN,
                                executor=executor, progress=False)  # fmt: skip


@functools.cache
def python_one():
    return python_runs()


def same(result):
    expected = python_one()
    assert result.columns == expected.columns and result.errors == expected.errors
    return all((result[name] == expected[name]).all() for name in expected.columns)


def test_the_program_and_python_agree(one):
    lines = one.decode().splitlines()
    names = lines[0].split(",")
    result = python_one()
    for line in (1, 17, RUNS):
        row = dict(zip(names, lines[line].split(",")))
        assert all(float(row[name]) == result[name][line - 1] for name in ("draw:q:joint1", "q:joint1", "v:joint2", "largest_speed"))


def test_processes():
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        assert same(python_runs(executor))


def test_dask():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        assert same(python_runs(client))


def test_ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.multiprocessing import Pool

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with Pool(2) as pool:
            assert same(python_runs(pool))
    finally:
        ray.shutdown()


def test_joblib():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    assert same(python_runs(joblib.Parallel(n_jobs=2)))


@needs("mpirun")
def test_mpi4py_futures(folder):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    script = f"{folder}/mpi_futures.py"
    with open(script, "w") as file:
        file.write(f"import sys\nsys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                   "from mpi4py.futures import MPIPoolExecutor\nimport test_engines as t\n"
                   "if __name__ == '__main__':\n"
                   "    with MPIPoolExecutor() as executor:\n        assert t.same(t.python_runs(executor))\n    print('same')\n")  # fmt: skip
    assert "same" in run(["mpirun", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", script])
