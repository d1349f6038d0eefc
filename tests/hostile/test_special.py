"""Files that are no plain Python files, and names that are no plain names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from special import SPECIALS, Maker, NotPossibleHere, Special
from traces import left_behind, renderings, snapshot, unsafe

from tritonkata.check import grade
from tritonkata.submission import SubmissionProblem, read_submission

PASSING = "pass"


def _parameters() -> list[Any]:
    # What is an error is known before a worker starts; the others are graded in full.
    return [
        pytest.param(special, id=special.id, marks=pytest.mark.slow if special.verdict == PASSING else ())
        for special in SPECIALS
    ]


@pytest.mark.parametrize("special", _parameters())
def test_a_special_file_gets_a_verdict_of_its_own(special: Special, kata_of: Any, secret: str, tmp_path: Path) -> None:
    kata = kata_of("doubled")
    folder = tmp_path / "handed-in"
    folder.mkdir()
    try:
        path = special.make(Maker(folder, kata.solution.read_text(), secret))
    except NotPossibleHere as error:
        pytest.skip(str(error))
    before = snapshot()
    report = grade(kata, path, engine="interpreter", seed=1)
    assert left_behind(before) == []
    assert report.verdict == special.verdict, report.fault
    assert unsafe(renderings(report, kata, _source(path)), (secret,)) == []


def _source(path: Path) -> str | None:
    """The text that the command line shows lines of."""
    try:
        return read_submission(path).text
    except SubmissionProblem as problem:
        return problem.file.text if problem.file else None
