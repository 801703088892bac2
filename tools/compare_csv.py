#!/usr/bin/env python3
"""Two tables of numbers with the same columns: the largest difference, relative to the column's largest number.

usage: compare_csv.py A.csv B.csv
"""
import csv
import sys


def read(path):
    with open(path) as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return rows[0], rows[1:]


names, a = read(sys.argv[1])
others, b = read(sys.argv[2])
if names != others or len(a) != len(b):
    sys.exit(f"not alike: {len(a)} rows of {len(names)} columns, {len(b)} rows of {len(others)}")
worst, where = 0.0, "none"
largest = [max((abs(float(row[i])) for row in a if row[i]), default=0.0) for i in range(len(names)) if names[i] != "error"]
for i, scale in enumerate(largest):
    if scale < 1e-9:  # nothing but rounding
        continue
    for x, y in zip(a, b):
        difference = abs(float(x[i] or "nan") - float(y[i] or "nan")) / scale
        if not difference <= worst:
            worst, where = difference, names[i]
print(f"{len(a)} rows, {len(names)} columns: largest difference {worst:.1e} ({where})")
