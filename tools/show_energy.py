#!/usr/bin/env python3
"""Prints how well the energy is kept in a recording of `articula simulate` (CSV, the first argument)."""
import csv
import sys

with open(sys.argv[1], newline="") as file:
    rows = [r for r in csv.reader(line for line in file if not line.startswith("#"))]
names = rows[0]
k, p = names.index("kinetic_energy"), names.index("potential_energy")
energy = [float(r[k]) + float(r[p]) for r in rows[1:]]
swing = max(float(r[k]) for r in rows[1:])
worst = max(abs(e - energy[0]) for e in energy)
print(f"   {len(energy)} rows; the energy stays within {worst:.1e} J of {energy[0]:.4f} J while {swing:.2f} J of it swings")
