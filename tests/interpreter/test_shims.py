"""Kernels that compile and are right on a GPU, and that Triton's interpreter alone would refuse or get wrong.

Each test runs on every supported release of Triton.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tritonkata.boundary.messages import Loaded

RUN = """
def run(x):
    y = torch.empty_like(x)
    kernel[({grid},)](y, x, x.shape[0], x.shape[1], BLOCK=8)
    return y
"""
X = np.arange(15, dtype=np.float32).reshape(3, 5)

SAME = {
    "cast of a loop variable": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        offset = row.to(tl.int64) * n + tl.arange(0, BLOCK)
        mask = tl.arange(0, BLOCK) < n
        tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=mask), mask=mask)
""",
    "tl.range and a block loop": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        for start in range(0, n, BLOCK // 4):
            cols = start.to(tl.int64) + tl.arange(0, BLOCK // 4)
            tl.store(y_ptr + row * n + cols, tl.load(x_ptr + row * n + cols, mask=cols < n), mask=cols < n)
""",
    "scalar condition in a mask": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for step in range(0, 4):
        row = tl.program_id(0) + step * tl.num_programs(0)
        cols = tl.arange(0, BLOCK)
        mask = (cols < n) & (row < rows)
        tl.store(y_ptr + row * n + cols, tl.load(x_ptr + row * n + cols, mask=mask), mask=mask)
""",
    "float scalar condition in a mask": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
        m = tl.max(x, 0)
        tl.store(y_ptr + row * n + cols, x, mask=(cols < n) & (m > -float("inf")))
""",
    "comparison as a mask": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for i in range(tl.program_id(0), rows * n, tl.num_programs(0)):
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i >= 0, other=0.0), mask=i < rows * n)
""",
    "chained assignment": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    m = s = 0.0
    a = b, c = 1, 2
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
        s += tl.sum(x, 0)
        m = tl.maximum(m, tl.max(x, 0))
        tl.store(y_ptr + row * n + cols, x + (b - 1) * c, mask=cols < n)
""",
    "alias of the language": """
import triton.language as L

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: L.constexpr):
    for row in range(L.program_id(0), rows, L.num_programs(0)):
        cols = L.arange(0, BLOCK)
        L.store(y_ptr + row * n + cols, L.load(x_ptr + row * n + cols, mask=cols < n), mask=cols < n)
""",
    "names imported from the language": """
from triton.language import arange, constexpr, load, num_programs, program_id, store

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: constexpr):
    for row in range(program_id(0), rows, num_programs(0)):
        cols = arange(0, BLOCK)
        store(y_ptr + row * n + cols, load(x_ptr + row * n + cols, mask=cols < n), mask=cols < n)
""",
    "helper and custom reduction": """
@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    return m, s_a * tl.exp(m_a - m) + s_b * tl.exp(m_b - m)

@triton.jit
def offsets(row, n, BLOCK: tl.constexpr):
    return row * n + tl.arange(0, BLOCK), tl.arange(0, BLOCK) < n

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        offset, mask = offsets(row, n, BLOCK)
        x = tl.load(x_ptr + offset, mask=mask, other=-1e30)
        m, s = tl.reduce((x, tl.full([BLOCK], 1.0, tl.float32)), 0, merge)
        tl.store(y_ptr + offset, x + (m - tl.max(x, 0)) + tl.where(s >= 1.0, 0.0, 1.0), mask=mask)
""",
    "module constants": """
NEGATIVE = tl.constexpr(-float("inf"))
TYPE: tl.constexpr = tl.float32

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=NEGATIVE).to(TYPE)
        acc = tl.full([BLOCK], NEGATIVE, dtype=TYPE)
        tl.store(y_ptr + row * n + cols, tl.maximum(acc, x), mask=cols < n)
""",
    "module constants on the left": """
ZERO = tl.constexpr(0.0)
ONE = tl.constexpr(1.0)

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=ZERO)
        low, high = ZERO, ONE
        y = tl.where(ZERO > x, low, (ONE * x).to(tl.float32)) + tl.abs(low - x) * ZERO
        y = tl.where((ZERO == x) | (low < x), high * y, tl.exp2(ONE / (ONE + x)))
        tl.store(y_ptr + row * n + cols, y, mask=cols < n)
""",
    "mathematics as methods": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=1.0)
        zero = x.exp() - tl.exp(x) + x.sqrt() - tl.sqrt(x) + (x + 1).log() - tl.log(x + 1) + x.abs() - x
        tl.store(y_ptr + row * n + cols, x + zero * x.sum(0) / x.max(0), mask=cols < n)
""",
    "blocks of two dimensions": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]
    cols = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (cols < n)
    tl.store(y_ptr + row * n + cols, tl.load(x_ptr + row * n + cols, mask=mask, other=0.0), mask=mask)
