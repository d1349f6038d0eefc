"""Bytes are counted under the learner's line that asked for them.

Lines are marked in the sources with comments: `#1`, `#2`.
"""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
from interpreter_sources import NAIVE, ONE_PASS, THREE_PASS, TWO_PASS

from tritonkata.boundary.messages import Interpreted
from tritonkata.model.observation import LineTraffic, TensorTraffic

X = np.random.default_rng(0).standard_normal((4, 40)).astype(np.float32)
UNIT = X.nbytes
PRELUDE_LINES = 4

RUN = """
def run(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](y, x, x.shape[0], x.shape[1], BLOCK=64)
    return y
"""
HEAD = """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    at = row * n + cols
"""
SWEEPS = HEAD + (
    """
    total = 0.0
    for start in range(0, n, 16):
        part = start + tl.arange(0, 16)
        total += tl.sum(tl.load(x_ptr + row * n + part, mask=part < n, other=0.0), 0)  #1
    for start in range(0, n, 16):
        part = start + tl.arange(0, 16)
        x = tl.load(x_ptr + row * n + part, mask=part < n)  #2
        tl.store(y_ptr + row * n + part, x / total, mask=part < n)  #3
"""
    + RUN
)
HELPERS = (
    """
@triton.jit
def part(pointer, at, inside):
    return tl.load(pointer + at, mask=inside, other=0.0)  #1

@triton.jit
def sum_of(pointer, at, inside):
    return tl.sum(part(pointer, at, inside), 0)
"""
    + HEAD
    + """
    total = sum_of(x_ptr, at, inside)
    tl.store(y_ptr + at, part(x_ptr, at, inside) / total, mask=inside)  #2
"""
    + RUN
)
ONE_STATEMENT = (
    HEAD
    + """
    tl.store(  #1
        y_ptr + at,
        tl.load(  #2
            x_ptr + at,
            mask=inside,
        ),
        mask=inside,
    )
"""
    + RUN
)
BLOCK_POINTERS = (
    """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (rows, n), (n, 1), (tl.program_id(0), 0), (1, BLOCK), (1, 0))
    y = tl.make_block_ptr(y_ptr, (rows, n), (n, 1), (tl.program_id(0), 0), (1, BLOCK), (1, 0))
    values = tl.load(x, boundary_check=(0, 1))  #1
    tl.store(y, values, boundary_check=(0, 1))  #2
"""
    + RUN
)
DESCRIPTORS = (
    """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, n], [n, 1], [1, BLOCK])
    y = tl.make_tensor_descriptor(y_ptr, [rows, n], [n, 1], [1, BLOCK])
    values = x.load([tl.program_id(0), 0])  #1
    y.store([tl.program_id(0), 0], values)  #2
"""
    + RUN
)
HOST_DESCRIPTORS = """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def kernel(y, x):
    values = x.load([tl.program_id(0), 0])  #1
    y.store([tl.program_id(0), 0], values)  #2

def run(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](*(TensorDescriptor(t, t.shape, t.stride(), [1, 64]) for t in (y, x)))
    return y
"""
ATOMICS = """
@triton.jit
def kernel(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + cols
    tl.atomic_add(y_ptr + at, tl.load(x_ptr + at, mask=cols < n, other=0.0), mask=cols < n)  #1
    tl.atomic_max(y_ptr + tl.program_id(0) * n, 5.0)  #2

def run(x):
    y = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=64)
    return y
"""
COMPARE_AND_SWAP = """
@triton.jit
def kernel(y_ptr):
    tl.atomic_cas(y_ptr + tl.program_id(0), 0, 7)  #1

def run(x):
    y = torch.zeros(x.shape[0], dtype=torch.int32, device=x.device)
    kernel[(x.shape[0],)](y)
    return y
"""
MANY = (
    HEAD
    + "".join(f"    tl.store(y_ptr + row * n + {column}, 0.0)\n" for column in range(30))
    + """
    if row == 0:
"""
    + "".join(f"        tl.store(y_ptr + {column}, 0.0)\n" for column in range(30, 40))
    + "".join(f"    tl.store(y_ptr + row * n + {column}, tl.load(x_ptr + row * n))\n" for column in range(30))
    + RUN
)


def lines_marked(source: str) -> dict[int, int]:
    """The number of the line that each mark stands on, as the worker will count."""
    text = textwrap.dedent(source).split("\n")
    found = ((re.search(r"#(\d)$", line), number) for number, line in enumerate(text, PRELUDE_LINES + 1))
    return {int(match[1]): number for match, number in found if match}


def traffic(worker, source: str, x: object = X) -> dict[str, TensorTraffic]:
    reply, _ = worker.run(source, {"x": x})
    return {one.tensor.partition("[")[0]: one for one in reply.traffic.per_tensor}


def by_mark(source: str, tensor: TensorTraffic) -> dict[int, tuple[int, int]]:
    marks = {number: mark for mark, number in lines_marked(source).items()}
    return {marks[one.line]: (one.loaded, one.stored) for one in tensor.lines}


def has_block_pointers(worker) -> bool:
    worker.load(BLOCK_POINTERS)
    reply, _ = worker.call({"x": X})
    return isinstance(reply, Interpreted) or "have been removed" not in reply.fault.message


ROUTES = {
    "helpers": HELPERS,
    "one statement": ONE_STATEMENT,
    "descriptors": DESCRIPTORS,
    "host descriptors": HOST_DESCRIPTORS,
    "sweeps": SWEEPS,
    "many lines of one": SWEEPS.replace("total += ", "\n\n        total += "),
    "naive": NAIVE,
    "three_pass": THREE_PASS,
    "two_pass": TWO_PASS,
    "one_pass": ONE_PASS,
}


