"""PrairieLearn's results.json of one record: a score from 0 to 1, in at most 1 MB.

What cannot be graded is "not gradable", which costs a student neither points nor an attempt.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from tritonkata.exports.explaining import check_text, explanations_of, of_checks, of_whole_file, plain_of
from tritonkata.exports.words import outcome, override_line, result_words, score_line
from tritonkata.feedback.clean import one_line
from tritonkata.feedback.facts import fact_lines
from tritonkata.feedback.numbers import number
from tritonkata.feedback.render import Explanation
from tritonkata.model.course import Kata
from tritonkata.model.record import Record
from tritonkata.model.report import CheckResult

MAX_BYTES = 1_000_000
_CUT = "\n... (shortened to fit PrairieLearn's limit of 1 MB)"
_LONG_TEXTS = ("output", "message")


def to_json(record: Record, kata: Kata, source: str | None = None) -> str:
    """The text of results.json.

    Args:
        record: what was graded.
        kata: its kata, for the words of the explanations.
        source: the text of the submission, for its own lines; None if it is not at hand.
    """
    report = record.report
    explanations = explanations_of(record, kata, source)
    explained = of_checks(explanations)
    share = _share(record)
    result: dict[str, Any] = {
        "gradable": share is not None,
        "message": _message(record, share),
        "output": _output(record, kata, explanations),
        "tests": [_test(check, explained) for check in report.checks],
    }
    if share is None:
        result["format_errors"] = [_message(record, share)]
    else:
        result["score"] = share
    return _fitted(result)


def _share(record: Record) -> float | None:
    """The score as a part of the most; None where there is no score, or nothing to relate it to."""
    ungraded = record.override is None and record.report.verdict in ("error", "grader_error")
    if ungraded or record.max_score <= 0:
        return None
    return min(max(record.score / record.max_score, 0.0), 1.0)


def _message(record: Record, share: float | None) -> str:
    lines = [outcome(record), f"{score_line(record)}."]
    if record.override is not None:
        lines.append(override_line(record))
        if share is None:
            lines.append(f"No check gave a maximum to relate {number(record.score)} to; enter the score by hand.")
    return " ".join(lines)


def _output(record: Record, kata: Kata, explanations: tuple[Explanation, ...]) -> str:
    whole = [plain_of(one) for one in of_whole_file(explanations)]
    return "\n\n".join([*whole, "\n".join(fact_lines(record.report, kata))])


def _test(check: CheckResult, explained: Mapping[str, Explanation]) -> dict[str, Any]:
    return {
        "name": one_line(check.name),
        "description": one_line(check.title),
        "points": check.points,
        "max_points": check.max_points,
        "message": result_words(check),
        "output": check_text(check, explained),
    }


def _fitted(result: dict[str, Any]) -> str:
    """The JSON in at most `MAX_BYTES`, with the longest texts cut to one common length where they must be."""
    text = _dump(result)
    if len(text) <= MAX_BYTES:
        return text
    fits, too_long = 0, max(len(part[key]) for part in (result, *result["tests"]) for key in _LONG_TEXTS)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if len(_dump(_shortened(result, middle))) <= MAX_BYTES:
            fits = middle
        else:
            too_long = middle
    return _dump(_shortened(result, fits))


def _shortened(result: dict[str, Any], most: int) -> dict[str, Any]:
    cut = copy.deepcopy(result)
    for part in (cut, *cut["tests"]):
        for key in _LONG_TEXTS:
            if len(part[key]) > most:
                part[key] = part[key][: max(most - len(_CUT), 0)] + _CUT
    return cut


def _dump(result: dict[str, Any]) -> str:
    # Only ASCII, so that characters are bytes.
    return json.dumps(result, allow_nan=False) + "\n"