""",
    "static range": """
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    for step in tl.static_range(0, 2):
        row = tl.program_id(0) + step * 2
        if row < rows:
            cols = tl.arange(0, BLOCK)
            tl.store(y_ptr + row * n + cols, tl.load(x_ptr + row * n + cols, mask=cols < n), mask=cols < n)
""",
}


@pytest.mark.parametrize("name", SAME)
def test_honest_kernels(worker, name):
    reply, (y,) = worker.run(SAME[name] + RUN.format(grid=2), {"x": X})
    np.testing.assert_array_equal(y, X)
    assert reply.unwritten == ()


def elementwise(expression: str, imports: str = "") -> str:
    return f"""
{imports}
@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + cols, mask=cols < n, other=0.0)
    y = {expression}
    tl.store(y_ptr + tl.program_id(0) * n + cols, y, mask=cols < n)
{RUN.format(grid="x.shape[0]")}"""


@pytest.mark.parametrize("module", ["triton.language.extra", "triton.language.extra.cuda"])
def test_libdevice(worker, module):
    source = elementwise("libdevice.exp(x) + libdevice.log1p(x)", f"from {module} import libdevice")
    _, (y,) = worker.run(source, {"x": X / 10})
    np.testing.assert_allclose(y, np.exp(X / 10) + np.log1p(X / 10), rtol=1e-6)


def test_a_libdevice_function_that_is_not_known_is_a_limit_and_no_mistake(worker):
    source = elementwise("libdevice.erfcx(x)", "from triton.language.extra import libdevice")
    fault = worker.fault(source, {"x": X})
    assert (fault.verdict, fault.phase, fault.operation) == ("skipped", "kernel", "libdevice.erfcx")
    assert "limit of the interpreter" in fault.message


def test_inline_assembly_is_a_limit_and_no_mistake(worker):
    fault = worker.fault(
        elementwise('tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [x], tl.float32, True, 1)'), {"x": X}
    )
    assert (fault.verdict, fault.operation) == ("skipped", "tl.inline_asm_elementwise")
    assert "limit of the interpreter" in fault.message


def test_maximum_drops_nan_as_the_hardware_does(worker):
    x = X.copy()
    x[1, 2] = np.nan
    _, (y,) = worker.run(elementwise("tl.maximum(x, 3.0)"), {"x": x})
    np.testing.assert_array_equal(y, np.fmax(x, np.float32(3)))


def test_bfloat16_casts_round_to_nearest_even(worker):
    # Halfway cases to both sides, subnormals, the largest finite value, infinities, NaN.
    bits = np.array(
        [0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF, 0x00008000, 0x00018000, 0x00010001, 0x80004001, 0x00000001,
         0x7F7F8000, 0x7F7F7FFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001],
        np.uint32,
    )  # fmt: skip
    x = bits.view(np.float32).reshape(3, 5)
    source = elementwise("x.to(tl.bfloat16)").replace(
        "torch.empty_like(x)", "torch.empty_like(x, dtype=torch.bfloat16)"
    )
    _, (y,) = worker.run(source, {"x": x})
    with np.errstate(invalid="ignore"):
        expected = x.astype(ml_dtypes.bfloat16)
    finite = ~np.isnan(x)
    np.testing.assert_array_equal(y.view(np.uint16)[finite], expected.view(np.uint16)[finite])
    assert np.isnan(y[~finite].astype(np.float32)).all()


def test_bfloat16_loads_are_exact(worker):
    x = np.array([1e-40, -3e-39, 0.0, 3.0e38, np.inf, 1.0, -2.5], np.float32).astype(ml_dtypes.bfloat16)[None, :]
    source = elementwise("x.to(tl.float32)").replace("torch.empty_like(x)", "torch.empty_like(x, dtype=torch.float32)")
    _, (y,) = worker.run(source, {"x": x})
    np.testing.assert_array_equal(y, x.astype(np.float32))


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("x * x + x", lambda x: x * x + x),
        ("x - tl.max(x, 0)", lambda x: x - x.max(axis=1, keepdims=True)),
        ("tl.where(x > 1.5, x, -x)", lambda x: np.where(x > ml_dtypes.bfloat16(1.5), x, -x)),
        ("(x / 3.0).to(tl.bfloat16)", lambda x: x / ml_dtypes.bfloat16(3)),
        ("tl.maximum(x, 1.0).to(tl.bfloat16)", lambda x: np.maximum(x, ml_dtypes.bfloat16(1))),
    ],
)
def test_bfloat16_arithmetic_without_a_cast(worker, expression, function):
    x = np.linspace(0, 4, 21, dtype=np.float32).reshape(3, 7).astype(ml_dtypes.bfloat16)
    _, (y,) = worker.run(elementwise(expression), {"x": x})
    np.testing.assert_array_equal(y.astype(np.float32), function(x).astype(np.float32))


def tree_sum(x):
    """Neighbours added until one is left, each sum rounded to bfloat16."""
    x = np.concatenate([x, np.zeros((x.shape[0], 8 - x.shape[1]), x.dtype)], axis=1)
    while x.shape[1] > 1:
        x = (x[:, ::2].astype(np.float32) + x[:, 1::2].astype(np.float32)).astype(x.dtype)
    return x


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("x * 0 + tl.sum(x, 0)", tree_sum),
        ("x * 0 + tl.sum(x)", tree_sum),
        ("x * 0 + tl.sum(x, 0, keep_dims=True)", tree_sum),
        ("x * 0 + tl.sum(x[None, :], 1)", tree_sum),
        ("x * 0 + tl.sum(tl.sum(x[:, None], 1), 0)", tree_sum),
        ("x * 0 + tl.reduce(x, 0, tl.standard._elementwise_max)", lambda x: x.max(axis=1, keepdims=True, initial=0)),
        ("x * 0 + tl.reduce(x, 0, tl.standard._elementwise_min)", lambda x: x.min(axis=1, keepdims=True, initial=0)),
    ],
)
def test_bfloat16_reductions_without_a_cast(worker, expression, function):
    x = np.linspace(-40, 33, 21, dtype=np.float32).reshape(3, 7).astype(ml_dtypes.bfloat16)
    _, (y,) = worker.run(elementwise(expression), {"x": x})
    np.testing.assert_array_equal(y.astype(np.float32), np.broadcast_to(function(x).astype(np.float32), x.shape))


def test_float_arguments_have_32_bits(worker):
    source = (
        elementwise("x * scale")
        .replace("n, BLOCK:", "n, scale, BLOCK:")
        .replace("x.shape[1], BLOCK", "x.shape[1], 0.1, BLOCK")
    )
    _, (y,) = worker.run(source, {"x": X})
    np.testing.assert_array_equal(y, X * np.float32(0.1))


def test_an_error_in_a_kernel_has_its_line(worker):
    fault = worker.fault(elementwise("x + undefined_name"), {"x": X})
    assert (fault.verdict, fault.phase, fault.error) == ("runtime_error", "kernel", "NameError")
    assert fault.line == 11
    assert "undefined_name" in fault.message


def test_an_error_in_a_helper_has_its_line(worker):
    source = "@triton.jit\ndef helper(x):\n    return x.nothing()\n" + elementwise("helper(x)")
    fault = worker.fault(source, {"x": X})
    assert (fault.verdict, fault.phase, fault.error, fault.line) == ("runtime_error", "kernel", "AttributeError", 7)


def test_the_worker_reports_its_versions(worker):
    assert worker.ready.triton
    assert isinstance(worker.load(elementwise("x")), Loaded)


REDUCTION = """
@triton.jit
def last(a, i, b, j):
    return tl.where(j >= 0, b, a), tl.maximum(i, j)