@pytest.mark.parametrize("source", ROUTES.values(), ids=ROUTES)
def test_the_lines_of_a_tensor_add_up_to_its_bytes(worker, source):
    for tensor in traffic(worker, source).values():
        assert sum(one.loaded for one in tensor.lines) == tensor.loaded
        assert sum(one.stored for one in tensor.lines) == tensor.stored
        assert [one.line for one in tensor.lines] == sorted({one.line for one in tensor.lines})


def test_two_passes_stand_on_two_lines_and_a_loop_on_one(worker):
    tensors = traffic(worker, SWEEPS)
    assert by_mark(SWEEPS, tensors["x"]) == {1: (UNIT, 0), 2: (UNIT, 0)}
    assert by_mark(SWEEPS, tensors["result"]) == {3: (0, UNIT)}


@pytest.mark.parametrize(("source", "passes"), [(NAIVE, 2), (THREE_PASS, 3), (TWO_PASS, 2), (ONE_PASS, 1)])
def test_each_pass_of_the_variants_has_its_line(worker, source, passes):
    tensors = traffic(worker, source)
    assert [(one.loaded, one.stored) for one in tensors["x"].lines] == [(UNIT, 0)] * passes
    assert [(one.loaded, one.stored) for one in tensors["result"].lines] == [(0, UNIT)]


def test_a_helper_counts_under_its_own_line(worker):
    tensors = traffic(worker, HELPERS)
    assert by_mark(HELPERS, tensors["x"]) == {1: (2 * UNIT, 0)}
    assert by_mark(HELPERS, tensors["result"]) == {2: (0, UNIT)}


def test_accesses_of_one_statement_have_the_lines_where_they_begin(worker):
    tensors = traffic(worker, ONE_STATEMENT)
    assert by_mark(ONE_STATEMENT, tensors["result"]) == {1: (0, UNIT)}
    assert by_mark(ONE_STATEMENT, tensors["x"]) == {2: (UNIT, 0)}


@pytest.mark.parametrize("source", [BLOCK_POINTERS, DESCRIPTORS, HOST_DESCRIPTORS])
def test_block_pointers_and_descriptors_count_where_they_are_used(worker, source):
    if source is BLOCK_POINTERS and not has_block_pointers(worker):
        pytest.skip(f"Triton {worker.ready.triton} has no block pointers any more")
    tensors = traffic(worker, source)
    assert by_mark(source, tensors["x"]) == {1: (UNIT, 0)}
    assert by_mark(source, tensors["result"]) == {2: (0, UNIT)}


def test_an_atomic_operation_loads_and_stores_on_its_line(worker):
    tensors = traffic(worker, ATOMICS)
    assert by_mark(ATOMICS, tensors["x"]) == {1: (UNIT, 0)}
    assert by_mark(ATOMICS, tensors["result"]) == {1: (UNIT, UNIT), 2: (16, 16)}
    assert tensors["result"].stored == UNIT + 16 + UNIT  # the zeros of the host have no line
    compared = traffic(worker, COMPARE_AND_SWAP)["result"]
    assert by_mark(COMPARE_AND_SWAP, compared) == {1: (16, 16)}


def test_copies_of_the_host_have_no_line(worker):
    source = SWEEPS.replace("    y = torch", "    x = x.t().contiguous()\n    y = torch")
    tensors = traffic(worker, source)
    assert (tensors["x"].loaded, tensors["x"].lines) == (UNIT, ())
    copied = tensors["contiguous"]
    assert (copied.loaded, copied.stored) == (2 * UNIT, UNIT)
    assert by_mark(source, copied) == {1: (UNIT, 0), 2: (UNIT, 0)}


def test_an_allocation_is_named_with_the_line_that_made_it(worker):
    source = SWEEPS.replace("    kernel[", "    unused = torch.empty_like(x)\n    kernel[")
    reply, _ = worker.run(source, {"x": X})
    line = next(number for number, text in enumerate(source.split("\n"), PRELUDE_LINES + 1) if "unused" in text)
    assert [one.tensor for one in reply.traffic.per_tensor] == ["x", "result", f"empty_like[1] (line {line})"]


def test_lanes_that_are_all_off_leave_no_line(worker):
    source = SWEEPS.replace("mask=part < n)  #2", "mask=part < 0)  #2")
    assert by_mark(source, traffic(worker, source)["x"]) == {1: (UNIT, 0)}


def test_of_more_than_64_lines_those_that_move_most_are_kept_in_order(worker):
    result = traffic(worker, MANY)["result"]
    assert len(result.lines) == 64
    lines = [one.line for one in result.lines]
    assert lines == sorted(lines)
    # 60 lines ran in each of the four programs, ten lines in one of them.
    assert sorted(one.stored for one in result.lines) == [4] * 4 + [16] * 60
    assert sum(one.stored for one in result.lines) < result.stored == 60 * 16 + 10 * 4


def test_two_launches_of_one_kernel_share_its_lines(worker):
    source = SWEEPS.replace(
        "    return y", "    kernel[(x.shape[0],)](y, x, x.shape[0], x.shape[1], BLOCK=64)\n    return y"
    )
    assert by_mark(source, traffic(worker, source)["x"]) == {1: (2 * UNIT, 0), 2: (2 * UNIT, 0)}


def test_one_line_that_moves_two_tensors_counts_each_apart(worker):
    source = HEAD + "    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside), mask=inside)  #1\n" + RUN
    tensors = traffic(worker, source)
    (line,) = lines_marked(source).values()
    assert tensors["x"].lines == (LineTraffic(line, UNIT, 0),)
    assert tensors["result"].lines == (LineTraffic(line, 0, UNIT),)
