"""Accesses that must not happen are named before they do."""

from __future__ import annotations

import numpy as np
import pytest

COPY = """
@triton.jit
def kernel(y_ptr, x_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load({load})
    tl.store({store})

def run(x):
    y = torch.empty_like(x)
    kernel[({grid},)](y, x, x.shape[1], BLOCK=8)
    return y
"""
LOAD = "x_ptr + row * n_cols + cols, mask=mask, other=0.0"
STORE = "y_ptr + row * n_cols + cols, x, mask=mask"
PRELUDE_LINES = 4
ALLOCATED = PRELUDE_LINES + 11


def copy(load: str = LOAD, store: str = STORE, grid: str = "x.shape[0]") -> str:
    return COPY.format(load=load, store=store, grid=grid)


X = np.arange(15, dtype=np.float32).reshape(3, 5)


def test_the_kernel_itself_is_right(worker):
    _, (y,) = worker.run(copy(), {"x": X})
    np.testing.assert_array_equal(y, X)


def test_load_past_the_end(worker):
    fault = worker.fault(copy(load="x_ptr + row * n_cols + cols"), {"x": X})
    assert (fault.verdict, fault.phase) == ("out_of_bounds", "kernel")
    access = fault.access
    assert (access.operation, access.tensor, access.element, access.storage_elements) == ("load", "x", 15, 15)
    assert (access.program, access.kernel, access.masked) == ((2, 0, 0), "kernel", False)
    assert access.line == fault.line == PRELUDE_LINES + 7
    assert access.row is access.column is None


def test_load_before_the_start(worker):
    fault = worker.fault(copy(load="x_ptr - 3 + row * n_cols + cols, mask=mask"), {"x": X})
    assert (fault.access.tensor, fault.access.element, fault.access.masked) == ("x", -3, True)
    assert "3 elements before the start of x" in fault.message


def test_store_past_the_end(worker):
    fault = worker.fault(copy(store="y_ptr + row * n_cols + cols, x", grid="1"), {"x": X[:1]})
    assert fault.verdict == "out_of_bounds"
    assert (fault.access.operation, fault.access.tensor, fault.access.element) == (
        "store",
        f"empty_like[0] (line {ALLOCATED})",
        5,
    )
    assert f"empty_like[0] (line {ALLOCATED})" in fault.message


def test_store_past_a_row_that_stays_inside_is_no_access_fault(worker):
    reply, _ = worker.run(copy(store="y_ptr + row * n_cols + cols, x", grid="1"), {"x": X})
    assert reply.traffic.stored == 32


def test_an_offset_that_wraps_still_names_its_tensor(worker):
    fault = worker.fault(copy(load="x_ptr + (row + 2147483647) * 4 + cols, mask=mask"), {"x": X})
    assert (fault.verdict, fault.access.tensor) == ("out_of_bounds", "x")


def test_atomic_past_the_end(worker):
    fault = worker.fault(
        copy(store="y_ptr + row * n_cols + cols, x", grid="1").replace("tl.store(", "tl.atomic_add("), {"x": X[:1]}
    )
    assert fault.verdict in ("out_of_bounds", "uninitialised_read")
    assert fault.access.operation == "atomic"


def test_atomics_work_and_count(worker):
    source = """
    @triton.jit
    def kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
        cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.atomic_add(out_ptr, tl.sum(x, 0))

    def run(x):
        out = torch.zeros(1, dtype=torch.float32, device="cuda")
        kernel[(4,)](out, x, x.shape[0], BLOCK=4)
        return out
    """
    reply, (total,) = worker.run(source, {"x": np.arange(15, dtype=np.float32)})
    assert total.tolist() == [105.0]
    assert (reply.traffic.loaded, reply.traffic.stored) == (60 + 16, 4 + 16)


def test_read_of_memory_nobody_wrote(worker):
    fault = worker.fault(copy(load="y_ptr + row * n_cols + cols, mask=mask"), {"x": X})
    assert (fault.verdict, fault.access.tensor, fault.access.element) == (
        "uninitialised_read", f"empty_like[0] (line {ALLOCATED})", 0,
    )  # fmt: skip
    assert (fault.access.row, fault.access.column) == (0, 0)


def test_two_programs_that_store_one_element(worker):
    fault = worker.fault(copy(store="y_ptr + cols, x, mask=mask"), {"x": X})
    assert fault.verdict == "race"
    assert (fault.access.program, fault.access.element) == ((1, 0, 0), 0)
    assert "(0, 0, 0)" in fault.message


def test_two_launches_may_store_one_element(worker):
    source = copy().replace("    return y", "    kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=8)\n    return y")
    reply, _ = worker.run(source, {"x": X})
    assert reply.launches == 2


def test_rows_that_were_not_stored(worker):
    reply, _ = worker.run(copy(grid="x.shape[0] - 1"), {"x": X})
    (missing,) = reply.unwritten
    assert (missing.output, missing.count, missing.first, missing.last) == (0, 5, (2, 0), (2, 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_lanes_without_other_are_nan(worker, dtype):
    source = copy(load="x_ptr + row * n_cols + cols, mask=mask", store="y_ptr + row * 8 + cols, x").replace(
        "torch.empty_like(x)", "torch.empty((x.shape[0], 8), dtype=x.dtype, device=x.device)"
    )
    _, (y,) = worker.run(source, {"x": X.astype(dtype)})
    assert np.isnan(y[:, 5:]).all()
    np.testing.assert_array_equal(y[:, :5], X)


def test_fresh_memory_is_nan(worker):
    _, (y,) = worker.run("def run(x):\n    return torch.empty_like(x)\n", {"x": X})
    assert np.isnan(y).all()


def test_a_fault_that_the_submission_catches_still_counts(worker):
    source = copy(load="x_ptr + row * n_cols + cols").replace(
        "    kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=8)\n",
        "    try:\n        kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=8)\n    except Exception:\n        pass\n",
    )
    assert worker.fault(source, {"x": X}).verdict == "out_of_bounds"


def test_an_input_that_was_changed(worker):
    source = copy(store="x_ptr + row * n_cols + cols, x + 1, mask=mask").replace("torch.empty_like(x)", "x")
    reply, _ = worker.run(source, {"x": X})
    assert reply.inputs_changed == ("x",)
    assert reply.aliases == (0,)


def test_an_input_rewritten_with_its_own_values_is_unchanged(worker):
    source = copy(store="x_ptr + row * n_cols + cols, x, mask=mask").replace("torch.empty_like(x)", "x")
    reply, _ = worker.run(source, {"x": X})
    assert reply.inputs_changed == ()


def test_a_store_past_the_tensor_says_more_than_the_race_before_it(worker):
    """Every row's spare lanes run into the next row; the last row's leave the tensor."""
    fault = worker.fault(copy(store="y_ptr + row * n_cols + cols, x"), {"x": X})
    assert fault.verdict == "out_of_bounds"
    assert fault.access.program == (2, 0, 0)
    assert not fault.access.masked
