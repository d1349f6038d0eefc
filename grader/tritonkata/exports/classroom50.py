"""Classroom 50's result.json of one record: whole-number scores, and no result at all where the grader failed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import msgspec

from tritonkata.exports.words import GRADER_FAULT, ExportProblem, has_score, no_score_warning, outcome, override_line
from tritonkata.feedback.clean import one_line
from tritonkata.model.record import Record

SCHEMA = "classroom50/result/v1"
_FINEST = 1000


class Place(msgspec.Struct, frozen=True):
    """Where a submission stands in Classroom 50. `submission` is the tag; `commit`, `release` and `review` are URLs."""

    classroom: str = ""
    assignment: str = ""
    submission: str = ""
    commit: str = ""
    release: str = ""
    review: str = ""
    owner: str = ""
    assignment_type: str = ""


def place_of(environment: Mapping[str, str]) -> Place:
    """What the runner of Classroom 50 tells an autograder."""
    commit = environment.get("COMMIT_URL", "")
    return Place(
        classroom=environment.get("CLASSROOM", ""),
        assignment=environment.get("ASSIGNMENT", ""),
        submission=environment.get("SUBMISSION_TAG", ""),
        commit=commit,
        release=environment.get("RELEASE_URL", ""),
        review=environment.get("REVIEW_URL", "") or commit,
        owner=environment.get("OWNER", "") or environment.get("USERNAME", ""),
        assignment_type=environment.get("ASSIGNMENT_TYPE", ""),
    )


def to_json(record: Record, place: Place) -> str:
    """The text of result.json.

    Where points are not whole, all of them are multiplied by the same whole number. Where the time of submission is
    not known, `datetime` is that of grading; the runner puts the commit's in its place.

    Raises:
        ExportProblem: the grader failed and nobody set a score. The format has no word for that; an autograder ends
            with a code other than 0 instead, which Classroom 50 takes for a fault of the infrastructure.
    """
    if not has_score(record):
        raise ExportProblem(f"{GRADER_FAULT} {no_score_warning(record)}")
    tests, factor = _tests(record), _factor(record)
    most = max(record.max_score, record.score)
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "classroom": place.classroom,
        "assignment": place.assignment,
        "submission": place.submission,
        "commit": place.commit,
        "release": place.release,
        "review": place.review,
        "datetime": _utc(record.submitted_at or record.graded_at),
        "graded_at": _utc(record.graded_at),
        "score": _whole(max(record.score, 0.0), factor),
        "max-score": _whole(most, factor),
        "tests": [
            {**test, "score": _whole(test["score"], factor), "max-score": _whole(test["max-score"], factor)}
            for test in tests
        ],
    }
    stamped = {"owner": place.owner, "assignment_type": place.assignment_type}
    result.update({name: value for name, value in stamped.items() if value})
    return json.dumps(result, allow_nan=False, indent=2) + "\n"


def _tests(record: Record) -> list[dict[str, Any]]:
    """A row a check, and rows without points for what concerns the whole file and for a score set by hand."""
    rows = [
        _row(f"{check.name}: {check.title}", check.verdict == "pass", check.points, check.max_points)
        for check in record.report.checks
    ]
    if record.report.verdict in ("error", "grader_error"):
        rows.insert(0, _row(outcome(record), False))
    if record.override is not None:
        rows.append(_row(override_line(record), True))
    return rows


def _row(name: str, passed: bool, score: float = 0.0, most: float = 0.0) -> dict[str, Any]:
    return {"test-name": one_line(name), "passed": passed, "score": score, "max-score": most}


def _factor(record: Record) -> int:
    """The smallest whole number that makes every score whole, to a thousandth."""
    scores = [
        record.score,
        record.max_score,
        *(points for c in record.report.checks for points in (c.points, c.max_points)),
    ]
    return math.lcm(*(Fraction(score).limit_denominator(_FINEST).denominator for score in scores)) if scores else 1


def _whole(score: float, factor: int) -> int:
    return round(score * factor)


def _utc(moment: str) -> str:
    """ISO 8601 in whole seconds with a Z; a text that is no time stays as it is."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return one_line(moment)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
