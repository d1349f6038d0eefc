"""Hidden checks of the two kernels. A case has few rows: the interpreter's cost goes with programs, not columns."""

from __future__ import annotations

import numpy as np
import pytest

from tritonkata.hidden.asserts import CheckFailed, assert_form, assert_no_fault, assert_unchanged, compare, excess
from tritonkata.hidden.budget import assert_within_budget
from tritonkata.hidden.inputs import DTYPES, as_dtype, far_view, normal, padded
from tritonkata.model.report import Evidence, Mismatch

NEG_INF, INF = -np.inf, np.inf
COMPILES = ("compiles",)
VALUES_PASS = ("values",)  # what tells little, or takes long, while ordinary rows are wrong
FAR_NEEDS = ("values", "dtypes", "strided")
ROWS_AT_ONCE = 512

VALUES = pytest.mark.check("values", title="Rows of many widths", points=2, depends=COMPILES)
STRIDED = pytest.mark.check("strided", title="Rows with gaps between them", points=1, depends=COMPILES)
LATE = pytest.mark.check("late_start", title="Rows that begin with many -inf", points=2, depends=COMPILES)
DEAD = pytest.mark.check("dead_rows", title="Rows of nothing but -inf are (-inf, 0)", points=2, depends=COMPILES)
LOW = pytest.mark.check("very_low_scores", title="Scores below any number to start from", points=1, depends=COMPILES)
WIDE = pytest.mark.check("wide_rows", title="Very wide rows", points=1, depends=VALUES_PASS)
LOW_PRECISION = pytest.mark.check("low_precision", title="Sums of half-precision rows", points=1, depends=("dtypes",))
MERGE_VALUES = pytest.mark.check("merge_values", title="Merging two states", points=2, depends=COMPILES)
LAWS = pytest.mark.check("merge_laws", title="Merging in any order and grouping", points=1, depends=COMPILES)
EMPTY = pytest.mark.check("empty", title="No rows, no columns, no states", points=1, depends=COMPILES)
UNCHANGED = pytest.mark.check("inputs_unchanged", title="The inputs stay as they were", points=1, depends=VALUES_PASS)
BOUNDS = pytest.mark.check("bounds", title="No access outside the tensors", points=1, depends=COMPILES)
TRAFFIC = pytest.mark.check("traffic", title="One pass over x", points=2, depends=VALUES_PASS)


def assert_result(name, got, right):
    """One number a row within the tolerance table; a maximum is one of the scores, so m is exactly right."""
    found = compare(got, right, None, "softmax")
    bad = excess(got, right, None, "softmax") > (0.0 if name == "m" else 1.0)
    if not bad.any():
        return
    first, wrong = int(np.argmax(bad)), int(bad.sum())
    mismatch = Mismatch(
        kind=found.kind if found else "values",
        wrong=wrong,
        total=bad.size,
        rows_wrong=wrong,
        row=first,
        columns=(0,),
        expected=(_written(right[first]),),
        got=(_written(got[first]),),
        worst=found.worst if found else None,
        result=name,
    )
    message = f"{wrong} of {bad.size} elements of {name} are wrong, first that of row {first}"
    raise CheckFailed("wrong_output", message, Evidence(mismatch=mismatch))


def _written(value):
    return float(value) if np.isfinite(value) else str(float(value))


def assert_state(got, right):
    """Both results; m first, since no s is right beside a wrong m."""
    for name, array, truth in zip(("m", "s"), got, right, strict=True):
        assert_form(array, truth.shape, np.dtype(np.float32))
        assert_result(name, array, truth)


def assert_right(candidate, oracle, x):
    assert_state(candidate(x), oracle(x))


def assert_merged(candidate, oracle, a, b):
    assert_state(candidate.call("merge", *a, *b), oracle.merge(*a, *b))


def random_state(rng, count):
    """What row_stats may have given for `count` parts: close maxima, so that both sums matter; some are empty."""
    m = rng.normal(0.0, 4.0, count).astype(np.float32)
    s = np.exp(rng.uniform(0.0, 9.0, count)).astype(np.float32)
    empty = rng.random(count) < 0.15
    return np.where(empty, np.float32(NEG_INF), m), np.where(empty, np.float32(0.0), s)


