"""Real Triton kernels, traced by the real tracer and replayed by the real launcher.

Needs: an NVIDIA GPU with the CUDA driver (sm_80 or later; sm_90 for the wide rows and the figures they were tried
on), cuda-bindings 12.6 or later, torch and triton (torch may be a CPU build), and about 12 GiB of free GPU memory
and 24 GiB of host memory for the largest case. The memory tests fill the whole card: nothing else may run on it.
Run with `pytest -m gpu tests/gpu`. Nothing here is timed; deadlines only end what hangs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.boundary.channel import ChannelClosed, DeadlinePassed
from tritonkata.boundary.messages import (
    DeviceFigures,
    Failed,
    LauncherReady,
    LauncherReply,
    Load,
    Loaded,
    Replay,
    Replayed,
    Trace,
    Traced,
    TracerReply,
)
from tritonkata.boundary.process import WorkerProcess, start_trusted, start_untrusted
from tritonkata.boundary.validate import validate
from tritonkata.launcher.probe import probe
from tritonkata.model.faults import Fault
from tritonkata.model.plan import Choice, Copy, Fill, Kernel, LaunchPlan
from tritonkata.model.tensors import Run, TensorData, TensorSpec

pytestmark = [pytest.mark.gpu, pytest.mark.skipif("error" in probe(), reason="there is no usable GPU")]

SECONDS = 240.0
POISONS = bytes((0xFF, 0x7B))
DTYPES: dict[str, Any] = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}

HEAD = """
import torch
import triton
import triton.language as tl
"""

SOFTMAX = (
    HEAD
    + """
@triton.jit
def softmax(x_ptr, y_ptr, x_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=inside)
"""
)

PLAIN = (
    SOFTMAX
    + """
