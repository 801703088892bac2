#!/usr/bin/env python3
"""Prints the results of `articula eval` (JSON on stdin) as aligned numbers."""
import json
import sys


def show(value, indent):
    if isinstance(value, dict):
        for name, item in value.items():
            print(" " * indent + name)
            show(item, indent + 2)
    elif isinstance(value, list) and value and isinstance(value[0], list):
        for row in value:
            show(row, indent)
    elif isinstance(value, list):
        print(" " * indent + " ".join(f"{x:11.5g}" for x in value))
    else:
        print(" " * indent + f"{value:11.6g}")


for index, result in enumerate(json.load(sys.stdin)["results"]):
    for quantity, number in result.items():
        print(f"  {quantity}:")
        show(number, 4)
