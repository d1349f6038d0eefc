"""The tracer process: `python -m tritonkata.worker.tracer READ_FD WRITE_FD`.

It makes itself ready, waits for one submission, answers traces and ends when
the pipe closes. It never sees a value of an input.
"""

from __future__ import annotations

import sys

from tritonkata.worker import bootstrap


def main() -> int:
    """Serve one submission. Returns 0 when the controller closed the pipe."""
    bootstrap.enter()
    from tritonkata.worker.tracer.prepared import prepare

    return prepare()(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())
