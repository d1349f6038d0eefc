"""What goes wrong in a submission, named by operation, line and cause."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracer_session import PLAIN, SOFTMAX, Session, dense, tracer

from tritonkata.boundary.messages import Failed, Loaded, Traced
from tritonkata.model.faults import Fault

HOST = (
    SOFTMAX
    + PLAIN
    + """
import os
import sys

import numpy as np

OPERATIONS = {
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "functional": lambda x: torch.nn.functional.softmax(x, dim=-1),
    "method": lambda x: x.softmax(-1),
    "sum": lambda x: x.sum(),
    "float": lambda x: x.half().float(),
    "to": lambda x: x.to(torch.float16),
    "item": lambda x: x.max().item() if x is None else x[0, 0].item(),
    "max": lambda x: x.max(),
    "python_float": lambda x: float(x[0, 0]),
    "truth": lambda x: bool(x),
    "cpu": lambda x: x.cpu(),
    "numpy": lambda x: x.numpy(),
    "tolist": lambda x: x.tolist(),
    "pad": lambda x: torch.nn.functional.pad(x, (0, 1)),
    "cat": lambda x: torch.cat([x, x]),
    "plus": lambda x: x + 1,
    "compare": lambda x: x > 0,
    "isnan": lambda x: torch.isnan(x).any(),
    "arange": lambda x: torch.arange(5, device="cuda"),
    "randn": lambda x: torch.randn(5, device=x.device),
    "tensor": lambda x: torch.tensor([1.0, 2.0], device=x.device),
    "upload": lambda x: torch.zeros(3).to("cuda"),
    "to_cpu": lambda x: x.to("cpu"),
    "equals": lambda x: x == x,
    "copy_cast": lambda x: torch.empty_like(x, dtype=torch.float16).copy_(x),
    "gather": lambda x: x[[0, 1]],
    "compile": lambda x: compiled(x),
    "setitem": lambda x: x.__setitem__(0, np.zeros(3)),
}


@torch.compile
def compiled(x):
    return x


def refused(x):
    names = sorted(OPERATIONS)
    return OPERATIONS[names[x.shape[0]]](x)


def host_descriptor(x):
    from triton.tools.tensor_descriptor import TensorDescriptor
    from_descriptor[(1,)](TensorDescriptor.from_tensor(x, [1, 4]), x)


@triton.jit
def from_descriptor(source, y_ptr):
    tl.store(y_ptr + tl.arange(0, 4)[None, :], source.load([0, 0]))


def host_address(x):
    kernel[(1,)](x, x, x.data_ptr(), 1, 1, BLOCK=16)


def on_cpu(x):
    kernel[(1,)](x, torch.empty(16), 1, 1, 1, BLOCK=16)


RESULTS = [
    None, 1.0, np.zeros(3), torch.zeros(3), "y", [None], torch.empty(3, device="cuda", dtype=torch.float64), 7,
]


def result(x):
    return RESULTS[x.shape[0]]


def pair(x):
    return torch.empty_like(x), None


GRIDS = [
    (None,), (1.5,), ("1",), (True,), (-1,), (1, 70000), 5, (1, 1, 2 ** 40),
    -1, None, 1.5, (), (1, 1, 1, 1), lambda meta: None, lambda meta: 5, lambda meta: (1, 1, 1, 1), [2, None],
]


def grid(x):
    kernel[GRIDS[x.shape[0]]](x, torch.empty_like(x), 1, 1, 4, BLOCK=4)
    return x


def raises(x):
    return helper(x)


def helper(x):
    raise ValueError("rows must be even")


def exits(x):
    sys.exit(0)


def interrupts(x):
    raise KeyboardInterrupt


def asserts(x):
    assert x.shape[0] == 0


def bad_view(x):
    return x.view(7, 7)


@triton.jit
def annotated(x_ptr, n: tl.int32):
    tl.store(x_ptr + n, 1.0)


def wrong_type(x):
    annotated[(1,)](x, 1.5)


def too_large(x):
    annotated[(1,)](x, 2 ** 40)


def outside(x):
    return x.as_strided((100, 100), (100, 1))


def one_row_at_a_time(x):
    for row in range(x.shape[0]):
        kernel[(1,)](x[row], x[row], 1, 1, 4, BLOCK=4)
    return x


KEPT = []


