"""The command `kata`.

Nothing below this package imports torch, triton, NumPy or pytest at module level:
`kata list`, `start` and `hint` answer at once.
"""

from __future__ import annotations


def main() -> int:
    """Run `kata` with the arguments of this process; returns the exit code."""
    from tritonkata.cli.app import run

    return run()
