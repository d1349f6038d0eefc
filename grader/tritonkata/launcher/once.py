"""`python -m tritonkata.launcher.once copy DEVICE_INDEX` or `... plan DEVICE_INDEX FILE`: what a profiler watches.

Runs the calibration copy, and the plan in FILE, once to warm up and once more between the profiler's
start and stop. Nsight Compute starts this; it prints nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tritonkata.launcher import driver, tuning
from tritonkata.launcher.counting import work_of
from tritonkata.launcher.recorded import read
from tritonkata.launcher.session import opened, refresh
from tritonkata.launcher.traffic.calibration import copy_work
from tritonkata.launcher.traffic.workload import Work

_POISON = 0xFF


def main(words: list[str]) -> int:
    """Run what is to be watched."""
    device = driver.open_device(int(words[1]))
    with copy_work(driver.attribute(device, "L2_CACHE_SIZE")) as (work, _):
        _watched(work)
    if words[0] == "plan":
        recorded = read(Path(words[2]))
        plan = recorded.request.plan
        with opened(plan, recorded.request.arguments, recorded.blobs) as session:
            refresh(session, _POISON)
            _watched(work_of(session, tuning.resolve(plan, recorded.chosen)))
    return 0


def _watched(work: Work) -> None:
    work.run()
    driver.start_profiler()
    work.run()
    driver.stop_profiler()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
