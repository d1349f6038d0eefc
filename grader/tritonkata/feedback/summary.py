"""The facts of a report as single plain lines, the same in a terminal and in Markdown.

Every line here is plain text (cleaned, not escaped for Markdown).
"""

from __future__ import annotations

from collections.abc import Iterable

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import number, plural
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Resources
from tritonkata.model.report import CheckResult, Report, TrafficReport

GOLD_FRACTION_OF_COPY = 0.9
_MOST_KERNELS = 3
# How the GPU engine's message begins where it finds no card.
_NO_GPU = "no GPU can be used"
_SOURCES = {
    "interpreter": "counted exactly by the interpreter",
    "cupti": "measured on the GPU by CUPTI",
    "ncu": "measured on the GPU by Nsight Compute",
}
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


def traffic_line(report: Report, kata: Kata) -> str:
    """Requested traversals against budget and par, and who counted them."""
    traffic = report.traffic
    if traffic is None or traffic.traversals.requested is None:
        return ""
    limits = kata.file.traffic
    text = (
        f"Traffic: {number(traffic.traversals.requested, 4)} traversals of {traffic.unit} requested "
        f"(budget {number(limits.budget, 4)}, par {number(limits.par, 4)}), {_SOURCES[traffic.source]}"
    )
    deeper = (("L2", traffic.traversals.l2), ("DRAM", traffic.traversals.dram))
    seen = [f"{name} {number(value, 3)}" for name, value in deeper if value is not None]
    return one_line(f"{text}; {', '.join(seen)}" if seen else text)


def tensors_line(traffic: TrafficReport | None) -> str:
    """How often each tensor was read and written, in passes over the bytes that were touched."""
    parts = []
    for tensor in traffic.per_tensor if traffic else ():
        for done, total, once in (
            ("read", tensor.loaded, tensor.unique_loaded),
            ("written", tensor.stored, tensor.unique_stored),
        ):
            if once:
                parts.append(f"{tensor.tensor} {done} {number(total / once, 3)}x")
    return one_line(f"Passes: {', '.join(parts)}") if parts else ""


def speed_line(report: Report) -> str:
    """Speed as a share of a copy of the same bytes."""
    speed = report.speed
    if speed is None:
        return ""
    share = number(100 * speed.fraction_of_copy, 3)
    return f"Speed: {share} % of a copy ({number(speed.kernel_us, 4)} us; the copy {number(speed.copy_us, 4)} us)"


def resources_line(resources: Iterable[Resources]) -> str:
    """The compiler's figures, one entry a kernel: the largest of each figure over all its variants."""
    kernels: dict[str, list[Resources]] = {}
    for one in resources:
        kernels.setdefault(one.kernel, []).append(one)
    if not kernels:
        return ""
    shown = [_kernel(name, variants) for name, variants in list(kernels.items())[:_MOST_KERNELS]]
    more = len(kernels) - len(shown)
    return one_line(f"Resources: {'; '.join(shown)}" + (f"; {plural(more, 'more kernel')}" if more else ""))


def absent_lines(report: Report) -> tuple[str, ...]:
    """What could not be measured, and why."""
    checks = (f"Not run: {what}: {why}" for what, why in report.unavailable.items())
    figures = (f"Not measured: {what}: {why}" for what, why in report.absent.items())
    return tuple(one_line(line) for line in (*checks, *figures))


def note_lines(report: Report) -> tuple[str, ...]:
    """Notes of the run, each once."""
    return tuple(one_line(f"Note: {note}") for note in dict.fromkeys(report.notes))


def fact_lines(report: Report, kata: Kata) -> tuple[str, ...]:
    """Traffic, speed and resources, then what could not be measured, then notes."""
    lines = (
        traffic_line(report, kata),
        tensors_line(report.traffic),
        speed_line(report),
        resources_line(report.resources),
        *absent_lines(report),
        *note_lines(report),
    )
    return tuple(line for line in lines if line)


def _kernel(name: str, variants: list[Resources]) -> str:
    registers = [one.registers for one in variants if one.registers is not None]
    spilled = [one.spilled_bytes for one in variants if one.spilled_bytes is not None]
    parts = [
        f"{max(registers)} registers a thread" if registers else "registers unknown",
        f"{number(max(spilled))} bytes spilled" if spilled else "spills unknown",
        f"{number(max(one.shared_bytes for one in variants))} bytes shared",
        plural(max(one.num_warps for one in variants), "warp"),
    ]
    many = f" ({len(variants)} variants, largest figures)" if len(variants) > 1 else ""
    return f"{name}{many} {', '.join(parts)}"


def _gold_line(report: Report, kata: Kata) -> str:
    par, wants = kata.file.traffic.par, []
    requested = report.traffic.traversals.requested if report.traffic else None
    if requested is None:
        wants.append(f"traffic at par ({number(par, 4)}; not measured)")
    elif requested > par:
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
