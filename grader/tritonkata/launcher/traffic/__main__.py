"""`python -m tritonkata.launcher.traffic [DEVICE_INDEX]`: both sources count the calibration copy, as JSON."""

from __future__ import annotations

import sys
import time

import msgspec

from tritonkata.launcher import driver
from tritonkata.launcher.traffic import calibration, metrics, ncu
from tritonkata.launcher.traffic.comparison import Comparison, Source
from tritonkata.launcher.traffic.exclusive import exclusive
from tritonkata.launcher.traffic.source import Counters
from tritonkata.model.observation import TrafficSource


def compare(device_index: int) -> Comparison:
    """Count the copy with CUPTI in this process, and with Nsight Compute in one of its own."""
    device = driver.open_device(device_index)
    nbytes = calibration.copied_bytes(driver.attribute(device, "L2_CACHE_SIZE"))
    counters = Counters(device, device_index)
    return Comparison(driver.device_name(device), nbytes, (_by_cupti(counters), _by_ncu(counters, nbytes)))


def _by_cupti(counters: Counters) -> Source:
    cupti = counters.cupti
    if cupti is None:
        return Source("cupti", problem=counters.reason)
    with calibration.copy_work(driver.attribute(counters.device, "L2_CACHE_SIZE")) as (work, _):
        work.run()
        began = time.monotonic()
        (launch,) = cupti.count(work, tuple(metrics.LEVELS))
    taken = time.monotonic() - began
    return Source("cupti", launch.values, cupti.absent, setup_seconds=counters.seconds, seconds=taken)


def _by_ncu(counters: Counters, nbytes: int) -> Source:
    source: TrafficSource = "ncu"
    wanted = [name for level in metrics.LEVELS.values() for name in level]
    began = time.monotonic()
    try:
        with exclusive(driver.bus_id()):
            (launch,) = ncu.count(["tritonkata.launcher.once", "copy", str(counters.device_index)], wanted)
    except (ncu.NcuError, ValueError) as error:
        return Source(source, problem=str(error))
    problem, absent = calibration.verdict(metrics.traffic(source, [launch.values]), nbytes)
    return Source(source, launch.values, absent, problem, seconds=time.monotonic() - began)


if __name__ == "__main__":
    print(msgspec.json.encode(compare(int(sys.argv[1]) if len(sys.argv) > 1 else 0)).decode())
