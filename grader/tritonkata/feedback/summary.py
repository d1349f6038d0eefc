"""How a check ended, as single plain lines: the same in a terminal and in Markdown.

Every line here is plain text (cleaned, not escaped for Markdown).
"""

from __future__ import annotations

from collections.abc import Iterable

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import number, plural
from tritonkata.hidden.budget import slack
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import GOLD_FRACTION_OF_COPY, CheckResult, Report

# How the GPU engine's message begins where it finds no card.
_NO_GPU = "no GPU can be used"
_ENGINES = {"gpu": "GPU", "interpreter": "interpreter"}


def failed(report: Report) -> tuple[CheckResult, ...]:
    """Checks that ran and did not pass."""
    return tuple(check for check in report.checks if check.verdict not in ("pass", "skipped"))


def skipped(report: Report) -> tuple[CheckResult, ...]:
    """Checks that did not run."""
    return tuple(check for check in report.checks if check.verdict == "skipped")


def lacks_gpu(fault: Fault | None) -> bool:
    """Whether the engine was asked for a GPU that is not there: nobody's mistake, and nothing to report."""
    return fault is not None and fault.verdict == "grader_error" and fault.message.startswith(_NO_GPU)


def is_of_course(message: str, kata: Kata) -> bool:
    """Whether a fault of the grader is told of a file of the kata: then it is for the course's author to mend."""
    within = (f"katas/{kata.slug}/", f"reference/{kata.slug}/", f"{kata.folder}/", f"{kata.reference}/")
    return message.startswith(within)


def engine_line(report: Report) -> str:
    """Engine, device, compile target, seed."""
    engine = report.engine
    versions = [
        f"{name} {version}" for name, version in (("triton", engine.triton), ("torch", engine.torch)) if version
    ]
    where = f"{_ENGINES[engine.name]} on {engine.device}" if engine.device else _ENGINES[engine.name]
    target = [f"target {engine.target}"] if engine.target else []
    parts = [where, *target, *versions, f"seed {report.seed}"]
    return one_line(", ".join(parts))


def outcome_line(report: Report) -> str:
    """How it went, in one sentence that claims no more than what ran."""
    wrong, left = failed(report), skipped(report)
    passed = len(report.checks) - len(wrong) - len(left)
    if lacks_gpu(report.fault):
        return "Nothing was graded: no GPU can be used here."
    if report.verdict == "grader_error":
        return "The grader failed; this says nothing about your submission."
    if report.verdict == "error" or not report.checks:
        return "Nothing could be graded."
    if wrong:
        ran = f"{plural(len(wrong), 'check')} failed, {passed} passed"
        return f"{ran}, {len(left)} not run." if left else f"{ran}."
    if left:
        return f"{passed} of {plural(len(report.checks), 'check')} passed; {len(left)} did not run: {_names(left)}."
    where = " that can run here" if report.unavailable else ""
    return f"{'The one check' if passed == 1 else f'All {passed} checks'}{where} passed."


def score_line(report: Report) -> str:
    """Points and medal."""
    medal = "no medal yet" if report.medal == "none" else f"{report.medal} medal"
    return f"Score {number(report.score)} of {number(report.max_score)}, {medal}"


def next_medal_line(report: Report, kata: Kata) -> str:
    """What the next medal asks for and is not there yet; empty when there is nothing to gain."""
    wrong, left = failed(report), skipped(report)
    if report.medal == "gold" or report.verdict in ("error", "grader_error"):
        return ""
    if report.medal == "none":
        values = [check for check in wrong if check.verdict != "over_budget"]
        unknown = f", and {len(left)} not run yet" if left else ""
        missing = f"Bronze asks for every check but the traffic budget: {len(values)} to go{unknown}."
        return missing if values else _not_run("Bronze", left)
    if report.medal == "bronze":
        return f"Silver asks for every check: {_names(wrong)} still to pass." if wrong else _not_run("Silver", left)
    return _gold_line(report, kata)


def _gold_line(report: Report, kata: Kata) -> str:
    par, wants = kata.file.traffic.par, []
    requested = report.traffic.traversals.requested if report.traffic else None
    if requested is None:
        wants.append(f"traffic at par ({number(par, 4)}; not measured)")
    elif report.traffic and requested > par + slack(report.traffic.source):
        wants.append(f"traffic at par ({number(par, 4)}, now {number(requested, 4)})")
    speed, asked = report.speed, f"{number(100 * GOLD_FRACTION_OF_COPY)} % of a copy's speed"
    if speed is None and report.engine.name == "gpu":
        wants.append(f"{asked} (not measured)")
    elif speed is not None and speed.fraction_of_copy < GOLD_FRACTION_OF_COPY:
        wants.append(f"{asked} (now {number(100 * speed.fraction_of_copy, 3)} %)")
    return f"Gold asks for {' and '.join(wants)}." if wants else ""


def _not_run(medal: str, left: tuple[CheckResult, ...]) -> str:
    return f"{medal} asks for checks that did not run: {_names(left)}." if left else ""


def _names(checks: Iterable[CheckResult]) -> str:
    return ", ".join(one_line(check.name) for check in checks)
