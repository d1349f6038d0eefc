"""How fast a tensor crosses between two processes, with pipes as Linux makes them and with the larger ones.

    python benchmarks/channel_speed.py [--mebibytes N] [--rounds N] [--name NAME]

The two take turns in one run. A tensor of 8192 x 4096 in float32 is 128 MiB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

import msgspec

from common import environment, save
from tritonkata.boundary.channel import PIPE_BYTES, Channel

USUAL_BYTES = 64 << 10


class Tensor(msgspec.Struct, tag="tensor"):
    """Announces the blob beside it."""


def main() -> None:
    """Measure both, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--name", default="channel_speed")
    options = parser.parse_args()
    data = os.urandom(options.mebibytes << 20)
    rates: dict[int, list[float]] = {USUAL_BYTES: [], PIPE_BYTES: []}
    for _ in range(options.rounds):
        for pipe_bytes, found in rates.items():
            found.append(len(data) / crossing_seconds(data, pipe_bytes) / 1e9)
    usual, larger = (statistics.median(found) for found in rates.values())
    result = {
        "mebibytes": options.mebibytes,
        "gigabytes_a_second": {str(size): [round(rate, 3) for rate in found] for size, found in rates.items()},
        "median": {str(USUAL_BYTES): round(usual, 3), str(PIPE_BYTES): round(larger, 3)},
        "times_as_fast": round(larger / usual, 2),
        "environment": environment(),
    }
    print(
        f"{usual:.2f} GB/s through {USUAL_BYTES} bytes, {larger:.2f} through {PIPE_BYTES}: {larger / usual:.2f} times"
    )
    print(save(options.name, result))


def crossing_seconds(data: bytes, pipe_bytes: int) -> float:
    """From the first byte sent to the answer of a process that has read all."""
    (there, we_write), (we_read, back) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            channel = Channel(there, back, pipe_bytes=pipe_bytes)
            channel.receive(Tensor)
            channel.send(Tensor())
        finally:
            os._exit(0)
    os.close(there)
    os.close(back)
    channel = Channel(we_read, we_write, pipe_bytes=pipe_bytes)
    began = time.monotonic()
    channel.send(Tensor(), [data])
    channel.receive(Tensor)
    seconds = time.monotonic() - began
    channel.close()
    os.waitpid(child, 0)
    return seconds


if __name__ == "__main__":
    main()
