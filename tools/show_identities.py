#!/usr/bin/env python3
"""Prints the worst residuals of `articula operators MODEL --identities` (JSON on stdin)."""
import json
import sys

identities = json.load(sys.stdin)["results"][0]["identities"]
identities.sort(key=lambda i: -i["residual"])
for i in identities[:4]:
    print(f"   {i['residual']:9.1e}  {i['name']:40} {i['source']}")
print(f"   ... and {len(identities) - 4} more, all smaller")
