"""Hidden checks of masked_softmax. One to eight rows a case: the interpreter's cost goes with rows, not columns."""

from __future__ import annotations

import numpy as np
import pytest

from tritonkata.hidden.asserts import assert_matches, assert_no_fault, assert_rows_match, assert_unchanged
from tritonkata.hidden.budget import assert_within_budget
from tritonkata.hidden.inputs import DTYPES, as_dtype, far_view, normal, padded

NEG_INF = -np.inf
COMPILES = ("compiles",)
# What is wrong on near rows says nothing about far ones.
FAR_NEEDS = ("values", "dtypes", "strided")

VALUES = pytest.mark.check("values", title="Masked rows of many widths", points=2, depends=COMPILES)
FULLY_MASKED = pytest.mark.check("fully_masked", title="Rows with nothing left are zeros", points=2, depends=COMPILES)
EXPANDED = pytest.mark.check("expanded_mask", title="An expanded mask (stride 0)", points=1, depends=COMPILES)
STRIDED = pytest.mark.check("strided", title="Rows with gaps between them", points=1, depends=COMPILES)
MASKED_LARGE = pytest.mark.check("masked_large", title="Huge scores under the mask", points=1, depends=COMPILES)
WIDE_ROWS = pytest.mark.check("wide_rows", title="Very wide rows", points=1, depends=COMPILES)


def random_mask(rng, shape, share=0.3):
    """0 and -inf at random: every row keeps a column, and hides one where it has two.

    Row 1 hides nothing: it tells mistakes of the mask from those of the softmax.
    """
    rows, cols = shape
    mask = np.where(rng.random(shape) < share, NEG_INF, 0.0).astype(np.float32)
    kept = rng.integers(0, cols, size=rows)
    mask[np.arange(rows), (kept + 1) % cols] = NEG_INF
    mask[np.arange(rows), kept] = 0.0
    mask[1:2] = 0.0
    return mask


def assert_right(candidate, oracle, x, mask):
    assert_matches(candidate(x, mask), oracle(x, mask), scores=oracle.scores(x, mask))


@pytest.mark.check("compiles", title="The kernel compiles", points=1)
@pytest.mark.parametrize(("shape", "dtype"), [*(((4, 1000), dtype) for dtype in DTYPES), ((3, 1), "float32")])
def test_compiles(candidate, shape, dtype):
    candidate.compile(as_dtype(np.zeros(shape), dtype), np.zeros(shape, np.float32))


@VALUES
def test_one_row_without_a_mask(candidate, oracle, rng):
    # First of all, since a store past the end of a lone row is that and nothing else.
    shape = (1, 257)
    assert_right(candidate, oracle, normal(rng, shape), np.zeros(shape, np.float32))


@VALUES
@pytest.mark.parametrize("shape", [(5, 1000), (3, 3), (2, 128), (7, 129)])
def test_values(candidate, oracle, rng, shape):
    assert_right(candidate, oracle, normal(rng, shape), random_mask(rng, shape))


