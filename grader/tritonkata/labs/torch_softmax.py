"""`python -m tritonkata.labs.torch_softmax OPTIONS`: torch.softmax measured as the lab's kernels are.

OPTIONS is the JSON of `labs.model.Options`. One line of JSON comes out: a `LabRow`, or the reason why there is
none. torch works in the primary context of the first GPU, and so do the counters and the copies.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tritonkata.engine.arrays import numpy_dtype
from tritonkata.labs import inputs
from tritonkata.labs.model import LabRow, Options, bandwidth_of
from tritonkata.labs.peer import Refused
from tritonkata.labs.truth import check, truth_of
from tritonkata.model.observation import Traffic

Array = NDArray[Any]


def main(arguments: list[str]) -> int:
    """Print a row or a reason."""
    options = msgspec.json.decode(arguments[0], type=Options)
    try:
        import torch
    except ImportError as error:
        return _say(Refused(f"torch cannot be imported ({error})"))
    if not torch.cuda.is_available():
        return _say(Refused(f"torch {torch.__version__} is a build without CUDA, or sees no GPU"))
    try:
        return _say(measure(torch, options))
    except torch.cuda.OutOfMemoryError:
        return _say(Refused("torch found too little GPU memory"))


def measure(torch: Any, options: Options) -> LabRow:
    """Count, time and check torch.softmax on the lab's input."""
    from tritonkata.launcher import driver, timing

    device = driver.open_device(0)
    x = inputs.scores((options.rows, options.cols), options.dtype, options.seed, poisoned=True)
    on_card = to_torch(torch, x, "cuda")
    traffic, reason = _count(device, lambda: torch.softmax(on_card, dim=-1))
    with timing.bench(device, 2 * x.nbytes) as bench:
        speed = timing.time_beside_copies(bench, lambda: torch.softmax(on_card, dim=-1), options.rounds)
    return LabRow(
        variant="torch",
        title="torch.softmax",
        traffic=traffic,
        checked=check(truth_of("softmax"), x, to_numpy(torch, torch.softmax(on_card, dim=-1))),
        speed=speed,
        effective=bandwidth_of(traffic.requested.total, speed.kernel_us) if traffic else None,
        absent=dict(traffic.absent) if traffic else {"traffic": reason},
    )


def _count(device: Any, run: Any) -> tuple[Traffic | None, str]:
    """The bytes of one call, all its kernels together; or why they cannot be counted."""
    from tritonkata.launcher.traffic import metrics
    from tritonkata.launcher.traffic.cupti import CuptiError
    from tritonkata.launcher.traffic.source import Counters
    from tritonkata.launcher.traffic.workload import Work

    counters = Counters(device, 0)
    if counters.cupti is None:
        return None, counters.reason
    work = Work((("torch.softmax", run),))
    work.run()
    try:
        launches = counters.cupti.count(work)
    except CuptiError as error:
        return None, str(error)
    return metrics.traffic("cupti", [one.values for one in launches], absent=counters.cupti.absent), ""


def to_torch(torch: Any, x: Array, device: str) -> Any:
    """An array as a tensor; NumPy's bfloat16 has no name in torch, so its bits are taken over."""
    if x.dtype != numpy_dtype("bfloat16"):
        return torch.from_numpy(x).to(device)
    return torch.from_numpy(x.view(np.int16)).to(device).view(torch.bfloat16)


def to_numpy(torch: Any, y: Any) -> Array:
    """A tensor as an array in host memory."""
    if y.dtype != torch.bfloat16:
        host: Array = y.cpu().numpy()
        return host
    bits: Array = y.view(torch.int16).cpu().numpy()
    return bits.view(numpy_dtype("bfloat16"))


def _say(answer: LabRow | Refused) -> int:
    print(msgspec.json.encode(answer).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
