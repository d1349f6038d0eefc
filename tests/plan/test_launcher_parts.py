"""The parts of the launcher that need no GPU: layout, bit patterns, comparing runs, the process without a driver."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.boundary.messages import Failed, LauncherReply
from tritonkata.boundary.process import start_trusted
from tritonkata.launcher import arena as arenas
from tritonkata.launcher import compare, driver, faults, parameters, tuning
from tritonkata.launcher.hostops import elements_of
from tritonkata.launcher.probe import probe
from tritonkata.model.plan import Buffer, Choice, Fill, LaunchPlan, Pointer, Scalar, View
from tritonkata.model.tensors import TensorSpec

KIB = 1 << 10


@given(st.lists(st.integers(0, 1 << 20), max_size=6), st.sampled_from([64 * KIB, 1 << 20]))
def test_guards_cover_all_that_is_no_buffer(sizes: list[int], guard_bytes: int) -> None:
    layout = arenas.lay_out([(f"b{i}", size) for i, size in enumerate(sizes)], guard_bytes=guard_bytes)
    zones = arenas.guards(layout)
    assert sum(sizes) + sum(stop - start for start, stop in zones) == layout.nbytes
    assert all(stop - start >= guard_bytes for start, stop in zones)
    assert all(slot.offset % 256 == 0 for slot in layout.slots)
    assert [stop for _, stop in zones[:-1]] == [slot.offset for slot in layout.slots]


def test_a_changed_byte_belongs_to_the_nearest_buffer() -> None:
    layout = arenas.lay_out([("x", 100), ("y", 8)])
    x, y = layout.slots
    assert arenas.nearest(layout, x.end) == ("x", 100)
    assert arenas.nearest(layout, y.offset - 1) == ("y", -1)
    assert arenas.nearest(layout, x.offset - 4) == ("x", -4)
    assert arenas.nearest(layout, y.end + 5) == ("y", 13)


@given(st.floats(width=32, allow_nan=False))
def test_bfloat16_rounds_as_ml_dtypes_does(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = int(np.float32(value).astype(ml_dtypes.bfloat16).view(np.uint16))
    assert parameters.bfloat16_bits(value) == expected


@pytest.mark.parametrize(
    ("dtype", "value", "bits"),
    [
        ("float32", 1.0, 0x3F800000),
        ("float32", float("-inf"), 0xFF800000),
        ("float16", 1.0, 0x3C00),
        ("bfloat16", -2, 0xC000),
        ("bfloat16", float("nan"), 0x7FC0),
        ("int8", -1, 0xFF),
        ("int64", -2, (1 << 64) - 2),
        ("int32", 3.0, 3),
        ("bool", True, 1),
    ],
)
def test_fill_bits(dtype: str, value: float, bits: int) -> None:
    assert parameters.fill_bits(dtype, value) == bits


def test_parameters_lie_where_the_driver_looks() -> None:
    layout = arenas.lay_out([("x", 4096)])
    arena = arenas.Arena(layout, 1 << 40)
    arguments = (Pointer(0, 16), Scalar("fp32", 0.5), Scalar("i64", -7), Scalar("i1", 1), Scalar("bf16", 1.0))
    packed = parameters.pack(arguments, arena, (0, 1 << 41))
    pointers = (ctypes.c_void_p * 7).from_address(packed.address)
    assert ctypes.c_uint64.from_address(pointers[0]).value == (1 << 40) + layout.slots[0].offset + 16
    assert ctypes.c_float.from_address(pointers[1]).value == 0.5
    assert ctypes.c_int64.from_address(pointers[2]).value == -7
    assert ctypes.c_int8.from_address(pointers[3]).value == 1
    assert ctypes.c_uint16.from_address(pointers[4]).value == 0x3F80
    assert ctypes.c_uint64.from_address(pointers[5]).value == 0
    assert ctypes.c_uint64.from_address(pointers[6]).value == 1 << 41


def test_launch_attributes_are_what_the_driver_reads() -> None:
    attributes = driver.launch_attributes(num_ctas=4, cooperative=True, programmatic=True)
    values = [bytes(attribute.value.pad[:12]) for attribute in attributes]
    assert [int(attribute.id) for attribute in attributes] == [6, 2, 4, 5]
    assert values[2] == b"\4\0\0\0\1\0\0\0\1\0\0\0"
    assert all(value[0] == 1 for value in (values[0], values[1], values[3]))
    assert driver.launch_attributes(num_ctas=1, cooperative=False, programmatic=False) == []


def test_strided_elements_start_at_the_first_byte() -> None:
    spec = TensorSpec("int16", (2, 3), (5, 1), 7, 20)
    storage = np.arange(spec.span - spec.offset, dtype=np.uint16).view(np.uint8)
    assert elements_of(storage, spec).tolist() == [[0, 1, 2], [5, 6, 7]]


def test_only_whole_poison_is_unwritten() -> None:
    words = np.array([0x7B7B7B7B, 0x7B7B7B00, 0], np.uint32)
    mask = compare.holds_poison(words, 0x7B)
    assert mask.tolist() == [True, False, False]
    summary = compare.unwritten(1, np.array([False, True, False, False, True, False]), (2, 3))
    assert summary is not None
    assert (summary.output, summary.count, summary.first, summary.last) == (1, 2, (0, 1), (1, 1))
    assert compare.unwritten(0, np.zeros(4, np.bool_), (4,)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_nans_are_one_value_when_runs_are_compared(dtype: type[np.generic]) -> None:
    word = np.uint32 if np.dtype(dtype).itemsize == 4 else np.uint16
    first = np.array([np.nan, np.nan, np.inf, 1.0], dtype).view(word)
    second = np.array([-np.nan, 1.0, np.inf, 1.5], dtype).view(word)
    second[0] = ~word(0)
    assert compare.differing(first, second, np.dtype(dtype).name).tolist() == [False, True, False, True]


def test_a_choice_is_replaced_by_its_chosen_variant() -> None:
    fill = [Fill(View(0, TensorSpec("int8", (1,), (1,), 0, 1)), value) for value in range(4)]
    plan = LaunchPlan("sm_90", 0, (), (), (fill[0], Choice(((fill[1],), (fill[2], fill[3])))), ())
    assert tuning.resolve(plan, (1,)) == [fill[0], fill[2], fill[3]]


@pytest.mark.parametrize(
    ("code", "call", "verdict", "lost"),
    [
        (700, "cuCtxSynchronize", "out_of_bounds", True),
        (716, "cuCtxSynchronize", "runtime_error", True),
        (719, "cuCtxSynchronize", "runtime_error", True),
        (710, "cuCtxSynchronize", "runtime_error", True),
        (701, "cuLaunchKernelEx", "runtime_error", False),
        (214, "cuCtxSynchronize", "grader_error", True),
    ],
)
def test_whose_fault_a_cuda_error_is(code: int, call: str, verdict: str, lost: bool) -> None:
    ended = faults.kernel_fault("softmax", driver.CudaError(code, "CUDA_ERROR", call))
    assert (ended.fault.verdict, ended.fault.phase, ended.context_lost) == (verdict, "kernel", lost)


def _launcher(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tritonkata.launcher", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_probe_answers_in_one_line_of_json() -> None:
    result = _launcher("--probe")
    answer = json.loads(result.stdout)
    assert result.returncode == (1 if "error" in answer else 0)
    assert "error" in answer or answer["devices"]


def test_wrong_usage_exits_with_2() -> None:
    result = _launcher("three")
    assert result.returncode == 2
    assert "usage" in result.stderr


def test_the_launcher_loads_neither_torch_nor_triton() -> None:
    code = (
        "import sys, tritonkata.launcher.serve, tritonkata.launcher.__main__;"
        "sys.exit(bool({'torch', 'triton', 'ml_dtypes'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif("error" not in probe(), reason="this machine has a GPU")
def test_without_a_gpu_the_launcher_says_so_and_ends() -> None:
    process = start_trusted("tritonkata.launcher")
    try:
        message = process.channel.receive(LauncherReply, seconds=60).message
        assert isinstance(message, Failed)
        assert message.fault.verdict == "grader_error"
        assert "GPU 0 cannot be opened" in message.fault.message
    finally:
        process.end()
    assert process.exit_code in (1, -9)


def plan_of(elements: int, besides: int) -> LaunchPlan:
    """A copy of `elements` float32, with `besides` bytes allocated for nothing."""
    spec = TensorSpec("float32", (elements,), (1,), 0, elements)
    buffers = (Buffer(4 * elements, "x"), Buffer(4 * elements, "y"), Buffer(besides, "z"))
    return LaunchPlan("sm_90", 1, buffers, (), (), (View(1, spec),))


@pytest.mark.parametrize(
    ("elements", "besides", "verdict"),
    [(1 << 20, 1 << 36, "runtime_error"), (1 << 34, 0, "skipped"), (1 << 34, 1 << 36, "skipped")],
)
def test_memory_is_the_submissions_fault_unless_the_case_itself_does_not_fit(
    elements: int, besides: int, verdict: str
) -> None:
    """What the submission asks for besides must not get it rid of a check."""
    plan = plan_of(elements, besides)
    asked = sum(buffer.nbytes for buffer in plan.buffers)
    found = faults.memory_fault(arenas.OutOfDeviceMemory(asked, 1 << 35), plan).fault
    assert found.verdict == verdict
    assert str(1 << 35) in found.message


def test_a_timed_case_needs_memory_for_each_copy_that_the_launcher_keeps() -> None:
    plan = plan_of(1 << 20, 0)
    assert (
        faults.memory_fault(arenas.OutOfDeviceMemory(1 << 26, 1 << 25), plan, copies=1).fault.verdict == "runtime_error"
    )
    assert faults.memory_fault(arenas.OutOfDeviceMemory(1 << 26, 1 << 25), plan, copies=9).fault.verdict == "skipped"


@pytest.mark.parametrize(
    ("given_sizes", "taken", "enough"),
    [
        ([8, 8, 4, 8, 8], [8, 8, 4, 8, 8], True),
        ([8, 8], [8, 8, 4], False),
        ([8, 1, 8], [8, 4, 8], False),
        ([8, 8, 8], [8, 4], True),
        ([], [], True),
    ],
)
def test_arguments_must_hold_what_a_kernel_reads(given_sizes: list[int], taken: list[int], enough: bool) -> None:
    assert parameters.covers(given_sizes, taken) is enough


@pytest.mark.parametrize(("free_bytes", "verdict"), [(100 << 30, "runtime_error"), (1 << 20, "grader_error")])
def test_a_cubin_that_wants_all_memory_is_its_own_fault_where_there_is_much(free_bytes: int, verdict: str) -> None:
    error = driver.CudaError(driver.OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "cuModuleLoadData")
    assert faults.load_fault("softmax", error, free_bytes).fault.verdict == verdict
