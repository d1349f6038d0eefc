"""Hardware counters and timing. Needs one NVIDIA GPU whose counters this user may read, and Nsight Compute."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import pytest

from tritonkata.courses import load_course
from tritonkata.doctor.examination import compare_counters
from tritonkata.engine.engines import GpuEngine
from tritonkata.engine.workers import Assignment
from tritonkata.model.course import Entry, Limits
from tritonkata.model.observation import Level, Observation

pytestmark = pytest.mark.gpu

KERNELS = b"""
import torch
import triton
import triton.language as tl


@triton.jit
def whole_row(x_ptr, y_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + lanes, mask=lanes < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + lanes, e / tl.sum(e, axis=0), mask=lanes < cols)


@triton.jit
def three_loops(x_ptr, y_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for begin in range(0, cols, BLOCK):
        at = begin + lanes
        top = tl.maximum(top, tl.load(x_ptr + row * stride + at, mask=at < cols, other=-float("inf")))
    m = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, cols, BLOCK):
        at = begin + lanes
        total += tl.exp(tl.load(x_ptr + row * stride + at, mask=at < cols, other=-float("inf")) - m)
    s = tl.sum(total, axis=0)
    for begin in range(0, cols, BLOCK):
        at = begin + lanes
        x = tl.load(x_ptr + row * stride + at, mask=at < cols, other=-float("inf"))
        tl.store(y_ptr + row * cols + at, tl.exp(x - m) / s, mask=at < cols)


