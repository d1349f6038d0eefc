"""Diagnosis by evidence: faults, memory that was never written, traffic, and the source itself.

Each rule looks at one failed check and returns the id of a mistake, or None.
The ids here belong to the framework; they hold for every kata.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tritonkata.diagnosis.exclusive_or import has_exclusive_or
from tritonkata.model.answers import UNANSWERED
from tritonkata.model.mathematics import is_mathematics
from tritonkata.model.report import CheckResult

INT32_SPAN = 1 << 30

_CRASHES = ("runtime_error", "compile_error", "out_of_bounds", "uninitialised_read")

Rule = Callable[[CheckResult, str], str | None]


def from_evidence(check: CheckResult, source: str) -> str | None:
    """The first rule that recognises the failure."""
    for rule in RULES:
        diagnosis = rule(check, source)
        if diagnosis is not None:
            return diagnosis
    return None


def wrong_answer(check: CheckResult, source: str) -> str | None:
    """The question of a worksheet, or the known slip in its answer; before both, `^` in it."""
    answer = check.evidence.answer
    if answer is None:
        return None
    if answer.mistake != UNANSWERED and has_exclusive_or(source, answer.name):
        return "exclusive_or_for_power"
    return answer.mistake


def host_operation(check: CheckResult, _source: str) -> str | None:
    """The host called an operator that does the kata's mathematics."""
    fault = check.evidence.fault
    if fault is None or fault.verdict != "forbidden_host_op":
        return None
    return "torch_does_the_work" if is_mathematics(fault.operation) else None


def far_offset(check: CheckResult, _source: str) -> str | None:
    """The case spans more than 2^31 elements, and an access went about that far astray."""
    case, fault = check.evidence.case, check.evidence.fault
    if case is None:
        return None
    reach = max((sum((n - 1) * s for n, s in zip(*pair, strict=True)) for pair in _layouts(check)), default=0)
    if reach < 1 << 31:
        return None
    mismatch = check.evidence.mismatch
    return "int32_offset_overflow" if fault is not None or mismatch is not None else None


def stray_access(check: CheckResult, _source: str) -> str | None:
    """An access outside every tensor without a mask, by direction; or one with a mask that lets too much through.

    A store without a mask into the next row is a race before it leaves the tensor.
    """
    fault = check.evidence.fault
    if fault is None or fault.verdict not in ("out_of_bounds", "race"):
        return None
    access = fault.access
    if access is not None and access.masked:
        return "access_past_the_mask" if fault.verdict == "out_of_bounds" else None
    if access is not None and access.operation == "load":
        return "load_without_mask"
    return "store_without_mask" if fault.verdict == "out_of_bounds" or access is not None else None


def unwritten_part(check: CheckResult, _source: str) -> str | None:
    """Whole rows that no program wrote, or the ends of all rows from a power of two on."""
    if not check.evidence.unwritten or check.evidence.case is None:
        return None
    hole = check.evidence.unwritten[0]
    shape = check.evidence.case.shapes[0]
    if len(shape) != 2 or len(hole.first) != 2:
        return "rows_not_stored"
    columns = shape[1]
    begin = hole.first[1]
    if begin == 0 and columns > 1 and hole.count % columns == 0:
        return "rows_not_stored"
    # Blocks are powers of two; an end that begins elsewhere is a mask that is off, and no block too small.
    is_block = begin >= 16 and begin % 16 == 0
    if is_block and hole.last[1] == columns - 1 and hole.count % (columns - begin) == 0:
        return "columns_dropped"
    return None


def with_single_columns(checks: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
    """The same checks; what is missing of a single column goes with rows that are missing elsewhere.

    Alone it may be a row that is not stored, or a mask that lets too little through.
    """
    holes = [check for check in checks if check.evidence.unwritten and not _has_single_column(check)]
    if not holes or any(check.diagnosis != "rows_not_stored" for check in holes):
        return checks
    return tuple(
        msgspec.structs.replace(check, diagnosis="rows_not_stored")
        if check.diagnosis is None and check.evidence.unwritten and _has_single_column(check)
        else check
        for check in checks
    )


def _has_single_column(check: CheckResult) -> bool:
    case = check.evidence.case
    return case is not None and case.shapes[0][1:] == (1,)


def wrong_form(check: CheckResult, _source: str) -> str | None:
    """The result's dtype, or an input that was written to."""
    mismatch = check.evidence.mismatch
    if mismatch is None:
        return None
    return {"dtype": "wrong_output_dtype", "input_changed": "input_changed"}.get(mismatch.kind)


def empty_case(check: CheckResult, _source: str) -> str | None:
    """A crash on an input without elements."""
    case, fault = check.evidence.case, check.evidence.fault
    if case is None or fault is None or fault.phase == "load" or fault.verdict not in _CRASHES:
        return None
    return "empty_input" if any(0 in shape for shape in case.shapes) else None


def over_budget(check: CheckResult, _source: str) -> str | None:
    """More traversals than the budget."""
    return "extra_pass" if check.verdict == "over_budget" else None


RULES: tuple[Rule, ...] = (
    wrong_answer,
    host_operation,
    empty_case,
    far_offset,
    stray_access,
    unwritten_part,
    wrong_form,
    over_budget,
)


def _layouts(check: CheckResult) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    case = check.evidence.case
    return [] if case is None else list(zip(case.shapes, case.strides, strict=True))
