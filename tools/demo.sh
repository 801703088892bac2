#!/bin/sh
# The main job on shipped robots: what `make demo` shows. demo.sh PROGRAM TWO_ARMS_CARRY
set -eu
articula=$1
carry=$2
folder=demo
mkdir -p "$folder"
state='{"q": [0.1, -0.7, 0.4, 0.2, 0.9, -0.3], "v": [0.5, -0.2, 0.3, 0.1, -0.4, 0.6], "tau": [5, 40, 10, 0, 0, 0]}'

echo "1. PUMA 560: its mass matrix, and the O(n) inverse"
echo "$state" | "$articula" eval puma560 mass_matrix inverse_mass_matrix | python3 tools/show_results.py
echo "   The papers' operator identities on this robot, as residuals:"
"$articula" operators puma560 --identities | python3 tools/show_identities.py
echo
echo "2. A double pendulum is dropped: 10 s, variational integrator"
echo '{"q": [1.5, 0.5], "v": [0, 0]}' > "$folder/start.json"
drop() {
  "$articula" simulate double_pendulum --duration 10 --every 0.01 --integrator variational --out "$folder/pendulum.csv" \
    --initial "$folder/start.json" "$@"
}
drop --report "$folder/pendulum.html" || drop  # a build without the page says so, and goes on without
python3 tools/show_energy.py "$folder/pendulum.csv"
echo
echo "3. Two 7-joint arms carry one object around a circle (closed chain, operational-space control of the object)"
printf '   '
"$carry" "$folder/report.html"
echo
echo "4. Open in a browser, no network needed:"
for page in report pendulum; do
  if [ -f "$folder/$page.html" ]; then echo "   $(pwd)/$folder/$page.html"; fi
done
echo
echo "5. Try next:"
echo "   $articula simulate humanoid --base free --duration 1 --every 0.01 --out fall.csv --report fall.html"
echo "   $articula view arm7"
echo "   $articula count puma560"