def keeps(x):
    KEPT.append(x)
    return KEPT[0]


def huge(x):
    return torch.empty(2 ** 45, device="cuda")
"""
)

EXPECTED = {
    "softmax": ("torch.softmax", "kernel"),
    "functional": ("torch.nn.functional.softmax", "kernel"),
    "method": ("Tensor.softmax", "kernel"),
    "sum": ("Tensor.sum", "kernel"),
    "float": ("Tensor.half", "tl.float32"),
    "to": ("Tensor.to", "tl.float32"),
    "item": ("Tensor.item", "values"),
    "max": ("Tensor.max", "kernel"),
    "python_float": ("Tensor.__float__", "values"),
    "truth": ("Tensor.__bool__", "values"),
    "cpu": ("Tensor.cpu", "values"),
    "numpy": ("Tensor.numpy", "values"),
    "tolist": ("Tensor.tolist", "values"),
    "pad": ("torch.nn.functional.pad", "mask"),
    "cat": ("torch.cat", "mask"),
    "plus": ("Tensor.add", "kernel"),
    "compare": ("Tensor.gt", "values"),
    "isnan": ("torch.isnan", "values"),
    "arange": ("torch.arange", "torch.empty"),
    "randn": ("torch.randn", "torch.empty"),
    "tensor": ("torch.tensor", "torch.empty"),
    "upload": ("a tensor brought from the CPU", "torch.empty"),
    "to_cpu": ("Tensor.to", "values"),
    "equals": ("Tensor.__eq__", "values"),
    "copy_cast": ("Tensor.copy_ between dtypes", "tl.float32"),
    "gather": ("Tensor.__getitem__", "slices"),
    "compile": ("torch.compile", "Triton"),
    "setitem": ("Tensor.__setitem__", "slices"),
}


@pytest.fixture(scope="module")
def host() -> Iterator[Session]:
    with tracer(HOST) as session:
        assert isinstance(session.loaded, Loaded), session.loaded
        yield session


def fault(session: Session, entry: str, rows: int = 4) -> Fault:
    reply = session.trace(dense(rows, 4), entry=entry)
    assert isinstance(reply, Failed), reply
    return reply.fault


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_refused_by_the_name_that_was_written(host: Session, name: str) -> None:
    found = fault(host, "refused", sorted(EXPECTED).index(name))
    operation, advice = EXPECTED[name]
    assert (found.verdict, found.operation) == ("forbidden_host_op", operation)
    assert advice in found.advice
    assert found.line is not None


@pytest.mark.parametrize(
    ("entry", "operation"),
    [
        ("host_descriptor", "TensorDescriptor"),
        ("host_address", "address"),
        ("keeps", "earlier call"),
    ],
)
def test_other_refusals(host: Session, entry: str, operation: str) -> None:
    if entry == "keeps":
        host.trace(dense(4, 4), entry=entry)
    found = fault(host, entry)
    assert found.verdict == "forbidden_host_op"
    assert operation in found.operation


def test_a_launch_for_every_row_is_refused(host: Session) -> None:
    found = fault(host, "one_row_at_a_time", 300)
    assert found.verdict == "forbidden_host_op"
    assert "grid" in found.advice


@pytest.mark.parametrize(
    ("place", "words"),
    list(
        enumerate(
            [
                "result returned None, not a tensor: is the return statement missing?",
                "a float",
                "numpy.ndarray",
                "cpu",
                "a str",
                "value 1 of 1 that result returned is None, not a tensor",
                "float64",
                "an int, not a tensor",
            ]
        )
    ),
)
def test_wrong_results(host: Session, place: int, words: str) -> None:
    found = fault(host, "result", place)
    assert (found.verdict, found.phase) == ("invalid_output", "result")
    assert words in found.message


def test_a_wrong_result_beside_a_right_one(host: Session) -> None:
    message = fault(host, "pair").message
    assert message == "value 2 of 2 that pair returned is None, not a tensor"


BAD_GRIDS = [
    *("grid[0] is None", "1.5", "'1'", "True", "-1", "grid[1] is 70000", "the grid is 5, and must be a tuple: (5,)"),
    *("grid[2]", "the grid is -1, and must be a tuple", "the grid is None, and must be a tuple", "the grid is 1.5"),
    *("0 entries", "4 entries", "the function for the grid returned None, and must be a tuple"),
    *("the function for the grid returned 5, and must be a tuple: (5,)", "4 entries", "grid[1] is None"),
]


@pytest.mark.parametrize(("place", "words"), list(enumerate(BAD_GRIDS)))
def test_bad_grids(host: Session, place: int, words: str) -> None:
    found = fault(host, "grid", place)
    assert (found.verdict, found.phase) == ("runtime_error", "host")
    assert words in found.message
    assert "tuple" in found.advice
    assert found.line == line_of(HOST, "kernel[GRIDS[")


@pytest.mark.parametrize(
    ("entry", "error", "line"),
    [
        ("raises", "ValueError", 'raise ValueError("rows'),
        ("exits", "SystemExit", "sys.exit(0)"),
        ("interrupts", "KeyboardInterrupt", "raise KeyboardInterrupt"),
        ("bad_view", "RuntimeError", "x.view(7, 7)"),
        ("outside", "ArgumentError", "x.as_strided("),
        ("wrong_type", "LaunchError", "annotated[(1,)](x, 1.5)"),
        ("too_large", "LaunchError", "annotated[(1,)](x, 2 ** 40)"),
        ("on_cpu", "LaunchError", "torch.empty(16)"),
        ("huge", "RuntimeError", "2 ** 45"),
    ],
)
def test_host_code_that_raises(host: Session, entry: str, error: str, line: str) -> None:
    found = fault(host, entry)
    assert (found.verdict, found.phase, found.error) == ("runtime_error", "host", error)
    assert found.line == line_of(HOST, line)


def test_a_cpu_tensor_is_told_from_the_devices_however_many_calls_there_were(host: Session) -> None:
    for _ in range(150):
        assert isinstance(host.trace(dense(4, 4)), Traced)
    assert "on the device" in fault(host, "on_cpu").message


def test_an_error_without_a_message_is_worded(host: Session) -> None:
    assert fault(host, "interrupts").message == "the file raises it itself"
    assert fault(host, "asserts").message == "the assertion does not hold"


def test_a_fault_leaves_the_next_call_alone(host: Session) -> None:
    fault(host, "exits")
    assert isinstance(host.trace(dense(4, 4)), Traced)


LATE_NAMES = "from __future__ import annotations\n"


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        (SOFTMAX.replace("import triton.language as tl", ""), "Write `import triton.language as tl`"),
        (LATE_NAMES + (SOFTMAX + PLAIN).replace("import triton.language as tl", ""), "Write `import triton.language"),
        (SOFTMAX.replace("import triton\n", ""), "Write `import triton`"),
        ("def entry(x):\n    return torch.empty(x.shape)\n", "Write `import torch`"),
        ("def entry(x):\n    return other(x)\n", ""),
    ],
)
def test_a_missing_import_is_told_with_its_line(source: str, advice: str) -> None:
    with tracer(source) as session:
        found = session.loaded.fault if isinstance(session.loaded, Failed) else session.fault(dense(4, 4))
    assert "is not defined" in found.message
    assert found.advice.startswith(advice)
    assert bool(found.advice) == bool(advice)


@pytest.mark.parametrize(
    ("source", "verdict", "line"),
    [
        ("import torch\n\ndef entry(x:\n    pass\n", "compile_error", 3),
        ("import torch\nx = torch.zeros(3, device='cuda')\ndef entry(x):\n    return x\n", "forbidden_host_op", 2),
        ("import sys\nsys.exit()\n", "runtime_error", 2),
        ("x = 1\n", "runtime_error", None),
    ],
)
def test_files_that_do_not_load(source: str, verdict: str, line: int | None) -> None:
    with tracer(source) as session:
        assert isinstance(session.loaded, Failed)
        found = session.loaded.fault
        assert (found.verdict, found.phase, found.line) == (verdict, "load", line)
        assert session.fault(dense(4, 4)).verdict == "grader_error"


def test_unknown_target_is_the_graders_fault() -> None:
    with tracer(SOFTMAX + PLAIN, "sm_1") as session:
        assert isinstance(session.loaded, Failed)
        assert session.loaded.fault.verdict == "grader_error"


def test_the_process_ends_when_the_pipe_closes() -> None:
    with tracer(SOFTMAX + PLAIN) as session:
        pass
    assert session.process.returncode == 0
