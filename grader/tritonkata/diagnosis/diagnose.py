"""Puts the two ways of diagnosis together for one submission."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from tritonkata.diagnosis.by_source import loads_about, told_apart
from tritonkata.diagnosis.evidence import from_evidence, with_single_columns
from tritonkata.diagnosis.fills import Fill, fills
from tritonkata.diagnosis.models import Match, WrongModel, accepted, wrong_models
from tritonkata.diagnosis.separate import Rerun, separated
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.plugin import Session
from tritonkata.model.report import CheckResult


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
    found = fills(source)
    return with_single_columns(tuple(_diagnosed(check, session, matches, source, found) for check in checks))


def _diagnosed(
    check: CheckResult, session: Session, matches: list[Match], source: str, found: tuple[Fill, ...]
) -> CheckResult:
    if check.verdict in ("pass", "skipped", "grader_error"):
        return check
    diagnosis = from_evidence(check, source)
    sentence = ""
    alternatives: tuple[str, ...] = ()
    if diagnosis is None and check.verdict == "wrong_output":
        call = session.outcomes[check.name].call
        match = next((match for match in matches if id(call) in match.explained), None)
        models = () if match is None else (match.model, *match.alternatives)
        names = told_apart(tuple(model.diagnosis for model in models), check, call, found)
        diagnosis, alternatives = next(iter(names), None), names[1:]
        sentence = next((model.sentence for model in models if model.diagnosis == diagnosis), "")
    if diagnosis is None:
        return check
    message = f"{check.message} ({sentence})" if sentence else check.message
    evidence = msgspec.structs.replace(check.evidence, fills=loads_about(diagnosis, check, found))
    return msgspec.structs.replace(
        check, diagnosis=diagnosis, message=message, alternatives=alternatives, evidence=evidence
    )
