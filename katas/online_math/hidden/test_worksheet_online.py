"""Hidden checks of the worksheet, TODO 18 to 24: the online recurrence and the merge.

`known` holds what a typical slip gives; the truth is computed by the oracle.
"""

from __future__ import annotations

import math

import pytest

from tritonkata.hidden.answers import assert_answer, assert_calls

INF, NEG_INF = math.inf, -math.inf
ROW_OF_TIES = (1.0, 3.0, 2.0, 3.0, 5.0)


def question(number, name, title):
    return pytest.mark.check(name, title=f"TODO {number}: {title}", points=1)


def updated(m, s, x, scale=1.0, reference=None):
    """(m, s) with x; the old sum's exponent is multiplied by `scale`, and x measured against `reference`."""
    top = max(m, x)
    old = s * math.exp(scale * (m - top)) if scale else s
    return top, old + math.exp(x - (top if reference is None else reference))


@question(18, "update_rule", "one more score")
def test_update_rule(candidate, oracle, rng):
    m, s, x = (float(one) for one in rng.uniform((-3, 1, -9), (3, 90, -5)))
    calls = [(2.0, 1.5, 5.0), (2.0, 1.5, -1.0), (m, s, x), (x, s, m), (4.0, 3.0, 4.0), (NEG_INF, 0.0, -7.0)]

    def right(m, s, x):
        (top,), (total,) = oracle.merge([m], [s], [x], [1.0])
        return float(top), float(total)

    assert_calls(
        candidate,
        "update_rule",
        calls,
        right,
        update_without_rescale=lambda m, s, x: updated(m, s, x, scale=0.0),
        update_upside_down=lambda m, s, x: updated(m, s, x, scale=-1.0),
        term_against_the_old_maximum=lambda m, s, x: updated(m, s, x, reference=m),
    )


@question(19, "running_sums", "s after every score of a row")
def test_running_sums(candidate, oracle, rng):
    shuffled = tuple(float(x) for x in rng.permutation([0.0, 1.0, 2.0, 3.0, 4.5]))
    calls = [((2.0, 1.0, 5.0, 0.0),), (ROW_OF_TIES,), ((5.0,),), (shuffled,), ((1000.0, 1001.0, 999.0),)]

    def sums(x, scaled):
        m, s, found = NEG_INF, 0.0, []
        for one in x:
            top = max(m, one)
            m, s = top, s * (math.exp(m - top) if scaled else 1.0) + math.exp(one - top)
            found.append(s)
        return tuple(found)

    assert_calls(
        candidate,
        "running_sums",
        calls,
        oracle.running_sums,
        update_without_rescale=lambda x: sums(x, scaled=False),
        final_maximum_used=lambda x: tuple(sum(math.exp(one - max(x)) for one in x[: k + 1]) for k in range(len(x))),
        only_the_last_sum=lambda x: sums(x, scaled=True)[-1],
    )


@question(20, "rescale_factor", "the factor of the old sum")
def test_rescale_factor(candidate, rng):
    known = {"factor_may_grow": (1, INF)}
    assert_answer("RESCALE_RANGE", candidate.value("RESCALE_RANGE"), (0, 1), known=known)
    m, gap = (float(one) for one in rng.uniform((-50, 1), (50, 9)))
    calls = [(2.0, 1.0), (2.0, 3.0), (2.0, 2.0), (m, m - gap), (m, m + gap), (m, m)]
    assert_calls(
        candidate,
        "scale_stays",
        calls,
        lambda m, x: x <= m,
        tie_forgotten=lambda m, x: x < m,
        stays_the_wrong_way=lambda m, x: x >= m,
    )


def approximations_of_the_sum():
    """The logarithm and Euler's constant, of which some know more digits than others; some know the next term too."""
    constants = (0.577, 0.5772, 0.57721, 0.57722, 0.577215, 0.577216, 0.5772156, 0.5772156649015329)
    for_large_n = [lambda n, constant=constant: math.log(n) + constant for constant in constants]
    return for_large_n + [lambda n, constant=constant: math.log(n) + constant + 1 / (2 * n) for constant in constants]


@question(21, "new_maxima", "how often the maximum rises")
def test_new_maxima(candidate, oracle, rng):
    calls = [(1,), (2,), (3,), (10,), (4096,), (int(rng.integers(50, 2000)),)]
    harmonic = oracle.expected_new_maxima
    assert_calls(
        candidate,
        "expected_new_maxima",
        calls,
        harmonic,
        first_maximum_not_counted=lambda n: harmonic(n) - 1,
        logarithm_for_the_sum=math.log,
        approximation_for_the_sum=approximations_of_the_sum(),
        last_score_left_out=lambda n: sum(1 / k for k in range(1, n)),
        every_other_score=lambda n: n / 2,
        halved_each_time=math.log2,
    )
    share = harmonic(oracle.COLUMNS) / oracle.COLUMNS
    known = {
        "share_that_stays": 1 - share,
        "percent_for_a_share": 100 * share,
    }
    assert_answer("SHARE_RESCALED", candidate.value("SHARE_RESCALED"), share, known=known)


def merged(m_a, s_a, m_b, s_b, sign=1.0):
    top = max(m_a, m_b)
    return top, s_a * math.exp(sign * (m_a - top)) + s_b * math.exp(sign * (m_b - top))


@question(22, "merge_rule", "two states made one")
def test_merge_rule(candidate, oracle, rng):
    a, b = ((float(m), float(s)) for m, s in zip(rng.uniform(-4, 4, 2), rng.uniform(1, 50, 2), strict=True))
    nothing = (NEG_INF, 0.0)
    calls = [(*a, *b), (*b, *a), (2.0, 1.5, 5.0, 1.0), (3.0, 2.0, 3.0, 4.0), (*a, *nothing), (*nothing, *b)]
    calls.append((*nothing, *nothing))

    def right(*states):
        (top,), (total,) = oracle.merge(*([one] for one in states))
        return float(top), float(total)

    assert_calls(
        candidate,
        "merge_rule",
        calls,
        right,
        merge_rule_unguarded=merged,
        merge_rule_without_scaling=lambda m_a, s_a, m_b, s_b: (max(m_a, m_b), s_a + s_b),
        merge_rule_upside_down=lambda *states: merged(*states, sign=-1.0),
    )


@question(23, "identity", "the state that changes nothing")
def test_identity(candidate, rng):
    known = {"identity_of_zeros": (0, 0), "identity_with_a_score": (NEG_INF, 1)}
    assert_answer("IDENTITY", candidate.value("IDENTITY"), (NEG_INF, 0), known=known)
    m = float(rng.uniform(-9, 9))
    calls = [(NEG_INF, NEG_INF), (m, NEG_INF), (NEG_INF, m), (m, m), (m, -m), (0.0, 0.0)]
    assert_calls(
        candidate,
        "unguarded_is_nan",
        calls,
        lambda m_a, m_b: m_a == m_b == NEG_INF,
        one_empty_part_is_enough=lambda m_a, m_b: NEG_INF in (m_a, m_b),
        equal_maxima_are_nan=lambda m_a, m_b: m_a == m_b,
    )


@question(24, "merge_rounds", "rounds of a tree")
def test_merge_rounds(candidate, oracle, rng):
    calls = [(1,), (2,), (3,), (32,), (1000,), (4096,), (int(rng.integers(40, 60)),)]
    assert_calls(
        candidate,
        "merge_rounds",
        calls,
        oracle.merge_rounds,
        one_after_another=lambda n: n - 1,
        rounds_rounded_down=lambda n: n.bit_length() - 1,
    )
