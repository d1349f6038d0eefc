"""What the two sides of a sandbox go by: its maker, and the worker inside that looks at it or makes its own."""

from __future__ import annotations

SANDBOX_VARIABLE = "TRITONKATA_SANDBOX"
"""Says how the worker was started: `bubblewrap:USER`, or `none:CONTROLLER` with the controller's process id."""
SANDBOX_WORD = "bubblewrap"
NO_SANDBOX_WORD = "none"

TMP_BYTES = 1 << 30
SHARED_BYTES = 16 << 20
"""What fits into /tmp and into /dev/shm."""

HERE = b"here"
GO = b"go"
UP = b"up"
"""A forked worker is there, may go on, and stands in its sandbox: what it and its owner say on their line."""
MAX_MESSAGE_BYTES = 4096
