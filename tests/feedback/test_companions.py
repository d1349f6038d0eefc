"""Failures without a name beside a mistake that has one."""

from __future__ import annotations

import msgspec
import pytest
from feedback_samples import CASE, SOURCE, check, fault, make_kata, mismatch, report

from tritonkata.feedback.prose import plain
from tritonkata.feedback.render import Explanation, explain
from tritonkata.model.report import CheckResult


def named(name, diagnosis="max_added", **evidence):
    return check("wrong_output", diagnosis, name=name, case=CASE, mismatch=mismatch("nan"), **evidence)


def nameless(name, kind="values", case=CASE):
    return check("wrong_output", name=name, case=case, mismatch=mismatch(kind))


def stray(name):
    return check("out_of_bounds", "access_past_the_mask", name=name, case=CASE, fault=fault("out_of_bounds"))


def explained(folder, *checks: CheckResult) -> tuple[Explanation, ...]:
    return explain(report(*checks), make_kata(folder), SOURCE)


def names(checks) -> list[str]:
    return [one.name for one in checks]


@pytest.mark.parametrize("make", [named, stray])
@pytest.mark.parametrize("kind", ["values", "nan", "infinity"])
def test_a_nameless_failure_is_told_with_the_one_mistake_that_has_a_name(tmp_path, make, kind):
    (one,) = explained(tmp_path, make("a"), make("b"), nameless("c", kind))
    assert names(one.checks) == ["a", "b"]
    assert names(one.companions) == ["c"]
    assert "Check c (2 points) fails too" in plain(one.seen)
    assert "may well go with this one" in plain(one.seen)


def test_several_nameless_failures_are_told_in_one_sentence(tmp_path):
    checks = [*map(named, "abcd"), nameless("e", "values"), nameless("f", "nan")]
    (one,) = explained(tmp_path, *checks)
    assert "Checks e, f (4 points) fail too" in plain(one.seen)


def test_a_second_mistake_with_a_name_stays_a_finding(tmp_path):
    found = explained(tmp_path, *map(named, "abcd"), named("e", "low_precision_sum"), nameless("f"))
    assert [one.diagnosis for one in found] == ["max_added", "low_precision_sum", None]
    assert not any(one.companions for one in found)


def test_a_mistake_behind_few_failures_takes_none_along(tmp_path):
    assert len(explained(tmp_path, named("a"), nameless("b"))) == 2
    assert len(explained(tmp_path, named("a"), named("b"), nameless("c"), nameless("d", "nan"))) == 3


def test_what_fails_in_another_way_stays_a_finding(tmp_path):
    shape = check("invalid_output", name="c", case=CASE, mismatch=mismatch("shape"))
    crash = check("runtime_error", name="d", case=CASE, fault=fault("runtime_error"))
    assert len(explained(tmp_path, named("a"), named("b"), shape, crash)) == 3


def test_what_fails_in_another_function_stays_a_finding(tmp_path):
    other = msgspec.structs.replace(CASE, entry="another")
    assert len(explained(tmp_path, named("a"), named("b"), nameless("c", case=other))) == 2


def test_a_mistake_of_form_takes_no_wrong_numbers_along(tmp_path):
    form = [
        check("invalid_output", "wrong_output_dtype", name=name, case=CASE, mismatch=mismatch("dtype")) for name in "ab"
    ]
    assert len(explained(tmp_path, *form, nameless("c"))) == 2


def test_nameless_failures_alone_are_findings(tmp_path):
    assert len(explained(tmp_path, nameless("a"), nameless("b", "nan"))) == 2
