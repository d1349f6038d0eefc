"""`python -m tritonkata.labs.card`: one line of JSON about the first GPU, told without making a context."""

from __future__ import annotations

import json
import sys

from tritonkata.launcher import driver


def main() -> int:
    """Print name, CUDA version and L2 size; 1 where there is no GPU."""
    devices = driver.devices()
    if not devices:
        return 1
    facts = {
        "name": driver.device_name(devices[0]),
        "cuda": driver.driver_version(),
        "l2_bytes": driver.attribute(devices[0], "L2_CACHE_SIZE"),
    }
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
