"""How long a process waits for a tensor of another one: through pipes, as Linux makes them and larger, and mapped.

    python benchmarks/channel_speed.py [--mebibytes N] [--rounds N] [--name NAME]

"socket" carries the bytes themselves. "packed" is a tensor that lies in a memory file before the other process waits
for it, "mapped" one that is put there meanwhile. All take turns in one run. A tensor of 8192 x 4096 in float32 is
128 MiB.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec
import numpy as np

from common import environment, save
from tritonkata.boundary.channel import PIPE_BYTES, Channel
from tritonkata.boundary.memory_file import in_memory_files
from tritonkata.boundary.socket_channel import SocketChannel

USUAL_BYTES = 64 << 10

Ends = tuple[Channel, Channel]
Packing = Callable[[Sequence[Any]], AbstractContextManager[Sequence[Any]]]


class Tensor(msgspec.Struct, tag="tensor"):
    """Announces the blob beside it."""


def main() -> None:
    """Measure all, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--name", default="channel_speed")
    options = parser.parse_args()
    data = os.urandom(options.mebibytes << 20)
    ways: dict[str, tuple[Callable[[], Ends], Packing]] = {
        "usual pipe": (lambda: piped(USUAL_BYTES), nullcontext),
        "larger pipe": (lambda: piped(PIPE_BYTES), nullcontext),
        "socket": (by_bytes, nullcontext),
        "mapped": (connected, nullcontext),
        "packed": (connected, in_memory_files),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, (make, packing) in ways.items():
            with packing([data]) as blobs:
                rates[name].append(len(data) / crossing_seconds(blobs, make()) / 1e9)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    result = {
        "mebibytes": options.mebibytes,
        "gigabytes_a_second": {name: [round(rate, 3) for rate in found] for name, found in rates.items()},
        "median": {name: round(rate, 3) for name, rate in medians.items()},
        "times_as_fast_as_the_usual_pipe": {
            name: round(rate / medians["usual pipe"], 2) for name, rate in medians.items()
        },
        "environment": environment(),
    }
    print(", ".join(f"{name} {rate:.2f} GB/s" for name, rate in medians.items()))
    print(save(options.name, result))


def piped(pipe_bytes: int) -> Ends:
    """Two channels that are connected by pipes of this size."""
    (there, we_write), (we_read, back) = os.pipe(), os.pipe()
    return Channel(we_read, we_write, pipe_bytes=pipe_bytes), Channel(there, back, pipe_bytes=pipe_bytes)


def connected() -> Ends:
    """Two channels that are connected by a socket."""
    ours, theirs = socket.socketpair()
    return SocketChannel(ours), SocketChannel(theirs)


def by_bytes() -> Ends:
    """Two channels over a socket that know of no memory files."""
    ours, theirs = (end.detach() for end in socket.socketpair())
    return Channel(ours, os.dup(ours)), Channel(theirs, os.dup(theirs))


def crossing_seconds(blobs: Sequence[Any], ends: Ends) -> float:
    """From the beginning of sending to the answer of a process that has copied all of it."""
    ours, theirs = ends
    child = os.fork()
    if child == 0:
        try:
            ours.close()
            for blob in theirs.receive(Tensor).blobs:
                np.frombuffer(blob, np.uint8).copy()
            theirs.send(Tensor())
        finally:
            os._exit(0)
    theirs.close()
    began = time.monotonic()
    ours.send(Tensor(), blobs)
    ours.receive(Tensor)
    seconds = time.monotonic() - began
    ours.close()
    os.waitpid(child, 0)
    return seconds


if __name__ == "__main__":
    main()