def no_state(count):
    return np.full(count, NEG_INF, np.float32), np.zeros(count, np.float32)


@pytest.mark.check("compiles", title="The kernels compile", points=1)
@pytest.mark.parametrize(("shape", "dtype"), [*(((4, 1000), dtype) for dtype in DTYPES), ((3, 1), "float32")])
def test_compiles(candidate, shape, dtype):
    candidate.compile(as_dtype(np.zeros(shape), dtype))
    candidate.compile(*(np.zeros(shape[1], np.float32) for _ in range(4)), entry="merge")


@VALUES
@pytest.mark.parametrize("shape", [(2, 16384), (5, 1000), (3, 3), (2, 128), (7, 129), (2, 1023), (2, 5000)])
def test_values(candidate, oracle, rng, shape):
    """Round -10, where a lane that counts as 0 stands out; first a width that leaves no such lanes."""
    assert_right(candidate, oracle, normal(rng, shape) - np.float32(10))


@pytest.mark.check("dtypes", title="Half precision in, float32 out", points=1, depends=COMPILES)
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


@pytest.mark.check("poisoned_row", title="A row with one score of 100", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_poisoned_row(candidate, oracle, rng, dtype):
    x = normal(rng, (4, 200), dtype)
    row, place = rng.integers(4), rng.integers(199)
    x[row, place : place + 2] = 100.0, 98.0
    assert_right(candidate, oracle, x)


@pytest.mark.check("large_shift", title="All scores far from zero", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_large_shift(candidate, oracle, rng, dtype):
    shifts = rng.permutation([0.0, 200.0, -200.0, 300.0, -300.0])
    assert_right(candidate, oracle, as_dtype(rng.standard_normal((5, 100)) * 3 + shifts[:, np.newaxis], dtype))


@pytest.mark.check("rising", title="A maximum that keeps rising", points=2, depends=COMPILES)
@pytest.mark.parametrize("cols", [8, 6000])
def test_rising(candidate, oracle, rng, cols):
    """Rising, falling, in steps, and shuffled: the same scores in every order have the same state."""
    rising = np.sort(normal(rng, (1, cols), scale=10.0), axis=1)
    steps = np.repeat([[0.0, 5.0]], cols // 2, axis=1).astype(np.float32)
    x = np.concatenate([rising, rising[:, ::-1], steps, rising[:, rng.permutation(cols)]])
    assert_right(candidate, oracle, x)


@LATE
def test_first_score_in_the_second_block(candidate, oracle):
    x = np.full((2, 8), NEG_INF, np.float32)
    x[0, 5] = x[1, 2] = 10.0
    assert_right(candidate, oracle, x)


@LATE
@pytest.mark.parametrize(("cols", "prefixes"), [(6000, (17, 140, 1030, 4100, 5990)), (20000, (8200, 16400))])
def test_late_start(candidate, oracle, rng, cols, prefixes):
    """Whichever block the kernel has chosen, some row begins with a whole one of -inf."""
    x = normal(rng, (len(prefixes) + 1, cols))
    for row, prefix in enumerate(prefixes):
        x[row, :prefix] = NEG_INF
    x[-1, rng.choice(cols, size=cols // 2, replace=False)] = NEG_INF
    assert_right(candidate, oracle, x)


@DEAD
@pytest.mark.parametrize(("cols", "dtype"), [(1, "float32"), (100, "float16"), (3000, "float32")])
def test_dead_rows(candidate, oracle, rng, cols, dtype):
    """Between ordinary rows, so that a kernel that gives one answer for everything looks different."""
    x = normal(rng, (4, cols), dtype)
    x[[1, 3]] = NEG_INF
    assert_right(candidate, oracle, x)


@LOW
def test_very_low_scores(candidate, oracle, rng):
    x = normal(rng, (5, 70)).astype(np.float64)
    x[0, :2], x[0, 2:] = (-60000.0, -60001.0), NEG_INF
    x[1] -= 2e3
    x[2] -= 2e5
    x[3] = -3e38
    assert_right(candidate, oracle, as_dtype(x, "float32"))


@pytest.mark.check("special_values", title="NaN and +inf make their sum NaN", points=1, depends=COMPILES)
@pytest.mark.parametrize(("cols", "dtype"), [(37, "float32"), (2500, "float16")])
def test_special_values(candidate, oracle, rng, cols, dtype):
    """The odd rows hold something special, the even ones are neighbours; of an odd row only s is looked at."""
    x = normal(rng, (8, cols), dtype)
    x[1, rng.integers(cols)] = np.nan
    x[3, rng.integers(cols)] = INF
    x[5], x[5, -1] = NEG_INF, np.nan
    x[7, 0], x[7, -1] = INF, np.nan
    (m, s), (right_m, right_s) = candidate(x), oracle(x)
    assert_result("s", s, right_s)
    assert_result("m", m[::2], right_m[::2])


@pytest.mark.check("one_column", title="Rows of one column", points=1, depends=COMPILES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_column(candidate, oracle, rng, dtype):
    x = normal(rng, (5, 1), dtype)
    x[1:4, 0] = 100.0, -300.0, NEG_INF
    assert_right(candidate, oracle, padded(x, gap=3))


@WIDE
def test_widest_rows(candidate, oracle, rng):
    x = normal(rng, (2, 131072))
    x[1, rng.integers(100_000, 131072)] = 100.0
    assert_right(candidate, oracle, x)


@WIDE
def test_equal_scores(candidate, oracle):
    """70,000 equal scores: no power of two, and their sum does not fit in a float16."""
    assert_right(candidate, oracle, as_dtype(np.full((1, 70_000), 7.0), "float16"))


@LOW_PRECISION
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_low_precision(candidate, oracle, rng, dtype):
    """Many low scores beside one at the top; each still counts beside 1.0 in a float32, and not in `dtype`."""
    x = rng.standard_normal((1, 32768)) - 10.0
    x[0, 0] = 0.0
    assert_right(candidate, oracle, as_dtype(x, dtype))


@LOW_PRECISION
def test_many_small_blocks(candidate, oracle):
    """One 0 in every 64 columns: a bfloat16 sum that takes them one by one stops at 256."""
    x = np.full((1, 32768), NEG_INF)
    x[0, ::64] = 0.0
    assert_right(candidate, oracle, as_dtype(x, "bfloat16"))


@pytest.mark.check("far_rows", title="Rows more than 2^31 elements away", points=1, depends=FAR_NEEDS)
def test_far_rows(candidate, oracle, rng):
    assert_right(candidate, oracle, far_view(normal(rng, (3, 40), "float16"), row_stride=2**30 + 16))


@MERGE_VALUES
@pytest.mark.parametrize("count", [1, 3, 128, 1000, 2500])
def test_merge(candidate, oracle, rng, count):
    assert_merged(candidate, oracle, random_state(rng, count), random_state(rng, count))


@MERGE_VALUES
def test_merge_far_apart(candidate, oracle, rng):
    """The lower part vanishes, whichever side it is on; two equal maxima add up."""
    m = np.array([-60000.0, 500.0, 3e38, -3e38, 7.0, 100.0, -300.0], np.float32)
    other = np.array([-60001.0, -500.0, -3e38, 3e38, 7.0, 2.0, -299.0], np.float32)
    s_a, s_b = (rng.uniform(1.0, 131072.0, m.size).astype(np.float32) for _ in range(2))
    assert_merged(candidate, oracle, (m, s_a), (other, s_b))
    assert_merged(candidate, oracle, (other, s_b), (m, s_a))


@pytest.mark.check("merge_identity", title="The empty state changes nothing", points=1, depends=COMPILES)
@pytest.mark.parametrize("side", ["right", "left"])
def test_merge_identity(candidate, oracle, rng, side):
    m = rng.normal(0.0, 100.0, 50).astype(np.float32)
    state, nothing = (m, rng.uniform(1.0, 1000.0, 50).astype(np.float32)), no_state(50)
    pair = (state, nothing) if side == "right" else (nothing, state)
    assert_merged(candidate, oracle, *pair)


@pytest.mark.check("merge_empty_states", title="Two empty states give an empty one", points=2, depends=COMPILES)
def test_merge_empty_states(candidate, oracle, rng):
    """Beside other states, so that a guard that replaces too much shows."""
    a, b = random_state(rng, 40), random_state(rng, 40)
    for m, s in (a, b):
        m[::3], s[::3] = NEG_INF, 0.0
    assert_merged(candidate, oracle, a, b)


@LAWS
def test_merge_laws(candidate, oracle, rng):
    """Commutative, a + b = b + a, and associative, (a + b) + c = a + (b + c)."""
    a, b, c = (random_state(rng, 60) for _ in range(3))
    assert_merged(candidate, oracle, b, a)
    whole = oracle.merge(*oracle.merge(*a, *b), *c)
    assert_state(candidate.call("merge", *candidate.call("merge", *a, *b), *c), whole)
    assert_state(candidate.call("merge", *a, *candidate.call("merge", *b, *c)), whole)


@pytest.mark.check(
    "streaming", title="The parts of a row, merged, are the row", points=2, depends=("values", "merge_values")
)
def test_streaming(candidate, oracle, rng):
    """Cut anywhere, one part all -inf; merged from the left, from the right, and in any order."""
    cols = 3000
    x = normal(rng, (3, cols), scale=6.0)
    cuts = np.sort(rng.choice(np.arange(1, cols), size=5, replace=False))
    pieces = np.split(np.arange(cols), cuts)
    x[0, pieces[0]] = x[1, pieces[3]] = x[2, pieces[5]] = NEG_INF
    parts = []
    for piece in pieces:
        part = x[:, piece[0] : piece[-1] + 1]
        assert_right(candidate, oracle, part)
        parts.append(candidate.calls[-1].outputs)
    whole = oracle(x)
    for order in (range(6), reversed(range(6)), rng.permutation(6)):
        state = no_state(3)
        for number in order:
            state = candidate.call("merge", *state, *parts[number])
        assert_state(state, whole)


@EMPTY
@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_empty(candidate, oracle, shape):
    assert_right(candidate, oracle, np.zeros(shape, np.float32))


@EMPTY
def test_no_states(candidate, oracle):
    assert_merged(candidate, oracle, no_state(0), no_state(0))


@UNCHANGED
def test_inputs_unchanged(candidate, rng):
    assert_unchanged(candidate.observe(padded(normal(rng, (3, 50)), gap=7, poison=2.0)))
    assert_unchanged(candidate.observe(*random_state(rng, 30), *random_state(rng, 30), entry="merge"))


@BOUNDS
@pytest.mark.parametrize("gap", [0, 6])
def test_bounds(candidate, rng, gap):
    x = normal(rng, (3, 77))
    assert_no_fault(candidate.access(padded(x, gap=gap) if gap else x))


@BOUNDS
@pytest.mark.parametrize("count", [5, 1100])
def test_merge_bounds(candidate, rng, count):
    assert_no_fault(candidate.access(*random_state(rng, count), *random_state(rng, count), entry="merge"))


@TRAFFIC
@pytest.mark.parametrize(("shape", "dtype"), [((3, 1000), "float32"), ((2, 9000), "float32"), ((2, 9000), "float16")])
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
        assert_within_budget(counted, unit=x)
    parts = [oracle(x[begin : begin + ROWS_AT_ONCE]) for begin in range(0, len(x), ROWS_AT_ONCE)]
    right = [np.concatenate(part) for part in zip(*parts, strict=True)]
    truths = [right, [array[::-1] for array in right]]
    for truth, observation in zip(truths, candidate.time(*cases, entry="row_stats"), strict=True):
        assert_unchanged(observation)
        for outputs in (observation.outputs, *observation.others):
            assert_state(outputs, truth)
