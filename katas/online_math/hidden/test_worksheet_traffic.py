"""Hidden checks of the worksheet, TODO 25 to 33: bytes, times, and the way to FlashAttention.

`known` holds what a typical slip gives; the truth is computed by the oracle.
"""

from __future__ import annotations

import math

import pytest

from tritonkata.hidden.answers import assert_answer, assert_calls, assert_function

NEG_INF = -math.inf
LARGER_UNITS = (2**10, 2**20, 2**30, 10**3, 10**6, 10**9)


def question(number, name, title):
    return pytest.mark.check(name, title=f"TODO {number}: {title}", points=1)


def assert_constant(candidate, name, right, **known):
    assert_answer(name, candidate.value(name), right, known=known)


def in_larger_units(size):
    """A size, or a tuple of them, in KiB, MiB and GiB, and in KB, MB and GB."""
    return [scaled(size, 1 / unit) if isinstance(size, tuple) else size / unit for unit in LARGER_UNITS]


def scaled(values, factor):
    return tuple(value * factor for value in values)


@question(25, "sizes", "bytes of a row and of the tensor")
def test_sizes(candidate, oracle):
    row, whole = oracle.COLUMNS * oracle.ELEMENT_BYTES, oracle.tensor_bytes()
    assert_constant(
        candidate,
        "ROW_BYTES",
        row,
        elements_for_bytes=oracle.COLUMNS,
        larger_unit_for_bytes=in_larger_units(row),
    )
    assert_constant(
        candidate,
        "TENSOR_BYTES",
        whole,
        elements_for_bytes=whole // oracle.ELEMENT_BYTES,
        larger_unit_for_bytes=in_larger_units(whole),
    )


@question(26, "traversals", "how often the tensor moves")
def test_traversals(candidate, oracle):
    passes, whole = oracle.traversals(), oracle.tensor_bytes()
    loads = tuple(oracle.READS.values())
    assert_constant(candidate, "TRAVERSALS", passes, write_forgotten=loads)
    moved = scaled(passes, whole)
    assert_constant(
        candidate,
        "BYTES_MOVED",
        moved,
        write_forgotten=scaled(loads, whole),
        larger_unit_for_bytes=in_larger_units(moved),
        elements_for_bytes=scaled(moved, 1 / oracle.ELEMENT_BYTES),
    )


@question(27, "times", "least times, and what they win")
def test_times(candidate, oracle):
    right = oracle.microseconds()
    assert_constant(
        candidate,
        "MICROSECONDS",
        right,
        write_forgotten=scaled(oracle.READS.values(), oracle.tensor_bytes() / oracle.BYTES_A_SECOND * 1e6),
        tebibytes_a_second=scaled(right, 1e12 / 2**40),
        other_unit_of_time=[scaled(right, factor) for factor in (1e-3, 1e-6, 1e3)],
    )
    online, cached = oracle.speedups()
    assert_constant(
        candidate,
        "SPEEDUPS",
        (online, cached),
        loads_alone_compared=(3 / 2, 3 / 1),
        speedup_upside_down=(1 / online, 1 / cached),
        compared_with_naive=(online * 3 / 4, cached * 3 / 4),
    )


@question(28, "intensity", "operations a byte")
def test_intensity(candidate, oracle):
    flops, element = oracle.FLOPS_AN_ELEMENT, oracle.ELEMENT_BYTES
    assert_constant(
        candidate,
        "INTENSITY",
        oracle.intensity(),
        only_the_read_counted=flops / element,
        exp_as_one_operation=4 / (2 * element),
    )
    assert_constant(candidate, "BOUND_BY", "memory")


@question(29, "fusion", "three kernels or one")
def test_fusion(candidate, oracle):
    separate, fused = oracle.fusion()
    loads = sum(reads for reads, _ in oracle.UNFUSED.values())
    assert_constant(
        candidate,
        "FUSION",
        (separate, fused),
        write_forgotten=(loads, oracle.FUSED[0]),
        launches_counted=(len(oracle.UNFUSED), 1),
        one_pass_in_the_softmax=(separate - 1, fused),
    )
    assert_constant(
        candidate,
        "FUSION_GAIN",
        separate / fused,
        write_forgotten=loads / oracle.FUSED[0],
        launches_counted=len(oracle.UNFUSED),
    )


