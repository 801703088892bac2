#!/bin/sh
# Every program for GPUs, compiled by NVRTC where there is no GPU: tools/gpu_compile.sh BUILD JOBS. NVRTC: ARTICULA_NVRTC
# names its folder, else it comes from PyPI; without either, one line says so, and that is no error.
set -eu
build=$1
if [ -z "${ARTICULA_NVRTC:-}" ]; then
  environment=build-python/nvrtc
  mkdir -p build-python
  [ -x "$environment/bin/pip" ] || python3 -m venv "$environment" || { echo "without NVRTC: python3 -m venv cannot make an environment"; exit 0; }
  if ! "$environment/bin/pip" install -q nvidia-cuda-nvrtc > build-python/nvrtc.log 2>&1; then
    echo "without NVRTC: PyPI's nvidia-cuda-nvrtc cannot be had (build-python/nvrtc.log)"
    exit 0
  fi
  ARTICULA_NVRTC=$(ls -d "$PWD/$environment"/lib/python3*/site-packages/nvidia/*/lib | head -1)
fi
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
ARTICULA_NVRTC=$ARTICULA_NVRTC ARTICULA_CUDA_CACHE=$cache ARTICULA_CUDA_DRIVER=$PWD/$build/libarticula_stand_in.so \
  "$build/articula_gpu_compile" --processes "$2" models > "$build/gpu_compile.log" || { grep FAILED "$build/gpu_compile.log"; exit 1; }
tail -n 1 "$build/gpu_compile.log"
