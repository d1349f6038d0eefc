"""A product that is added to is not rounded by itself, as in compiled code."""

from __future__ import annotations

import numpy as np
import pytest

KERNEL = """
@triton.jit
def kernel(y_ptr, a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    c = tl.load(c_ptr + at)
    tl.store(y_ptr + at, EXPRESSION)

def run(a, b, c):
    y = torch.empty_like(a)
    kernel[(1,)](y, a, b, c, BLOCK=64)
    return y
"""


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("a * b + c", lambda a, b, c: a * b + c),
        ("a * b - c", lambda a, b, c: a * b - c),
        ("c + a * b", lambda a, b, c: c + a * b),
        ("c - a * b", lambda a, b, c: c - a * b),
        ("a * b - c * b", lambda a, b, c: a * b - (c * b).astype(np.float32).astype(np.float64)),
    ],
)
def test_a_product_and_a_sum_round_once(worker, expression, wanted):
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(64).astype(np.float32) * 300 for _ in range(3))
    _, (y,) = worker.run(KERNEL.replace("EXPRESSION", expression), {"a": a, "b": b, "c": c})
    exact = wanted(*(one.astype(np.float64) for one in (a, b, c)))
    np.testing.assert_array_equal(y, exact.astype(np.float32))


def test_a_product_by_itself_is_rounded(worker):
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(64).astype(np.float32) for _ in range(2))
    _, (y,) = worker.run(KERNEL.replace("EXPRESSION", "a * b"), {"a": a, "b": b, "c": a})
    np.testing.assert_array_equal(y, a * b)


def test_the_exponent_of_flash_attention_is_accurate_far_from_zero(worker):
    x = np.linspace(-300, -290, 64, dtype=np.float32)
    source = KERNEL.replace("EXPRESSION", "tl.exp2(a * 1.4426950408889634 - tl.max(a, axis=0) * 1.4426950408889634)")
    _, (y,) = worker.run(source, {"a": x, "b": x, "c": x})
    truth = np.exp(x.astype(np.float64) - x.max())
    ratio = y / truth
    assert np.ptp(ratio) < 4e-6
