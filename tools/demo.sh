#!/bin/sh
# The main job on a shipped robot: what `make demo` shows.
set -eu
articula=$1
state='{"q": [0.1, -0.7, 0.4, 0.2, 0.9, -0.3], "v": [0.5, -0.2, 0.3, 0.1, -0.4, 0.6], "a": [1, 0, -1, 0.5, 0, 0.2], "tau": [5, 40, 10, 0, 0, 0]}'

echo "PUMA 560: the model"
"$articula" info puma560
echo
echo "Its mass matrix and the O(n) inverse, inverse and forward dynamics, energies, at one state:"
echo "$state" | "$articula" eval puma560 mass_matrix inverse_mass_matrix inverse_dynamics forward_dynamics kinetic_energy \
  potential_energy center_of_mass | python3 tools/show_results.py
echo
echo "Try next:"
echo "  $articula check my_robot.urdf"
echo "  $articula info humanoid --base free"
echo "  echo '{\"q\": [0.3, 0.5], \"v\": [1, 0], \"tau\": [0, 0]}' | $articula eval double_pendulum forward_dynamics pose --frame $(
  "$articula" info double_pendulum --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["frames"][-1]["name"])')"
