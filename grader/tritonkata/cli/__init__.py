"""The command `kata`.

Nothing below this package imports torch, triton, NumPy or pytest at module level:
`kata list`, `start` and `hint` answer at once.
"""

from __future__ import annotations

import signal


def main() -> int:
    """Run `kata` with the arguments of this process; returns the exit code."""
    # Until `ending.listen` there is nothing to clean up: an interruption ends the imports without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tritonkata.cli.app import run

    return run()
