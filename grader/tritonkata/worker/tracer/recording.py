"""What one traced call does, collected step by step into a `LaunchPlan`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from tritonkata.model.plan import (
    Buffer,
    Choice,
    Copy,
    Fill,
    Kernel,
    Launch,
    LaunchPlan,
    Pointer,
    Step,
    View,
)
from tritonkata.worker.hostops import HostOpRefused, refuse

MAX_BUFFERS = 255
MAX_STEPS = 255
MAX_VARIANTS = 64
MAX_VARIANT_STEPS = 64
MAX_OUTPUTS = 16

# Storages lie this far apart in the made-up address space, so an address tells its storage and any
# overshoot of an offset still belongs to the storage that it started from. All lie above the addresses that a
# process has, which end at 2^47, so no tensor of the CPU looks like one of these.
_SPACING_BITS = 40
_FIRST_SLOT = 256


@dataclass(eq=False)
class Storage:
    """One allocation. `slot` gives its synthetic address; `recording` is the call that it belongs to."""

    nbytes: int
    name: str
    slot: int
    recording: Recording | None

    @property
    def address(self) -> int:
        """The synthetic address of the first byte, aligned to far more than 256 bytes."""
        return self.slot << _SPACING_BITS


@dataclass(eq=False)
class Recording:
    """The plan of one call while it grows."""

    target: str
    n_inputs: int = 0
    storages: list[Storage] = field(default_factory=list)
    kernels: dict[object, tuple[int, Kernel]] = field(default_factory=dict)
    steps: list[Step | Choice] = field(default_factory=list)
    _variant: list[Step] | None = None

    def add_step(self, step: Step) -> None:
        """Append a host operation or a launch, to the variant that is open, if one is."""
        steps, limit = (self.steps, MAX_STEPS) if self._variant is None else (self._variant, MAX_VARIANT_STEPS)
        if len(steps) >= limit:
            advice = "Cover all rows with the grid of one launch (or a few), not with a Python loop."
            raise refuse(f"more than {limit} launches and copies in one call", advice)
        steps.append(step)

    @contextmanager
    def variant(self) -> Iterator[list[Step]]:
        """Collect the steps of one autotuner configuration apart from the plan."""
        if self._variant is not None:
            raise refuse("an autotuned launch within an autotuned launch", "Launch one kernel after the other.")
        self._variant = []
        try:
            yield self._variant
        finally:
            self._variant = None

    def add_choice(self, variants: list[tuple[str, list[Step]]]) -> None:
        """Append an autotuned launch; each variant is a label and its steps."""
        if len(self.steps) >= MAX_STEPS:
            raise refuse(f"more than {MAX_STEPS} launches and copies in one call")
        labels = tuple(label[:500] for label, _ in variants)
        self.steps.append(Choice(tuple(tuple(steps) for _, steps in variants), labels))

    def buffer_of(self, storage: Storage) -> int:
        """The plan's id of a storage.

        Raises:
            HostOpRefused: the storage was made outside this call.
        """
        if storage.recording is not self:
            advice = "Allocate inside the entry point: every call starts on fresh memory."
            raise HostOpRefused("a tensor kept from an earlier call or from the import", advice)
        return self.storages.index(storage)

    def kernel_id(self, key: object, kernel: Kernel) -> int:
        """The plan's id of a kernel; `key` identifies what was compiled."""
        index, _ = self.kernels.setdefault(key, (len(self.kernels), kernel))
        if index >= MAX_STEPS:
            raise refuse(f"more than {MAX_STEPS} kernels in one call")
        return index

    def plan(self, outputs: tuple[View, ...], returned_tuple: bool) -> LaunchPlan:
        """The finished plan."""
        return LaunchPlan(
            target=self.target,
            n_inputs=self.n_inputs,
            buffers=tuple(Buffer(s.nbytes, s.name[:200]) for s in self.storages),
            kernels=tuple(kernel for _, kernel in self.kernels.values()),
            steps=tuple(self.steps),
            outputs=outputs,
            returned_tuple=returned_tuple,
        )


class Memory:
    """The made-up address space of the process, and the recording that is open."""

    def __init__(self) -> None:
        self._slots: list[Storage] = []
        self.recording: Recording | None = None
        self.total_bytes = 1 << 38

    def allocate(self, nbytes: int, kind: Literal["input", "allocation"], name: str = "") -> Storage:
        """A fresh storage in the open recording (in none during import).

        Raises:
            RuntimeError: more than the device holds, worded as torch does.
        """
        if nbytes > self.total_bytes and kind == "allocation":
            raise RuntimeError(
                f"CUDA out of memory: tried to allocate {nbytes} bytes, the device has {self.total_bytes}"
            )
        recording = self.recording
        if recording is not None and len(recording.storages) >= MAX_BUFFERS:
            raise refuse(f"more than {MAX_BUFFERS} allocations in one call", "Allocate once, outside the loop.")
        count = len(recording.storages) - recording.n_inputs if recording is not None else len(self._slots)
        storage = Storage(nbytes, name or f"allocation {count}", _FIRST_SLOT + len(self._slots), recording)
        self._slots.append(storage)
        if recording is not None:
            recording.storages.append(storage)
        return storage

    def find(self, address: int) -> tuple[Storage, int] | None:
        """The storage and byte offset of a synthetic address, or None if it is no such address."""
        slot = (address >> _SPACING_BITS) - _FIRST_SLOT
        if not 0 <= slot < len(self._slots):
            return None
        storage = self._slots[slot]
        return storage, address - storage.address

    def pointer(self, address: int) -> Pointer | None:
        """A kernel argument for a synthetic address, or None if it is no such address."""
        found = self.find(address)
        if found is None:
            return None
        storage, offset = found
        return Pointer(self.current().buffer_of(storage), offset)

    def current(self) -> Recording:
        """The open recording.

        Raises:
            HostOpRefused: no call is being traced: the file launches or fills while it is imported.
        """
        if self.recording is None:
            advice = "Move it into the entry point, or under `if __name__ == '__main__':`."
            raise HostOpRefused("work on the device while the file is imported", advice)
        return self.recording


def record(memory: Memory, step: Fill | Copy | Launch) -> None:
    """Append a step to the open recording."""
    memory.current().add_step(step)