def entry(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(x.shape[1])
    softmax[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=block, num_warps=max(1, min(32, block // 512)))
    return y
"""
)

LOOPED = (
    HEAD
    + """
@triton.jit
def softmax(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    m = tl.full((BLOCK,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        inside = start + lanes < n_cols
        x = tl.load(x_ptr + row * n_cols + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        new = tl.maximum(m, x)
        s = tl.where(inside, s * tl.exp(m - new) + tl.exp(x - new), s)
        m = new
    top = tl.max(m, axis=0)
    total = tl.sum(s * tl.exp(m - top), axis=0)
    for start in range(0, n_cols, BLOCK):
        inside = start + lanes < n_cols
        x = tl.load(x_ptr + row * n_cols + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + row * n_cols + start + lanes, tl.exp(x - top) / total, mask=inside)


def entry(x):
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=4096, num_warps=8)
    return y
"""
)


@pytest.fixture(scope="module")
def launcher() -> Iterator[WorkerProcess]:
    """One launcher for all tests whose kernels do not break it."""
    process = start_launcher()
    yield process
    process.end()


@pytest.fixture(scope="module")
def device() -> DeviceFigures:
    process = start_trusted("tritonkata.launcher")
    try:
        ready = process.channel.receive(LauncherReply, seconds=SECONDS).message
        assert isinstance(ready, LauncherReady), ready
        return ready.device
    finally:
        process.end()


def start_launcher() -> WorkerProcess:
    process = start_trusted("tritonkata.launcher")
    ready = process.channel.receive(LauncherReply, seconds=SECONDS).message
    assert isinstance(ready, LauncherReady), ready
    return process


def spec_of(array: np.ndarray[Any, Any]) -> TensorSpec:
    dtype: Any = array.dtype.name
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return TensorSpec(dtype, array.shape, strides, 0, array.size)


class Tracers:
    """One tracer process for each source, and the next one already importing torch and Triton."""

    def __init__(self) -> None:
        self._by_source: dict[str, WorkerProcess] = {}
        self._spare = self._start()

    def plan(self, source: str, device: DeviceFigures, specs: tuple[TensorSpec, ...]) -> LaunchPlan:
        channel = (self._by_source.get(source) or self._load(source, device)).channel
        channel.send(Trace("entry", tuple("xab"[: len(specs)]), specs))
        reply = channel.receive(TracerReply, seconds=SECONDS).message
        assert isinstance(reply, Traced), reply
        return reply.plan

    def end(self) -> None:
        for process in (*self._by_source.values(), self._spare):
            process.end()

    def _load(self, source: str, device: DeviceFigures) -> WorkerProcess:
        process, self._spare = self._spare, self._start()
        self._by_source[source] = process
        process.channel.receive(TracerReply, seconds=SECONDS)
        target = "sm_{}{}".format(*device.capability) if device.capability >= (9, 0) else "sm_80"
        process.channel.send(Load("answer.py", source.encode(), ("entry",), target, device, 60.0))
        loaded = process.channel.receive(TracerReply, seconds=SECONDS).message
        assert isinstance(loaded, Loaded), loaded
        return process

    @staticmethod
    def _start() -> WorkerProcess:
        return start_untrusted("tritonkata.worker.tracer", bubblewrap=None)


@functools.cache
def tracers() -> Tracers:
    return Tracers()


@pytest.fixture(scope="module", autouse=True)
def _end_tracers() -> Iterator[None]:
    yield
    tracers().end()
    tracers.cache_clear()


def traced(source: str, device: DeviceFigures, *specs: TensorSpec) -> LaunchPlan:
    """The plan of `entry` of this source, valid for the device."""
    plan = tracers().plan(source, device, specs)
    validate(plan, specs, device)
    return plan


def ask(
    process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any], poisons: bytes = POISONS
) -> tuple[Any, tuple[bytearray, ...]]:
    """Replay on dense arrays; the reply and its blobs."""
    tensors = tuple(TensorData(spec_of(array), (Run(0, array.size),) if array.size else ()) for array in arrays)
    blobs = [array.reshape(-1).view(np.uint8) for array in arrays]
    process.channel.send(Replay(plan, tensors, poisons), blobs, seconds=SECONDS)
    frame = process.channel.receive(LauncherReply, seconds=SECONDS)
    return frame.message, frame.blobs


def outputs(
    process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any]
) -> tuple[Replayed, list[np.ndarray[Any, Any]]]:
    """Replay and expect outputs, dense ones."""
    reply, blobs = ask(process, plan, *arrays)
    assert isinstance(reply, Replayed), reply
    values = [
        np.frombuffer(blob, DTYPES.get(data.spec.dtype, data.spec.dtype)).reshape(data.spec.shape)
        for data, blob in zip(reply.outputs, blobs, strict=True)
    ]
    return reply, values


def fault(process: WorkerProcess, plan: LaunchPlan, *arrays: np.ndarray[Any, Any]) -> Fault:
    reply, _ = ask(process, plan, *arrays)
    assert isinstance(reply, Failed), reply
    return reply.fault


def values(rows: int, columns: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(rows + columns)
    return (rng.standard_normal((rows, columns), np.float32) * 4).astype(DTYPES[dtype])


def assert_softmax(y: np.ndarray[Any, Any], x: np.ndarray[Any, Any], dtype: str) -> None:
    """Every element within the tolerance of its type of the float64 truth, some rows at a time."""
    step = max(1, (1 << 24) // max(x.shape[1], 1))
    for start in range(0, x.shape[0], step):
        part = x[start : start + step].astype(np.float64)
        shifted = part - part.max(axis=1, keepdims=True)
        truth = np.exp(shifted)
        truth /= truth.sum(axis=1, keepdims=True)
        error = np.abs(y[start : start + step].astype(np.float64) - truth)
        allowed = tolerance(truth, shifted, dtype)
        assert np.all(error <= allowed), f"rows from {start}: {np.nanmax(error / allowed)} times the tolerance"


def tolerance(truth: Any, shifted: Any, dtype: str) -> Any:
    if dtype == "float32":
        return truth * 2.0**-24 * (16 + 4 * np.abs(shifted) + 2 * np.log2(truth.shape[1])) + 2.0**-126
    mantissa, smallest = {"float16": (10, 2.0**-24), "bfloat16": (7, 2.0**-126)}[dtype]
    return np.exp2(np.floor(np.log2(np.maximum(truth, 2.0**-200))) - mantissa) + smallest


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(8192, 4096), (512, 1000), (2, 131072), (1, 1), (3, 1), (1048576, 8)])
def test_softmax_is_right(launcher: WorkerProcess, device: DeviceFigures, shape: tuple[int, int], dtype: str) -> None:
    x = values(*shape, dtype)
    plan = traced(PLAIN, device, spec_of(x))
    reply, (y,) = outputs(launcher, plan, x)
    assert_softmax(y, x, dtype)
    assert (reply.inputs_changed, reply.guard_hits, reply.unwritten) == ((), (), ())


@pytest.mark.slow
def test_softmax_is_right_on_a_gigabyte(launcher: WorkerProcess, device: DeviceFigures) -> None:
    x = values(2048, 131072)
    reply, (y,) = outputs(launcher, traced(LOOPED, device, spec_of(x)), x)
    assert_softmax(y, x, "float32")
    assert not reply.guard_hits


def test_one_poison_byte_gives_outputs_too(launcher: WorkerProcess, device: DeviceFigures) -> None:
    x = values(16, 100)
    reply, blobs = ask(launcher, traced(PLAIN, device, spec_of(x)), x, poisons=b"\xff")
    assert isinstance(reply, Replayed)
    assert_softmax(np.frombuffer(blobs[0], np.float32).reshape(16, 100), x, "float32")


def test_rows_and_columns_of_nothing(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = HEAD + "def entry(x):\n    return torch.empty_like(x)\n"
    for shape in ((0, 5), (5, 0)):
        x = np.empty(shape, np.float32)
        spec = TensorSpec("float32", shape, (max(shape[1], 1), 1), 0, 0)
        plan = traced(source, device, spec)
        launcher.channel.send(Replay(plan, (TensorData(spec, ()),), POISONS), [b""], seconds=SECONDS)
        frame = launcher.channel.receive(LauncherReply, seconds=SECONDS)
        assert isinstance(frame.message, Replayed), frame.message
        assert (frame.message.outputs[0].spec.shape, len(frame.blobs[0]), x.size) == (shape, 0, 0)


def test_a_store_past_the_end_hits_the_guard(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("axis=0), mask=inside)", "axis=0))")
    x = values(7, 100)
    plan = traced(source, device, spec_of(x))
    reply, _ = ask(launcher, plan, x)
    assert isinstance(reply, Replayed), reply
    assert reply.guard_hits[0] == (plan.buffers[1].name, 7 * 100 * 4)


def test_a_store_before_the_start_hits_the_guard(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("tl.store(y_ptr + row * n_cols + cols, e", "tl.store(y_ptr - 1 + row * n_cols + cols, e")
    x = values(7, 128)
    plan = traced(source, device, spec_of(x))
    reply, _ = ask(launcher, plan, x)
    assert isinstance(reply, Replayed), reply
    assert (plan.buffers[1].name, -4) in reply.guard_hits


def test_unwritten_rows_are_counted(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("softmax[(x.shape[0],)]", "softmax[(x.shape[0] - 2,)]")
    x = values(7, 100)
    reply, (y,) = outputs(launcher, traced(source, device, spec_of(x)), x)
    (missing,) = reply.unwritten
    assert (missing.output, missing.count, missing.first, missing.last) == (0, 200, (5, 0), (6, 99))
    assert_softmax(y[:5], x[:5], "float32")


def test_a_result_that_depends_on_unwritten_memory(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("softmax[(x.shape[0],)](x,", "softmax[(x.shape[0],)](torch.empty_like(x),")
    source = source.replace("e / tl.sum(e, axis=0)", "x * 2.0")
    ended = fault(launcher, traced(source, device, spec_of(values(4, 64))), values(4, 64))
    assert (ended.verdict, ended.phase) == ("uninitialised_read", "kernel")
    assert "(0, 0)" in ended.message


def test_a_result_that_varies_by_itself_is_not_called_uninitialised(
    launcher: WorkerProcess, device: DeviceFigures
) -> None:
    source = (
        HEAD
        + """
@triton.jit
def tick(x_ptr, y_ptr):
    tl.store(y_ptr, tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r,r", [tl.load(x_ptr)], tl.int32, False, 1))

def entry(x):
    y = torch.empty(1, dtype=torch.int32, device=x.device)
    tick[(1,)](x, y)
    return y
"""
    )
    x = np.ones(1, np.int32)
    outputs(launcher, traced(source, device, spec_of(x)), x)


def test_programs_that_race_are_not_called_uninitialised(launcher: WorkerProcess, device: DeviceFigures) -> None:
    """Whoever comes last wins; two runs over the same memory may agree by chance."""
    source = (
        HEAD
        + """
@triton.jit
def everywhere(x_ptr, y_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    for row in range(n_rows):
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
        tl.store(y_ptr + row * n_cols + cols, x + tl.where(tl.program_id(0) == row, x, 0), mask=cols < n_cols)

def entry(x):
    y = torch.empty_like(x)
    everywhere[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=64)
    return y
"""
    )
    x = values(3, 37)
    plan = traced(source, device, spec_of(x))
    for _ in range(50):
        outputs(launcher, plan, x)


def test_an_illegal_address_ends_the_launcher_and_the_next_one_works(device: DeviceFigures) -> None:
    source = PLAIN.replace("y_ptr + row * n_cols", "y_ptr + (row + 1) * (1 << 42)")
    x = values(4, 64)
    process = start_launcher()
    try:
        ended = fault(process, traced(source, device, spec_of(x)), x)
        assert (ended.verdict, ended.phase) == ("out_of_bounds", "kernel")
        assert "softmax" in ended.message
        with pytest.raises(ChannelClosed):
            process.channel.receive(LauncherReply, seconds=SECONDS)
        assert wait_for_exit(process) == 3
    finally:
        process.end()
    assert_fresh_launcher_works(device)


def test_an_endless_kernel_is_killed_and_the_next_launcher_works(device: DeviceFigures) -> None:
    source = (
        HEAD
        + """
@triton.jit
def wait(x_ptr, y_ptr):
    count = 0
    while tl.load(x_ptr, volatile=True) > 0:
        count += 1
    tl.store(y_ptr, count)

def entry(x):
    y = torch.empty_like(x)
    wait[(1,)](x, y)
    return y
"""
    )
    x = np.ones(1, np.int32)
    plan = traced(source, device, spec_of(x))
    process = start_launcher()
    try:
        process.channel.send(Replay(plan, (TensorData(spec_of(x), (Run(0, 1),)),), POISONS), [x.view(np.uint8)])
        with pytest.raises(DeadlinePassed):
            process.channel.receive(LauncherReply, seconds=3)
    finally:
        process.end()
    assert process.exit_code == -9
    assert_fresh_launcher_works(device)


def wait_for_exit(process: WorkerProcess) -> int:
    return process._process.wait(SECONDS)


def assert_fresh_launcher_works(device: DeviceFigures) -> None:
    x = values(5, 33)
    process = start_launcher()
    try:
        _, (y,) = outputs(process, traced(PLAIN, device, spec_of(x)), x)
        assert_softmax(y, x, "float32")
    finally:
        process.end()


def test_a_strided_input_is_read_where_it_lies(launcher: WorkerProcess, device: DeviceFigures) -> None:
    storage = np.full((6, 40), np.nan, np.float32)
    storage[:, 3:33] = x = values(6, 30)
    spec = TensorSpec("float32", (6, 30), (40, 1), 3, storage.size)
    for source in (PLAIN, PLAIN.replace("def entry(x):\n", "def entry(x):\n    x = x.contiguous()\n")):
        plan = traced(source, device, spec)
        message = Replay(plan, (TensorData(spec, (Run(0, storage.size),)),), POISONS)
        launcher.channel.send(message, [storage.reshape(-1).view(np.uint8)], seconds=SECONDS)
        frame = launcher.channel.receive(LauncherReply, seconds=SECONDS)
        assert isinstance(frame.message, Replayed), frame.message
        assert_softmax(np.frombuffer(frame.blobs[0], np.float32).reshape(6, 30), x, "float32")


def test_a_sparse_input_is_zero_between_its_runs(launcher: WorkerProcess, device: DeviceFigures) -> None:
    spec = TensorSpec("int32", (4, 3), (3, 1), 0, 12)
    plan = traced(HEAD + "def entry(x):\n    return x.clone()\n", device, spec)
    message = Replay(plan, (TensorData(spec, (Run(1, 2), Run(9, 1))),), POISONS)
    launcher.channel.send(message, [np.array([1, 2, 3], np.int32).view(np.uint8)], seconds=SECONDS)
    frame = launcher.channel.receive(LauncherReply, seconds=SECONDS)
    assert isinstance(frame.message, Replayed), frame.message
    assert np.frombuffer(frame.blobs[0], np.int32).tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 0, 0]


def test_fills_and_copies_of_all_layouts(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = (
        HEAD
        + """
def entry(x):
    wide = torch.full((4, 6), 2.5, dtype=x.dtype, device=x.device)
    wide[:, 1:4].fill_(-1.0)
    whole = torch.zeros((3,), dtype=torch.int64, device=x.device)
    whole.fill_(-5)
    turned = x.t().contiguous()
    spread = x[:1].expand(4, 3).contiguous()
    return wide, whole, turned, spread, x[:, 1:].contiguous()
"""
    )
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    plan = traced(source, device, spec_of(x))
    assert {type(step) for step in plan.steps} == {Fill, Copy}
    _, (wide, whole, turned, spread, right) = outputs(launcher, plan, x)
    assert wide[:, 1:4].tolist() == [[-1.0] * 3] * 4
    assert np.all(wide[:, [0, 4, 5]] == 2.5)
    assert whole.tolist() == [-5] * 3
    assert np.array_equal(turned, x.T)
    assert np.array_equal(spread, np.broadcast_to(x[:1], (4, 3)))
    assert np.array_equal(right, x[:, 1:])


def test_the_fastest_configuration_is_chosen_and_used(launcher: WorkerProcess, device: DeviceFigures) -> None:
    configs = "[triton.Config({'BLOCK': 1024}, num_warps=w) for w in (1, 4, 8)]"
    source = PLAIN.replace("@triton.jit", f"@triton.autotune(configs={configs}, key=['n_cols'])\n@triton.jit")
    source = source.replace(", BLOCK=block, num_warps=max(1, min(32, block // 512))", "")
    x = values(2048, 1000)
    plan = traced(source, device, spec_of(x))
    assert any(isinstance(step, Choice) for step in plan.steps)
    reply, (y,) = outputs(launcher, plan, x)
    assert len(reply.chosen) == 1
    assert 0 <= reply.chosen[0] < 3
    assert_softmax(y, x, "float32")


def test_tuning_leaves_no_trace_in_the_result(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = (
        HEAD
        + """
@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 2)], key=['n'])
@triton.jit
def add(y_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(y_ptr + cols, mask=cols < n) + 1, mask=cols < n)

def entry(x):
    y = torch.zeros_like(x)
    add[(1,)](y, x.shape[0], BLOCK=128)
    return y
"""
    )
    x = np.zeros(100, np.float32)
    _, (y,) = outputs(launcher, traced(source, device, spec_of(x)), x)
    assert np.all(y == 1)


def test_descriptors_made_on_the_device_get_scratch(launcher: WorkerProcess, device: DeviceFigures) -> None:
    if device.capability < (9, 0):
        pytest.skip("needs the tensor memory accelerator of sm_90")
    source = (
        HEAD
        + """
@triton.jit
def double(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [ROWS, COLS])
    target = tl.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [ROWS, COLS])
    row = tl.program_id(0) * ROWS
    target.store([row, 0], source.load([row, 0]) * 2)

def entry(x):
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    y = torch.empty_like(x)
    double[(triton.cdiv(x.shape[0], 16),)](x, y, x.shape[0], x.shape[1], ROWS=16, COLS=64)
    return y
"""
    )
    x = values(100, 64)
    plan = traced(source, device, spec_of(x))
    assert plan.kernels[0].global_scratch_bytes > 0
    reply, (y,) = outputs(launcher, plan, x)
    assert np.array_equal(y, x * 2)
    assert not reply.guard_hits


def test_scalars_arrive_by_type(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = (
        HEAD
        + """
@triton.jit
def put(y_ptr, alpha, small, large, flag):
    tl.store(y_ptr, alpha)
    tl.store(y_ptr + 1, small)
    tl.store(y_ptr + 2, (large >> 32).to(tl.float32))
    tl.store(y_ptr + 3, flag.to(tl.float32))

def entry(x):
    y = torch.empty_like(x)
    put[(1,)](y, 0.375, -7, 5 << 32, True)
    return y
"""
    )
    x = np.zeros(4, np.float32)
    _, (y,) = outputs(launcher, traced(source, device, spec_of(x)), x)
    assert y.tolist() == [0.375, -7.0, 5.0, 1.0]


def test_a_changed_input_is_named(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("tl.store(y_ptr", "tl.store(x_ptr + row * x_stride, 0.0)\n    tl.store(y_ptr")
    x = values(4, 64)
    reply, _ = outputs(launcher, traced(source, device, spec_of(x)), x)
    assert reply.inputs_changed == ("x",)


def test_thread_block_clusters(launcher: WorkerProcess, device: DeviceFigures) -> None:
    if device.capability < (9, 0):
        pytest.skip("needs the thread block clusters of sm_90")
    # No reduction: Triton 3.6 does not compile one that crosses the blocks of a cluster.
    source = PLAIN.replace("e / tl.sum(e, axis=0)", "x * 2.0").replace("num_warps=max", "num_ctas=2, num_warps=max")
    source = source.replace("    e = tl.exp(x - tl.max(x, axis=0))\n", "")
    x = values(64, 4096)
    plan = traced(source, device, spec_of(x))
    assert plan.kernels[0].num_ctas == 2
    _, (y,) = outputs(launcher, plan, x)
    assert np.array_equal(y, x * 2)


def test_matrix_tiles_in_more_than_48_kib_of_shared_memory(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = (
        HEAD
        + """
@triton.jit
def square(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + i[None, :])
    tl.store(y_ptr + i[:, None] * N + i[None, :], tl.dot(x, x))

def entry(x):
    y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    square[(1,)](x, y, N=128, num_warps=8)
    return y
"""
    )
    x = (values(128, 128) / 4).astype(np.float16)
    plan = traced(source, device, spec_of(x))
    assert plan.kernels[0].shared_bytes > 48 << 10
    _, (y,) = outputs(launcher, plan, x)
    np.testing.assert_allclose(y, x.astype(np.float64) @ x.astype(np.float64), atol=1e-2)


def test_what_a_kernel_prints_does_not_disturb_the_answer(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("    cols = tl.arange", '    tl.device_print("row", row)\n    cols = tl.arange')
    x = values(16, 32)
    _, (y,) = outputs(launcher, traced(source, device, spec_of(x)), x)
    assert_softmax(y, x, "float32")


def test_a_cubin_that_the_driver_refuses(launcher: WorkerProcess, device: DeviceFigures) -> None:
    x = values(4, 64)
    plan = traced(PLAIN, device, spec_of(x))
    kernel = plan.kernels[0]
    broken = Kernel(kernel.name, kernel.cubin[:20] + bytes(44) + kernel.name.encode(), kernel.num_warps)
    ended = fault(launcher, msgspec.structs.replace(plan, kernels=(broken,)), x)
    assert (ended.verdict, ended.phase) == ("runtime_error", "kernel")
    assert "the driver refuses this kernel" in ended.message
    _, (y,) = outputs(launcher, plan, x)
    assert_softmax(y, x, "float32")


def test_memory_that_only_the_submission_wants_is_its_own_fault(launcher: WorkerProcess, device: DeviceFigures) -> None:
    """Else a check could be got rid of by asking for too much."""
    nbytes = device.total_memory - (16 << 20)
    source = HEAD + f"def entry(x):\n    torch.empty({nbytes}, dtype=torch.int8, device='cuda')\n    return x.clone()\n"
    x = np.ones(4, np.float32)
    plan = traced(source, device, spec_of(x))
    ended = fault(launcher, plan, x)
    assert ended.verdict == "runtime_error"
    assert str(nbytes)[:3] in ended.message
    assert "are free" in ended.message


def test_memory_is_given_back_after_each_replay(launcher: WorkerProcess, device: DeviceFigures) -> None:
    nbytes = device.total_memory * 2 // 5
    source = HEAD + f"def entry(x):\n    torch.empty({nbytes}, dtype=torch.int8, device='cuda')\n    return x.clone()\n"
    x = np.ones(4, np.float32)
    plan = traced(source, device, spec_of(x))
    for _ in range(6):
        _, (y,) = outputs(launcher, plan, x)
        assert np.array_equal(x, y)


def test_a_request_that_does_not_fit_together_is_the_graders_fault(
    launcher: WorkerProcess, device: DeviceFigures
) -> None:
    x = values(4, 64)
    plan = traced(PLAIN, device, spec_of(x))
    for poisons, run in ((b"", Run(0, x.size)), (POISONS, Run(0, x.size - 1)), (POISONS, Run(1, x.size))):
        message = Replay(plan, (TensorData(spec_of(x), (run,)),), poisons)
        launcher.channel.send(message, [x.reshape(-1).view(np.uint8)], seconds=SECONDS)
        reply = launcher.channel.receive(LauncherReply, seconds=SECONDS).message
        assert isinstance(reply, Failed), reply
        assert reply.fault.verdict == "grader_error"


def test_the_probe_names_the_card(device: DeviceFigures) -> None:
    answer = probe()
    assert answer["devices"][0]["name"] == device.name
    assert tuple(answer["devices"][0]["capability"]) == device.capability
