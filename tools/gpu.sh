#!/bin/bash
# On a machine with a GPU: timings, every algorithm against the CPU's batch, NVIDIA's sanitizers, many runs of a simulation,
# Python on arrays of the GPU, and the same recursion in JAX and PyTorch where they are. Writes one file for each below
# FOLDER (docs/gpu.md has the figures).
#   tools/gpu.sh FOLDER [BINARIES]
# BINARIES: a folder with articula_bench and articula_gpu_test, default build (made by: cmake --preset release && ninja -C
# build articula_bench articula_gpu_test articula); libraries that they need may lie in its folder lib, the Python package
# in site. STAGES: which of bench test sanitize montecarlo python peers, default all; TOOLS: which of memcheck racecheck initcheck. LIMIT: seconds of a stage. VARIANTS=1: the bench
# times other ways to compile the calls too. The programs that one stage compiled are in the cache for the next.
set -u
out=${1:?usage: tools/gpu.sh FOLDER [BINARIES]}
bin=${2:-build}
stages=${STAGES:-bench test sanitize montecarlo python peers}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
: "${ARTICULA_NVRTC:=$(ls -d /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib 2> /dev/null | head -1)}"
run() { LD_LIBRARY_PATH="$bin/lib" ARTICULA_NVRTC="$ARTICULA_NVRTC" "$@"; }
for stage in $stages; do
  begin=$SECONDS
  case $stage in
    bench)
      run timeout "${LIMIT:-300}" "$bin/articula_bench" --device cuda ${VARIANTS:+--variants} "$root/models/arm7.urdf" \
        "free:$root/models/quadruped.urdf" "free:$root/models/humanoid.urdf" > "$out/bench.txt" 2>&1
      ;;
    test)
      run timeout "${LIMIT:-300}" "$bin/articula_gpu_test" --processes "$(nproc)" "$root/models" > "$out/test.txt" 2>&1
      ;;
    sanitize)
      for tool in ${TOOLS:-memcheck racecheck initcheck}; do
        # The whole program, all its processes; what the stage `test` compiled is in the cache.
        echo "== $tool, articula_gpu_test"
        run timeout "${LIMIT:-300}" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
          "$bin/articula_gpu_test" --processes "$(nproc)" --states 64 "$root/models"
        echo "exit code $?"
      done > "$out/sanitize.txt" 2>&1
      ;;
    montecarlo)
      # The same draws on both: times, and the largest difference of any number.
      echo '{"q": {"*": {"normal": [0, 0.5]}}, "v": {"*": {"uniform": [-1, 1]}}}' > "$out/draws.json"
      for device in cpu cuda; do
        begin_device=$(date +%s%N)
        run timeout "${LIMIT:-120}" "$bin/articula" simulate "$root/models/arm7.urdf" --monte-carlo "${RUNS:-100000}" \
          --distributions "$out/draws.json" --duration 0.2 --step 0.001 --integrator rk4 --device $device --out "$out/$device.csv" 2>&1
        echo "$device: exit code $?, $((($(date +%s%N) - begin_device) / 1000000)) ms with start, compilation and writing"
      done > "$out/montecarlo.txt"
      python3 "$root/tools/compare_csv.py" "$out/cpu.csv" "$out/cuda.csv" >> "$out/montecarlo.txt" 2>&1
      rm -f "$out/cpu.csv" "$out/cuda.csv" "$out/draws.json"
      ;;
    python)
      ARTICULA_TEST_GPU=1 PYTHONPATH="$bin/site:${PYTHONPATH:-}" run timeout "${LIMIT:-120}" python3 -m pytest -v \
        -p no:cacheprovider "$root/python/tests/test_device.py" -k on_a_gpu > "$out/python.txt" 2>&1
      ;;
    peers)
      script=$root/bench/python/forward_dynamics_gpu.py
      timeout "${LIMIT:-200}" python3 "$script" "$root/models/arm7.urdf" > "$out/peers.txt" 2>&1
      ;;
  esac
  code=$?
  echo "gpu.sh: $stage took $((SECONDS - begin)) s, exit code $code"
done