@triton.jit
def three_loads(x_ptr, y_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    at = x_ptr + row * stride + lanes
    m = tl.max(tl.load(at, mask=lanes < cols, other=-float("inf")), axis=0)
    s = tl.sum(tl.exp(tl.load(at, mask=lanes < cols, other=-float("inf")) - m), axis=0)
    e = tl.exp(tl.load(at, mask=lanes < cols, other=-float("inf")) - m)
    tl.store(y_ptr + row * cols + lanes, e / s, mask=lanes < cols)


@triton.jit
def add_one(y_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + lanes, 1.0, mask=lanes < n)


@triton.jit
def far_away(x_ptr, y_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y_ptr + lanes + (1 << 40), tl.load(x_ptr + lanes))


@triton.jit
def stamp(y_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    now = tl.inline_asm_elementwise("mov.u32 $0, %globaltimer_lo;", "=r,r", [lanes], tl.int32, is_pure=False, pack=1)
    tl.store(y_ptr + lanes, (now & 0xFFFF).to(tl.float32), mask=lanes < n)


def _rows(kernel, x, block, warps=4):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, num_warps=warps)
    return y


def one_pass(x):
    return _rows(whole_row, x, triton.next_power_of_2(x.shape[1]))


def three_pass(x):
    return _rows(three_loops, x, 512)


def merged(x):
    return _rows(three_loads, x, triton.next_power_of_2(x.shape[1]))


def spilling(x):
    return _rows(whole_row, x, triton.next_power_of_2(x.shape[1]), warps=1)


def copied_first(x):
    return _rows(whole_row, x[:, 1:].contiguous(), triton.next_power_of_2(x.shape[1]))


def more_threads_than_lanes(x):
    return _rows(three_loops, x, 512, warps=32)


def atomics(x):
    y = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    add_one[(triton.cdiv(x.numel(), 256),)](y, x.numel(), BLOCK=256)
    return y


def twice(x):
    return one_pass(three_pass(x))


def astray(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    far_away[(1,)](x, y, BLOCK=128)
    return y


def stamped(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    stamp[(triton.cdiv(x.numel(), 1024),)](y, x.numel(), BLOCK=1024)
    return y
"""
NAMES = (
    "one_pass",
    "three_pass",
    "merged",
    "spilling",
    "copied_first",
    "more_threads_than_lanes",
    "atomics",
    "twice",
    "astray",
    "stamped",
)
ENTRIES = {name: Entry(name, ("x",), ("y",)) for name in NAMES}


def opened() -> GpuEngine:
    return GpuEngine(Assignment(tuple(ENTRIES.values()), Limits(), "kernels.py", KERNELS))


@pytest.fixture(scope="module")
def engine() -> Iterator[GpuEngine]:
    made = opened()
    yield made
    made.close()


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(3).standard_normal(shape, dtype=np.float32)


def counted(engine: GpuEngine, name: str, x: np.ndarray[Any, Any]) -> Observation:
    observation = engine.traffic(ENTRIES[name], (x,))
    assert observation.fault is None, observation.fault
    assert observation.traffic is not None
    assert observation.traffic.source == "cupti", observation.traffic.absent
    return observation


@pytest.mark.parametrize(
    ("name", "traversals"), [("one_pass", 2), ("three_pass", 4), ("twice", 6), ("copied_first", 4)]
)
def test_requested_bytes_are_exact_and_equal_the_interpreters(engine: GpuEngine, name: str, traversals: int) -> None:
    x = normal(5, 3001)
    traffic = counted(engine, name, x).traffic
    assert traffic is not None
    unit_bytes = x.nbytes - (x.shape[0] * 4 if name == "copied_first" else 0)
    assert traffic.requested.total == traversals * unit_bytes
    assert traffic.counted == traffic.requested
    assert sum(tensor.loaded for tensor in traffic.per_tensor) == traffic.loaded
    assert traffic.spilled == 0


def test_atomics_read_and_write(engine: GpuEngine) -> None:
    x = normal(4, 1000)
    traffic = counted(engine, "atomics", x).traffic
    assert traffic is not None
    assert traffic.counted == traffic.requested == Level(x.nbytes, 2 * x.nbytes)


def test_loads_that_the_compiler_merges_are_counted_once_and_both_counts_are_there(engine: GpuEngine) -> None:
    x = normal(5, 1000)
    traffic = counted(engine, "merged", x).traffic
    assert traffic is not None
    assert traffic.requested == Level(x.nbytes, x.nbytes)
    assert traffic.counted == Level(3 * x.nbytes, x.nbytes)


def test_loads_that_several_threads_repeat_are_counted_as_often_as_they_are_made(engine: GpuEngine) -> None:
    """1024 threads on 512 lanes: the hardware is asked twice for every element, the program text once."""
    x = normal(5, 3001)
    traffic = counted(engine, "more_threads_than_lanes", x).traffic
    assert traffic is not None
    assert traffic.counted == Level(3 * x.nbytes, x.nbytes)
    assert traffic.requested == Level(6 * x.nbytes, x.nbytes)


def test_spilled_registers_are_counted_apart(engine: GpuEngine) -> None:
    x = normal(3, 16384)
    traffic = counted(engine, "spilling", x).traffic
    assert traffic is not None
    assert traffic.requested == Level(x.nbytes, x.nbytes)
    assert traffic.spilled


def test_caches_absorb_passes_of_small_inputs_only(engine: GpuEngine) -> None:
    small, large = normal(512, 1000), normal(2048, 65536)
    for x, rereads in ((small, 0), (large, 1)):
        observation = engine.traffic(ENTRIES["three_pass"], (x,), counted=False)
        assert observation.traffic is not None
        traffic = observation.traffic
        assert traffic.requested == Level(3 * x.nbytes, x.nbytes)
        assert traffic.l2 is not None
        assert traffic.dram is not None
        assert traffic.l2.loaded <= traffic.loaded
        assert (traffic.dram.loaded > 2 * x.nbytes) == bool(rereads)


def test_a_fault_while_counting_is_the_kernels_and_the_next_count_works(engine: GpuEngine) -> None:
    x = normal(1, 128)
    observation = engine.traffic(ENTRIES["astray"], (x,), counted=False)
    assert observation.fault is not None
    assert observation.fault.verdict == "out_of_bounds"
    counted(engine, "one_pass", x)


@pytest.mark.parametrize("source", ["ncu", "interpreter"])
def test_without_cupti_the_next_source_counts_the_same_and_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setenv("KATA_COUNTERS", source)
    fallback = opened()
    try:
        x = normal(5, 3001)
        traffic = fallback.traffic(ENTRIES["three_pass"], (x,)).traffic
    finally:
        fallback.close()
    assert traffic is not None
    assert traffic.source == source
    assert traffic.requested == Level(3 * x.nbytes, x.nbytes)
    assert any("KATA_COUNTERS" in reason for reason in traffic.absent.values())


HOLDER = """
import sys
from tritonkata.launcher import driver
from tritonkata.launcher.traffic.cupti import RangeProfiler
from tritonkata.launcher.traffic.metrics import NEEDED
from tritonkata.launcher.traffic.patience import Patience

def work(_):
    print("held", flush=True)
    sys.stdin.read()

driver.open_device(0)
# A launcher that is just being set up has the counters for a moment.
profiler = Patience().until_free(lambda: RangeProfiler(driver.current_context(), 0))
Patience().until_free(lambda: profiler.count(list(NEEDED), work, 1))
"""


@contextmanager
def somebody_else_counts() -> Iterator[IO[str]]:
    """Another process has the counters, and does not know of the lock; it lets go when its input is closed."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert holder.stdin is not None
    try:
        yield holder.stdin
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def test_counters_that_somebody_else_has_are_waited_for(engine: GpuEngine) -> None:
    with somebody_else_counts() as holding:
        threading.Timer(3, holding.close).start()
        counted(engine, "one_pass", normal(5, 3001))


def test_without_the_counters_the_interpreter_counts_this_time_alone(engine: GpuEngine) -> None:
    with somebody_else_counts():
        observation = engine.traffic(ENTRIES["one_pass"], (normal(5, 3001),))
        assert observation.fault is None
        assert observation.traffic is not None
        assert observation.traffic.source == "interpreter"
        assert "another profiler holds" in observation.traffic.absent["hardware counters"]
    counted(engine, "one_pass", normal(5, 3001))


def test_cupti_and_nsight_compute_count_the_same_copy() -> None:
    found = compare_counters()
    assert not isinstance(found, str), found
    assert [source.problem for source in found.sources] == ["", ""]
    assert all(line.agrees for line in found.lines), found.lines
    assert found.agrees


def test_a_one_pass_kernel_runs_near_the_speed_of_a_copy_and_its_outputs_come_back(engine: GpuEngine) -> None:
    cases = [(normal(8192, 4096),), (-normal(8192, 4096),)]
    observations = engine.time(ENTRIES["one_pass"], cases, 2 * cases[0][0].nbytes)
    for (x,), observation in zip(cases, observations, strict=True):
        assert observation.fault is None
        assert observation.others == ()
        expected = np.exp(x[:64].astype(np.float64))
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(observation.outputs[0][:64], expected, rtol=1e-4)
    speed = observations[0].speed
    assert speed is not None
    assert 0.3 < speed.fraction_of_copy < 1.5
    assert speed.copy_bytes == 2 * cases[0][0].nbytes


def test_passes_cost_time(engine: GpuEngine) -> None:
    case = (normal(16384, 4096),)
    fractions = {}
    for name in ("one_pass", "three_pass"):
        speed = engine.time(ENTRIES[name], [case], 2 * case[0].nbytes, 3)[0].speed
        assert speed is not None
        fractions[name] = speed.fraction_of_copy
    assert fractions["three_pass"] < fractions["one_pass"]


def test_a_result_that_changes_between_timed_runs_is_returned_as_well(engine: GpuEngine) -> None:
    (observation,) = engine.time(ENTRIES["stamped"], [(normal(64, 64),)], 64 * 64 * 8, 3)
    assert observation.fault is None
    assert len(observation.others) == 1
    assert not np.array_equal(observation.others[0][0], observation.outputs[0])


def test_a_fault_while_timing_is_the_kernels(engine: GpuEngine) -> None:
    (observation,) = engine.time(ENTRIES["astray"], [(normal(1, 128),)], 1024, 3)
    assert observation.fault is not None
    assert observation.fault.verdict == "out_of_bounds"
    assert engine.run(ENTRIES["one_pass"], (normal(1, 128),)).fault is None


def test_more_memory_than_the_card_has_is_said_with_sizes(engine: GpuEngine) -> None:
    (observation,) = engine.time(ENTRIES["one_pass"], [(normal(4, 128),)], 1 << 38, 3)
    assert observation.fault is not None
    assert observation.fault.verdict == "skipped"
    assert observation.fault.error == "CUDA_ERROR_OUT_OF_MEMORY"


def test_a_solution_gets_gold_on_the_gpu() -> None:
    from tritonkata.check import grade

    kata = load_course().kata("safe_softmax")
    report = grade(kata, kata.solution, engine="gpu", seed=20)
    assert report.traffic is not None
    assert report.traffic.source == "cupti"
    assert report.traffic.traversals.requested == kata.file.traffic.par
    assert report.speed is not None
    assert report.speed.shape == (8192, 4096)
    assert report.absent == {}
    assert (report.verdict, report.medal) == ("pass", "gold" if report.speed.fraction_of_copy >= 0.9 else "silver")
