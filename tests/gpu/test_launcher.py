"""How the launcher fails: what ends it, whose fault that is, and that the next one works.

The memory tests fill the whole card: nothing else may run on it.
"""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from processes import wait_for
from replaying import (
    HEAD,
    PLAIN,
    POISONS,
    SECONDS,
    assert_softmax,
    fault,
    outputs,
    spec_of,
    start_launcher,
    traced,
    values,
)

from tritonkata.boundary.channel import ChannelClosed, DeadlinePassed
from tritonkata.boundary.messages import DeviceFigures, Failed, LauncherReply, Replay
from tritonkata.boundary.process import WorkerProcess
from tritonkata.launcher.probe import probe
from tritonkata.model.plan import Kernel
from tritonkata.model.tensors import Run, TensorData

pytestmark = [pytest.mark.gpu, pytest.mark.skipif("error" in probe(), reason="there is no usable GPU")]


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
        wait_for(lambda: process.exit_code is not None)
        assert process.exit_code == 3
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


def assert_fresh_launcher_works(device: DeviceFigures) -> None:
    x = values(5, 33)
    process = start_launcher()
    try:
        _, (y,) = outputs(process, traced(PLAIN, device, spec_of(x)), x)
        assert_softmax(y, x, "float32")
    finally:
        process.end()


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
