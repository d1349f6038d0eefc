"""Hidden checks of log_softmax. A case has one to eight rows: the interpreter's cost goes with rows, not columns.

The first case of a check is the one that a mistake fails most clearly: the diagnosis looks at the first failure.
"""

from __future__ import annotations

import numpy as np
import pytest

from tritonkata.hidden.asserts import assert_matches, assert_no_fault, assert_rows_match, assert_unchanged
from tritonkata.hidden.budget import assert_within_budget
from tritonkata.hidden.inputs import DTYPES, as_dtype, far_view, normal, padded

COMPILES = ("compiles",)
VALUES_PASS = ("values",)  # what tells little, or takes long, while ordinary rows are wrong
INF = np.inf

VALUES = pytest.mark.check("values", title="Rows of many widths", points=2, depends=COMPILES)
STRIDED = pytest.mark.check("strided", title="Rows with gaps between them", points=2, depends=COMPILES)
UNDERFLOW = pytest.mark.check("underflow", title="Probabilities too small for a float32", points=2, depends=COMPILES)
CANCELLING = pytest.mark.check("cancelling", title="Scores near -10,000,000", points=2, depends=COMPILES)
NEAR_ZERO = pytest.mark.check("near_zero", title="Results close to zero", points=1, depends=COMPILES)
POISONED = pytest.mark.check("poisoned_row", title="A row with one score of 100", points=1, depends=COMPILES)
SHIFT = pytest.mark.check("large_shift", title="All scores far from zero", points=1, depends=COMPILES)
SPECIAL = pytest.mark.check("special_values", title="Infinities and NaN", points=1, depends=COMPILES)
WIDE = pytest.mark.check("wide_rows", title="Very wide rows", points=1, depends=VALUES_PASS)
LOW_PRECISION = pytest.mark.check("low_precision", title="Sums of half-precision rows", points=1, depends=("dtypes",))
ONE_COLUMN = pytest.mark.check("one_column", title="Rows of one column", points=1, depends=COMPILES)
EMPTY = pytest.mark.check("empty", title="No rows, no columns", points=1, depends=COMPILES)
BOUNDS = pytest.mark.check("bounds", title="No access outside the tensors", points=1, depends=COMPILES)
TRAFFIC = pytest.mark.check("traffic", title="Bytes moved, within budget", points=1, depends=VALUES_PASS)


def assert_right(candidate, oracle, x):
    assert_matches(candidate(x), oracle(x), scores=x, kind="log_softmax")


@pytest.mark.check("compiles", title="The kernel compiles", points=1)
@pytest.mark.parametrize(("shape", "dtype"), [*(((4, 1000), dtype) for dtype in DTYPES), ((3, 1), "float32")])
def test_compiles(candidate, shape, dtype):
    candidate.compile(as_dtype(np.zeros(shape), dtype))


@VALUES
@pytest.mark.parametrize("shape", [(1, 1000), (5, 1000), (3, 3), (2, 128), (7, 129), (2, 1023)])
def test_values(candidate, oracle, rng, shape):
    """Round -10, where a lane that counts as 0 stands out."""
    assert_right(candidate, oracle, normal(rng, shape) - np.float32(10))


@pytest.mark.check("dtypes", title="Half precision in, half precision out", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dtypes(candidate, oracle, rng, dtype):
    assert_right(candidate, oracle, normal(rng, (4, 300), dtype))


@STRIDED
@pytest.mark.parametrize(("dtype", "gap", "poison"), [("float32", 5, np.nan), ("float16", 16, 3e4)])
def test_padded(candidate, oracle, rng, dtype, gap, poison):
    assert_right(candidate, oracle, padded(normal(rng, (4, 130), dtype), gap=gap, poison=poison))


@STRIDED
def test_every_other_row(candidate, oracle, rng):
    storage = np.full((6, 8), np.nan, np.float32)
    storage[::2, :5] = normal(rng, (3, 5))
    assert_right(candidate, oracle, storage[::2, :5])


@UNDERFLOW
def test_two_scores(candidate, oracle):
    assert_right(candidate, oracle, np.array([[0.0, -200.0], [-200.0, 0.0], [1.0, 2.0]], np.float32))


@UNDERFLOW
@pytest.mark.parametrize("dtype", DTYPES)
def test_probabilities_that_vanish(candidate, oracle, rng, dtype):
    """Every probability but one is below the smallest float32."""
    x = rng.uniform(-900.0, -110.0, (4, 60))
    x[np.arange(4), rng.integers(60, size=4)] = rng.uniform(-20.0, 20.0, 4)
    assert_right(candidate, oracle, as_dtype(x, dtype))


@CANCELLING
def test_three_scores(candidate, oracle):
    assert_right(candidate, oracle, np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 2.0]], np.float32) - np.float32(1e7))


