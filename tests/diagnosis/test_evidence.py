"""Diagnosis by evidence: each rule names its mistake, and stays silent beside it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tritonkata.diagnosis.evidence import from_evidence, with_single_columns
from tritonkata.model.answers import Answer
from tritonkata.model.faults import Access, Fault
from tritonkata.model.observation import Unwritten
from tritonkata.model.report import Case, CheckResult, Evidence, Mismatch, TrafficEvidence


def failed(verdict: Any, shape: tuple[int, int] = (7, 100), stride: int = 100, **parts: Any) -> CheckResult:
    case = Case(entry="f", shapes=(shape,), dtypes=("float32",), strides=((stride, 1),))
    return CheckResult("c", "c", verdict, 0, 1, evidence=Evidence(case=case, **parts))


def fault(verdict: Any, **more: Any) -> Fault:
    return Fault(verdict=verdict, phase="kernel", message="m", **more)


def access(operation: Any, element: int, masked: bool = False) -> Access:
    return Access(
        operation=operation, tensor="x", element=element, storage_elements=700, program=(0, 0, 0), masked=masked
    )


@pytest.mark.parametrize(
    ("check", "diagnosis"),
    [
        (failed("forbidden_host_op", fault=fault("forbidden_host_op", operation="torch.exp")), "torch_does_the_work"),
        (failed("forbidden_host_op", fault=fault("forbidden_host_op", operation="Tensor.to")), None),
        (failed("out_of_bounds", fault=fault("out_of_bounds", access=access("store", 700))), "store_without_mask"),
        (failed("out_of_bounds", fault=fault("out_of_bounds", access=access("load", 700))), "load_without_mask"),
        (
            failed("out_of_bounds", fault=fault("out_of_bounds", access=access("load", 700, True))),
            "access_past_the_mask",
        ),
        (
            failed("out_of_bounds", fault=fault("out_of_bounds", access=access("store", 700, True))),
            "access_past_the_mask",
        ),
        (failed("race", fault=fault("race", access=access("store", 100))), "store_without_mask"),
        (failed("race", fault=fault("race", access=access("store", 100, True))), None),
        (failed("timeout", (0, 5), 5, fault=fault("timeout")), None),
        (failed("uninitialised_read", unwritten=(Unwritten(0, 7, (0, 99), (6, 99)),)), None),
        (failed("uninitialised_read", (7, 1), 1, unwritten=(Unwritten(0, 7, (0, 0), (6, 0)),)), None),
        (failed("out_of_bounds", (3, 9), 1 << 30, fault=fault("out_of_bounds")), "int32_offset_overflow"),
        (failed("out_of_bounds", (3, 9), 1 << 20, fault=fault("out_of_bounds")), "store_without_mask"),
        (failed("uninitialised_read", unwritten=(Unwritten(0, 100, (6, 0), (6, 99)),)), "rows_not_stored"),
        (failed("uninitialised_read", unwritten=(Unwritten(0, 7 * 36, (0, 64), (6, 99)),)), "columns_dropped"),
        (failed("uninitialised_read", unwritten=(Unwritten(0, 3, (2, 5), (4, 50)),)), None),
        (failed("invalid_output", mismatch=Mismatch(kind="dtype")), "wrong_output_dtype"),
        (failed("invalid_output", mismatch=Mismatch(kind="shape")), None),
        (failed("runtime_error", (0, 5), 5, fault=fault("runtime_error")), "empty_input"),
        (failed("runtime_error", (1, 5), 5, fault=fault("runtime_error")), None),
        (failed("over_budget", traffic=TrafficEvidence("x", 400, 4, 1, 4, 2)), "extra_pass"),
        (failed("wrong_output", mismatch=Mismatch(kind="values")), None),
        (failed("wrong_output", mismatch=Mismatch(kind="input_changed")), "input_changed"),
    ],
)
def test_each_rule(check: CheckResult, diagnosis: str | None) -> None:
    assert from_evidence(check, "") == diagnosis


WORK = (
    "torch.softmax Tensor.sum Tensor.mean torch.var torch.std Tensor.prod torch.cumsum Tensor.norm torch.linalg.norm "
    "torch.linalg.vector_norm torch.nn.functional.normalize torch.nn.functional.layer_norm torch.special.logsumexp "
    "Tensor.neg Tensor.pow torch.sqrt torch.rsqrt Tensor.clamp torch.matmul torch.log2 torch.tanh Tensor.exp_ "
    "Tensor.__rsub__ Tensor.__rdiv__ Tensor.masked_fill_"
)
NO_WORK = "Tensor.to Tensor.item torch.arange torch.cat Tensor.cuda Tensor.__getitem__ Tensor.__bool__"


@pytest.mark.parametrize("operation", WORK.split())
def test_torch_does_the_work_whichever_operator_does_mathematics(operation: str) -> None:
    check = failed("forbidden_host_op", fault=fault("forbidden_host_op", operation=operation))
    assert from_evidence(check, "") == "torch_does_the_work"


@pytest.mark.parametrize("operation", NO_WORK.split())
def test_what_only_moves_or_asks_is_no_work(operation: str) -> None:
    check = failed("forbidden_host_op", fault=fault("forbidden_host_op", operation=operation))
    assert from_evidence(check, "") is None


ROWS = failed("uninitialised_read", unwritten=(Unwritten(0, 200, (5, 0), (6, 99)),))
ENDS = failed("uninitialised_read", unwritten=(Unwritten(0, 7, (0, 99), (6, 99)),))
ONE_COLUMN = failed("uninitialised_read", (7, 1), 1, unwritten=(Unwritten(0, 7, (0, 0), (6, 0)),))
PART_OF_ONE = failed("uninitialised_read", (7, 1), 1, unwritten=(Unwritten(0, 2, (1, 0), (3, 0)),))


@pytest.mark.parametrize(
    ("others", "diagnosis"),
    [((ROWS,), "rows_not_stored"), ((ENDS,), None), ((ROWS, ENDS), None), ((), None)],
)
@pytest.mark.parametrize("single", [ONE_COLUMN, PART_OF_ONE])
def test_a_single_column_goes_with_what_is_missing_of_wider_rows(
    single: CheckResult, others: tuple[CheckResult, ...], diagnosis: str | None
) -> None:
    named = (
        msgspec.structs.replace(check, diagnosis=from_evidence(check, "")) for check in (single, *others, ONE_COLUMN)
    )
    found = with_single_columns(tuple(named))
    assert [found[0].diagnosis, found[-1].diagnosis] == [diagnosis, diagnosis]


@pytest.mark.parametrize(
    ("source", "mistake", "diagnosis"),
    [
        ("N = (2^24, 2^11)", "answer_n", "exclusive_or_for_power"),
        ("N: int = 2^24", "answer_of_another_kind", "exclusive_or_for_power"),
        ("def N(k):\n    return 1 / 2^k", "answer_raises", "exclusive_or_for_power"),
        ("def N(k):\n    k ^= 2\n    return k", "answer_n", "exclusive_or_for_power"),
        ("N = 2^24", "unanswered", "unanswered"),
        ("M = 2^24\nN = 2**24", "answer_n", "answer_n"),
        ("N = 2^24\nN = 2**24", "answer_n", "answer_n"),
        ("def N(a, b):\n    return (a == 0) ^ (b == 0)", "answer_n", "answer_n"),
    ],
)
def test_a_power_that_is_none_in_python(source: str, mistake: str, diagnosis: str) -> None:
    check = failed("wrong_output", answer=Answer("N", "26", mistake))
    assert from_evidence(check, source) == diagnosis
