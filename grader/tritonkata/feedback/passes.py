"""Passes over memory: how often each tensor is written and read, and by which lines.

A pass is one read, or one write, of every byte of a tensor that was touched at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tritonkata.feedback.numbers import few, how_often, joined, lines
from tritonkata.model.observation import TensorTraffic
from tritonkata.model.report import TrafficEvidence

SMALLEST_PASS = 0.02
"""In units. Less is a row's statistics, or the edge of a tile."""
MOST_LINES = 64
"""More lines than this are not told of a tensor, so what has no line may be the kernel's as well."""
_MOST_TENSORS = 3


@dataclass(frozen=True)
class Share:
    """The part of one line in the passes over a tensor; `line` is None for everything that has no line."""

    line: int | None
    times: float


@dataclass(frozen=True)
class Passes:
    """How often a tensor moves one way: `times` in all, and the part of each line.

    `without_line` is what the part that has no line is called.
    """

    times: float
    shares: tuple[Share, ...] = ()
    without_line: str = "host code"

    def __str__(self) -> str:
        """`3 times (lines 12, 17 and 23)`, `2 times (line 12)`, `1.5 times (line 12: once, line 17: 0.5 times)`."""
        even = len(self.shares) == 1 or all(how_often(share.times) == "once" for share in self.shares)
        places = self._even() if even else self._uneven()
        return f"{how_often(self.times)} ({places})" if places else how_often(self.times)

    def _even(self) -> str:
        numbered = [share.line for share in self.shares if share.line is not None]
        words = [lines(numbered)] if numbered else []
        return joined([*words, self.without_line] if len(numbered) < len(self.shares) else words)

    def _uneven(self) -> str:
        places = (self.without_line if share.line is None else f"line {share.line}" for share in self.shares)
        parts = [f"{place}: {how_often(share.times)}" for place, share in zip(places, self.shares, strict=True)]
        return ", ".join(few(parts))


@dataclass(frozen=True)
class Passed:
    """One tensor, and the passes over it."""

    tensor: str
    written: Passes | None
    read: Passes | None

    def __str__(self) -> str:
        """`written once (line 24) and read 2 times (lines 27 and 31)`."""
        parts = (("written", self.written), ("read", self.read))
        return " and ".join(f"{verb} {passes}" for verb, passes in parts if passes is not None)


def passed_over(traffic: TrafficEvidence | None) -> tuple[Passed, ...]:
    """The tensors that move more than once, or both ways; those with most bytes too many first, at most three."""
    if traffic is None:
        return ()
    smallest = SMALLEST_PASS * traffic.unit_bytes
    repeated = [tensor for tensor in traffic.per_tensor if _too_many(tensor) > smallest]
    repeated.sort(key=_too_many, reverse=True)
    found = (passed(tensor) for tensor in repeated)
    return tuple(one for one in found if one.read or one.written)[:_MOST_TENSORS]


def passed(tensor: TensorTraffic) -> Passed:
    """The passes over one tensor."""
    stored = [(one.line, one.stored) for one in tensor.lines if one.stored]
    loaded = [(one.line, one.loaded) for one in tensor.lines if one.loaded]
    return Passed(
        tensor=tensor.tensor,
        written=_passes(tensor, tensor.stored, tensor.unique_stored, stored),
        read=_passes(tensor, tensor.loaded, tensor.unique_loaded, loaded),
    )


def merged_loads(traffic: TrafficEvidence | None) -> bool:
    """Whether the hardware counted fewer bytes than the program text asks for."""
    if traffic is None or traffic.counted is None:
        return False
    return traffic.counted - traffic.loads - traffic.stores > SMALLEST_PASS


def _passes(tensor: TensorTraffic, total: int, once: int, by_line: Sequence[tuple[int, int]]) -> Passes | None:
    if not once:
        return None
    shares = [Share(line, moved / once) for line, moved in by_line]
    rest = total - sum(moved for _, moved in by_line)
    # Without any line, lines are not known for this tensor, or only the host has touched it.
    if rest and tensor.lines:
        shares.append(Share(None, rest / once))
    return Passes(total / once, tuple(shares), "host code" if len(tensor.lines) < MOST_LINES else "other lines")


def _too_many(tensor: TensorTraffic) -> int:
    """Bytes beyond one pass, each way, and one pass of what goes to memory and back."""
    again = tensor.loaded - tensor.unique_loaded + tensor.stored - tensor.unique_stored
    return again + min(tensor.unique_loaded, tensor.unique_stored)