@triton.jit
def branching(a, b):
    if a > b:
        c = a
    else:
        c = b
    return c

@triton.jit
def kernel(y_ptr, x_ptr, rows, n, BLOCK: tl.constexpr):
    r, c = tl.arange(0, 4)[:, None], tl.arange(0, BLOCK)[None, :]
    inside = (r < rows) & (c < n)
    x = tl.load(x_ptr + r * n + c, mask=inside, other=-1.0)
    {reduction}
    tl.store(y_ptr + r * n + c, tl.broadcast_to(result, [4, BLOCK]), mask=inside)
"""
REDUCTIONS = {
    # The right-hand one of two is kept, so the order shows.
    "columns": ("result = tl.reduce((x, tl.where(inside, c, -1)), 1, last)[0][:, None]", X[:, -1:]),
    "rows": ("result = tl.reduce((x, tl.where(inside, r, -1)), 0, last)[0][None, :]", X[-1:]),
    "kept dimension": ("result = tl.reduce(x, 1, branching, keep_dims=True)", X[:, -1:]),
    "everything": ("result = tl.reduce(x, None, branching)", X.max()),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_with_a_function_of_ones_own(worker, name):
    reduction, expected = REDUCTIONS[name]
    _, (y,) = worker.run(REDUCTION.replace("{reduction}", reduction) + RUN.format(grid=1), {"x": X})
    np.testing.assert_array_equal(y, np.broadcast_to(expected, X.shape))


def test_a_reduction_of_a_wide_row_takes_no_call_an_element(worker):
    source = """
@triton.jit
def add(a, b):
    return a + b

@triton.jit
def kernel(y_ptr, x_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, BLOCK)), 0, add))

def run(x):
    y = torch.empty(1, dtype=x.dtype, device=x.device)
    kernel[(1,)](y, x, BLOCK=x.numel())
    return y
"""
    assert isinstance(worker.load(source), Loaded)
    _, (y,) = worker.call({"x": np.ones(1 << 17, np.float32)}, seconds=10)
    assert y[0] == 1 << 17
