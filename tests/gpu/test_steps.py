"""Every kind of step of a plan: fills, copies, choices, and launches with all that a launch may ask for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from replaying import (
    HEAD,
    PLAIN,
    assert_softmax,
    outputs,
    spec_of,
    traced,
    values,
)

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.boundary.process import WorkerProcess
from tritonkata.launcher.probe import probe
from tritonkata.model.plan import Choice, Copy, Fill

pytestmark = [pytest.mark.gpu, pytest.mark.skipif("error" in probe(), reason="there is no usable GPU")]


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