@pytest.mark.check("dtypes", title="Half precision in, half precision out", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dtypes(candidate, oracle, rng, dtype):
    shape = (3, 300)
    assert_right(candidate, oracle, normal(rng, shape, dtype), random_mask(rng, shape))


@FULLY_MASKED
def test_only_row_masked(candidate, oracle, rng):
    shape = (1, 100)
    assert_right(candidate, oracle, normal(rng, shape), np.full(shape, NEG_INF, np.float32))


@FULLY_MASKED
def test_masked_rows_among_others(candidate, oracle, rng):
    shape = (7, 130)
    x, mask = normal(rng, shape), random_mask(rng, shape)
    mask[[0, 6]] = NEG_INF
    x[2] = NEG_INF
    mask[2] = 0.0
    # Neither hides the whole of row 4 alone.
    cut = rng.integers(1, shape[1])
    x[4, :cut] = NEG_INF
    mask[4, cut:] = NEG_INF
    assert_right(candidate, oracle, x, mask)


@FULLY_MASKED
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_all_rows_masked(candidate, oracle, rng, dtype):
    shape = (3, 65)
    assert_right(candidate, oracle, normal(rng, shape, dtype), np.full(shape, NEG_INF, np.float32))


@FULLY_MASKED
def test_wide_row_masked(candidate, oracle, rng):
    """A kernel that takes wide rows in blocks has a second place where a maximum may be -inf."""
    shape = (2, 131071)
    mask = random_mask(rng, shape)
    mask[0] = NEG_INF
    assert_right(candidate, oracle, normal(rng, shape), mask)


@pytest.mark.check("finite_bias", title="A mask that is a finite bias", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_finite_bias(candidate, oracle, rng, dtype):
    shape = (3, 200)
    # Multiples of 1/16: x + bias is then exact in float32, and no rounding of the sum is judged.
    x = as_dtype(np.round(normal(rng, shape) * 16) / 16, dtype)
    bias = np.round(normal(rng, shape, scale=4.0) * 16) / 16
    mask = np.where(np.isneginf(random_mask(rng, shape)), NEG_INF, bias).astype(np.float32)
    assert_right(candidate, oracle, x, mask)


@EXPANDED
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_expanded_mask(candidate, oracle, rng, axis):
    shape = (4, 96)
    # The expanded part is a piece of a larger mask, so that a kernel that reads on finds real but wrong numbers.
    whole = random_mask(rng, shape, share=0.5)
    whole[:, 0] = [0.0, NEG_INF, 0.0, NEG_INF]
    part = whole[:1] if axis == "rows" else whole[:, :1]
    assert_right(candidate, oracle, normal(rng, shape), np.broadcast_to(part, shape))


@STRIDED
def test_padded_rows(candidate, oracle, rng):
    shape = (4, 100)
    # Different gaps and poisons: NaN came from x, a bias that nobody gave from the mask.
    mask = padded(random_mask(rng, shape), gap=11, poison=3.0)
    assert_right(candidate, oracle, padded(normal(rng, shape), gap=5), mask)


@STRIDED
@pytest.mark.parametrize(("gap_x", "gap_mask"), [(7, 0), (0, 7)])
def test_one_input_padded(candidate, oracle, rng, gap_x, gap_mask):
    shape = (3, 77)
    x = padded(normal(rng, shape, "float16"), gap=gap_x, poison=60000.0) if gap_x else normal(rng, shape, "float16")
    mask = random_mask(rng, shape)
    assert_right(candidate, oracle, x, padded(mask, gap=gap_mask, poison=NEG_INF) if gap_mask else mask)


@pytest.mark.check("far_rows", title="Rows more than 2^31 elements away", points=1, depends=FAR_NEEDS)
def test_far_rows(candidate, oracle, rng):
    shape = (3, 40)
    x = far_view(normal(rng, shape, "float16"), 2**30 + 16)
    assert_right(candidate, oracle, x, random_mask(rng, shape))


@pytest.mark.check("poisoned_row", title="Rows whose exp overflows or vanishes", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_poisoned_row(candidate, oracle, rng, dtype):
    shape = (4, 180)
    # Whole numbers of at most 8 bits are exact in all three dtypes, and so are their sums with the mask.
    values = np.round(normal(rng, shape))
    mask = random_mask(rng, shape)
    place = rng.integers(0, shape[1])
    values[0, place], mask[0, place] = 100.0, 0.0
    values[1] += rng.integers(190, 240)
    values[2] -= rng.integers(190, 240)
    values[3, :2], mask[3, :2] = 250.0, (NEG_INF, 0.0)
    assert_right(candidate, oracle, as_dtype(values, dtype), mask)


@MASKED_LARGE
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_huge_score_under_the_mask(candidate, oracle, rng, dtype):
    shape = (3, 90)
    mask = random_mask(rng, shape)
    x = as_dtype(np.where(np.isneginf(mask), rng.choice([60000.0, 500.0]), normal(rng, shape)), dtype)
    assert_right(candidate, oracle, x, mask)


@MASKED_LARGE
def test_scores_below_a_weak_fill(candidate, oracle):
    x = np.array([[-20000.0, -20001.0, 5.0], [-70000.0, 3.0, -70001.0], [4.0, -1.0, 2.0]], np.float32)
    mask = np.array([[0.0, 0.0, NEG_INF], [0.0, NEG_INF, 0.0], [0.0, NEG_INF, 0.0]], np.float32)
    assert_right(candidate, oracle, x, mask)


def special_rows(rng, dtype):
    """Eight rows; the odd ones hold NaN or infinity in x, the even ones nothing special."""
    shape = (8, 70)
    values, mask = normal(rng, shape).astype(np.float64), random_mask(rng, shape)
    shown, hidden = (np.argmax(rows, axis=1) for rows in (mask == 0.0, np.isneginf(mask)))
    values[1, shown[1]] = np.nan
    values[3, shown[3]] = np.inf
    values[5, hidden[5]] = np.inf
    values[7] = NEG_INF
    values[7, shown[7]] = np.nan
    return as_dtype(values, dtype), mask


@pytest.mark.check("special_values", title="NaN and infinity make their row NaN", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_special_values(candidate, oracle, rng, dtype):
    x, mask = special_rows(rng, dtype)
    x[4, :9] = NEG_INF  # some -inf in x is nothing but a column of weight 0
    assert_right(candidate, oracle, x, mask)


@pytest.mark.check("neighbours", title="Rows beside special rows are untouched", points=1, depends=COMPILES)
def test_neighbours(candidate, oracle, rng):
    x, mask = special_rows(rng, "float32")
    mask[6] = NEG_INF
    ordinary = [0, 2, 4]
    y, right = candidate(x, mask), oracle(x, mask)
    assert y.shape == right.shape
    assert_matches(y[ordinary], right[ordinary], scores=oracle.scores(x, mask)[ordinary])


@pytest.mark.check("empty", title="Tensors without rows or columns", points=1, depends=COMPILES)
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty(candidate, oracle, shape):
    assert_right(candidate, oracle, np.zeros(shape, np.float32), np.zeros(shape, np.float32))


@pytest.mark.check("one_column", title="A single column", points=1, depends=COMPILES)
def test_one_column(candidate, oracle, rng):
    mask = np.array([[0.0], [NEG_INF], [2.5], [0.0]], np.float32)
    x = normal(rng, (4, 1))
    x[3] = NEG_INF
    assert_right(candidate, oracle, x, mask)


@WIDE_ROWS
def test_small_terms_add_up(candidate, oracle):
    # After two weights of 1 come many of exp(-11.875): a sum kept in bfloat16 never sees them, 1024 at a time or fewer.
    shape = (1, 20000)
    x = as_dtype(np.zeros(shape), "bfloat16")
    mask = np.full(shape, -11.875, np.float32)
    mask[0, :2] = 0.0
    assert_right(candidate, oracle, x, mask)


@WIDE_ROWS
def test_widest_rows(candidate, oracle, rng):
    shape = (2, 131071)
    x, mask = normal(rng, shape), random_mask(rng, shape)
    mask[:, -50000:-30000] = NEG_INF
    assert_right(candidate, oracle, x, mask)


@pytest.mark.check("inputs_unchanged", title="The inputs stay as they were", points=1, depends=("values",))
def test_inputs_unchanged(candidate, rng):
    shape = (3, 50)
    mask = random_mask(rng, shape)
    mask[1] = NEG_INF
    assert_unchanged(candidate.observe(padded(normal(rng, shape), gap=3), padded(mask, gap=3)))


@pytest.mark.check("bounds", title="No access outside the tensors", points=1, depends=COMPILES)
@pytest.mark.parametrize(("shape", "dtype"), [((1, 100), "float32"), ((3, 33), "bfloat16")])
def test_bounds(candidate, rng, shape, dtype):
    assert_no_fault(candidate.access(normal(rng, shape, dtype), random_mask(rng, shape)))


@pytest.mark.check("traffic", title="Memory traffic within the budget", points=1, depends=("values",))
def test_traffic(candidate, rng):
    shape = (4, 6000)
    x = normal(rng, shape)
    assert_within_budget(candidate.traffic(x, random_mask(rng, shape)), unit=x)


@pytest.mark.check("full_size", title="Full size, timed beside a copy", points=1, depends=("values",), engines=("gpu",))
def test_full_size(candidate, oracle, rng):
    """A whole matrix, twice the L2 of the largest card; the two inputs take turns."""
    shape = (8192, 4096)
    x, mask = normal(rng, shape), random_mask(rng, shape)
    cases = [(x, mask), (np.ascontiguousarray(x[::-1]), np.ascontiguousarray(mask[::-1]))]
    counted = candidate.traffic_at_full_size(*cases[0])
    if counted.traffic is not None:
        assert_within_budget(counted, unit=cases[0][0])
    for arguments, observation in zip(cases, candidate.time(*cases), strict=True):
        assert_rows_match(observation, oracle, *arguments, scores=oracle.scores)
