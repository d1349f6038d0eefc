"""What masked lanes hold, as the source says, tells mistakes apart that give the same numbers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tritonkata.diagnosis.by_source import loads_about
from tritonkata.diagnosis.diagnose import diagnose
from tritonkata.diagnosis.fills import fills
from tritonkata.hidden.budget import TrafficLedger
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.plugin import CheckMark, Outcome, Session
from tritonkata.model.course import TrafficBudget
from tritonkata.model.observation import Observation
from tritonkata.model.report import Case, CheckResult, Evidence, Mismatch

MISTAKES = '''
import numpy as np

def minus_infinity_row_as_number(x):
    """A row of -inf gives numbers."""
    return np.zeros(x.shape)

def finite_fill(x):
    """Lanes hold a finite number."""
    return np.zeros(x.shape)

def padding_lanes_as_zero(x):
    """Lanes hold 0."""
    return np.asarray(x, np.float64) + 1
'''
X = np.ones((2, 3), np.float32)


class Oracle:
    """Twice the input."""

    @staticmethod
    def f(x: NDArray[Any]) -> NDArray[Any]:
        return 2 * np.asarray(x, np.float64) + 5


def diagnosed(output: NDArray[Any], source: str, engine: str = "interpreter") -> CheckResult:
    call = Call("values", "f", (X,), (output,), Observation(engine, outputs=(output,)))
    outcome = Outcome(CheckMark("values", "Values", 1), verdict="wrong_output", call=call)
    session = Session({"values": outcome}, [call], TrafficLedger(TrafficBudget("x", 2, 2)))
    made = ModuleType("mistakes")
    exec(MISTAKES, made.__dict__)
    case = Case("f", (X.shape,), ("float32",), ((3, 1),))
    kind = "nan" if np.isnan(output).any() else "values"
    evidence = Evidence(mismatch=Mismatch(kind=kind, row=0), case=case)
    check = CheckResult("values", "Values", "wrong_output", 0, 1, message="wrong", evidence=evidence)
    (found,) = diagnose((check,), session, source, made, Oracle)
    return found


def loads(*others: str) -> str:
    """A kernel with one masked load of x a line, from line 2 on."""
    lines = [f"    x = tl.load(x_ptr + c, mask=m{', other=' + other if other else ''})" for other in others]
    return "\n".join(["def k(x_ptr, c, m):", *lines])


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0", 0.0),
        ("0.0", 0.0),
        ("-1e4", -1e4),
        ("-float('inf')", -np.inf),
        ('float("-inf")', -np.inf),
        ("-math.inf", -np.inf),
        ("NEG", -1e9),
        ("WRAPPED", -5.0),
        ("given", None),
    ],
)
def test_the_value_of_a_fill_is_read_from_the_source(expression: str, value: float | None) -> None:
    source = f"NEG = -1e9\nWRAPPED: tl.constexpr = tl.constexpr(-5)\ny = tl.load(p, mask=m, other={expression})\n"
    (fill,) = fills(source)
    assert (fill.line, fill.text, fill.value) == (3, expression, value)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_fill_is_told_as_it_stands_in_the_file(newline: str) -> None:
    lines = ["# größer", "a = 'é'; y = tl.load(p, mask=m, other=-1e4)", "z = tl.load(p, mask=m, other=(", "    0.0))"]
    found = fills(newline.join(lines))
    assert [(fill.line, fill.text) for fill in found] == [(2, "-1e4"), (3, "0.0")]


@pytest.mark.parametrize(
    "source",
    [
        "y = tl.load(p, mask=m, other=" + "1+" * 50_000 + "1)",
        "y = " + "(" * 150 + "tl.load(p, mask=m)" + ")" * 150,
        "y = " + "-" * 20_000 + "tl.load(p, mask=m, other=1)",
    ],
    ids=["terms", "brackets", "signs"],
)
def test_a_source_that_is_nested_deep_is_no_error_here(source: str) -> None:
    assert len(fills(source)) <= 1


def test_a_file_full_of_loads_is_read_once_and_told_in_part() -> None:
    """Reading the file again for each of them would take minutes."""
    found = fills("y = tl.load(p, mask=m, other=0.0)\n" * 6000)
    assert len(found) == 6000
    evidence = Evidence(case=Case("f", ((2, 3),), ("float32",), ((3, 1),)))
    check = CheckResult("values", "Values", "wrong_output", 0, 1, evidence=evidence)
    assert len(loads_about("padding_lanes_as_zero", check, found)) == 16


def test_loads_are_found_however_their_arguments_are_given() -> None:
    source = (
        "def k(p, m):\n"
        "    row = p + 3 * s\n"
        "    a = tl.load(row + c, mask=m)\n"
        "    b = tl.load(p)\n"
        "    c = tl.load(p, m, 0.0)\n"
        "    d = tl.load(tl.make_block_ptr(base=p, shape=s), m)\n"
        "    e = tl.where(m, d, -1e9)\n"
        "    f = tl.where(m, d, 0.0)\n"
    )
    found = [(fill.line, fill.pointer, fill.is_missing, fill.value) for fill in fills(source)]
    assert found == [(3, "p", True, None), (5, "p", False, 0.0), (6, "p", True, None), (7, None, False, -1e9)]


@pytest.mark.parametrize(
    ("source", "engine", "diagnosis", "lines"),
    [
        (loads("0.0"), "interpreter", "padding_lanes_as_zero", [2]),
        (loads("0.0"), "gpu", "padding_lanes_as_zero", [2]),
        (loads("0.0", ""), "interpreter", "padding_lanes_as_zero", [2]),
        (loads("", "0.0"), "gpu", "padding_lanes_as_zero", [3]),
        (loads("-float('inf')", ""), "gpu", "missing_other", [3]),
        (loads(""), "gpu", "missing_other", [2]),
        (loads("") + "\n    w = tl.load(mask_ptr + c, mask=m, other=0.0)", "gpu", "missing_other", [2]),
        (loads(""), "interpreter", "padding_lanes_as_zero", []),
    ],
)
def test_a_load_without_a_value_is_blamed_only_where_it_can_be_the_cause(
    source: str, engine: str, diagnosis: str, lines: list[int]
) -> None:
    found = diagnosed(X + 1, source, engine)
    assert found.diagnosis == diagnosis
    assert [fill.line for fill in found.evidence.fills] == lines


def test_nan_of_finite_rows_comes_of_lanes_without_a_value() -> None:
    found = diagnosed(np.full_like(X, np.nan), loads("-float('inf')", ""))
    assert (found.diagnosis, [fill.line for fill in found.evidence.fills]) == ("missing_other", [3])


@pytest.mark.parametrize(
    ("source", "diagnosis", "alternatives", "named"),
    [
        (loads("-1e4"), "finite_fill", (), ["-1e4"]),
        (loads("0.0") + "\n    x = tl.where(m, x, -1e9)", "finite_fill", (), ["-1e9"]),
        (loads("-float('inf')"), "minus_infinity_row_as_number", (), []),
        (loads("fill"), "minus_infinity_row_as_number", ("finite_fill",), []),
    ],
)
def test_a_finite_stand_in_is_blamed_before_a_guard(
    source: str, diagnosis: str, alternatives: tuple[str, ...], named: list[str]
) -> None:
    found = diagnosed(np.zeros_like(X), source)
    assert (found.diagnosis, found.alternatives) == (diagnosis, alternatives)
    assert [fill.other for fill in found.evidence.fills] == named
    assert ("finite number" in found.message) == (diagnosis == "finite_fill")