@CANCELLING
def test_whole_numbers_far_out(candidate, oracle, rng):
    """Nothing is rounded in the input: whole numbers are exact up to 16,777,216."""
    offsets = np.array([-1e7, 1e7, -(2.0**22), 300_000.0])
    assert_right(candidate, oracle, as_dtype(rng.integers(0, 9, (4, 50)) + offsets[:, np.newaxis], "float32"))


@NEAR_ZERO
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_score_rules(candidate, oracle, rng, dtype):
    """The result at the top is -log(1 + small): what is lost beside the 1, or beside the offset, is all of it."""
    x = np.full((4, 40), -60.0)
    x[:, 3] = 0.0
    x[:, 30] = -rng.uniform(5.25, 5.9, 4)
    offsets = np.array([0.0, 30.0, -60.0, 100.0] if dtype == "float32" else [0.0] * 4)
    assert_right(candidate, oracle, as_dtype(x + offsets[:, np.newaxis], dtype))


@NEAR_ZERO
def test_closer_and_closer(candidate, oracle):
    x = np.array([[0.0, -8.0], [-10.0, 0.0], [0.0, -12.0], [0.0, -14.0], [0.0, -30.0]], np.float32)
    assert_right(candidate, oracle, x)


@POISONED
@pytest.mark.parametrize("dtype", DTYPES)
def test_poisoned_row(candidate, oracle, rng, dtype):
    """94.5 stands beside the 100: cutting both off at one limit makes them equal."""
    x = normal(rng, (4, 200), dtype)
    row, place = rng.integers(4), rng.integers(199)
    x[row, place : place + 2] = 100.0, 94.5
    assert_right(candidate, oracle, x)


@POISONED
def test_secret_poison(candidate, oracle, rng):
    cols = int(rng.integers(130, 250))
    x = normal(rng, (6, cols)).astype(np.float64)
    size = rng.uniform(120, 160)
    x[1, rng.integers(cols)] = size
    x[2, 0] = size
    x[3, -1] = size
    # Two neighbours at the top, one apart: a clamp would make them equal.
    place = rng.integers(cols - 1)
    x[4, place : place + 2] = size, size - 1
    # The largest score stands several times.
    x[5, rng.choice(cols, size=5, replace=False)] = size
    assert_right(candidate, oracle, as_dtype(x, "float32"))


@SHIFT
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_large_shift(candidate, oracle, rng, dtype):
    """Beside an ordinary row, so that a kernel that gives NaN for everything looks different."""
    shifts = rng.permutation([0.0, 200.0, -200.0, 300.0, -300.0, -1e7])
    x = rng.standard_normal((6, 100)) * 3 + shifts[:, np.newaxis]
    assert_right(candidate, oracle, as_dtype(x, dtype))


