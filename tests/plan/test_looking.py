"""What the launcher sees when it looks at device memory, piece by piece."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from host_device import HostDevice
from numpy.typing import NDArray

from tritonkata.boundary.messages import Replay, Time, Timed
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import looking, session
from tritonkata.launcher.replay import replay
from tritonkata.launcher.timed import time_plan
from tritonkata.model.plan import Buffer, Copy, LaunchPlan, View
from tritonkata.model.tensors import Run, TensorData, TensorSpec

PIECE = looking.PIECE_BYTES
SIZES = [0, 1, 2, 1000, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3]
POISON = 0xFF


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> HostDevice:
    return HostDevice(monkeypatch)


def places(nbytes: int) -> list[int]:
    """Where one byte may be another: both ends of the whole, and of each piece."""
    edges = {0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, nbytes - 2, nbytes - 1}
    return sorted(place for place in edges if 0 <= place < nbytes)


@pytest.mark.parametrize("nbytes", SIZES)
def test_memory_that_differs_in_one_byte_is_not_the_same(device: HostDevice, nbytes: int) -> None:
    expected = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    address = device.allocate(max(nbytes, 1))
    device.upload(address, expected)
    assert looking.same_bytes(address, expected)
    for place in places(nbytes):
        device.taken[address][place] ^= 1
        assert not looking.same_bytes(address, expected), place
        device.taken[address][place] ^= 1


@pytest.mark.parametrize("nbytes", SIZES)
def test_the_first_other_byte_is_found_wherever_it_is(device: HostDevice, nbytes: int) -> None:
    address = device.allocate(max(nbytes, 1))
    device.fill(address, POISON, 1, nbytes)
    assert looking.first_other(address, nbytes, POISON) is None
    assert looking.first_other(address, nbytes, POISON - 1) == (0 if nbytes else None)
    # From the end: what was changed before lies after it and is not the first.
    for place in reversed(places(nbytes)):
        device.taken[address][place] = 0
        assert looking.first_other(address, nbytes, POISON) == place


@pytest.mark.parametrize("beside", [-arenas.GUARD_BYTES // 2, -1, 0, arenas.GUARD_BYTES - 1])
def test_a_store_beside_a_buffer_shows_in_its_guard_zone(device: HostDevice, beside: int) -> None:
    layout = arenas.lay_out([("x", PIECE), ("y", 12)])
    with arenas.allocated(layout) as arena:
        arenas.poison(arena, POISON)
        assert arenas.guard_hits(arena, POISON) == []
        offset = beside if beside < 0 else 12 + beside
        device.fill(arena.address(1, offset), 0, 1, 1)
        assert arenas.guard_hits(arena, POISON) == [("y", offset)]
    assert device.taken == {}


def copying_plan(elements: int, outputs: int = 1) -> LaunchPlan:
    """The first buffer, which is the argument, copied into each of the others."""
    spec = TensorSpec("float32", (elements,), (1,), 0, elements)
    buffers = (Buffer(4 * elements, "x"), *(Buffer(4 * elements, f"out{number}") for number in range(outputs)))
    views = tuple(View(1 + number, spec) for number in range(outputs))
    return LaunchPlan("sm_90", 1, buffers, (), tuple(Copy(View(0, spec), view) for view in views), views)


@pytest.mark.parametrize("changed", [None, 0, PIECE, -1])
def test_an_argument_that_is_no_longer_what_was_sent_is_named(device: HostDevice, changed: int | None) -> None:
    elements = PIECE // 2
    plan = copying_plan(elements)
    spec = plan.outputs[0].spec
    values = np.arange(elements, dtype=np.float32)
    arguments = (TensorData(spec, (Run(0, elements),)),)
    with session.opened(plan, arguments, [values]) as opened:
        session.refresh(opened, POISON)
        if changed is not None:
            device.fill(opened.arena.address(0, changed % values.nbytes), 0x5A, 1, 1)
        assert session.inputs_changed(opened) == (() if changed is None else ("x",))
    reply, outputs = replay(Replay(plan, arguments, b"\xff\x7b"), [values])
    assert (reply.inputs_changed, reply.guard_hits, reply.unwritten) == ((), (), ())
    assert outputs[0].tobytes() == values.tobytes()


class Forgetful(HostDevice):
    """A device that changes one byte of one of two outputs, in every run of `timed_plan` but the first three."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, output: int, place: int) -> None:
        self._output, self._place, self._copies = output, place, 0
        super().__init__(monkeypatch)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        super().copy(target, source, nbytes)
        if nbytes == 2 * PIECE:  # and not of the whole arena
            run, output = divmod(self._copies, 2)
            self._copies += 1
            if run >= 3 and output == self._output:
                (ctypes.c_uint8).from_address(target + self._place).value ^= 1


def timed_plan(values: NDArray[np.float32]) -> tuple[Timed, list[NDArray[np.uint8]]]:
    """Both outputs are copies of the values, which take two pieces."""
    plan = copying_plan(values.size, outputs=2)
    arguments = (TensorData(plan.outputs[0].spec, (Run(0, values.size),)),)
    return time_plan(Time(plan, (arguments,), rounds=3, copy_bytes=1 << 20), [values], None)


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("place", [0, PIECE - 1, PIECE, 2 * PIECE - 1])
@pytest.mark.parametrize("hides", [False, True])
def test_a_timed_run_with_another_result_is_told(
    monkeypatch: pytest.MonkeyPatch, output: int, place: int, hides: bool
) -> None:
    """Also where the comparison on the device says that all is well: the last run is always looked at on the host."""
    device = Forgetful(monkeypatch, output, place)
    device.hides_differences = hides
    values = np.arange(PIECE // 2, dtype=np.float32)
    reply, outputs = timed_plan(values)
    assert reply.differing == (0,)
    same = [part.tobytes() == values.tobytes() for part in outputs]
    assert same == [True, True, output != 0, output != 1]
    assert device.taken == {}


def test_a_timed_run_whose_nan_has_other_bits_is_no_other_result(monkeypatch: pytest.MonkeyPatch) -> None:
    Forgetful(monkeypatch, 1, PIECE)
    reply, outputs = timed_plan(np.full(PIECE // 2, np.nan, np.float32))
    assert (reply.differing, len(outputs)) == ((), 2)
