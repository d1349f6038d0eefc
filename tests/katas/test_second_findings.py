"""One mistake is one finding, also where a check cannot tell it by its numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.feedback.render import Explanation, explain
from tritonkata.feedback.summary import failed
from tritonkata.submission import read_submission

COURSE = load_course()


def found(slug: str, path: Path, seed: int) -> tuple[Explanation, ...]:
    kata = COURSE.kata(slug)
    report = grade(kata, path, engine="interpreter", seed=seed)
    explanations = explain(report, kata, read_submission(path).text)
    told = {check.name for one in explanations for check in (*one.checks, *one.companions)}
    assert told == {check.name for check in failed(report)}
    return explanations


def test_a_lane_too_many_is_told_with_the_gap_that_it_reads(tmp_path: Path) -> None:
    text = read_submission(COURSE.kata("safe_softmax").solution).text
    path = tmp_path / "safe_softmax.py"
    path.write_text(text.replace("mask=inside, other", "mask=columns <= cols, other"))
    (one,) = found("safe_softmax", path, 1)
    assert one.diagnosis == "access_past_the_mask"
    assert [check.name for check in one.companions] == ["strided"]


@pytest.mark.parametrize("example", ["subtracts_the_mask", "drops_the_visible_unguarded"])
def test_a_mask_the_wrong_way_round_is_named_where_all_is_nan(example: str) -> None:
    kata = COURSE.kata("masked_softmax")
    (one,) = found(kata.slug, kata.folder / "wrong" / "mask_polarity" / f"{example}.py", 2)
    assert one.diagnosis == "mask_polarity"
    assert not one.companions


def test_nothing_but_nan_names_no_mistake(tmp_path: Path) -> None:
    text = read_submission(COURSE.kata("masked_softmax").solution).text
    path = tmp_path / "masked_softmax.py"
    path.write_text(text.replace("columns, y.to(", "columns, (y * float('nan')).to("))
    (one,) = found("masked_softmax", path, 2)
    assert one.diagnosis is None


@pytest.mark.parametrize("seed", [2, 11])
@pytest.mark.parametrize("slug", ["safe_softmax", "masked_softmax"])
def test_a_maximum_that_is_added_is_named(slug: str, seed: int) -> None:
    examples = sorted((COURSE.kata(slug).folder / "wrong" / "max_added").glob("*.py"))
    for example in examples:
        (one,) = found(slug, example, seed)
        assert one.diagnosis == "max_added"