def special_rows(rng, cols, dtype):
    """Eight rows; those with an odd number hold special values, the others are ordinary neighbours."""
    x = normal(rng, (8, cols), dtype)
    places = rng.permutation(cols)
    x[1, places[0]] = INF
    x[3, places[1]] = np.nan
    x[5, places[: cols // 2]] = -INF
    x[7] = -INF
    return x


@SPECIAL
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_special_values(candidate, oracle, rng, dtype):
    assert_right(candidate, oracle, special_rows(rng, 37, dtype)[[0, 1, 3, 5, 7]])


@pytest.mark.check("neighbours", title="Special rows leave the others alone", points=1, depends=COMPILES)
def test_neighbours(candidate, oracle, rng):
    x = special_rows(rng, 40, "float32")
    got, expected = candidate(x), oracle(x)
    assert_matches(got[::2].copy(), expected[::2], scores=x[::2], kind="log_softmax")


@pytest.mark.check("permuted", title="The order of the columns does not matter", points=1, depends=VALUES_PASS)
def test_permuted(candidate, oracle, rng):
    cols = 20_000
    rising = np.sort(normal(rng, (1, cols)), axis=1)
    x = np.concatenate([rising, rising[:, ::-1], rising[:, rng.permutation(cols)]])
    assert_right(candidate, oracle, x)


@EMPTY
@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_empty(candidate, oracle, shape):
    assert_right(candidate, oracle, np.zeros(shape, np.float32))


@ONE_COLUMN
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_column(candidate, oracle, rng, dtype):
    x = normal(rng, (5, 1), dtype)
    x[1:3, 0] = 100.0, -300.0
    assert_right(candidate, oracle, padded(x, gap=3))


@WIDE
def test_widest_rows(candidate, oracle, rng):
    x = normal(rng, (2, 131072))
    x[1, rng.integers(100_000, 131072)] = 130.0
    assert_right(candidate, oracle, x)


@WIDE
def test_equal_scores(candidate, oracle):
    """70,000 equal scores: no power of two, and their sum does not fit in a float16."""
    assert_right(candidate, oracle, as_dtype(np.full((1, 70_000), -7.0), "float16"))


@LOW_PRECISION
@pytest.mark.parametrize(("dtype", "highest"), [("float16", -15.25), ("bfloat16", -14.8125)])
def test_low_precision(candidate, oracle, rng, dtype, highest):
    """One score at the top, the others so low that 2048 of them together vanish beside 1.0 in `dtype`.

    Not so low that a float32 loses them one by one, and not all equal, so that its rounding errors do not add up.
    """
    x = rng.uniform(highest - 0.5, highest, (1, 32768))
    x[0, 0] = 0.0
    assert_right(candidate, oracle, as_dtype(x, dtype))


@LOW_PRECISION
def test_many_small_blocks(candidate, oracle):
    """One 0 in every 64 columns: a bfloat16 sum that takes them one by one stops at 256."""
    x = np.full((1, 32768), -INF)
    x[0, ::64] = 0.0
    assert_right(candidate, oracle, as_dtype(x, "bfloat16"))


@pytest.mark.check(
    "far_rows", title="Rows more than 2^31 elements away", points=1, depends=("values", "dtypes", "strided")
)
@pytest.mark.parametrize("cols", [40, 20_000])
def test_far_rows(candidate, oracle, rng, cols):
    x = far_view(normal(rng, (3, cols), "float16"), row_stride=2**30 + 16)
    assert_right(candidate, oracle, x)


@pytest.mark.check("inputs_unchanged", title="The input stays as it was", points=1, depends=VALUES_PASS)
def test_inputs_unchanged(candidate, rng):
    assert_unchanged(candidate.observe(padded(normal(rng, (3, 50)), gap=7, poison=2.0)))


@BOUNDS
@pytest.mark.parametrize("gap", [0, 6])
def test_bounds(candidate, rng, gap):
    """A stray lane of the last row leaves an exact storage; with gaps, one of the result still meets the next row."""
    x = normal(rng, (3, 77))
    assert_no_fault(candidate.access(padded(x, gap=gap) if gap else x))


@TRAFFIC
@pytest.mark.parametrize(("shape", "dtype"), [((3, 1000), "float32"), ((2, 6000), "float32"), ((2, 6000), "float16")])
def test_traffic(candidate, rng, shape, dtype):
    x = normal(rng, shape, dtype)
    assert_within_budget(candidate.traffic(x), unit=x)


@pytest.mark.check("full_size", title="Full size, timed beside a copy", points=1, depends=VALUES_PASS, engines=("gpu",))
def test_full_size(candidate, oracle, rng):
    """A whole matrix, twice the L2 of the largest card; the two inputs take turns."""
    x = normal(rng, (8192, 4096))
    cases = [(x,), (np.ascontiguousarray(x[::-1]),)]
    counted = candidate.traffic_at_full_size(*cases[0])
    if counted.traffic is not None:
        assert_within_budget(counted, unit=cases[0][0])
    for arguments, observation in zip(cases, candidate.time(*cases), strict=True):
        assert_rows_match(observation, oracle, *arguments, kind="log_softmax")
