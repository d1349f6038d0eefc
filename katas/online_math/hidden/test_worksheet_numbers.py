"""Hidden checks of the worksheet, TODO 7 to 17: why subtracting the maximum is free, and three number formats.

`known` holds what a typical slip gives; the truth is computed by the oracle.
"""

from __future__ import annotations

import math

import pytest

from tritonkata.hidden.answers import assert_answer, assert_calls

INF = math.inf
THRESHOLD_PLACE = 0.01
"""The last of the four digits that a threshold of exp is asked for with."""


def question(number, name, title):
    return pytest.mark.check(name, title=f"TODO {number}: {title}", points=1)


@question(7, "common_factor", "the factor that cancels")
def test_common_factor(candidate, rng):
    calls = [(0.0,), (1.0,), (-2.5,), (float(rng.uniform(5, 50)),)]
    assert_calls(candidate, "common_factor", calls, lambda m: math.exp(-m), factor_upside_down=math.exp)


@question(8, "normaliser_bounds", "between which bounds s lies")
def test_normaliser_bounds(candidate, rng):
    calls = [(1,), (5,), (4096,), (int(rng.integers(10, 100_000)),)]
    assert_calls(
        candidate,
        "normaliser_bounds",
        calls,
        lambda n: (1, n),
        bound_without_the_maximum=lambda n: (0, n),
        bounds_of_a_probability=lambda _: (0, 1),
    )


@question(9, "small_scores", "scores far below the maximum")
def test_small_scores(candidate, oracle):
    gets, notice = oracle.small_score()
    known = {"exp_not_flushed": math.exp(-100), "distance_from_zero": math.exp(-50)}
    assert_answer("SMALL_SCORE_GETS", candidate.value("SMALL_SCORE_GETS"), gets, known=known)
    known = {"distance_from_zero": 2.0**-24 * math.exp(50)}
    assert_answer("SCORES_TO_NOTICE", candidate.value("SCORES_TO_NOTICE"), notice, known=known)


@question(10, "formats", "what the three formats hold")
def test_formats(candidate, oracle):
    fp32, fp16, bf16 = oracle.largest_finite()
    known = {"bf16_largest_as_fp32": (fp32, fp16, fp32), "bf16_taken_for_fp16": (fp32, fp16, fp16)}
    assert_answer("LARGEST_FINITE", candidate.value("LARGEST_FINITE"), (fp32, fp16, bf16), known=known)
    stored = oracle.stored_bits()
    known = {"leading_bit_counted": tuple(bits + 1 for bits in stored)}
    assert_answer("STORED_BITS", candidate.value("STORED_BITS"), stored, known=known)


def assert_threshold(candidate, oracle, name, place, **known):
    right, largest = oracle.overflow()[place], oracle.largest_finite()[place]
    other_bases = {"threshold_in_base_two": math.log2(largest), "threshold_in_base_ten": math.log10(largest)}
    got = candidate.value(name)
    # Four digits may be cut off as well as rounded, for exp is finite there. Above, only what rounding adds is right.
    is_cut = isinstance(got, float) and 0 <= right - got < THRESHOLD_PLACE
    assert_answer(name, right if is_cut else got, right, rel=2e-5, known={**known, **other_bases})


@question(11, "overflow_fp32", "where exp overflows in float32")
def test_overflow_fp32(candidate, oracle):
    assert_threshold(candidate, oracle, "OVERFLOW_FP32", 0, threshold_of_float16=oracle.overflow()[1])


@question(12, "overflow_fp16", "where exp overflows in float16")
def test_overflow_fp16(candidate, oracle):
    assert_threshold(candidate, oracle, "OVERFLOW_FP16", 1, threshold_of_float32=oracle.overflow()[0])


@question(13, "overflow_bf16", "where exp overflows in bfloat16")
def test_overflow_bf16(candidate, oracle):
    assert_threshold(candidate, oracle, "OVERFLOW_BF16", 2, bf16_taken_for_fp16=oracle.overflow()[1])


@question(14, "underflow", "where exp leaves the normal numbers")
def test_underflow(candidate, oracle):
    right = oracle.underflow()
    smallest_exponents = [round(x / math.log(2)) for x in right]
    subnormals = zip(smallest_exponents, oracle.stored_bits(), strict=True)
    known = {
        "sign_of_the_threshold": tuple(-x for x in right),
        "mirror_of_the_overflow": tuple(-x for x in oracle.overflow()),
        "subnormals_counted": tuple((exponent - bits) * math.log(2) for exponent, bits in subnormals),
        "threshold_in_base_two": tuple(smallest_exponents),
    }
    assert_answer("UNDERFLOW_BELOW", candidate.value("UNDERFLOW_BELOW"), right, known=known)


@question(15, "sum_of_ones", "where a sum of ones stops growing")
def test_sum_of_ones(candidate, oracle):
    right = oracle.sum_of_ones()
    known = {
        "leading_bit_forgotten": tuple(end / 2 for end in right),
        "sum_ends_at_the_largest": oracle.largest_finite(),
    }
    # The neighbour of 2^24 is nearer than the usual tolerance.
    assert_answer("SUM_OF_ONES_ENDS_AT", candidate.value("SUM_OF_ONES_ENDS_AT"), right, rel=1e-9, known=known)


@question(16, "lost_share", "what float16 exponentials lose")
def test_lost_share(candidate, oracle):
    right = oracle.lost_share()
    known = {
        "share_of_the_rounded_sum": right / (1 - right),
        "nothing_is_lost": 0.0,
        "percent_for_a_share": 100 * right,
    }
    # The share of the true sum and of the rounded one are 0.3 % apart.
    assert_answer("LOST_SHARE", candidate.value("LOST_SHARE"), right, known=known)


@question(17, "headroom", "what dividing by sqrt(d) buys")
def test_headroom(candidate, oracle):
    before, after = oracle.headroom()
    dimension = oracle.HEAD_DIMENSION
    known = {"variance_for_deviation": (after / dimension, after)}
    assert_answer("HEADROOM_SIGMAS", candidate.value("HEADROOM_SIGMAS"), (before, after), known=known)
