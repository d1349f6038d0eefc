"""Bytes are counted exactly, per tensor, and masked-off lanes are not among them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from interpreter_sources import NAIVE, ONE_PASS, THREE_PASS, TWO_PASS

from tritonkata.model.tensors import Run, TensorData, TensorSpec

ROWS, COLS = 4, 1000
UNIT = ROWS * COLS * 4


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("source", "traversals"),
    [(NAIVE, 2), (THREE_PASS, 3), (TWO_PASS, 2), (ONE_PASS, 1)],
    ids=["naive", "three_pass", "two_pass", "one_pass"],
)
def test_traversals_of_the_variants(worker, source, traversals):
    x = np.random.default_rng(0).standard_normal((ROWS, COLS)).astype(np.float32)
    reply, (y,) = worker.run(source, {"x": x})
    np.testing.assert_allclose(y, softmax(x), rtol=1e-5)
    assert (reply.traffic.loaded, reply.traffic.stored) == (traversals * UNIT, UNIT)
    tensor_x, tensor_y = reply.traffic.per_tensor
    assert (tensor_x.tensor, tensor_x.loaded, tensor_x.unique_loaded) == ("x", traversals * UNIT, UNIT)
    assert (tensor_y.tensor, tensor_y.stored, tensor_y.unique_stored) == ("result", UNIT, UNIT)
    assert reply.launches == 1
    assert reply.unwritten == reply.inputs_changed == reply.aliases == ()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_inputs_count_two_bytes_an_element(worker, dtype):
    x = np.random.default_rng(1).standard_normal((2, 37)).astype(dtype)
    reply, (y,) = worker.run(ONE_PASS, {"x": x})
    assert y.dtype == dtype
    assert (reply.traffic.loaded, reply.traffic.stored) == (2 * 37 * 2, 2 * 37 * 2)
    expected = softmax(x.astype(np.float32)).astype(dtype)
    np.testing.assert_array_equal(y.astype(np.float32), expected.astype(np.float32))


def test_row_stride_is_honoured_and_gaps_are_legal_memory(worker):
    storage = np.full((3, 12), np.nan, np.float32)
    storage[:, :5] = np.arange(15).reshape(3, 5)
    spec = TensorSpec("float32", (3, 5), (12, 1), 0, 36)
    reply, (y,) = worker.run(ONE_PASS, {"x": (TensorData(spec, (Run(0, 36),)), storage.tobytes())})
    np.testing.assert_allclose(y, softmax(storage[:, :5]), rtol=1e-6)
    assert y.flags.c_contiguous
    assert reply.traffic.loaded == 60


def test_contiguous_is_counted_as_traffic(worker):
    storage = np.arange(36, dtype=np.float32).reshape(3, 12)
    spec = TensorSpec("float32", (3, 5), (12, 1), 0, 36)
    source = ONE_PASS.replace("y = torch.empty_like(x)", "x = x.contiguous()\n    y = torch.empty_like(x)")
    reply, (y,) = worker.run(source, {"x": (TensorData(spec, (Run(0, 36),)), storage.tobytes())})
    np.testing.assert_allclose(y, softmax(storage[:, :5]), rtol=1e-6)
    assert (reply.traffic.loaded, reply.traffic.stored) == (120, 120)
    assert [t.tensor.partition(" ")[0] for t in reply.traffic.per_tensor] == ["x", "contiguous[0]", "result"]


def test_contiguous_of_a_dense_tensor_copies_nothing(worker):
    x = np.zeros((2, 8), np.float32)
    source = ONE_PASS.replace("y = torch.empty_like(x)", "x = x.contiguous()\n    y = torch.empty_like(x)")
    reply, _ = worker.run(source, {"x": x})
    assert (reply.traffic.loaded, reply.traffic.stored) == (64, 64)


def test_zeros_are_counted_as_stores(worker):
    source = ONE_PASS.replace("torch.empty_like(x)", "torch.zeros(x.shape, dtype=x.dtype, device=x.device)")
    reply, _ = worker.run(source, {"x": np.zeros((2, 8), np.float32)})
    assert (reply.traffic.loaded, reply.traffic.stored) == (64, 128)
    assert reply.traffic.per_tensor[1].unique_stored == 64


def test_an_expanded_input_is_loaded_again_for_every_row(worker):
    spec = TensorSpec("float32", (3, 8), (0, 1), 0, 8)
    values = np.arange(8, dtype=np.float32)
    reply, (y,) = worker.run(ONE_PASS, {"x": (TensorData(spec, (Run(0, 8),)), values.tobytes())})
    np.testing.assert_allclose(y, softmax(np.tile(values, (3, 1))), rtol=1e-6)
    x = reply.traffic.per_tensor[0]
    assert (x.loaded, x.unique_loaded) == (96, 32)


def test_a_sparse_input_of_two_gibibytes(worker):
    elements = 1 << 29
    spec = TensorSpec("float32", (2, 4), (elements - 4, 1), 0, elements)
    data = TensorData(spec, (Run(0, 4), Run(elements - 4, 4)))
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    source = ONE_PASS.replace("row = tl.program_id(0)", "row = tl.program_id(0).to(tl.int64)")
    _, (y,) = worker.run(source, {"x": (data, values.tobytes())})
    np.testing.assert_allclose(y, softmax(values), rtol=1e-6)


def test_device_tensor_descriptors_are_counted(worker):
    source = """
    @triton.jit
    def kernel(y_ptr, x_ptr, rows, cols, BLOCK: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [1, BLOCK])
        y = tl.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [1, BLOCK])
        row = tl.program_id(0)
        y.store([row, 0], x.load([row, 0]) * 2)

    def run(x):
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](y, x, x.shape[0], x.shape[1], BLOCK=16)
        return y
    """
    x = np.arange(24, dtype=np.float32).reshape(2, 12)
    reply, (y,) = worker.run(source, {"x": x})
    np.testing.assert_array_equal(y, 2 * x)
    assert (reply.traffic.loaded, reply.traffic.stored) == (96, 96)
