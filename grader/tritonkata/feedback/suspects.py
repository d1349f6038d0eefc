"""Which pass over memory need not be: a guess from the bytes that each line moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tritonkata.feedback.passes import MOST_LINES, SMALLEST_PASS
from tritonkata.model.observation import TensorTraffic
from tritonkata.model.report import TrafficEvidence

Cause = Literal["several_lines", "one_line", "scratch", "updated", "copied", "filled", "stored_again"]
"""Several lines read the same tensor; one line reads it more than once; it is written, and read again; a line
reads and writes it; the host copied it; the host filled it before the kernel stored; it is stored again."""

# A line that reads less of a tensor than this is no sweep over it.
_SWEEP = 0.05
_RESULT = re.compile(r"result(?:\[\d+\])?", re.ASCII)
_ALLOCATION = re.compile(r"(\w+)\[\d+\](?: \(line \d+\))?", re.ASCII)
_FILLS = ("zeros", "ones", "full")


@dataclass(frozen=True)
class Suspect:
    """A reason why bytes move more often than they need.

    `loads` and `stores` are the lines concerned, `times` how often they move the tensor, `saved` the
    bytes that would not move without it.
    """

    cause: Cause
    tensor: str
    times: float
    saved: int
    loads: tuple[int, ...] = ()
    stores: tuple[int, ...] = ()

    @property
    def shareable(self) -> tuple[int, ...]:
        """The lines that could read in one sweep: of more than two, all but the last, which needs what they find."""
        return self.loads[:-1] if len(self.loads) > 2 else self.loads


def suspects(traffic: TrafficEvidence | None) -> tuple[Suspect, ...]:
    """What makes bytes move more often than they need, what costs most first; nothing where nothing is suspect."""
    if traffic is None:
        return ()
    found = [suspect for tensor in traffic.per_tensor for suspect in _suspects(tensor)]
    told = [suspect for suspect in found if suspect.saved > SMALLEST_PASS * traffic.unit_bytes]
    return tuple(sorted(told, key=lambda suspect: suspect.saved, reverse=True))


def _suspects(tensor: TensorTraffic) -> Iterator[Suspect]:
    is_result = _RESULT.fullmatch(tensor.tensor) is not None
    made_by = None if is_result else _ALLOCATION.fullmatch(tensor.tensor)
    if made_by is not None and _is_copy(tensor, made_by[1]):
        yield _copied(tensor)
        yield from _read_again(tensor)
    elif (is_result or made_by is not None) and tensor.loaded and tensor.stored:
        yield _through_memory(tensor, is_result)
    else:
        yield from _read_again(tensor)
        yield from _stored_again(tensor)


def _is_copy(tensor: TensorTraffic, operation: str) -> bool:
    filled = any(operation.removeprefix("new_").startswith(word) for word in _FILLS)
    return not filled and _by_host(tensor) >= tensor.unique_stored > 0


def _copied(tensor: TensorTraffic) -> Suspect:
    by_host = _by_host(tensor)
    loads = tuple(one.line for one in tensor.lines if one.loaded)
    # The host reads the original as often as it writes the copy.
    return Suspect("copied", tensor.tensor, by_host / tensor.unique_stored, 2 * by_host, loads)


def _through_memory(tensor: TensorTraffic, is_result: bool) -> Suspect:
    updates = tuple(one.line for one in tensor.lines if one.loaded and one.stored)
    return Suspect(
        cause="updated" if updates else "scratch",
        tensor=tensor.tensor,
        times=_ratio(tensor.loaded, tensor.unique_loaded),
        saved=tensor.loaded + tensor.stored - (tensor.unique_stored if is_result else 0),
        loads=updates or tuple(one.line for one in tensor.lines if one.loaded),
        stores=updates or tuple(one.line for one in tensor.lines if one.stored),
    )


def _read_again(tensor: TensorTraffic) -> Iterator[Suspect]:
    once = tensor.unique_loaded
    alone = {one.line: one.loaded for one in tensor.lines if one.loaded > once}
    left = tensor.loaded - once
    if alone:
        over = sum(alone.values()) - once * len(alone)
        left -= over
        yield Suspect("one_line", tensor.tensor, _ratio(max(alone.values()), once), over, tuple(alone))
    sweeps = tuple(one.line for one in tensor.lines if one.loaded >= _SWEEP * once)
    # One line and the host's copy are no two sweeps. Without any line known, several are the likelier guess.
    if len(sweeps) > 1 or not tensor.lines:
        yield Suspect("several_lines", tensor.tensor, _ratio(tensor.loaded, once), left, sweeps)


def _stored_again(tensor: TensorTraffic) -> Iterator[Suspect]:
    by_host, times = _by_host(tensor), _ratio(tensor.stored, tensor.unique_stored)
    stores = tuple(one.line for one in tensor.lines if one.stored)
    if by_host and stores:
        yield Suspect("filled", tensor.tensor, times, by_host, stores=stores)
    elif stores:
        yield Suspect("stored_again", tensor.tensor, times, tensor.stored - tensor.unique_stored, stores=stores)


def _by_host(tensor: TensorTraffic) -> int:
    """Bytes stored without a line, where all lines of kernels are known."""
    if not 0 < len(tensor.lines) < MOST_LINES:
        return 0
    return tensor.stored - sum(one.stored for one in tensor.lines)


def _ratio(total: int, once: int) -> float:
    return total / once if once else 0.0