@question(30, "cache", "where the number of passes decides")
def test_cache(candidate, oracle):
    calls = [(256 << 20, 8192, 4), (50 << 20, 1024, 2), (32 << 20, 132, 4)]
    # Anything within a column is right, whatever the answer is rounded to.
    name, right = "columns_that_outgrow", oracle.columns_that_outgrow
    slips = {
        "one_row_for_all": lambda cache, _rows, element: cache / element,
        "row_in_bytes": lambda cache, rows, _element: cache / rows,
    }
    got = tuple(
        right(*call) if isinstance(value, int | float) and abs(value - right(*call)) <= 1 else value
        for call, value in zip(calls, candidate.values(name, calls), strict=True)
    )
    known = {slip: [function(*call) for call in calls] for slip, function in slips.items()}
    assert_function(name, calls, got, [right(*call) for call in calls], known=known)
    assert_constant(candidate, "PASSES_DECIDE_AT_128", oracle.columns_that_outgrow(256 << 20, oracle.ROWS, 4) <= 128)


def output_of(m, o, x, v, sign=1.0):
    top = max(m, *x)
    old = o * math.exp(sign * (m - top)) if o else 0.0
    return old + sum(math.exp(one - top) * value for one, value in zip(x, v, strict=True))


@question(31, "update_output", "the output beside the sum")
def test_update_output(candidate, oracle, rng):
    tile = tuple(float(x) for x in rng.uniform(-2, 6, 4)), tuple(float(v) for v in rng.normal(0, 3, 4))
    rising = ((5.0, 0.0), (1.0, -2.0))
    states = [(2.0, 1.25), (7.0, -3.5), (NEG_INF, 0.0), (5.0, 4.0)]
    calls = [*((*state, *rising) for state in states), (1.0, 2.0, *tile)]

    def divided(m, o, x, v):
        # The part of the tile divided by the sum of the tile.
        new = output_of(m, 0.0, x, v)
        top = max(m, *x)
        return output_of(m, o, x, v) - new + new / sum(math.exp(one - top) for one in x)

    assert_calls(
        candidate,
        "update_output",
        calls,
        oracle.update_output,
        output_not_rescaled=lambda m, o, x, v: o + output_of(m, 0.0, x, v),
        output_rescaled_upside_down=lambda m, o, x, v: output_of(m, o, x, v, sign=-1.0),
        weights_against_the_tile=lambda m, o, x, v: o * math.exp(m - max(m, *x)) + output_of(NEG_INF, 0.0, x, v),
        output_divided_too_early=divided,
    )


@question(32, "attention_traffic", "what tiles save in attention")
def test_attention_traffic(candidate, oracle):
    sizes = [(1024, 64), (8192, 128), (100, 100)]
    assert_calls(
        candidate,
        "standard_elements",
        sizes,
        oracle.standard_elements,
        scores_moved_once=lambda n, d: 4 * n * d + n * n,
        scores_moved_twice=lambda n, d: 4 * n * d + 2 * n * n,
    )
    tiles = [(1024, 64, 64), (8192, 128, 128), (8192, 128, 8192), (4096, 64, 1)]
    assert_calls(
        candidate,
        "tiled_elements",
        tiles,
        oracle.tiled_elements,
        keys_read_once=lambda n, d, _tile: 4 * n * d,
        scores_still_moved=lambda n, d, tile: 2 * n * d + n // tile * 2 * n * d + 2 * n * n,
        keys_for_every_query=lambda n, d, _tile: 2 * n * d + 2 * n * n * d,
    )


@question(33, "log_softmax", "the logarithm of a softmax")
def test_log_softmax(candidate, oracle, rng):
    row = tuple(float(x) for x in rng.normal(0, 3, 6))
    far = tuple(1e15 + x for x in (0.0, 1.0, 2.0))
    calls = [((0.0, 1.0, 2.0),), (row,), ((0.0, -2000.0),), ((1000.0, 1000.0),), ((-1200.0, -1201.0),), (far,)]

    def m_and_log_added_first(x):
        m = max(x)
        both = m + math.log(sum(math.exp(one - m) for one in x))
        return tuple(one - both for one in x)

    def log_of_softmax(x):
        m = max(x)
        weights = [math.exp(one - m) for one in x]
        shares = [weight / sum(weights) for weight in weights]
        return tuple(math.log(share) if share else NEG_INF for share in shares)

    def log_of_unshifted_softmax(x):
        weights = [math.exp(one) for one in x]
        return tuple(math.log(weight / sum(weights)) for weight in weights)

    def log_of_unshifted_sum(x):
        total = math.log(sum(math.exp(one) for one in x))
        return tuple(one - total for one in x)

    def log_two(x):
        m = max(x)
        return tuple((one - m) - math.log2(sum(math.exp(other - m) for other in x)) for one in x)

    assert_calls(
        candidate,
        "log_softmax",
        calls,
        oracle.log_softmax,
        max_and_log_added_first=m_and_log_added_first,
        log_of_softmax=log_of_softmax,
        log_of_unshifted_softmax=log_of_unshifted_softmax,
        log_of_unshifted_sum=log_of_unshifted_sum,
        log2_for_log=log_two,
    )
