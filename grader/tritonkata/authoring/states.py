"""Every state that a feedback template can meet, and whether it renders in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec

from tritonkata.feedback.render import context_of
from tritonkata.feedback.templates import SUFFIX, TemplateProblem, render
from tritonkata.model.answers import Answer
from tritonkata.model.course import Kata
from tritonkata.model.faults import Access, Fault, Phase, Verdict
from tritonkata.model.observation import LineTraffic, TensorTraffic, TrafficSource, Unwritten
from tritonkata.model.report import (
    Case,
    CheckResult,
    Engine,
    Evidence,
    MaskedLoad,
    Mismatch,
    MismatchKind,
    Report,
    Submission,
    TrafficEvidence,
)

_CASE = Case("entry", ((4, 100),), ("float32",), ((105, 1),), "rows with gaps")
_LINES = (LineTraffic(12, 1600, 0), LineTraffic(17, 1600, 0))
_TENSORS = (TensorTraffic("x", 3200, 0, 1600, 0, _LINES), TensorTraffic("result", 0, 1600, 0, 1600))
_REPORT = Report("kata", Submission("mine.py", ""), Engine("interpreter", "", "sm_90"), "fail", 0, 1, "none", 1)


def template_problems(kata: Kata) -> Iterator[str]:
    """One line for each template of the kata that fails in some state, or lacks its headline or its next step.

    Templates whose names begin with `_` are parts of others, and tried with them.
    """
    for path in sorted(kata.feedback.glob(f"[!_]*{SUFFIX}")):
        problem = next(filter(None, _problems(kata, path.name.removesuffix(SUFFIX))), "")
        if problem:
            yield f"{path}: {problem}"


def states(diagnosis: str) -> Iterator[CheckResult]:
    """A failed check with each kind of evidence, alone and all together."""
    for verdict, evidence in _evidences():
        yield CheckResult("check", "A check", verdict, 0, 1, diagnosis, "one line", evidence)


def render_problem(kata: Kata, check: CheckResult, report: Report) -> str:
    """What is wrong with the kata's own template for this failed check; empty if there is none, or all is well."""
    name = f"{check.diagnosis}{SUFFIX}"
    return _rendered(name, context_of(check, report, kata), kata) if (kata.feedback / name).is_file() else ""


def _problems(kata: Kata, diagnosis: str) -> Iterator[str]:
    known = ""
    for number, state in enumerate(states(diagnosis)):
        if number == 0:
            known = context_of(state, _REPORT, kata)["known"]
        # The mistake in a sentence is the same in every state, and slow to find: it takes parsing the wrong models.
        context = context_of(msgspec.structs.replace(state, diagnosis=None), _REPORT, kata)
        yield _rendered(f"{diagnosis}{SUFFIX}", {**context, "check": state, "known": known}, kata)


def _rendered(name: str, context: Mapping[str, Any], kata: Kata) -> str:
    try:
        text = render([f"kata/{name}"], context, kata.feedback)
    except TemplateProblem as problem:
        return f"{problem}; correct it there"
    except Exception as error:
        return f"the feedback template {name} does not render: {type(error).__name__}: {error}; correct it there"
    if not text.startswith("# "):
        return f"the feedback template {name} has no headline in some state; begin with a line `# ...`"
    if "Next:" not in text:
        return f"the feedback template {name} does not say what to do next in some state; end it with `Next: ...`"
    return ""


def _evidences() -> Iterator[tuple[Verdict, Evidence]]:
    yield "wrong_output", Evidence()
    for mismatch in _mismatches():
        yield "wrong_output", Evidence(mismatch=mismatch)
        yield "wrong_output", Evidence(mismatch=mismatch, case=_CASE)
    for fault in _faults():
        yield fault.verdict, Evidence(fault=fault, case=_CASE)
    for traffic in _traffics():
        yield "over_budget", Evidence(traffic=traffic, case=_CASE)
    yield from _answered()
    hole = (Unwritten(0, 3, (0, 1), (3, 4)),)
    yield "uninitialised_read", Evidence(unwritten=hole)
    fills = (MaskedLoad(7), MaskedLoad(8, "-1e4"), MaskedLoad(9, "-1e9", is_load=False))
    for fill in fills:
        yield "wrong_output", Evidence(fills=(fill,))
    full = Evidence(next(_mismatches()), next(_faults()), _CASE, next(_traffics()), None, hole, fills)
    yield "wrong_output", full


def _answered() -> Iterator[tuple[Verdict, Evidence]]:
    constant, function = Answer("NAME", "80", "answer_name"), Answer("f", "5", "answer_f", "f(3)", "7")
    for answer in (constant, function):
        yield "wrong_output", Evidence(answer=answer)
        yield "wrong_output", Evidence(answer=msgspec.structs.replace(answer, wanted="a number"))
        yield "wrong_output", Evidence(answer=msgspec.structs.replace(answer, within=1e-3))
    for fault in (
        Fault("runtime_error", "answer", "it went wrong", "ValueError", 5),
        Fault("timeout", "answer", "late"),
    ):
        yield fault.verdict, Evidence(fault=fault, answer=msgspec.structs.replace(function, got=""))


def _mismatches() -> Iterator[Mismatch]:
    for kind in get_args(MismatchKind):
        yield Mismatch(kind, 3, 400, 1, 2, (0, 1), (0.5, "nan"), ("inf", 0.25), 35.0)
        yield Mismatch(kind, 3, 400, 1, 2, (0, 1), (0.5, 0.25), (0.501, 0.25), 35.0, relative=2e-3)
        yield Mismatch(kind, expected_text="(4, 100)", got_text="(4, 128)", result="y")


def _faults() -> Iterator[Fault]:
    access = Access("load", "x", -3, 400, (1, 0, 0), "kernel", 12)
    for verdict in get_args(Verdict):
        if verdict not in ("pass", "wrong_output", "over_budget", "too_slow"):
            for phase in get_args(Phase):
                yield Fault(verdict, phase, "it went wrong", error="ValueError", line=5, access=access)
            yield Fault(verdict, "kernel", "it went wrong")


def _traffics() -> Iterator[TrafficEvidence]:
    for source in get_args(TrafficSource):
        yield TrafficEvidence("x", 1600, 2.0, 1.0, 2.0, 2.0, source, per_tensor=_TENSORS)
        yield TrafficEvidence("x", 1600, 2.0, 1.0, 2.0, 2.0, source, counted=4.0, spilled_bytes=64)
