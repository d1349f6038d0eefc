"""The interpreter worker: `python -m tritonkata.worker.interpreter READ_FD WRITE_FD`.

The parent never runs the submission. It forks one child to try the import and
one for each case, so nothing a submission does to its process is left for the
next case, and a child that hangs or ends costs that case alone.
"""

from __future__ import annotations

from tritonkata.worker import bootstrap

if __name__ == "__main__":
    # Before any other import: what is given up here cannot be taken back.
    bootstrap.enter()

import os
import sys

from tritonkata.worker.interpreter.prepared import prepare


def main() -> int:
    """Serve the protocol on the two descriptors given; 0 when the controller closes its end."""
    if len(sys.argv) != 3:
        print("usage: python -m tritonkata.worker.interpreter READ_FD WRITE_FD", file=sys.stderr)
        return 2
    return prepare()(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    # Not sys.exit: Triton's bindings complain at length when the interpreter shuts down under them.
    os._exit(main())
