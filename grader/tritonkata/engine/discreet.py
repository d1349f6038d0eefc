"""What a process that had hidden values says, told in the grader's own words.

A submission in the interpreter holds the inputs of a case, and may raise an error whose text spells them out. Where a
report goes to someone who must not see them, only facts are kept that cannot carry much: the kind of fault, the line,
numbers of elements, and names that stand in the submission itself.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

import msgspec

from tritonkata.model.faults import Access, Fault
from tritonkata.model.observation import Traffic

NOTE = "texts of errors are left out where hidden inputs could stand in them"

_WORDS = {
    "out_of_bounds": "a kernel reads or writes outside a tensor",
    "uninitialised_read": "a kernel reads memory that nobody wrote",
    "race": "two programs write the same element",
    "compile_error": "the kernel does not compile",
    "timeout": "the call did not end in time",
    "forbidden_host_op": "the host code does part of the work",
    "invalid_output": "what was returned cannot be compared",
    "skipped": "the interpreter cannot run this",
    "grader_error": "the call ended early",
}
_LIBRARY_NAMES = re.compile(r"(torch|tl|libdevice|triton)(\.[a-z_0-9]{1,40}){0,3}")
_ALLOCATIONS = re.compile(
    r"(result|output|input|empty|zeros|ones|full|new_empty|new_zeros|new_ones|new_full|clone|contiguous|to|arange)"
    r"(_like|_strided)?(\[\d{1,3}\]| \d{1,3})?( \(line \d{1,5}\))?"
)
_MOST_ELEMENTS = 1 << 40
_KIND = re.compile(r"(an? )?[\w.]{1,40}( with (an? )?[\w.]{1,40} in it)?")
_WORDS_OF_KINDS = frozenset(
    ("a", "an", "with", "in", "it", "None", "function", "generator", "coroutine", "numpy.ndarray", "torch.Tensor")
)


class Discreet:
    """Knows the names of one submission."""

    def __init__(self, source: bytes, names: Iterable[str]) -> None:
        text = source.decode("utf-8", errors="replace")
        errors = {name for name, value in vars(builtins).items() if isinstance(value, type)}
        self._known = {*re.findall(r"[^\W\d]\w{0,80}", text), *errors, *names}
        self._lines = text.count("\n") + 1

    def fault(self, fault: Fault) -> Fault:
        """The same fault without the process's words."""
        error = fault.error if fault.error in self._known else ""
        words = _WORDS.get(fault.verdict) or f"the call ends with {error or 'an error'}"
        return Fault(
            verdict=fault.verdict,
            phase=fault.phase,
            message=words,
            error=error,
            line=self._line(fault.line),
            operation=fault.operation if _LIBRARY_NAMES.fullmatch(fault.operation) else "",
            access=None if fault.access is None else self._access(fault.access),
        )

    def answer(self, fault: Fault) -> Fault:
        """The same for one answer of a worksheet; what kind of value it is may be said, if all its names are known."""
        told = self.fault(fault)
        if fault.verdict != "invalid_output":
            return told
        is_known = _KIND.fullmatch(fault.message) and set(fault.message.split()) <= self._known | _WORDS_OF_KINDS
        return msgspec.structs.replace(told, message=fault.message if is_known else "something else")

    def traffic(self, traffic: Traffic | None) -> Traffic | None:
        """The same bytes; tensors whose names the submission does not have are left out."""
        if traffic is None:
            return None
        kept = tuple(row for row in traffic.per_tensor if self._is_known(row.tensor))
        return msgspec.structs.replace(traffic, per_tensor=kept)

    def _access(self, access: Access) -> Access | None:
        if abs(access.element) > _MOST_ELEMENTS or access.storage_elements > _MOST_ELEMENTS:
            return None
        return msgspec.structs.replace(
            access,
            tensor=access.tensor if self._is_known(access.tensor) else "a tensor",
            kernel=access.kernel if access.kernel in self._known else "",
            line=self._line(access.line),
        )

    def _is_known(self, name: str) -> bool:
        return name in self._known or _ALLOCATIONS.fullmatch(name) is not None

    def _line(self, line: int | None) -> int | None:
        return line if line is not None and 0 < line <= self._lines else None
