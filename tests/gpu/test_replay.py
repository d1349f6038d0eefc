"""What the launcher says of memory: right results, unwritten elements, guards, and what depends on poison."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from replaying import (
    DTYPES,
    HEAD,
    LOOPED,
    PLAIN,
    POISONS,
    SECONDS,
    ask,
    assert_softmax,
    fault,
    outputs,
    spec_of,
    traced,
    values,
)

from tritonkata.boundary.messages import DeviceFigures, LauncherReply, Replay, Replayed
from tritonkata.boundary.process import WorkerProcess
from tritonkata.launcher.probe import probe
from tritonkata.model.tensors import Run, TensorData, TensorSpec

pytestmark = [pytest.mark.gpu, pytest.mark.skipif("error" in probe(), reason="there is no usable GPU")]


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


def test_a_changed_input_is_named(launcher: WorkerProcess, device: DeviceFigures) -> None:
    source = PLAIN.replace("tl.store(y_ptr", "tl.store(x_ptr + row * x_stride, 0.0)\n    tl.store(y_ptr")
    x = values(4, 64)
    reply, _ = outputs(launcher, traced(source, device, spec_of(x)), x)
    assert reply.inputs_changed == ("x",)


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
    """Whoever comes last wins; runs over the same memory agree by chance, the more often the more else the GPU does."""
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
    for _ in range(200):
        outputs(launcher, plan, x)
