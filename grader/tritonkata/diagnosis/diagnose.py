"""Puts the two ways of diagnosis together for one submission."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from tritonkata.diagnosis.evidence import from_evidence, loads_without_other
from tritonkata.diagnosis.models import Match, WrongModel, accepted, wrong_models
from tritonkata.diagnosis.separate import Rerun, separated
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.plugin import Session
from tritonkata.model.report import CheckResult

FILL_MISTAKE = "padding_lanes_as_zero"
NO_FILL_MISTAKE = "missing_other"


def diagnose(
    checks: tuple[CheckResult, ...],
    session: Session,
    source: str,
    mistakes: ModuleType,
    oracle: Any,
    rerun: Rerun | None = None,
    seed: int = 0,
) -> tuple[CheckResult, ...]:
    """The same checks, with the mistake named on each failed one where it is known.

    `rerun` calls the submission once more, where two mistakes cannot be told apart without it.
    """

    def truth(call: Call) -> tuple[Any, ...]:
        result = getattr(oracle, call.entry)(*call.arguments)
        return tuple(np.asarray(one) for one in (result if isinstance(result, tuple) else (result,)))

    failing = [
        outcome.call for outcome in session.outcomes.values() if outcome.verdict == "wrong_output" and outcome.call
    ]
    failed_names = {outcome.mark.name for outcome in session.outcomes.values() if outcome.verdict != "pass"}
    passing = [call for call in session.calls if call.check not in failed_names]

    def separate(tied: tuple[WrongModel, ...], call: Call) -> tuple[WrongModel, ...]:
        return tied if rerun is None else separated(tied, call, truth, rerun, seed)

    matches = accepted(wrong_models(mistakes), failing, passing, truth, separate)
    return tuple(_diagnosed(check, session, matches, source) for check in checks)


def _diagnosed(check: CheckResult, session: Session, matches: list[Match], source: str) -> CheckResult:
    if check.verdict in ("pass", "skipped", "grader_error"):
        return check
    diagnosis = from_evidence(check, source)
    sentence = ""
    alternatives: tuple[str, ...] = ()
    if diagnosis is None and check.verdict == "wrong_output":
        call = session.outcomes[check.name].call
        match = next((match for match in matches if id(call) in match.explained), None)
        if match is not None:
            diagnosis, sentence = match.model.diagnosis, match.model.sentence
            alternatives = tuple(model.diagnosis for model in match.alternatives)
        diagnosis = _with_source(check, call, diagnosis, source)
    if diagnosis is None:
        return check
    message = f"{check.message} ({sentence})" if sentence else check.message
    return msgspec.structs.replace(check, diagnosis=diagnosis, message=message, alternatives=alternatives)


def _with_source(check: CheckResult, call: Call | None, diagnosis: str | None, source: str) -> str | None:
    """A masked load without `other` leaves its lanes undefined: zero on today's hardware, NaN in the interpreter."""
    if not loads_without_other(source):
        return diagnosis
    if diagnosis == FILL_MISTAKE:
        return NO_FILL_MISTAKE
    mismatch = check.evidence.mismatch
    if diagnosis is None and mismatch is not None and mismatch.kind == "nan" and call is not None:
        return NO_FILL_MISTAKE if _row_is_finite(call, mismatch.row) else None
    return diagnosis


def _row_is_finite(call: Call, row: int | None) -> bool:
    first = call.arguments[0]
    if row is None or first.ndim != 2 or row >= first.shape[0]:
        return False
    return bool(np.isfinite(first[row].astype(np.float64)).all())
