"""The command `articula`: the program of the library, which the package carries."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Becomes the program, with the same arguments."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "articula")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"articula: {program}: {error.strerror}; the package was installed without its program")
