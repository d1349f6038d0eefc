"""The tracer process: `python -m tritonkata.worker.tracer READ_FD WRITE_FD`.

It makes itself ready, waits for one submission, answers traces and ends when
the pipe closes. It never sees a value of an input.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tritonkata.worker import bootstrap


def main() -> int:
    """Serve one submission. Returns 0 when the controller closed the pipe."""
    bootstrap.enter()
    from tritonkata.boundary.channel import Channel, ChannelClosed
    from tritonkata.worker.tracer.environment import prepare

    channel = Channel(int(sys.argv[1]), int(sys.argv[2]))
    with tempfile.TemporaryDirectory(prefix="tracer-", ignore_cleanup_errors=True) as folder:
        prepare(str(Path(folder) / "cache"))
        from tritonkata.worker.tracer.serve import serve

        try:
            serve(channel, Path(folder))
        except ChannelClosed:
            return 0


if __name__ == "__main__":
    sys.exit(main())
